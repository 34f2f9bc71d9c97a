// A sum of two element types.
// expect: dtypes_differ<
// expect: "add"
// expect: f32
// expect: bf16
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"};
inline constexpr auto x = input<"x", f32, B, 384>;
inline constexpr auto y = input<"y", bf16, B, 384>;
inline constexpr auto z = x + y;  // here
