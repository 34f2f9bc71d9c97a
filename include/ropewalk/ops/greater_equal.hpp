// greater_equal(a, b), a >= b: less_equal(b, a).
#pragma once
#include "ropewalk/ops/less_equal.hpp"

namespace ropewalk {

template <expression A, expression B>
  requires pairable<A, B>
constexpr auto greater_equal(const A& a, const B& b) {
  return less_equal(b, a);
}
template <expression A, expression B, class Error = pair_mistake<"greater_equal", A, B>>
  requires(!pairable<A, B>)
Error greater_equal(const A&, const B&);

template <expression A, expression B>
  requires pairable<A, B>
constexpr auto operator>=(const A& a, const B& b) {
  return less_equal(b, a);
}
template <expression A, expression B, class Error = pair_mistake<"greater_equal", A, B>>
  requires(!pairable<A, B>)
Error operator>=(const A&, const B&);

}  // namespace ropewalk
