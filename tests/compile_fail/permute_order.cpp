// An order that names an axis twice.
// expect: axis_order<0, 2, 2>
// expect: [B, T, 384]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto x = input<"x", f32, B, T, 384>;
inline constexpr auto y = permute<0, 2, 2>(x);  // here
