// swiglu(gate, up): silu(gate) * up. swiglu(x): both in one, the first half of the last axis the
// gate. Source: Shazeer 2020.
#pragma once
#include "ropewalk/ops/silu.hpp"
#include "ropewalk/ops/support/gated.hpp"

namespace ropewalk {

template <floating_expr G, floating_expr U>
  requires pairable<G, U>
constexpr auto swiglu(const G& gate, const U& up) {
  return silu(gate) * up;
}
template <expression G, expression U, class Error = pair_mistake<"swiglu", G, U>>
  requires(!pairable<G, U>)
Error swiglu(const G&, const U&);

template <expression X>
  requires detail::has_halves<X>
constexpr auto swiglu(const X& x) {
  return swiglu(detail::half_of<0>(x), detail::half_of<1>(x));
}
template <expression X, class Error = detail::halves_mistake<"swiglu", X>>
  requires(!detail::has_halves<X>)
Error swiglu(const X&);

}  // namespace ropewalk
