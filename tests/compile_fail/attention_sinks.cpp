// Sinks of 16 bits: they are f32 beside f32.
// expect: attention_option_does_not_fit<
// expect: sinks
// expect: bf16
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 2, T, 64>;
inline constexpr auto v = input<"v", f32, B, 2, T, 64>;
inline constexpr auto s = input<"s", bf16, 6>;
inline constexpr auto y = attention(q, k, v, sinks(s));  // here
