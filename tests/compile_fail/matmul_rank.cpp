// A product with a vector.
// expect: matmul_needs_matrices<
// expect: [B, 384]
// expect: [384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 384>;
inline constexpr auto w = input<"w", f32, 384>;
inline constexpr auto y = matmul(x, w);  // here
