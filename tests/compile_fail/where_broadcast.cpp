// A choice among shapes that do not broadcast.
// expect: shapes_do_not_broadcast<
// expect: "where"
// expect: [B, 8]
// expect: [B, 9]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto c = input<"c", boolean, B, 1>;
inline constexpr auto x = input<"x", f32, B, 8>;
inline constexpr auto y = input<"y", f32, B, 9>;
inline constexpr auto z = where(c, x, y);  // here
