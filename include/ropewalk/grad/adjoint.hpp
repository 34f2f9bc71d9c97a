// Reverse mode at compile time. For a body (a module at one signature, or a root expression) and
// seeds (the cotangents of its results):
//
//   ref<Body, I>      node I of the forward body, under a short name
//   adj<Deriv, I>     the cotangent of node I: the sum, over its uses (user C, operand J), of what
//                     C's gradient rule makes of C's own cotangent; defined lazily
//
// The derived expressions mention forward nodes by ref only, so types stay short; once the graph is
// flat, a ref IS the forward node, and what backward needs of forward is what they share.
#pragma once
#include "ropewalk/grad/dag.hpp"
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/expand.hpp"

namespace ropewalk {

template <class Body, int I>
struct ref : expr_tag {
  using def = detail::node_at<Body, I>;
  using inputs = list<def>;
  static constexpr tensor_type type = def::type;
  template <int K>
  static constexpr tensor_type result_type = pick<K, def>::type;
};

template <class Body, int I>
struct alias_of<ref<Body, I>> {
  using type = typename ref<Body, I>::def;
};

// Body with the cotangents of its results.
template <class Body, class... Seeds>
struct deriv {
  using body_type = Body;
  using seeds = list<Seeds...>;
};

template <class Deriv, int I>
struct adj;

namespace detail {

template <class Body, int I>
using ref_to = std::conditional_t<is_leaf<node_at<Body, I>>, node_at<Body, I>, ref<Body, I>>;

template <class E>
inline constexpr int results_of = 1;
template <class Op, class... In>
  requires requires { Op::family::results; }
inline constexpr int results_of<node<Op, In...>> = Op::family::results;
template <class K, text S, class... In>
inline constexpr int results_of<call_t<K, S, In...>> = call_t<K, S, In...>::n_results;
template <class P, dim N, text S, class... In>
inline constexpr int results_of<repeat_t<P, N, S, In...>> = repeat_t<P, N, S, In...>::n_results;

template <class E>
constexpr auto zeros_like(const E&) {
  return expand_to<shp_of<E>>(constant_t<0.0, E::type.d>{});
}

// The cotangent of result K of node I.
template <class Deriv, int I, int K>
constexpr auto cotangent() {
  using B = typename Deriv::body_type;
  using E = node_at<B, I>;
  if constexpr (results_of<E> == 1) {
    return adj<Deriv, I>{};
  } else if constexpr (index_of<B, pick<K, E>> >= 0) {
    return adj<Deriv, index_of<B, pick<K, E>>>{};
  } else {
    return zeros_like(pick<K, ref_to<B, I>>{});
  }
}

}  // namespace detail

// What a gradient rule sees of the node it differentiates: operands, result(s) and cotangent(s).
template <class Deriv, int I>
struct site {
  using body_type = typename Deriv::body_type;
  using expr = detail::node_at<body_type, I>;
  static constexpr detail::edge_row row = detail::edges_of<body_type>::rows[I];
  template <int J>
  static constexpr auto in() {
    return detail::ref_to<body_type, row.in[J]>{};
  }
  static constexpr auto out() { return detail::ref_to<body_type, I>{}; }
  template <int K>
  static constexpr auto out() {
    return pick<K, detail::ref_to<body_type, I>>{};
  }
  template <int K = 0>
  static constexpr auto cotangent() {
    return detail::cotangent<Deriv, I, K>();
  }
};

// The rule of each kind of expression; ops bring theirs as Op::grad<J>(site).
template <class E>
struct gradient_rule {  // leaves
  template <int J, class Site>
  static constexpr auto of(Site) {
    return no_gradient{};
  }
};
template <class Op, class... In>
struct gradient_rule<node<Op, In...>> {
  template <int J, class Site>
  static constexpr auto of(Site s) {
    return Op::template grad<J>(s);
  }
};
template <class F>
struct gradient_rule<named<F>> {
  template <int J, class Site>
  static constexpr auto of(Site s) {
    return s.cotangent();
  }
};
template <class B, int I>
struct gradient_rule<ref<B, I>> : gradient_rule<named<int>> {};
template <class D, int I>
struct gradient_rule<adj<D, I>> : gradient_rule<named<int>> {};
template <class S, class V, class N>
struct gradient_rule<effect_t<S, V, N>> {
  template <int J, class Site>
  static constexpr auto of(Site s) {
    if constexpr (J == 0) return s.cotangent();
    else return no_gradient{};
  }
};
template <class A, class B>
struct gradient_rule<mode_t<A, B>> {
  template <int J, class Site>
  static constexpr auto of(Site s) {
    auto g = s.cotangent();
    auto zero = detail::zeros_like(s.template in<J>());
    if constexpr (J == 0) return mode_t<decltype(g), decltype(zero)>{};
    else return mode_t<decltype(zero), decltype(g)>{};
  }
};

namespace detail {

// Sums of gradients of one type, as types: no overload resolution on long names.
template <class A, class B>
struct plus {
  using type = node<op::add, A, B>;
};
template <class B>
struct plus<no_gradient, B> {
  using type = B;
};
template <class A>
struct plus<A, no_gradient> {
  using type = A;
};
template <>
struct plus<no_gradient, no_gradient> {
  using type = no_gradient;
};

// What operand J of node C contributes to the cotangent of the node it reads.
template <class Deriv, int C, int J, bool Flows>
struct contribution {
  using type = no_gradient;
};
template <class Deriv, int C, int J>
struct contribution<Deriv, C, J, true> {
  using type = decltype(gradient_rule<node_at<typename Deriv::body_type, C>>::template of<J>(
      site<Deriv, C>{}));
};
template <class Deriv, int C, int J, bool Floating>
using contribution_t = typename contribution<
    Deriv, C, J,
    Floating && is_floating(node_at<typename Deriv::body_type, C>::type.d)>::type;

// The sum of the uses from number U on, in the table of all uses.
template <class Deriv, int U, int End, bool Floating>
struct sum_uses {
  static constexpr use u = uses_of<typename Deriv::body_type>.at[U];
  using type = typename plus<contribution_t<Deriv, u.user, u.operand, Floating>,
                             typename sum_uses<Deriv, U + 1, End, Floating>::type>::type;
};
template <class Deriv, int End, bool Floating>
struct sum_uses<Deriv, End, End, Floating> {
  using type = no_gradient;
};

// The seeds of the results that are node E.
template <class E, class Results, class Seeds>
struct sum_seeds;
template <class E, class... R, class... S>
struct sum_seeds<E, list<R...>, list<S...>> {
  template <class Sum, class List>
  struct next;
  template <class Sum>
  struct next<Sum, list<>> {
    using type = Sum;
  };
  template <class Sum, class First, class... Rest>
  struct next<Sum, list<First, Rest...>> {
    using type = typename next<typename plus<Sum, First>::type, list<Rest...>>::type;
  };
  using type =
      typename next<no_gradient, boost::mp11::mp_append<
                                     list<>, std::conditional_t<std::is_same_v<R, E>, list<S>,
                                                                list<>>...>>::type;
};

// The definition of the cotangent of node I: no_gradient where none reaches it.
template <class Deriv, int I>
struct adjoint_definition {
  using B = typename Deriv::body_type;
  using E = node_at<B, I>;
  using type = typename plus<
      typename sum_seeds<E, typename B::results, typename Deriv::seeds>::type,
      typename sum_uses<Deriv, uses_of<B>.first[I], uses_of<B>.first[I + 1],
                        is_floating(E::type.d)>::type>::type;
};
template <class Definition, class E>
struct or_zeros {
  using type = Definition;
};
template <class E>
struct or_zeros<no_gradient, E> {
  using type = decltype(zeros_like(E{}));
};

}  // namespace detail

template <class Deriv, int I>
struct adj : expr_tag {
  using target = detail::node_at<typename Deriv::body_type, I>;
  static constexpr tensor_type type = target::type;
};
template <class Deriv, int I>
struct expr_traits<adj<Deriv, I>> {
  using def = typename detail::or_zeros<typename detail::adjoint_definition<Deriv, I>::type,
                                        typename adj<Deriv, I>::target>::type;
  static_assert(def::type == adj<Deriv, I>::type,
                "a gradient has the type of what it is the gradient of");
  using inputs = list<def>;
};
template <class Deriv, int I>
struct alias_of<adj<Deriv, I>> {
  using type = typename expr_traits<adj<Deriv, I>>::def;
};

}  // namespace ropewalk
