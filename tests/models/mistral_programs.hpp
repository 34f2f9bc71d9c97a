// A small Mistral: grouped heads, and a window of 7 keys. Parameter paths are the checkpoint's
// tensor names.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace mistral {
using namespace ropewalk;

inline constexpr dim B{"B"}, T{"T"}, C{"C", 32}, H{"H", 4}, G{"G", 2}, D{"D", 8}, F{"F", 48},
    V{"V", 97};

inline constexpr auto self_attn = module<"self_attn">([](auto x) {
  auto q = split_heads<H>(linear<"q_proj", H * D, no_bias>(x));
  auto k = split_heads<G>(linear<"k_proj", G * D, no_bias>(x));
  auto v = split_heads<G>(linear<"v_proj", G * D, no_bias>(x));
  auto a = attention(rope(q, half_split), rope(k, half_split), v, causal, sliding_window<7>);
  return linear<"o_proj", C, no_bias>(merge_heads(a));
});
inline constexpr auto mlp = module<"mlp">([](auto x) {
  auto gate = linear<"gate_proj", F, no_bias>(x);
  return linear<"down_proj", C, no_bias>(swiglu(gate, linear<"up_proj", F, no_bias>(x)));
});
inline constexpr auto block = module<"block">([](auto x) {
  auto y = let([=] { return x + call<"self_attn">(self_attn)(rms_norm<"input_layernorm">(x)); });
  return y + call<"mlp">(mlp)(rms_norm<"post_attention_layernorm">(y));
});

inline constexpr auto tokens = input<"tokens", i32, B, T>;
inline constexpr auto targets = input<"targets", i32, B, T>;
inline constexpr auto logits = linear<"lm_head", V, no_bias>(rms_norm<"model.norm">(
    repeat<2, "model.layers">(block)(embedding<"model.embed_tokens", V, C>(tokens))));
inline constexpr auto loss = cross_entropy(logits, targets);
inline constexpr auto gradients = program<"mistral_gradients">(
    [] { return outputs(output<"logits">(logits), parameter_gradients(loss)); });
inline constexpr auto generate =
    program<"mistral_generate">([] { return outputs(output<"logits">(logits)); });
}  // namespace mistral
