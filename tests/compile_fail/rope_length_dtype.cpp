// A current length that is no integer.
// expect: rope_operand_does_not_fit<
// expect: []
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto l = input<"l", f32>;
inline constexpr auto y = rope(q, half_split, frequencies<rope_dynamic_ntk{}>, current_length(l));  // here
