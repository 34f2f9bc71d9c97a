// A mask of bools: the mask is added to the scores.
// expect: attention_option_does_not_fit<
// expect: mask
// expect: boolean
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"};
inline constexpr auto q = input<"q", f32, B, 6, T, 64>;
inline constexpr auto k = input<"k", f32, B, 2, T, 64>;
inline constexpr auto v = input<"v", f32, B, 2, T, 64>;
inline constexpr auto m = input<"m", boolean, T, T>;
inline constexpr auto y = attention(q, k, v, mask(m));  // here
