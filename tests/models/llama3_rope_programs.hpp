// A small Llama with Llama 3's frequencies, one key head and tied embeddings. Parameter paths are
// the checkpoint's tensor names.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace llama3_rope {
using namespace ropewalk;

inline constexpr dim B{"B"}, T{"T"}, C{"C", 32}, H{"H", 4}, G{"G", 1}, D{"D", 8}, F{"F", 48},
    V{"V", 97};
// config.json: rope_theta, rope_scaling.
inline constexpr auto scaling = frequencies<rope_llama3{.base = 10000, .original_context = 64}>;

inline constexpr auto self_attn = module<"self_attn">([](auto x) {
  auto q = split_heads<H>(linear<"q_proj", H * D, no_bias>(x));
  auto k = split_heads<G>(linear<"k_proj", G * D, no_bias>(x));
  auto v = split_heads<G>(linear<"v_proj", G * D, no_bias>(x));
  auto a = attention(rope(q, half_split, scaling), rope(k, half_split, scaling), v, causal);
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
inline constexpr auto wte = param<"model.embed_tokens.weight", init_normal(0.02), V, C>;
inline constexpr auto logits =
    linear(rms_norm<"model.norm">(repeat<2, "model.layers">(block)(gather_rows(wte, tokens))), wte);
inline constexpr auto loss = cross_entropy(logits, targets);
inline constexpr auto gradients = program<"llama3_rope_gradients">(
    [] { return outputs(output<"logits">(logits), parameter_gradients(loss)); });
inline constexpr auto generate =
    program<"llama3_rope_generate">([] { return outputs(output<"logits">(logits)); });
}  // namespace llama3_rope
