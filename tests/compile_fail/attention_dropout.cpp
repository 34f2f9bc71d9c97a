// A dropout that leaves nothing.
// expect: dropout_needs_a_probability_below_one<
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 2, T, 64>;
inline constexpr auto v = input<"v", f32, B, 2, T, 64>;
inline constexpr auto y = attention(q, k, v, attention_dropout<"drop", 1.0>);  // here
