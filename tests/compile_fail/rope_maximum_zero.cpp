// A stated maximum that is not positive.
// expect: rope_exceeds_maximum_position<0
// expect: [B, 6, 64, 8]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto x = input<"x", f32, B, 6, 64, 8>;
inline constexpr auto y = rope(x, half_split, maximum_position<0>);  // here
