// The gradients of all parameters below a body, as constexpr tables (one per body, not one type per
// parameter): the body's own parameters, and its calls with the tables of what they call.
#pragma once
#include "ropewalk/grad/vjp.hpp"

namespace ropewalk::detail {

template <class E>
inline constexpr bool trains = false;
template <text N, class S, dtype D, initializer I>
inline constexpr bool trains<param_t<N, S, D, I>> = I.trainable && is_floating(D);

template <class Body>
constexpr bool any_parameters();

// What a call site runs: its bodies (one per block of a pattern), and whether parameters are inside.
template <class E>
struct callee {
  static constexpr bool parameters = false;
};
template <class K, text S, class... In>
struct callee<call_t<K, S, In...>> {
  using bodies = list<body_for<K, In...>>;
  static constexpr bool parameters = any_parameters<body_for<K, In...>>();
};
template <class... K, dim N, text S, class... In>
struct callee<repeat_t<list<K...>, N, S, In...>> {
  using bodies = list<body_for<K, In...>...>;
  static constexpr bool parameters = (any_parameters<body_for<K, In...>>() || ...);
};
// A repeat's gradient, differentiated again: as the unrolled layers' gradient.
template <class P, dim N, text S, int Args, int J, class... In>
struct callee<repeat_vjp_t<P, N, S, Args, J, In...>> {
  using bodies = list<body_for<vjp<unrolled<P, static_cast<int>(N.n) * length<P>, S>, Args, J>, In...>>;
  static constexpr bool parameters = any_parameters<boost::mp11::mp_front<bodies>>();
};

template <class Nodes>
struct scan;
template <class... E>
struct scan<list<E...>> {
  static constexpr bool any = ((trains<E> || callee<E>::parameters) || ...);
};
template <class Body>
constexpr bool any_parameters() {
  return scan<nodes_of<Body>>::any;
}

template <class Body>
struct parameter_sites {
  template <class I>
  using is_leaf_site = boost::mp11::mp_bool<trains<node_at<Body, I::value>>>;
  template <class I>
  using is_call_site = boost::mp11::mp_bool<callee<node_at<Body, I::value>>::parameters>;
  using all = boost::mp11::mp_iota_c<length<nodes_of<Body>>>;
  using leaves = boost::mp11::mp_copy_if<all, is_leaf_site>;
  using calls = boost::mp11::mp_copy_if<all, is_call_site>;
};

template <class Deriv>
struct gradient_tables;

// Cotangents of all results of node I, as records and as formals behind the arguments.
template <class Deriv, int I, class Seq>
struct site_cotangents;
template <class Deriv, int I, std::size_t... K>
struct site_cotangents<Deriv, I, std::index_sequence<K...>> {
  using types = list<decltype(cotangent<Deriv, I, static_cast<int>(K)>())...>;
  static constexpr const record* const* value =
      records<decltype(cotangent<Deriv, I, static_cast<int>(K)>())...>;
};
template <class Deriv, int I>
using cotangents_at =
    site_cotangents<Deriv, I,
                    std::make_index_sequence<results_of<node_at<typename Deriv::body_type, I>>>>;

// The derivative of a body whose cotangents are the formals after its own.
template <class Body, int First, class Cots>
struct inner_deriv;
template <class Body, int First, class... G>
struct inner_deriv<Body, First, list<G...>> {
  template <class Seq>
  struct at;
  template <std::size_t... K>
  struct at<std::index_sequence<K...>> {
    using type = deriv<Body, formal<First + static_cast<int>(K), shp_of<G>, G::type.d>...>;
  };
  using type = typename at<std::make_index_sequence<sizeof...(G)>>::type;
};

template <class Deriv, int I, class Bodies>
struct inner_tables;
template <class Deriv, int I, class... B>
struct inner_tables<Deriv, I, list<B...>> {
  static constexpr int args = length<inputs_of<node_at<typename Deriv::body_type, I>>>;
  using cots = typename cotangents_at<Deriv, I>::types;
  static constexpr const gradient_table* value[] = {
      &gradient_tables<typename inner_deriv<B, args, cots>::type>::value...};
};

// Of a repeat's block: the cotangents of the operands that layers carry.
template <class D, class Seq>
struct carried_records;
template <class B, class... G, std::size_t... K>
struct carried_records<deriv<B, G...>, std::index_sequence<K...>> {
  using D = deriv<B, G...>;
  template <std::size_t I>
  static constexpr auto of() {
    using F = boost::mp11::mp_at_c<typename B::formals, I>;
    if constexpr (index_of<B, F> < 0) return zeros_like(F{});
    else return adj<D, index_of<B, F>>{};
  }
  static constexpr const record* const* value = records<decltype(of<K>())...>;
};
template <class Deriv, int I, class E>
struct site_carried {
  static constexpr const record* const* const* value = nullptr;
};
template <class Deriv, int I, class... K, dim N, text S, class... In>
struct site_carried<Deriv, I, repeat_t<list<K...>, N, S, In...>> {
  using E = repeat_t<list<K...>, N, S, In...>;
  using cots = typename cotangents_at<Deriv, I>::types;
  static constexpr const record* const* value[] = {
      carried_records<typename inner_deriv<body_for<K, In...>, sizeof...(In), cots>::type,
                      std::make_index_sequence<E::n_results>>::value...};
};

template <class Deriv, class Leaves, class Calls>
struct table_arrays;
template <class Deriv, class... L, class... C>
struct table_arrays<Deriv, list<L...>, list<C...>> {
  using B = typename Deriv::body_type;
  static constexpr gradient_table::leaf leaves[sizeof...(L) + 1] = {
      {record_of<node_at<B, L::value>>(), record_of<adj<Deriv, L::value>>()}..., {}};
  static constexpr gradient_table::call calls[sizeof...(C) + 1] = {
      {record_of<node_at<B, C::value>>(), cotangents_at<Deriv, C::value>::value,
       inner_tables<Deriv, C::value, typename callee<node_at<B, C::value>>::bodies>::value,
       site_carried<Deriv, C::value, node_at<B, C::value>>::value}...,
      {}};
  static constexpr gradient_table value = {leaves, sizeof...(L), calls, sizeof...(C)};
};
template <class L>
using as_list = boost::mp11::mp_apply<list, L>;

template <class Deriv>
struct gradient_tables {
  using sites = parameter_sites<typename Deriv::body_type>;
  static constexpr const gradient_table& value =
      table_arrays<Deriv, as_list<typename sites::leaves>, as_list<typename sites::calls>>::value;
};

}  // namespace ropewalk::detail
