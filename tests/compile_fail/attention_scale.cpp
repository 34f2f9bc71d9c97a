// A scale per head, where one number is wanted.
// expect: attention_option_does_not_fit<
// expect: scaled
// expect: [6]
// expect: []
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 2, T, 64>;
inline constexpr auto v = input<"v", f32, B, 2, T, 64>;
inline constexpr auto s = input<"s", f32, 6>;
inline constexpr auto y = attention(q, k, v, scaled_by(s));  // here
