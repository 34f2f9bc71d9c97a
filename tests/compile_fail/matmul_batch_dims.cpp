// Batch dims of a product differ.
// expect: matmul_batch_dims_differ<
// expect: [6, T, 64]
// expect: [4, 64, T]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim T{"T"};
inline constexpr auto q = input<"q", f32, 6, T, 64>;
inline constexpr auto k = input<"k", f32, 4, 64, T>;
inline constexpr auto s = matmul(q, k);  // here
