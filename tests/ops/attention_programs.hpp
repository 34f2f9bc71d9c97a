// attention with its options as a program writes them: what golden files have values for, the
// composition of primitive ops beside it, dropout, a cache, symbolic dims.
#pragma once
#include <ropewalk/ops/attention.hpp>
#include <ropewalk/ops/cast.hpp>
#include <ropewalk/ops/rope.hpp>
#include <ropewalk/ops/split.hpp>
#include <ropewalk/ops/sum.hpp>

#include "leaves.hpp"

namespace cases {

template <dim... D>
inline constexpr auto q = input<"q", f32, D...>;
template <dim... D>
inline constexpr auto k = input<"k", f32, D...>;
template <dim... D>
inline constexpr auto v = input<"v", f32, D...>;
template <dim... D>
inline constexpr auto bias = input<"mask", f32, D...>;
template <dim H>
inline constexpr auto sink = input<"sinks", f32, H>;
template <dim H>
inline constexpr auto slope = input<"slopes", f32, H>;
template <dim B>
inline constexpr auto length = input<"lengths", i32, B>;
inline constexpr auto scale = input<"scale", f32, 1>;

inline constexpr auto attention_combined = program<"attention_combined">([] {
  auto y = attention(q<2, 6, 5, 4>, k<2, 2, 9, 4>, v<2, 2, 9, 3>, causal, sliding_window<4>,
                     soft_cap<4.0>, mask(bias<1, 1, 5, 9>), slopes(slope<6>), sinks(sink<6>),
                     lengths(length<2>), scaled_by(scale));
  return differentiated(y, q<2, 6, 5, 4>, k<2, 2, 9, 4>, v<2, 2, 9, 3>, bias<1, 1, 5, 9>, slope<6>,
                        sink<6>, scale);
});
inline constexpr auto attention_alibi_12 = program<"attention_alibi_12">([] {
  auto y = attention(q<1, 12, 5, 2>, k<1, 12, 5, 2>, v<1, 12, 5, 2>, alibi<8.0>,
                     mask(bias<1, 1, 5, 5>), causal);
  return differentiated(y, q<1, 12, 5, 2>, k<1, 12, 5, 2>, v<1, 12, 5, 2>, bias<1, 1, 5, 5>);
});
inline constexpr auto attention_packed_causal = program<"attention_packed_causal">([] {
  auto y = attention(q<1, 2, 9, 4>, k<1, 2, 9, 4>, v<1, 2, 9, 4>, causal,
                     documents(input<"cu_lengths", i32, 4>));
  return differentiated(y, q<1, 2, 9, 4>, k<1, 2, 9, 4>, v<1, 2, 9, 4>);
});
inline constexpr auto attention_window_two_sided = program<"attention_window_two_sided">([] {
  auto y = attention(q<2, 2, 8, 4>, k<2, 2, 8, 4>, v<2, 2, 8, 4>, sliding_window<3>, scaled<0.5>);
  return differentiated(y, q<2, 2, 8, 4>, k<2, 2, 8, 4>, v<2, 2, 8, 4>);
});
// One gradient of those that there are: the others are not made.
inline constexpr auto attention_only_q = program<"attention_only_q">([] {
  auto y = attention(q<2, 6, 5, 4>, k<2, 2, 9, 4>, v<2, 2, 9, 3>, mask(bias<6, 5, 9>),
                     sinks(sink<6>), slopes(slope<6>), scaled_by(scale));
  return differentiated(y, q<2, 6, 5, 4>);
});

// The op and its composition side by side, and the gradients of both.
template <attention_options O, class List>
struct composed_call;
template <attention_options O, class... In>
struct composed_call<O, list<In...>> {
  using type = call_t<composed::attention<O>, "", In...>;
};
template <class Q, class K, class V, class... Option>
constexpr auto composed_attention(const Q&, const K&, const V&, const Option&...) {
  using node = decltype(ropewalk::detail::attention_node<Q, K, V, Option...>());
  return typename composed_call<ropewalk::detail::combine_options<Option...>(),
                                inputs_of<node>>::type{};
}
template <class... Option>
constexpr auto beside(const Option&...) {
  constexpr auto a = q<2, 6, 5, 4>;
  constexpr auto b = k<2, 2, 7, 4>;
  constexpr auto c = v<2, 2, 7, 3>;
  auto y = attention(a, b, c, Option{}...);
  auto z = composed_attention(a, b, c, Option{}...);
  constexpr input_t<"d_out", shp_of<decltype(y)>, f32> ct{};
  return outputs(output<"out">(y), output<"composed_out">(z),
                 output<"d_q">(vector_jacobian(y, ct, a)),
                 output<"composed_d_q">(vector_jacobian(z, ct, a)),
                 output<"d_k">(vector_jacobian(y, ct, b)),
                 output<"composed_d_k">(vector_jacobian(z, ct, b)),
                 output<"d_v">(vector_jacobian(y, ct, c)),
                 output<"composed_d_v">(vector_jacobian(z, ct, c)),
                 output<"d_mask">(vector_jacobian(y, ct, bias<6, 5, 7>)),
                 output<"composed_d_mask">(vector_jacobian(z, ct, bias<6, 5, 7>)),
                 output<"d_slopes">(vector_jacobian(y, ct, slope<6>)),
                 output<"composed_d_slopes">(vector_jacobian(z, ct, slope<6>)),
                 output<"d_sinks">(vector_jacobian(y, ct, sink<6>)),
                 output<"composed_d_sinks">(vector_jacobian(z, ct, sink<6>)),
                 output<"d_scale">(vector_jacobian(y, ct, scale)),
                 output<"composed_d_scale">(vector_jacobian(z, ct, scale)))
      .in_training_mode();
}
inline constexpr auto beside_plain = program<"beside_plain">([] { return beside(); });
inline constexpr auto beside_scores = program<"beside_scores">([] {
  return beside(mask(bias<6, 5, 7>), slopes(slope<6>), sinks(sink<6>), soft_cap<1.5>,
                scaled_by(scale), lengths(length<2>));
});
inline constexpr auto beside_structure = program<"beside_structure">([] {
  return beside(causal, sliding_window<3>, documents(input<"documents", i32, 4>), slopes(slope<6>),
                start(input<"start", i32, 2>), attention_dropout<"drop", 0.3>);
});
inline constexpr auto beside_two_sided = program<"beside_two_sided">(
    [] { return beside(sliding_window<2>, alibi<4.0>, lengths(length<1>), sinks(sink<6>)); });

// rope fused into attention, and before it.
inline constexpr auto beside_rope = program<"beside_rope">([] {
  constexpr auto a = q<2, 4, 3, 6>;
  constexpr auto b = k<2, 2, 7, 6>;
  constexpr auto c = v<2, 2, 7, 5>;
  constexpr auto first = input<"start", i32, 2>;
  constexpr auto f = input<"f", f32, 2>;
  auto positions = reshape<2, 1>(first) + iota<3>;
  auto y = attention(a, b, c, causal, start(first),
                     fused_rope(interleaved, frequencies_from(f), rotary_window<4, 2>));
  auto z = attention(rope(a, positions, interleaved, frequencies_from(f), rotary_window<4, 2>),
                     rope(b, interleaved, frequencies_from(f), rotary_window<4, 2>), c, causal,
                     start(first));
  constexpr input_t<"d_out", shp_of<decltype(y)>, f32> ct{};
  return outputs(
      output<"out">(y), output<"composed_out">(z), output<"d_q">(vector_jacobian(y, ct, a)),
      output<"composed_d_q">(vector_jacobian(z, ct, a)), output<"d_k">(vector_jacobian(y, ct, b)),
      output<"composed_d_k">(vector_jacobian(z, ct, b)), output<"d_v">(vector_jacobian(y, ct, c)),
      output<"composed_d_v">(vector_jacobian(z, ct, c)), output<"d_f">(vector_jacobian(y, ct, f)),
      output<"composed_d_f">(vector_jacobian(z, ct, f)));
});

// Dropout in two layers and beside them.
inline constexpr auto drop_layer = module<"drop_layer">(
    [](auto x) { return x + attention(x, x, x, causal, attention_dropout<"drop", 0.25>); });
inline constexpr auto attention_dropped = program<"attention_dropped">([] {
  auto y = repeat<2, "h">(drop_layer)(q<2, 2, 6, 4>);
  return differentiated(y, q<2, 2, 6, 4>).in_training_mode();
});
inline constexpr auto attention_kept = program<"attention_kept">([] {
  auto y = repeat<2, "h">(drop_layer)(q<2, 2, 6, 4>);
  return differentiated(y, q<2, 2, 6, 4>);
});

// A cache of 16-bit keys and values, of which `start` + 2 are used; a 16-bit mask.
inline constexpr auto attention_cache = program<"attention_cache">([] {
  auto y = attention(q<2, 4, 2, 4>, cast<bf16>(k<2, 2, 9, 4>), cast<bf16>(v<2, 2, 9, 4>), causal,
                     start(input<"start", i32, 2>), mask(cast<f16>(bias<2, 1, 2, 9>)));
  return differentiated(y, q<2, 4, 2, 4>, k<2, 2, 9, 4>, v<2, 2, 9, 4>, bias<2, 1, 2, 9>);
});
// Every operand there is: 13, and 16 of the backward node.
template <class A, class B, class C>
constexpr auto everything(const A& a, const B& b, const C& c) {
  return attention(a, b, c, causal, sliding_window<4>, soft_cap<3.0>, scaled_by(scale),
                   mask(bias<5, 6>), slopes(slope<2>), sinks(sink<2>), lengths(length<1>),
                   documents(input<"documents", i32, 3>), start(input<"start", i32, 1>),
                   fused_rope(half_split), attention_dropout<"drop", 0.2>);
}
inline constexpr auto attention_everything = program<"attention_everything">([] {
  constexpr auto a = q<1, 2, 5, 4>;
  constexpr auto b = k<1, 1, 6, 4>;
  constexpr auto c = v<1, 1, 6, 2>;
  return differentiated(everything(a, b, c), a, b, c, bias<5, 6>, slope<2>, sink<2>, scale)
      .in_training_mode();
});
// Operands that are views: heads of one tensor, a mask repeated over batch and heads.
inline constexpr auto attention_views = program<"attention_views">([] {
  auto [a, b, c] = split<3, 2>(x<2, 5, 24>);
  auto y = attention(a, b, c, causal, mask(expand<2, 2, 5, 5>(bias<5, 5>)), sinks(sink<2>));
  return differentiated(y, x<2, 5, 24>, bias<5, 5>, sink<2>);
});
// Symbolic everywhere, without a batch axis.
inline constexpr dim SH{"SH"}, ST{"ST"}, SW{"SW"};
inline constexpr auto attention_symbolic = program<"attention_symbolic">([] {
  auto y = attention(q<SH, ST, 4>, k<SH, ST, 4>, v<SH, ST, 4>, causal, sliding_window<SW>,
                     alibi<8.0>, lengths(length<1>));
  return differentiated(y, q<SH, ST, 4>, k<SH, ST, 4>, v<SH, ST, 4>);
});

}  // namespace cases
