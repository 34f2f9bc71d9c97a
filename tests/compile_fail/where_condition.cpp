// A condition that does not broadcast with the choices.
// expect: shapes_do_not_broadcast<
// expect: "where"
// expect: [B, 7]
// expect: [B, 8]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto c = input<"c", boolean, B, 7>;
inline constexpr auto x = input<"x", f32, B, 8>;
inline constexpr auto y = input<"y", f32, B, 8>;
inline constexpr auto z = where(c, x, y);  // here
