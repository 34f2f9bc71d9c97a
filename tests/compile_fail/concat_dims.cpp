// Operands that differ beside the axis.
// expect: concat
// expect: [B, 3, 4]
// expect: [B, 3, 5]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 3, 4>;
inline constexpr auto y = input<"y", f32, B, 3, 5>;
inline constexpr auto z = concat<1>(x, y);  // here
