// attention(q, k, v, options...): softmax(scores) v, without the score matrix.
//   q [B, H, Tq, Dk]   k [B, Hkv, Tk, Dk]   v [B, Hkv, Tk, Dv]   ->  [B, H, Tq, Dv]
// (the batch axis may be missing in all of them). H mod Hkv = 0: head h reads key head
// h / (H / Hkv). q is f64, f32, f16 or bf16, k and v are both f32, f16 or bf16 (f64 or f32 beside
// f64); f64 is computed in f64, all else in f32. The score of query row j at position
// p = Tk - Tq + j and key n, in this order:
//   s = (q . k) / sqrt(Dk)      scaled<S>, scaled_by(expr): another factor
//   s = L tanh(s / L)           soft_cap<L>
//   s += slope_h mask           mask(expr), alibi<max_bias>, slopes(expr)
//   seen or not                 causal, sliding_window<W>, lengths(expr), documents(expr);
//                               start(expr) puts row 0 elsewhere
//   softmax                     sinks(expr): a logit more; attention_dropout<"name", P>
// fused_rope(options...) rotates q and k where they are read. (support/attention_options.hpp,
// support/attention_rope.hpp.) A row that sees no key gives 0 and has no gradient; a key or
// value that a row does not see does not reach it, whatever it holds. Gradients in q, k, v, mask,
// slopes, sinks and scaled_by, those that are asked for. Saved for backward: the result and the
// row's log-sum-exp, in f32 (f64 for f64); memory is linear in T. Backward makes the probabilities
// again, block by block, in a fixed order: deterministic.
// Sources: Dao et al. 2022 (FlashAttention); docs/attention.md.
#pragma once
// The options first: their mistakes are then reached by one include less, a line of the message.
#include "ropewalk/ops/support/attention_options.hpp"

#include "ropewalk/ops/support/attention_composed.hpp"
#include "ropewalk/ops/support/attention_rope.hpp"

namespace ropewalk {

namespace composed {
template <attention_options O>
struct unfused;
}

namespace op {

// Options as attrs. i[0]: bit k = operand k is there, and the flags; i[1]: bit k = result k of the
// backward node is wanted; d[0] window, d[1] first rotated feature; f[0] scale, f[1] soft cap, f[2]
// dropout.
inline constexpr std::int64_t attention_causal = 1 << 16, attention_distance_bias = 1 << 17,
                              attention_has_scale = 1 << 18, attention_interleaved = 1 << 19,
                              attention_has_window = 1 << 20;
constexpr attrs attention_attrs(const attention_options& o) {
  attrs a{.f = {o.scale.v, o.soft_cap.v, o.dropout.v}, .d = {o.window, o.rope_offset}};
  a.i[0] = o.operands | (o.is_causal ? attention_causal : 0) |
           (o.distance_bias ? attention_distance_bias : 0) |
           (o.has_scale ? attention_has_scale : 0) | (o.interleaved ? attention_interleaved : 0) |
           (o.window == dim(0) ? 0 : attention_has_window);
  return a;
}
// Where an operand is among the inputs; -1 where it is not.
constexpr int attention_input(const attrs& a, attention_operand k) {
  const int bit = static_cast<int>(k);
  if ((a.i[0] >> bit & 1) == 0) return -1;
  int at = 3;
  for (int i = 0; i < bit; ++i) at += (a.i[0] >> i & 1) != 0;
  return at;
}
// Inputs of the forward node; the backward node has out, lse and d_out behind them.
constexpr int attention_inputs(const attrs& a) {
  int n = 3;
  for (int i = 0; i < attention_operands; ++i) n += (a.i[0] >> i & 1) != 0;
  return n;
}

// Results: out, and lse [B, H, Tq].
struct attention_family {
  using family = attention_family;
  static constexpr const char* name = "attention";
  static constexpr op_class kind = op_class::kernel;
  static constexpr int results = 2;
  static constexpr bool strided_inputs = true;
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int k) {
    tensor_type t = in[0];
    if (k == 0)
      t.s[-1] = in[2].s[-1];
    else
      --t.s.rank, t.s.d[t.s.rank] = dim();
    if (k == 1) t.d = attention_compute_type(t.d);
    return t;
  }
  static void kernel(const kernel_call& c);  // codegen/cpu/ops/attention.cpp
  static std::size_t workspace(const kernel_call& c);
  static double flops(const kernel_call& c);
  static void reference(const reference_call& c);  // codegen/cpu/ops/attention_reference.cpp
};
// Results: d_q, d_k, d_v like q, k and v; d_mask, d_slopes, d_sinks, d_scale in the type computed
// in, one element for what is not wanted.
struct attention_backward_family {
  using family = attention_backward_family;
  static constexpr const char* name = "attention_backward";
  static constexpr op_class kind = op_class::kernel;
  static constexpr int results = 7;
  static constexpr bool strided_inputs = true;
  static constexpr int wanted_results = 1;
  static constexpr bool wants(const attrs& a, int k) {
    return k < 3 || ((a.i[1] >> k & 1) != 0 &&
                     attention_input(a, static_cast<attention_operand>(k - 3)) >= 0);
  }
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int k) {
    if (k < 3) return in[k];
    const dtype d = attention_compute_type(in[0].d);
    if (!wants(a, k)) return {d, shape{1}};
    return {d, in[attention_input(a, static_cast<attention_operand>(k - 3))].s};
  }
  static void kernel(const kernel_call& c);
  static std::size_t workspace(const kernel_call& c);
  static double flops(const kernel_call& c);
  static void reference(const reference_call& c);
};

// The result of the backward node that is the gradient of input J; -1 where there is none.
template <attention_options O>
constexpr int attention_gradient_of(int j) {
  constexpr attrs a = attention_attrs(O);
  if (j < 3) return j;
  for (int k = 0; k <= static_cast<int>(attention_operand::scale); ++k)
    if (attention_input(a, static_cast<attention_operand>(k)) == j) return 3 + k;
  return -1;
}

template <attention_options O>
struct attention_backward;

template <attention_options O>
struct attention : attention_family {
  static constexpr attrs attributes = attention_attrs(O);
  static constexpr int inputs = attention_inputs(attributes);
  template <int J>
  static constexpr auto grad(auto s) {
    constexpr int result = attention_gradient_of<O>(J);
    if constexpr (J == attention_input(attributes, attention_operand::cosine) ||
                  J == attention_input(attributes, attention_operand::sine)) {
      return tables<J>(s, std::make_index_sequence<inputs>());
    } else if constexpr (result < 0) {
      return no_gradient{};
    } else {
      constexpr dtype type = decltype(s.template in<J>())::type.d;
      return ropewalk::cast<type>(
          pick<result, decltype(backward(s, std::make_index_sequence<inputs>()))>{});
    }
  }
  template <std::size_t... I>
  static constexpr auto backward(auto s, std::index_sequence<I...>) {
    return make<attention_backward<O>>(s.template in<static_cast<int>(I)>()..., s.template out<0>(),
                                       s.template out<1>(), s.template cotangent<0>());
  }
  // Learned tables of a fused rope get their gradient as those of rope() before attention do.
  template <int J, std::size_t... I>
  static constexpr auto tables(auto s, std::index_sequence<I...>) {
    return call_t<vjp<composed::unfused<O>, inputs, J>, "",
                  decltype(s.template in<static_cast<int>(I)>())...,
                  decltype(s.template cotangent<0>())>{};
  }
};

template <attention_options O>
struct attention_backward : attention_backward_family {
  static constexpr attrs attributes = [] {
    attrs a = attention_attrs(O);
    a.i[1] = (1 << results) - 1;
    return a;
  }();
  static constexpr int inputs = attention_inputs(attributes);
  // As a function of the operands and d_out (out and lse follow from them): the derivative of the
  // composed form's derivative, summed over the gradients that are used.
  template <int J>
  static constexpr auto grad(auto s) {
    constexpr int argument = J < inputs ? J : J - 2;
    if constexpr (J == inputs || J == inputs + 1)
      return no_gradient{};
    else
      return sum_of_terms<argument, 0>(s);
  }
  template <int Argument, int K>
  static constexpr auto sum_of_terms(auto s) {
    using S = decltype(s);
    if constexpr (K == results) {
      return no_gradient{};
    } else {
      auto rest = sum_of_terms<Argument, K + 1>(s);
      using used = pick<K, typename S::expr>;
      if constexpr (ropewalk::detail::index_of<typename S::body_type, used> < 0)
        return rest;
      else
        return typename ropewalk::detail::plus<decltype(term<K, Argument>(
                                                   s, std::make_index_sequence<inputs>())),
                                               decltype(rest)>::type{};
    }
  }
  // The composed form has its floats in the type that the op computes in.
  template <dtype D, class X>
  static constexpr auto argument_of(X x) {
    if constexpr (is_floating(X::type.d))
      return ropewalk::cast<D>(x);
    else
      return x;
  }
  template <int K, int Argument, std::size_t... I>
  static constexpr auto term(auto s, std::index_sequence<I...>) {
    constexpr dtype d = attention_compute_type(decltype(s.template in<0>())::type.d);
    constexpr int of =
        K < 3 ? K : attention_input(attributes, static_cast<attention_operand>(K - 3));
    auto g = ropewalk::cast<d>(s.template in<inputs + 2>());
    auto c = ropewalk::cast<d>(s.template cotangent<K>());
    using first = vjp<composed::attention<O>, inputs, of>;
    using derived = call_t<vjp<first, inputs + 1, Argument>, "",
                           decltype(argument_of<d>(s.template in<static_cast<int>(I)>()))...,
                           decltype(g), decltype(c)>;
    constexpr dtype wanted =
        decltype(s.template in<Argument == inputs ? inputs + 2 : Argument>())::type.d;
    return ropewalk::cast<wanted>(derived{});
  }
};

}  // namespace op
ROPEWALK_LIBRARY_OP(attention_family);
ROPEWALK_LIBRARY_OP(attention_backward_family);

// Ranks other than 3 or 4, different batch, Dk or Tk, or H not a multiple of Hkv.
template <class Q, class K, class V>
struct attention_shapes_do_not_fit : mistake<Q> {
  static_assert(never<Q>, "attention shapes do not fit");
};
// q is no float, or k and v differ or are wider than what q is computed in.
template <dtype Q, dtype K, dtype V, class Shp>
struct attention_dtypes_do_not_fit : mistake<Shp> {
  static_assert(never<Shp>, "attention dtypes do not fit");
};
// Something behind q, k and v that is no option: a mask goes in as mask(m).
template <class Q>
struct not_an_attention_option : mistake<Q> {
  static_assert(never<Q>, "not an attention option");
};

namespace detail {
template <class Op, class List>
struct node_of;
template <class Op, class... In>
struct node_of<Op, list<In...>> {
  using type = node<Op, In...>;
};
}  // namespace detail

namespace composed {
// What attention with a fused rope is: rope, then attention.
template <attention_options O>
struct unfused {
  static constexpr const char* name = "attention_unfused";
  static constexpr attention_options plain = [] {
    attention_options o = O;
    o.operands &= ~(1 << static_cast<int>(attention_operand::cosine) |
                    1 << static_cast<int>(attention_operand::sine));
    return o;
  }();
  template <class Q, class K, class V, class... In>
  static constexpr auto apply(Q q, K k, V, In...) {
    constexpr list<In...> more{};
    auto a = attention<O>::template rotated_rows<K::type.s[-2]>(q, more);
    auto b = attention<O>::rotated(k, more);
    using rest = boost::mp11::mp_take_c<list<In...>, sizeof...(In) - 2>;  // the tables are last
    using operands = boost::mp11::mp_append<list<decltype(a), decltype(b), V>, rest>;
    return pick<0, typename detail::node_of<op::attention<plain>, operands>::type>{};
  }
};
}  // namespace composed

namespace detail {

template <class Q, class K, class V>
constexpr bool attention_fits() {
  constexpr shape q = Q::type.s, k = K::type.s, v = V::type.s;
  if ((q.rank != 3 && q.rank != 4) || k.rank != q.rank || v.rank != q.rank) return false;
  if (q.rank == 4 && !(q[0] == k[0] && q[0] == v[0])) return false;
  if (!(q[-1] == k[-1]) || !(k[-2] == v[-2]) || !(k[-3] == v[-3])) return false;
  const bool known = q[-3].fixed() && k[-3].fixed() && k[-3].n != 0;
  return !known || q[-3].n % k[-3].n == 0;
}
constexpr bool attention_dtypes_fit(dtype q, dtype k, dtype v) {
  if (!is_floating(q) || !is_floating(k) || k != v) return false;
  return q == dtype::f64 ? k <= dtype::f32 : k != dtype::f64;
}

template <class Option>
concept attention_option = requires { Option::option_name; };

// The first option whose rule is broken; the number of options where none is.
template <class Q, class K, class... Option>
constexpr int misfit() {
  const bool fits[] = {Option::template fits<Q, K>()..., false};
  int i = 0;
  while (fits[i]) ++i;
  return i;
}
// The first option that sets what an earlier one has set; the number of options where none does.
template <class... Option>
constexpr int second_of_a_pair() {
  constexpr int n = sizeof...(Option);
  const std::string_view names[] = {Option::option_name.view()..., ""};
  for (int i = 1; i < n; ++i)
    for (int k = 0; k < i; ++k)
      if (names[i] == names[k]) return i;
  return n;
}

// 0: fine; otherwise which rule is broken.
template <class Q, class K, class V, class... Option>
constexpr int attention_problem() {
  constexpr int n = sizeof...(Option);
  if constexpr (!(attention_option<Option> && ...))
    return 1;
  else if constexpr (!attention_fits<Q, K, V>())
    return 2;
  else if constexpr (!attention_dtypes_fit(Q::type.d, K::type.d, V::type.d))
    return 3;
  else if constexpr (misfit<Q, K, Option...>() < n)
    return 4;
  else if constexpr (second_of_a_pair<Option...>() < n)
    return 5;
  else
    return 0;
}
template <int Problem, class Q, class K, class V, class... Option>
struct attention_mistake;
template <class Q, class K, class V, class... Option>
struct attention_mistake<1, Q, K, V, Option...> {
  using type = not_an_attention_option<shp_of<Q>>;
};
template <class Q, class K, class V, class... Option>
struct attention_mistake<2, Q, K, V, Option...> {
  using type = attention_shapes_do_not_fit<shp_of<Q>, shp_of<K>, shp_of<V>>;
};
template <class Q, class K, class V, class... Option>
struct attention_mistake<3, Q, K, V, Option...> {
  using type = attention_dtypes_do_not_fit<Q::type.d, K::type.d, V::type.d, shp_of<Q>>;
};
template <class Q, class K, class V, class... Option>
struct attention_mistake<4, Q, K, V, Option...> {
  using option = boost::mp11::mp_at_c<list<Option...>, misfit<Q, K, Option...>()>;
  using type = typename option::template mistake_of<Q, K>;
};
template <class Q, class K, class V, class... Option>
struct attention_mistake<5, Q, K, V, Option...> {
  using option = boost::mp11::mp_at_c<list<Option...>, second_of_a_pair<Option...>()>;
  using type = attention_option_given_twice<option::option_name, shp_of<Q>>;
};

template <class... Option>
constexpr attention_options combine_options() {
  attention_options o;
  (Option::apply(o), ...);
  using kind = attention_operand;
  o.distance_bias = o.has(kind::slopes) && !o.has(kind::mask);
  return o;
}

template <class Operands, class Q, class K, class... Option>
struct attention_operand_list;
template <std::size_t... Kind, class Q, class K, class... Option>
struct attention_operand_list<std::index_sequence<Kind...>, Q, K, Option...> {
  template <attention_operand Of>
  using of_kind = boost::mp11::mp_append<list<>, typename Option::template operand<Of, Q, K>...>;
  using type = boost::mp11::mp_append<list<>, of_kind<static_cast<attention_operand>(Kind)>...>;
};
// The node of q, k, v and the options' expressions, in the order of attention_operand.
template <class Q, class K, class V, class... Option>
constexpr auto attention_node() {
  constexpr attention_options o = combine_options<Option...>();
  if constexpr (o.operands == 0) {
    return node<op::attention<o>, Q, K, V>{};
  } else {
    using operands = typename attention_operand_list<std::make_index_sequence<attention_operands>,
                                                     Q, K, Option...>::type;
    return
        typename node_of<op::attention<o>, boost::mp11::mp_append<list<Q, K, V>, operands>>::type{};
  }
}

}  // namespace detail

template <expression Q, expression K, expression V, class... Option>
  requires(detail::attention_problem<Q, K, V, Option...>() == 0)
constexpr auto attention(const Q&, const K&, const V&, const Option&...) {
  return pick<0, decltype(detail::attention_node<Q, K, V, Option...>())>{};
}
template <expression Q, expression K, expression V, class... Option,
          int Problem = detail::attention_problem<Q, K, V, Option...>(),
          class Error = typename detail::attention_mistake<Problem, Q, K, V, Option...>::type>
  requires(Problem != 0)
Error attention(const Q&, const K&, const V&, const Option&...);

}  // namespace ropewalk
