// A base that is not positive.
// expect: rope_schedule_refuses<
// expect: rope_standard
// expect: base
// expect: must be positive and finite
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto y = rope(q, half_split, rope_base<0.0>);  // here
