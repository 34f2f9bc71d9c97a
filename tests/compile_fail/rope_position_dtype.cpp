// Positions that are no integers.
// expect: rope_positions_do_not_fit<
// expect: [B, T]
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto at = input<"at", f32, B, T>;
inline constexpr auto y = rope(q, at, half_split);  // here
