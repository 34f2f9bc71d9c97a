// Heads that the key heads do not divide, in a module.
// expect: attention_shapes_do_not_fit<
// expect: [B, 6, T, 64]
// expect: [B, 4, T, 64]
#include <ropewalk/ropewalk.hpp>

using namespace ropewalk;
inline constexpr dim B{"B"}, T{"T"}, C{"C", 384};
inline constexpr auto attn = module<"attn">([](auto x) {
  auto q = split_heads<6>(linear<"q", C>(x));
  auto k = split_heads<4>(linear<"k", 256>(x));
  auto v = split_heads<4>(linear<"v", 256>(x));
  return merge_heads(attention(q, k, v, causal));  // here
});
inline constexpr auto x = input<"x", f32, B, T, C>;
inline constexpr auto y = attn(x);
