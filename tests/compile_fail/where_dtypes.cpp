// Choices of two element types.
// expect: dtypes_differ<
// expect: "where"
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto c = input<"c", boolean, B, 8>;
inline constexpr auto x = input<"x", f32, B, 8>;
inline constexpr auto y = input<"y", f16, B, 8>;
inline constexpr auto z = where(c, x, y);  // here
