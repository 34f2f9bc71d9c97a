// Llama 3: the high frequency factor must exceed the low one.
// expect: rope_schedule_refuses<
// expect: rope_llama3
// expect: high
// expect: must exceed low
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto y = rope(q, half_split, frequencies<rope_llama3{.low = 4, .high = 4}>);  // here
