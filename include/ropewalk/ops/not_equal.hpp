// not_equal(a, b): a bool, elementwise: !equal(a, b), so true beside a NaN. No gradient.
#pragma once
#include "ropewalk/ops/equal.hpp"
#include "ropewalk/ops/logical_not.hpp"

namespace ropewalk {

template <expression A, expression B>
  requires pairable<A, B>
constexpr auto not_equal(const A& a, const B& b) {
  return logical_not(equal(a, b));
}
template <expression A, expression B, class Error = pair_mistake<"not_equal", A, B>>
  requires(!pairable<A, B>)
Error not_equal(const A&, const B&);

}  // namespace ropewalk
