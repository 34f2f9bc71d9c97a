// Small models whose values are known from PyTorch: GPT-2 and Llama as published, and the GPT of the
// training-curve parity test. Parameter paths are the checkpoints' tensor names.
#pragma once
#include <ropewalk/ropewalk.hpp>

#include "llama_family.hpp"

namespace gpt2 {
using namespace ropewalk;

inline constexpr dim B{"B"}, T{"T"}, C{"C", 32}, H{"H", 4}, F{"F", 48}, V{"V", 97}, P{"P", 32};

// y = x W + b with W [in, out].
template <dim N>
inline constexpr auto conv1d = module<"conv1d">([](auto x) {
  constexpr dim c = decltype(x)::type.s[-1];
  return matmul(x, param<"weight", init_normal(0.02), c, N>) + param<"bias", init_zeros(), N>;
});
inline constexpr auto attn = module<"attn">([](auto x) {
  auto [q, k, v] = split<3, H>(call<"c_attn">(conv1d<3 * C>)(x));
  return call<"c_proj">(conv1d<C>)(merge_heads(attention(q, k, v, causal)));
});
inline constexpr auto mlp = module<"mlp">(
    [](auto x) { return call<"c_proj">(conv1d<C>)(gelu_tanh(call<"c_fc">(conv1d<F>)(x))); });
inline constexpr auto block = module<"block">([](auto x) {
  auto y = let([=] { return x + call<"attn">(attn)(layer_norm<"ln_1">(x)); });
  return y + call<"mlp">(mlp)(layer_norm<"ln_2">(y));
});

inline constexpr auto tokens = input<"tokens", i32, B, T>;
inline constexpr auto targets = input<"targets", i32, B, T>;
inline constexpr auto wte = param<"transformer.wte.weight", init_normal(0.02), V, C>;
inline constexpr auto wpe = param<"transformer.wpe.weight", init_normal(0.02), P, C>;
inline constexpr auto logits =
    linear(layer_norm<"transformer.ln_f">(repeat<2, "transformer.h">(block)(
               gather_rows(wte, tokens) + gather_rows(wpe, iota<T>))),
           wte);
inline constexpr auto loss = cross_entropy(logits, targets);
inline constexpr auto gradients = program<"gpt2_gradients">(
    [] { return outputs(output<"logits">(logits), parameter_gradients(loss)); });
inline constexpr auto generate =
    program<"gpt2_generate">([] { return outputs(output<"logits">(logits)); });
}  // namespace gpt2

namespace llama {
using namespace llama_family;

inline constexpr auto logits = untied_logits(block<dim{"G", 2}, rope_base<1e4>>);
inline constexpr auto loss = cross_entropy(logits, targets);
inline constexpr auto gradients = program<"llama_gradients">(
    [] { return outputs(output<"logits">(logits), parameter_gradients(loss)); });
inline constexpr auto generate =
    program<"llama_generate">([] { return outputs(output<"logits">(logits)); });
}  // namespace llama

namespace parity {
using namespace ropewalk;

inline constexpr dim B{"B"}, T{"T", 64}, C{"C", 64}, H{"H", 2}, V{"V", 256};

inline constexpr auto block = module<"block">([](auto x) {
  auto [q, k, v] = split<3, H>(linear<"qkv", 3 * C>(layer_norm<"ln1">(x)));
  auto y = let([=] { return x + linear<"proj", C>(merge_heads(attention(q, k, v, causal))); });
  return y + linear<"out", C>(gelu_tanh(linear<"fc", 4 * C>(layer_norm<"ln2">(y))));
});

inline constexpr auto tokens = input<"tokens", i32, B, T>;
inline constexpr auto targets = input<"targets", i32, B, T>;
inline constexpr auto logits = linear<"head", V, no_bias>(layer_norm<"lnf">(repeat<2, "h">(block)(
    embedding<"tok", V, C>(tokens) + param<"pos.weight", init_normal(0.02), T, C>)));
inline constexpr auto loss = cross_entropy(logits, targets);
inline constexpr auto gradients = program<"parity_gradients">(
    [] { return outputs(output<"logits">(logits), parameter_gradients(loss)); });
inline constexpr auto train = program<"parity_train">([] {
  return minimize(loss, adamw{.beta2 = 0.95, .weight_decay = 0.1}, clip_by_global_norm(1.0));
});
}  // namespace parity
