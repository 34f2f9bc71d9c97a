// Sections that sum to 0.
// expect: rope_sections_do_not_fit<
// expect: 0, 0, 0, 0
// expect: [4, B, T]
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto at = input<"at", i32, 4, B, T>;
inline constexpr auto y = rope(q, at, mrope<0, 0, 0>);  // here
