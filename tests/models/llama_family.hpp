// What the small Llama, Llama with Llama 3's frequencies, Mistral and Qwen 3 share. Parameter paths
// are the checkpoints' tensor names.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace llama_family {
using namespace ropewalk;

inline constexpr dim B{"B"}, T{"T"}, C{"C", 32}, H{"H", 4}, D{"D", 8}, F{"F", 48}, V{"V", 97};

// G: heads of keys and values; Position: rope's option; Seen: attention's.
template <dim G, auto Position, auto... Seen>
inline constexpr auto self_attn = module<"self_attn">([](auto x) {
  auto q = split_heads<H>(linear<"q_proj", H * D, no_bias>(x));
  auto k = split_heads<G>(linear<"k_proj", G * D, no_bias>(x));
  auto v = split_heads<G>(linear<"v_proj", G * D, no_bias>(x));
  auto a =
      attention(rope(q, half_split, Position), rope(k, half_split, Position), v, causal, Seen...);
  return linear<"o_proj", C, no_bias>(merge_heads(a));
});
inline constexpr auto mlp = module<"mlp">([](auto x) {
  auto gate = linear<"gate_proj", F, no_bias>(x);
  return linear<"down_proj", C, no_bias>(swiglu(gate, linear<"up_proj", F, no_bias>(x)));
});
template <dim G, auto Position, auto... Seen>
inline constexpr auto block = module<"block">([](auto x) {
  auto y = let([=] {
    return x + call<"self_attn">(self_attn<G, Position, Seen...>)(rms_norm<"input_layernorm">(x));
  });
  return y + call<"mlp">(mlp)(rms_norm<"post_attention_layernorm">(y));
});

inline constexpr auto tokens = input<"tokens", i32, B, T>;
inline constexpr auto targets = input<"targets", i32, B, T>;
inline constexpr auto tied = param<"model.embed_tokens.weight", init_normal(0.02), V, C>;
// Two layers of a block, and a head of its own.
template <class Block>
constexpr auto untied_logits(const Block& b) {
  return linear<"lm_head", V, no_bias>(rms_norm<"model.norm">(
      repeat<2, "model.layers">(b)(embedding<"model.embed_tokens", V, C>(tokens))));
}
}  // namespace llama_family
