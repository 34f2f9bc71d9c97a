// A small Gemma 3: two layers with a window of 8 keys and rope base 10^4, then one that sees all
// keys, with base 10^6 and positions divided by 8; norms by 1 + w before and after each part;
// scaled embeddings, tied. Parameter paths are the checkpoint's tensor names.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace gemma3 {
using namespace ropewalk;

inline constexpr dim B{"B"}, T{"T"}, C{"C", 32}, H{"H", 4}, G{"G", 1}, D{"D", 16}, F{"F", 32},
    V{"V", 97};
inline constexpr number eps = 1e-6;
inline constexpr double query_scale = 0.20412414523193151;  // query_pre_attn_scalar = 24: 24^-0.5

// Position: the rope of a layer; Seen: attention's options.
template <auto Position, auto... Seen>
inline constexpr auto self_attn = module<"self_attn">([](auto x) {
  auto q = rms_norm_plus_one<"q_norm", eps>(split_heads<H>(linear<"q_proj", H * D, no_bias>(x)));
  auto k = rms_norm_plus_one<"k_norm", eps>(split_heads<G>(linear<"k_proj", G * D, no_bias>(x)));
  auto v = split_heads<G>(linear<"v_proj", G * D, no_bias>(x));
  auto a = attention(rope(q, half_split, Position), rope(k, half_split, Position), v, causal,
                     scaled<query_scale>, Seen...);
  return linear<"o_proj", C, no_bias>(merge_heads(a));
});
inline constexpr auto mlp = module<"mlp">([](auto x) {
  auto gate = linear<"gate_proj", F, no_bias>(x);
  return linear<"down_proj", C, no_bias>(geglu_tanh(gate, linear<"up_proj", F, no_bias>(x)));
});
template <auto Position, auto... Seen>
inline constexpr auto block = module<"block">([](auto x) {
  auto y = let([=] {
    auto a = call<"self_attn">(self_attn<Position, Seen...>)(
        rms_norm_plus_one<"input_layernorm", eps>(x));
    return x + rms_norm_plus_one<"post_attention_layernorm", eps>(a);
  });
  auto m = call<"mlp">(mlp)(rms_norm_plus_one<"pre_feedforward_layernorm", eps>(y));
  return y + rms_norm_plus_one<"post_feedforward_layernorm", eps>(m);
});
inline constexpr auto local = block<rope_base<1e4>, sliding_window<8>>;
inline constexpr auto global = block<frequencies<rope_linear{.base = 1e6, .factor = 8}>>;

inline constexpr auto tokens = input<"tokens", i32, B, T>;
inline constexpr auto targets = input<"targets", i32, B, T>;
inline constexpr auto wte = param<"model.embed_tokens.weight", init_normal(0.02), V, C>;
inline constexpr auto embedded = gather_rows(wte, tokens) * sqrt(dim_value<C>());
inline constexpr auto hidden = repeat<1, "model.layers">(local, local, global)(embedded);
inline constexpr auto logits = linear(rms_norm_plus_one<"model.norm", eps>(hidden), wte);
inline constexpr auto loss = cross_entropy(logits, targets);
inline constexpr auto gradients = program<"gemma3_gradients">(
    [] { return outputs(output<"logits">(logits), parameter_gradients(loss)); });
inline constexpr auto generate =
    program<"gemma3_generate">([] { return outputs(output<"logits">(logits)); });
}  // namespace gemma3
