// A model of text for the tests of the trainer: one block with attention and dropout.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace tiny_text {
using namespace ropewalk;

inline constexpr dim B{"B"}, T{"T"}, V{"V"};
inline constexpr dim C{"C", 16}, H{"H", 2};

inline constexpr auto block = module<"block">([](auto x) {  // x        [B, T, C]
  auto [q, k, v] =
      split<3, H>(linear<"qkv", 3 * C>(layer_norm<"ln1">(x)));  // q, k, v  [B, H, T, C/H]
  auto a = attention(rope(q, half_split), rope(k, half_split), v, causal);
  auto y = let([=] { return x + dropout<"drop", 0.1>(linear<"proj", C>(merge_heads(a))); });
  return y + linear<"down", C>(gelu(linear<"up", 2 * C>(layer_norm<"ln2">(y))));
});

inline constexpr auto tokens = input<"tokens", i32, B, T>;
inline constexpr auto targets = input<"targets", i32, B, T>;
inline constexpr auto logits =
    linear<"head", V, no_bias>(block(embedding<"wte", V, C>(tokens)));  //          [B, T, V]
inline constexpr auto loss = cross_entropy(logits, targets);

inline constexpr auto train = program<"train">(
    [] { return minimize(loss, adamw{.weight_decay = 0.1}, clip_by_global_norm(1.0)); });
inline constexpr auto evaluate = program<"evaluate">([] { return outputs(output<"loss">(loss)); });
inline constexpr auto generate =
    program<"generate">([] { return outputs(output<"logits">(logits)); });
// Evaluates with dropout: no trainer has the random key for it.
inline constexpr auto noisy =
    program<"noisy">([] { return outputs(output<"loss">(loss)).in_training_mode(); });

}  // namespace tiny_text
