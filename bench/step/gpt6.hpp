// The GPT of the step benchmark: 6 layers, 6 heads, width 384, context 256, vocabulary 65, learned
// positions, untied head: the model of the PyTorch script that it is compared with.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace gpt6 {
using namespace ropewalk;

inline constexpr dim B{"B"}, T{"T", 256}, C{"C", 384}, H{"H", 6}, V{"V", 65};

inline constexpr auto block = module<"block">([](auto x) {
  auto [q, k, v] = split<3, H>(linear<"qkv", 3 * C>(layer_norm<"ln1">(x)));
  auto y = let([=] { return x + linear<"proj", C>(merge_heads(attention(q, k, v, causal))); });
  return y + linear<"down", C>(gelu_tanh(linear<"up", 4 * C>(layer_norm<"ln2">(y))));
});
inline constexpr auto tokens = input<"tokens", i32, B, T>;
inline constexpr auto targets = input<"targets", i32, B, T>;
inline constexpr auto logits = linear<"head", V, no_bias>(layer_norm<"ln">(repeat<6, "h">(block)(
    embedding<"wte", V, C>(tokens) + param<"wpe", init_normal(0.02), T, C>)));
inline constexpr auto loss = cross_entropy(logits, targets);
inline constexpr auto train =
    program<"train">([] { return minimize(loss, adamw{.weight_decay = 0.01, .decay_min_rank = 0}); });
}  // namespace gpt6
