// Composed ops: modules of the library's own, in namespace composed (where no op's struct hides a
// function). Body gives `name` and apply(x...), an expression of its
// operands; a call is one node, so an operand may be used twice without doubling the caller's type.
#pragma once
#include "ropewalk/core/module.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk::detail {

// Body called in the caller's scope, or in a scope of its own (where it has parameters).
template <class Body, text Scope = "", class... In>
constexpr auto call_body(const In&...) {
  return present<call_t<Body, Scope, In...>, typename body_for<Body, In...>::results>();
}

}  // namespace ropewalk::detail
