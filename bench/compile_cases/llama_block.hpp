// The Llama-style block of the compile benchmarks, and a way to make a program's tables.
#pragma once
#include <ropewalk/ropewalk.hpp>

namespace model {
using namespace ropewalk;

inline constexpr dim B{"B"}, T{"T", 256}, C{"C", 384}, H{"H", 6}, G{"G", 2}, D{"D", 64},
    F{"F", 1024}, V{"V", 512};

inline constexpr auto attn = module<"attn">([](auto x) {
  auto q = split_heads<H>(linear<"q", H * D, no_bias>(x));
  auto k = split_heads<G>(linear<"k", G * D, no_bias>(x));
  auto v = split_heads<G>(linear<"v", G * D, no_bias>(x));
  auto a = attention(rope(q, half_split), rope(k, half_split), v, causal);
  return linear<"o", C, no_bias>(merge_heads(a));
});
inline constexpr auto mlp = module<"mlp">([](auto x) {
  return linear<"down", C, no_bias>(
      swiglu(linear<"gate", F, no_bias>(x), linear<"up", F, no_bias>(x)));
});
inline constexpr auto block = module<"block">([](auto x) {
  auto y = let([=] { return x + call<"attn">(attn)(rms_norm<"ln1">(x)); });
  return y + call<"mlp">(mlp)(rms_norm<"ln2">(y));
});

inline constexpr auto tokens = input<"tokens", i32, B, T>;
inline constexpr auto targets = input<"targets", i32, B, T>;
inline constexpr auto embedded = embedding<"wte", V, C>(tokens);
template <class X>
constexpr auto loss_of(const X& x) {
  return cross_entropy(linear<"head", V, no_bias>(rms_norm<"ln">(x)), targets);
}

// Layers First .. First + N - 1 as calls.
template <int First, int N, class X>
constexpr auto layers(X x) {
  if constexpr (N == 0)
    return x;
  else
    return layers<First + 1, N - 1>(
        call<join_text<text("h"), ropewalk::detail::number_text<First>()>()>(block)(x));
}
}  // namespace model
