// A small Qwen 3: a Llama with norms of queries and keys, heads wider than hidden / heads, tied
// embeddings, rope base 10^6.
#pragma once
#include "llama_family.hpp"

namespace qwen3 {
using namespace ropewalk;
using llama_family::C, llama_family::H, llama_family::mlp, llama_family::tied, llama_family::tokens,
    llama_family::targets;

inline constexpr dim G{"G", 2}, D{"D", 16};
inline constexpr number eps = 1e-6;

inline constexpr auto self_attn = module<"self_attn">([](auto x) {
  auto q = rms_norm<"q_norm", eps>(split_heads<H>(linear<"q_proj", H * D, no_bias>(x)));
  auto k = rms_norm<"k_norm", eps>(split_heads<G>(linear<"k_proj", G * D, no_bias>(x)));
  auto v = split_heads<G>(linear<"v_proj", G * D, no_bias>(x));
  auto a = attention(rope(q, half_split, rope_base<1e6>), rope(k, half_split, rope_base<1e6>), v,
                     causal);
  return linear<"o_proj", C, no_bias>(merge_heads(a));
});
inline constexpr auto block = module<"block">([](auto x) {
  auto y =
      let([=] { return x + call<"self_attn">(self_attn)(rms_norm<"input_layernorm", eps>(x)); });
  return y + call<"mlp">(mlp)(rms_norm<"post_attention_layernorm", eps>(y));
});

inline constexpr auto hidden = repeat<2, "model.layers">(block)(gather_rows(tied, tokens));
inline constexpr auto logits = linear(rms_norm<"model.norm", eps>(hidden), tied);
inline constexpr auto loss = cross_entropy(logits, targets);
inline constexpr auto gradients = program<"qwen3_gradients">(
    [] { return outputs(output<"logits">(logits), parameter_gradients(loss)); });
inline constexpr auto generate =
    program<"qwen3_generate">([] { return outputs(output<"logits">(logits)); });
}  // namespace qwen3
