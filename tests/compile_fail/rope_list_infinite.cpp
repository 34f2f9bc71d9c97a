// A frequency that is not finite.
// expect: rope_schedule_refuses<
// expect: rope_list
// expect: frequency
// expect: must hold finite numbers
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr rope_list<2> infinite{{1, __builtin_inf()}};
inline constexpr auto y = rope(q, half_split, rotary_window<4>, frequencies<infinite>);  // here
