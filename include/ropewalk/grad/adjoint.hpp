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
  static constexpr record make_record() {
    return {&alias_info, {}, type, detail::records<def>, 1, "", nullptr, 0};
  }
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

template <class A, class B>
constexpr auto add_gradient(A a, B b) {
  if constexpr (std::is_same_v<A, no_gradient>) return b;
  else if constexpr (std::is_same_v<B, no_gradient>) return a;
  else return a + b;
}

// What use U of node I contributes to its cotangent.
template <class Deriv, int I, int U>
constexpr auto contribution() {
  using B = typename Deriv::body_type;
  constexpr use u = uses_of<B, I>[U];
  using E = node_at<B, u.user>;
  if constexpr (!is_floating(E::type.d) || !is_floating(node_at<B, I>::type.d))
    return no_gradient{};
  else
    return gradient_rule<E>::template of<u.operand>(site<Deriv, u.user>{});
}

template <class Deriv, int I, int U = 0>
constexpr auto sum_uses() {
  if constexpr (U == use_count<typename Deriv::body_type, I>) return no_gradient{};
  else return add_gradient(contribution<Deriv, I, U>(), sum_uses<Deriv, I, U + 1>());
}

template <class Deriv, int I, int K = 0>
constexpr auto sum_seeds() {
  using B = typename Deriv::body_type;
  if constexpr (K == length<typename B::results>) {
    return no_gradient{};
  } else {
    auto rest = sum_seeds<Deriv, I, K + 1>();
    if constexpr (std::is_same_v<boost::mp11::mp_at_c<typename B::results, K>, node_at<B, I>>)
      return add_gradient(boost::mp11::mp_at_c<typename Deriv::seeds, K>{}, rest);
    else
      return rest;
  }
}

// What is known without instantiating more: does any gradient reach node I?
template <class Deriv, int I>
constexpr auto adjoint_definition() {
  return add_gradient(sum_seeds<Deriv, I>(), sum_uses<Deriv, I>());
}
template <class Deriv, int I>
constexpr auto adjoint_or_zeros() {
  auto d = adjoint_definition<Deriv, I>();
  if constexpr (std::is_same_v<decltype(d), no_gradient>)
    return zeros_like(node_at<typename Deriv::body_type, I>{});
  else
    return d;
}

}  // namespace detail

template <class Deriv, int I>
struct adj : expr_tag {
  using target = detail::node_at<typename Deriv::body_type, I>;
  static constexpr tensor_type type = target::type;
};
template <class Deriv, int I>
struct expr_traits<adj<Deriv, I>> {
  using def = decltype(detail::adjoint_or_zeros<Deriv, I>());
  static_assert(def::type == adj<Deriv, I>::type,
                "a gradient has the type of what it is the gradient of");
  using inputs = list<def>;
};
template <class Deriv, int I>
inline constexpr record rec<adj<Deriv, I>> = {
    .op = &alias_info, .a = {}, .type = adj<Deriv, I>::type,
    .in = detail::records<typename expr_traits<adj<Deriv, I>>::def>, .n_in = 1,
    .name = "", .bodies = nullptr, .n_bodies = 0};

}  // namespace ropewalk
