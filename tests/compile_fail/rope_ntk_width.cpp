// NTK scaling of a single pair.
// expect: rope_schedule_refuses<
// expect: rope_ntk
// expect: width
// expect: must be above 2 for NTK scaling
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto y = rope(q, half_split, rotary_window<2>, frequencies<rope_ntk{.factor = 2}>);  // here
