// Lengths that are no integers.
// expect: attention_option_does_not_fit<
// expect: lengths
// expect: f32
// expect: [B]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 2, T, 64>;
inline constexpr auto v = input<"v", f32, B, 2, T, 64>;
inline constexpr auto n = input<"n", f32, B>;
inline constexpr auto y = attention(q, k, v, lengths(n));  // here
