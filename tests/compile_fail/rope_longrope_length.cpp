// LongRoPE: a list of another length than the pairs.
// expect: rope_schedule_refuses<
// expect: rope_longrope
// expect: short_factors
// expect: must have width / 2 numbers
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr rope_longrope<2> lists{.short_factors = {1, 1}, .long_factors = {1, 2}};
inline constexpr auto y = rope(q, half_split, frequencies<&lists>);  // here
