// geglu(gate, up): gelu(gate) * up; geglu_tanh: with gelu_tanh. geglu(x), geglu_tanh(x): both in
// one, the first half of the last axis the gate. Source: Shazeer 2020.
#pragma once
#include "ropewalk/ops/gelu.hpp"
#include "ropewalk/ops/support/gated.hpp"

namespace ropewalk {

template <floating_expr G, floating_expr U>
  requires pairable<G, U>
constexpr auto geglu(const G& gate, const U& up) {
  return gelu(gate) * up;
}
template <expression G, expression U, class Error = pair_mistake<"geglu", G, U>>
  requires(!pairable<G, U>)
Error geglu(const G&, const U&);

template <expression X>
  requires detail::has_halves<X>
constexpr auto geglu(const X& x) {
  return geglu(detail::half_of<0>(x), detail::half_of<1>(x));
}
template <expression X, class Error = detail::halves_mistake<"geglu", X>>
  requires(!detail::has_halves<X>)
Error geglu(const X&);

template <floating_expr G, floating_expr U>
  requires pairable<G, U>
constexpr auto geglu_tanh(const G& gate, const U& up) {
  return gelu_tanh(gate) * up;
}
template <expression G, expression U, class Error = pair_mistake<"geglu_tanh", G, U>>
  requires(!pairable<G, U>)
Error geglu_tanh(const G&, const U&);

template <expression X>
  requires detail::has_halves<X>
constexpr auto geglu_tanh(const X& x) {
  return geglu_tanh(detail::half_of<0>(x), detail::half_of<1>(x));
}
template <expression X, class Error = detail::halves_mistake<"geglu_tanh", X>>
  requires(!detail::has_halves<X>)
Error geglu_tanh(const X&);

}  // namespace ropewalk
