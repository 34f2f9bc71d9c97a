// A sum of shapes that do not broadcast.
// expect: shapes_do_not_broadcast<
// expect: "add"
// expect: [B, 384]
// expect: [B, 512]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 384>;
inline constexpr auto y = input<"y", f32, B, 512>;
inline constexpr auto z = x + y;  // here
