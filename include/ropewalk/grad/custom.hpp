// A gradient of one's own: a forward expression, and the rule that stands in for its derivative.
//
//   inline constexpr auto clipped = with_gradient<"clipped">(
//       [](auto x) { return x; },                            // the value
//       [](auto x, auto ct) { return clamp(ct, -1.0, 1.0); } // (operands..., cotangent) ->
//       cotangents
//   );
//   auto y = clipped(x);
//
// With several operands the rule returns results{one cotangent per operand}, each of its operand's
// type. The rule is an expression like any other and can be differentiated again. What the forward
// lambda mentions beside its operands (parameters) keeps its ordinary gradient: hand in as an
// operand what the rule is to govern.
#pragma once
#include "ropewalk/grad/vjp.hpp"

namespace ropewalk {

template <text Name, class Forward, class Rule>
struct with_gradient_t {
  static constexpr const char* name = stored_text<Name>.s;
  template <class... In>
  static constexpr auto apply(In... x) {
    return Forward{}(x...);
  }
  template <expression... In>
  constexpr auto operator()(const In&...) const {
    using results = typename detail::body_for<with_gradient_t, In...>::results;
    static_assert(detail::length<results> == 1,
                  "an expression with its own gradient is one result");
    return call_t<with_gradient_t, "", In...>{};
  }
};
template <text Name, class Forward, class Rule>
constexpr with_gradient_t<Name, Forward, Rule> with_gradient(Forward, Rule) {
  return {};
}

namespace detail {
// Cotangent J of a rule, as a callable of (operands..., cotangent).
template <text Name, class Rule, int J>
struct rule_part {
  static constexpr const char* name = stored_text<Name>.s;
  template <class... In>
  static constexpr auto apply(In...) {
    using all = typename as_results<decltype(Rule{}(In{}...))>::type;
    static_assert(length<all> + 1 == sizeof...(In), "a rule gives one cotangent per operand");
    return boost::mp11::mp_at_c<all, J>{};
  }
};
}  // namespace detail

template <text Name, class Forward, class Rule, text S, class... In>
struct gradient_rule<call_t<with_gradient_t<Name, Forward, Rule>, S, In...>> {
  template <int J, class Site>
  static constexpr auto of(Site) {
    return detail::call_gradient<Site, void>(
        std::make_index_sequence<sizeof...(In)>(), std::index_sequence<0>(),
        []<class... X>(X...) { return call_t<detail::rule_part<Name, Rule, J>, S, X...>{}; });
  }
};

}  // namespace ropewalk
