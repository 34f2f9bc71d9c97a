// Gradients through calls and repeats. The gradient of a call in its argument J is a call of the
// derived body vjp<K, J>, a callable like any other: (arguments..., cotangents...) -> cotangent of
// argument J. It can be differentiated again.
#pragma once
#include "ropewalk/grad/adjoint.hpp"

namespace ropewalk {

namespace detail {

// Splits formals (args..., cotangents...) of a vjp of K after the first N.
template <class K, int J, class Args, class Cots>
struct vjp_body;
template <class K, int J, class... A, class... G>
struct vjp_body<K, J, list<A...>, list<G...>> {
  using body_type = body<K, A...>;
  using D = deriv<body_type, G...>;
  using formal_type = boost::mp11::mp_at_c<list<A...>, J>;
  static constexpr auto make() {
    constexpr int i = index_of<body_type, formal_type>;
    if constexpr (i < 0) return zeros_like(formal_type{});
    else return adj<D, i>{};
  }
};

}  // namespace detail

// K: the callable; N: how many arguments it has; J: the one whose cotangent is wanted.
template <class K, int N, int J>
struct vjp {
  static constexpr const char* name = K::name;
  template <class... In>
  static constexpr auto apply(In...) {
    using all = list<In...>;
    using args = boost::mp11::mp_take_c<all, N>;
    using cots = boost::mp11::mp_drop_c<all, N>;
    return detail::vjp_body<K, J, args, cots>::make();
  }
};

// The unrolled form of a repeat, used where its derivative is differentiated again.
template <class Pattern, int N, text Scope>
struct unrolled;

namespace detail {

template <int V>
constexpr auto number_text() {
  constexpr int digits = V < 10 ? 1 : V < 100 ? 2 : V < 1000 ? 3 : 4;
  text<digits + 1> t;
  int v = V;
  for (int i = digits; i-- > 0; v /= 10) t.s[i] = static_cast<char>('0' + v % 10);
  return t;
}
template <text Scope, int I>
inline constexpr auto layer_scope = join_text<join_text<Scope, text(".")>(), number_text<I>()>();

template <class Pattern, int N, text Scope, int L>
struct unroll {
  template <class X, class... E>
  static constexpr auto run(X x, E... e) {
    if constexpr (L == N) {
      return x;
    } else {
      using K = boost::mp11::mp_at_c<Pattern, L % length<Pattern>>;
      return unroll<Pattern, N, Scope, L + 1>::run(call_t<K, layer_scope<Scope, L>, X, E...>{},
                                                   e...);
    }
  }
};

template <class Site, class E, std::size_t... I, std::size_t... K>
constexpr auto call_gradient(std::index_sequence<I...>, std::index_sequence<K...>, auto wrap) {
  return wrap(Site::template in<static_cast<int>(I)>()...,
              Site::template cotangent<static_cast<int>(K)>()...);
}

}  // namespace detail

template <class Pattern, int N, text Scope>
struct unrolled {
  static constexpr const char* name = stored_text<Scope>.s;
  template <class... In>
  static constexpr auto apply(In... x) {
    return detail::unroll<Pattern, N, Scope, 0>::run(x...);
  }
};

// The cotangent of operand J of a repeat: the layers in reverse.
template <class Pattern, dim N, text Scope, int Args, int J, class... In>
struct repeat_vjp_t;
template <class... K, dim N, text Scope, int Args, int J, class... In>
struct repeat_vjp_t<list<K...>, N, Scope, Args, J, In...> : expr_tag {
  using inputs = list<In...>;
  using operands = boost::mp11::mp_take_c<list<In...>, Args>;
  static constexpr tensor_type type = boost::mp11::mp_at_c<operands, J>::type;

  // The vjps of a block in every argument; then all that the generator needs of the pattern: the
  // blocks, and for every block its vjps.
  template <class Block, class Seq = std::make_index_sequence<Args>>
  struct vjps;
  template <class Block, std::size_t... I>
  struct vjps<Block, std::index_sequence<I...>> {
    using type = list<detail::body_for<vjp<Block, Args, static_cast<int>(I)>, In...>...>;
  };
  template <class L>
  struct bodies;
  template <class... A>
  struct bodies<list<A...>> {
    using type = boost::mp11::mp_append<list<detail::body_for<K, A...>...>,
                                        typename vjps<K>::type...>;
  };
  template <class L>
  struct as_records;
  template <class... B>
  struct as_records<list<B...>> {
    static constexpr const body_record* const* value = detail::body_recs<B...>;
    static constexpr int n = sizeof...(B);
  };
  static constexpr record make_record() {
    using all = as_records<typename bodies<operands>::type>;
    return {.op = &repeat_vjp_info, .in = detail::record_inputs_of<In...>(), .n_in = sizeof...(In),
            .name = stored_text<Scope>.s, .bodies = all::value, .n_bodies = all::n,
            .i = {Args, J, static_cast<int>(sizeof...(K))}, .count = &stored_dim<N>};
  }
};

// A gradient of a gradient through repeat<N> where N is symbolic: the layers cannot be unrolled.
template <text Scope>
struct second_gradient_needs_a_fixed_repeat : mistake<shp<"[]">> {
  static_assert(never<shp<Scope>>,
                "a gradient of a gradient through repeat<N> needs a fixed N");
};

template <class K, text S, class... In>
struct gradient_rule<call_t<K, S, In...>> {
  template <int J, class Site>
  static constexpr auto of(Site) {
    return detail::call_gradient<Site, call_t<K, S, In...>>(
        std::make_index_sequence<sizeof...(In)>(),
        std::make_index_sequence<call_t<K, S, In...>::n_results>(), []<class... X>(X...) {
          return call_t<vjp<K, static_cast<int>(sizeof...(In)), J>, S, X...>{};
        });
  }
};
template <class P, dim N, text S, class... In>
struct gradient_rule<repeat_t<P, N, S, In...>> {
  template <int J, class Site>
  static constexpr auto of(Site) {
    return detail::call_gradient<Site, repeat_t<P, N, S, In...>>(
        std::make_index_sequence<sizeof...(In)>(),
        std::make_index_sequence<repeat_t<P, N, S, In...>::n_results>(), []<class... X>(X...) {
          return repeat_vjp_t<P, N, S, static_cast<int>(sizeof...(In)), J, X...>{};
        });
  }
};
template <class P, dim N, text S, int Args, int J, class... In>
struct gradient_rule<repeat_vjp_t<P, N, S, Args, J, In...>> {
  template <int J2, class Site>
  static constexpr auto of(Site) {
    if constexpr (!N.fixed()) {
      return second_gradient_needs_a_fixed_repeat<S>{};
    } else {
      using first = vjp<unrolled<P, static_cast<int>(N.n) * detail::length<P>, S>, Args, J>;
      return detail::call_gradient<Site, void>(
          std::make_index_sequence<sizeof...(In)>(), std::index_sequence<0>(),
          []<class... X>(X...) {
            return call_t<vjp<first, static_cast<int>(sizeof...(In)), J2>, "", X...>{};
          });
    }
  }
};
template <int K, class Node>
struct gradient_rule<pick<K, Node>> {  // reached through cotangent<K>() of the node itself
  template <int J, class Site>
  static constexpr auto of(Site) {
    return no_gradient{};
  }
};

}  // namespace ropewalk
