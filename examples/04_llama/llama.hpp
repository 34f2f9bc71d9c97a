// A small Llama for characters: RMS norms, rotary positions, fewer heads of keys and values than of
// queries, a gated MLP, no biases.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace llama {
using namespace ropewalk;

inline constexpr dim B{"B"}, T{"T"}, V{"V"};  // bound when a session opens
inline constexpr dim C{"C", 128}, H{"H", 4}, G{"G", 2}, D{"D", 32}, F{"F", 352};
inline constexpr int layers = 3;

// Each of the G heads of keys and values serves H / G heads of queries.
inline constexpr auto self_attention = module<"self_attention">([](auto x) {  // x  [B, T, C]
  auto q = split_heads<H>(linear<"q", H * D, no_bias>(x));                    // q  [B, H, T, D]
  auto k = split_heads<G>(linear<"k", G * D, no_bias>(x));                    // k  [B, G, T, D]
  auto v = split_heads<G>(linear<"v", G * D, no_bias>(x));                    // v  [B, G, T, D]
  auto a = attention(rope(q, half_split), rope(k, half_split), v, causal);
  return linear<"o", C, no_bias>(merge_heads(a));
});

// down(silu(gate(x)) * up(x))
inline constexpr auto mlp = module<"mlp">([](auto x) {
  auto gate = linear<"gate", F, no_bias>(x);  //    [B, T, F]
  return linear<"down", C, no_bias>(swiglu(gate, linear<"up", F, no_bias>(x)));
});

inline constexpr auto block = module<"block">([](auto x) {
  auto y = let([=] { return x + call<"attention">(self_attention)(rms_norm<"norm1">(x)); });
  return y + call<"mlp">(mlp)(rms_norm<"norm2">(y));
});

inline constexpr auto tokens = input<"tokens", i32, B, T>;
inline constexpr auto targets = input<"targets", i32, B, T>;
inline constexpr auto logits = linear<"head", V, no_bias>(  //    [B, T, V]
    rms_norm<"norm">(repeat<layers, "layers">(block)(embedding<"embedding", V, C>(tokens))));
inline constexpr auto loss = cross_entropy(logits, targets);

inline constexpr auto train = program<"train">([] {
  return minimize(loss, adamw{.beta2 = 0.99, .weight_decay = 0.1}, clip_by_global_norm(1.0));
});
inline constexpr auto evaluate = program<"evaluate">([] { return outputs(output<"loss">(loss)); });
inline constexpr auto generate =
    program<"generate">([] { return outputs(output<"logits">(logits)); });

}  // namespace llama
