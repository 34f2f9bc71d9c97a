// A mask of another number of keys, in a module.
// expect: attention_option_does_not_fit<
// expect: mask
// expect: [T, 5]
// expect: [B, 6, T, T]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"}, C{"C", 384};
inline constexpr auto m = input<"m", f32, T, 5>;
inline constexpr auto attn = module<"attn">([](auto x) {
  auto q = split_heads<6>(linear<"q", C>(x));
  auto k = split_heads<2>(linear<"k", 128>(x));
  auto v = split_heads<2>(linear<"v", 128>(x));
  return merge_heads(attention(q, k, v, causal, mask(m)));  // here
});
inline constexpr auto x = input<"x", f32, B, T, C>;
inline constexpr auto y = attn(x);
