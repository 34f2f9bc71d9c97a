// Modules: named functions from expressions to expressions, with the parameters they mention.
//
//   inline constexpr auto block = module<"block">([](auto x) { return x + ffn(layer_norm<"ln">(x)); });
//   call<"h0">(block)(x)          // its parameters are h0.ln.weight, ...
//   repeat<6, "h">(block)(x)      // h.0.ln.weight ... h.5.ln.weight
//   repeat<L, "h">(a, a, b)(x)    // a pattern, L times; L fixed or symbolic
//
// A call is one node: the body is a type of its own, keyed by the module and the operands' types.
#pragma once
#include <boost/mp11/algorithm.hpp>
#include <boost/mp11/list.hpp>

#include "ropewalk/core/leaf.hpp"
#include "ropewalk/core/mistake.hpp"

namespace ropewalk {

// Several results of a module: return results{a, b}; the caller takes them by structured binding.
template <class... E>
struct results : list<E...> {
  constexpr results() = default;
  constexpr explicit results(const E&...) {}
};

namespace detail {

template <class R>
struct as_results {
  using type = list<R>;
};
template <class... E>
struct as_results<results<E...>> {
  using type = list<E...>;
};

template <class K, class FormalList>
struct body_of;
template <class K, class... In, std::size_t... I>
auto make_body(std::index_sequence<I...>)
    -> body_of<K, list<formal<static_cast<int>(I), shp_of<In>, In::type.d>...>>;

}  // namespace detail

// The body of callable K for these formals: `results` in terms of the formals.
template <class K, class... Formals>
struct body {
  using callable = K;
  using formals = list<Formals...>;
  using results = typename detail::as_results<decltype(K::apply(Formals{}...))>::type;
};

namespace detail {
template <class K, class... Formals>
struct body_of<K, list<Formals...>> {
  using type = body<K, Formals...>;
};
template <class K, class... In>
using body_for =
    typename decltype(make_body<K, In...>(std::make_index_sequence<sizeof...(In)>()))::type;

// -1 for what is no list.
template <class List>
inline constexpr int length = -1;
template <template <class...> class L, class... E>
inline constexpr int length<L<E...>> = sizeof...(E);

template <class List>
struct result_records;
template <class... E>
struct result_records<list<E...>> {
  static constexpr const record* const* value = records<E...>;
};
template <class Body>
inline constexpr body_record body_rec = {Body::callable::name,
                                         result_records<typename Body::results>::value,
                                         length<typename Body::results>};
template <class... Body>
inline constexpr const body_record* body_recs[sizeof...(Body) + 1] = {&body_rec<Body>..., nullptr};
}  // namespace detail

// One call of K under a scope.
template <class K, text Scope, class... In>
struct call_t : expr_tag {
  using inputs = list<In...>;
  using body_type = detail::body_for<K, In...>;
  static constexpr int n_results = detail::length<typename body_type::results>;
  template <int I>
  static constexpr tensor_type result_type =
      boost::mp11::mp_at_c<typename body_type::results, I>::type;
  static constexpr tensor_type type = result_type<0>;
  static constexpr record make_record() {
    return {.op = &call_info, .in = detail::record_inputs_of<In...>(), .n_in = sizeof...(In),
            .name = stored_text<Scope>.s, .bodies = detail::body_recs<body_type>, .n_bodies = 1,
            .i = {n_results}};
  }
};

// A pattern of blocks repeated N times: layer l runs block l mod (number of blocks) under the scope
// Scope.l. The first results are carried from layer to layer, the other operands are the same for
// all. N symbolic: one program serves every depth.
template <class Pattern, dim N, text Scope, class... In>
struct repeat_t;
template <class... K, dim N, text Scope, class... In>
struct repeat_t<list<K...>, N, Scope, In...> : expr_tag {
  using inputs = list<In...>;
  using first_body = detail::body_for<boost::mp11::mp_front<list<K...>>, In...>;
  static constexpr int n_results = detail::length<typename first_body::results>;
  template <int I>
  static constexpr tensor_type result_type =
      boost::mp11::mp_at_c<typename first_body::results, I>::type;
  static constexpr tensor_type type = result_type<0>;
  static constexpr record make_record() {
    return {.op = &repeat_info, .in = detail::record_inputs_of<In...>(), .n_in = sizeof...(In),
            .name = stored_text<Scope>.s,
            .bodies = detail::body_recs<detail::body_for<K, In...>...>, .n_bodies = sizeof...(K),
            .i = {n_results}, .count = &stored_dim<N>};
  }
};

template <class K, text S, class... In>
inline constexpr int weight<call_t<K, S, In...>> = (1 + ... + weight<In>);
template <class P, dim N, text S, class... In>
inline constexpr int weight<repeat_t<P, N, S, In...>> = (1 + ... + weight<In>);

namespace detail {

// What a call expression gives its user: itself, or its results one by one; where the body has a
// mistake, clang goes on with int for its results, and later lines must not complain too.
template <class Call, class Seq>
struct unpack;
template <class Call, std::size_t... I>
struct unpack<Call, std::index_sequence<I...>> {
  using type = results<pick<static_cast<int>(I), Call>...>;
};
template <class Call, class Results>
constexpr auto present() {
  if constexpr (length<Results> == 1) return Call{};
  else if constexpr (length<Results> < 0)
    return mistake<shp_of<boost::mp11::mp_front<typename Call::inputs>>>{};
  else return typename unpack<Call, std::make_index_sequence<length<Results>>>::type{};
}

}  // namespace detail

// A module whose blocks do not give back the type they are given cannot be repeated.
template <class Given, class Returned>
struct repeat_changes_shape : mistake<Given> {
  static_assert(never<Given>, "repeat changes shape");
};

template <text Name, class F>
struct module_t {
  static constexpr const char* name = stored_text<Name>.s;
  template <class... In>
  static constexpr auto apply(In... x) {
    return F{}(x...);
  }
  // A call in the caller's own scope.
  template <expression... In>
  constexpr auto operator()(const In&...) const {
    using results = typename detail::body_for<module_t, In...>::results;
    return detail::present<call_t<module_t, "", In...>, results>();
  }
};

// As the general body, with no function of the library between it and the user's lambda.
template <text Name, class F, class... Formals>
struct body<module_t<Name, F>, Formals...> {
  using callable = module_t<Name, F>;
  using formals = list<Formals...>;
  using results = typename detail::as_results<decltype(F{}(Formals{}...))>::type;
};

template <text Name, class F>
constexpr module_t<Name, F> module(F) {
  return {};
}

template <text Scope, class K>
struct scoped_call {
  template <expression... In>
  constexpr auto operator()(const In&...) const {
    using results = typename detail::body_for<K, In...>::results;
    return detail::present<call_t<K, Scope, In...>, results>();
  }
};
template <text Scope, class K>
constexpr scoped_call<Scope, K> call(const K&) {
  return {};
}

namespace detail {
template <class Results, class Otherwise>
struct first_result {
  using type = Otherwise;
};
template <class E, class... More, class Otherwise>
struct first_result<list<E, More...>, Otherwise> {
  using type = E;
};
template <class Results, class Otherwise>
using first_of = typename first_result<Results, Otherwise>::type;

// The repeat, or the mistake of the first block that does not give back what it is given.
template <class Repeat, class X, class... Results>
constexpr auto repeat_or_mistake() {
  using firsts = list<first_of<Results, X>...>;
  constexpr bool same[] = {(first_of<Results, X>::type == X::type)...};
  constexpr int wrong = [] {
    int k = 0;
    while (k < static_cast<int>(sizeof...(Results)) && same[k]) ++k;
    return k;
  }();
  if constexpr (wrong == sizeof...(Results))
    return present<Repeat, boost::mp11::mp_front<list<Results...>>>();
  else
    return repeat_changes_shape<shp_of<X>, shp_of<boost::mp11::mp_at_c<firsts, wrong>>>{};
}
}  // namespace detail

template <dim N, text Scope, class... K>
struct repeated {
  template <expression X, expression... In>
  constexpr auto operator()(const X&, const In&...) const {
    return detail::repeat_or_mistake<repeat_t<list<K...>, N, Scope, X, In...>, X,
                                     typename detail::body_for<K, X, In...>::results...>();
  }
};
template <dim N, text Scope, class... K>
constexpr repeated<N, Scope, K...> repeat(const K&...) {
  return {};
}

// value, with `leaf := next` done when the program has run (running statistics, caches).
template <class State, class Value, class Next>
struct effect_t : expr_tag {
  using inputs = list<Value, State, Next>;
  static constexpr tensor_type type = Value::type;
  static constexpr record make_record() {
    return {.op = &effect_info, .in = detail::record_inputs_of<Value, State, Next>(), .n_in = 3};
  }
};
template <expression State, expression Value, expression Next>
constexpr effect_t<State, Value, Next> with_update(const State&, const Value&, const Next&) {
  return {};
}

// One of two expressions, by the program's mode: programs that train take the first.
template <class Train, class Eval>
struct mode_t : expr_tag {
  using inputs = list<Train, Eval>;
  static constexpr tensor_type type = Train::type;
  static constexpr record make_record() {
    return {.op = &mode_info, .in = detail::record_inputs_of<Train, Eval>(), .n_in = 2};
  }
};
template <expression Train, expression Eval>
constexpr mode_t<Train, Eval> in_training(const Train&, const Eval&) {
  return {};
}

}  // namespace ropewalk

template <class... E>
struct std::tuple_size<ropewalk::results<E...>>
    : std::integral_constant<std::size_t, sizeof...(E)> {};
template <std::size_t I, class... E>
struct std::tuple_element<I, ropewalk::results<E...>> {
  using type = boost::mp11::mp_at_c<ropewalk::list<E...>, I>;
};
namespace ropewalk {
template <std::size_t I, class... E>
constexpr auto get(const results<E...>&) {
  return boost::mp11::mp_at_c<list<E...>, I>{};
}
}  // namespace ropewalk
