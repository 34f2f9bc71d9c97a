// Sections whose exponent restarts need an even D, so a window that 4 divides.
// expect: rope_window_does_not_fit<
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto at = input<"at", i32, 4, B, T>;
inline constexpr auto y = rope(q, at, vision_rope<15, 16>, rotary_window<62>);  // here
