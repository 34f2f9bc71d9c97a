// A factor that is not positive.
// expect: rope_schedule_refuses<
// expect: rope_linear
// expect: factor
// expect: must be positive and finite
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto y = rope(q, half_split, frequencies<rope_linear{.factor = -4}>);  // here
