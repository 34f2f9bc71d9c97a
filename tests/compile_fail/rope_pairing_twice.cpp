// Two pairings.
// expect: rope_option_given_twice<
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto y = rope(q, half_split, interleaved);  // here
