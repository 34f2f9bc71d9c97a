// A product of shapes that do not broadcast.
// expect: shapes_do_not_broadcast<
// expect: "mul"
// expect: [B, T]
// expect: [T, B]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto x = input<"x", f32, B, T>;
inline constexpr auto y = input<"y", f32, T, B>;
inline constexpr auto z = x * y;  // here
