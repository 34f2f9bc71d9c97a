// Positions given, and a window beyond the features.
// expect: rope_window_does_not_fit<
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto at = input<"at", i32, T>;
inline constexpr auto y = rope(q, at, half_split, rotary_window<96>);  // here
