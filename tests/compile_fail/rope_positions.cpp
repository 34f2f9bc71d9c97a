// Positions of another length.
// expect: rope_positions_do_not_fit<
// expect: [S]
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"}, S{"S"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto at = input<"at", i32, S>;
inline constexpr auto y = rope(q, at, half_split);  // here
