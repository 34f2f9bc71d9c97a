// A list of another length than the pairs.
// expect: rope_schedule_refuses<
// expect: rope_list
// expect: frequency
// expect: must have width / 2 numbers
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto y = rope(q, half_split, frequencies<rope_list<3>{{1, 0.5, 0.25}}>);  // here
