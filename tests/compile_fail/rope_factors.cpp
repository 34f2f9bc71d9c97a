// Frequency factors of another length than the pairs.
// expect: rope_operand_does_not_fit<
// expect: [16]
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto c = input<"c", f32, 16>;
inline constexpr auto y = rope(q, half_split, frequency_factors(c));  // here
