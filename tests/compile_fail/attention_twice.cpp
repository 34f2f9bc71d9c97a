// Two options that set the slopes.
// expect: attention_option_given_twice<
// expect: slopes
// expect: [B, 6, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 2, T, 64>;
inline constexpr auto v = input<"v", f32, B, 2, T, 64>;
inline constexpr auto s = input<"s", f32, 6>;
inline constexpr auto y = attention(q, k, v, alibi<8.0>, slopes(s));  // here
