// greater(a, b), a > b: less(b, a).
#pragma once
#include "ropewalk/ops/less.hpp"

namespace ropewalk {

template <expression A, expression B>
  requires pairable<A, B>
constexpr auto greater(const A& a, const B& b) {
  return less(b, a);
}
template <expression A, expression B, class Error = pair_mistake<"greater", A, B>>
  requires(!pairable<A, B>)
Error greater(const A&, const B&);

template <expression A, expression B>
  requires pairable<A, B>
constexpr auto operator>(const A& a, const B& b) {
  return less(b, a);
}
template <expression A, expression B, class Error = pair_mistake<"greater", A, B>>
  requires(!pairable<A, B>)
Error operator>(const A&, const B&);

}  // namespace ropewalk
