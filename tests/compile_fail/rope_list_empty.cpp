// A list without frequencies.
// expect: rope_schedule_refuses<
// expect: rope_list
// expect: frequency
// expect: must not be empty
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto y = rope(q, half_split, frequencies<rope_list<0>{}>);  // here
