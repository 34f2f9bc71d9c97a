// Inner dims of a product differ, at namespace scope.
// expect: matmul_inner_dims_differ<
// expect: [B, T, 512]
// expect: [1376, 512]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto x = input<"x", f32, B, T, 512>;
inline constexpr auto w = param<"w", init_zeros(), 1376, 512>;
inline constexpr auto y = matmul(x, w);  // here
