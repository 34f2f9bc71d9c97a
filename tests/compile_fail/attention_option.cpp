// A mask that is not wrapped: mask(m).
// expect: not_an_attention_option<
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 2, T, 64>;
inline constexpr auto v = input<"v", f32, B, 2, T, 64>;
inline constexpr auto m = input<"m", f32, T, T>;
inline constexpr auto y = attention(q, k, v, m);  // here
