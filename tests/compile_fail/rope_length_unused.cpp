// A current length for a schedule that does not depend on it.
// expect: rope_current_length_is_not_used<
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto l = input<"l", i32>;
inline constexpr auto y = rope(q, half_split, frequencies<rope_yarn{.factor = 4}>, current_length(l));  // here
