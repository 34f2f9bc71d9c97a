// Queries and keys of different width.
// expect: attention_shapes_do_not_fit<
// expect: [B, 6, T, 64]
// expect: [B, 6, T, 32]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 6, T, 32>;
inline constexpr auto v = input<"v", f32, B, 6, T, 64>;
inline constexpr auto y = attention(q, k, v, causal);  // here
