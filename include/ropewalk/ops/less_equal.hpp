// less_equal(a, b), a <= b: a bool, elementwise (false beside a NaN). No gradient.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct less_equal : comparison<less_equal> {
  static constexpr const char* name = "less_equal";
  static scalar lower(lowering& l) { return l.arg(0) <= l.arg(1); }
  static double value(const attrs&, const double* x) { return x[0] <= x[1] ? 1 : 0; }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(less_equal);

template <expression A, expression B>
  requires pairable<A, B>
constexpr auto less_equal(const A&, const B&) {
  return detail::binary_node<op::less_equal, A, B>{};
}
template <expression A, expression B, class Error = pair_mistake<"less_equal", A, B>>
  requires(!pairable<A, B>)
Error less_equal(const A&, const B&);

template <expression A, expression B>
  requires pairable<A, B>
constexpr auto operator<=(const A& a, const B& b) {
  return less_equal(a, b);
}
template <expression A, expression B, class Error = pair_mistake<"less_equal", A, B>>
  requires(!pairable<A, B>)
Error operator<=(const A&, const B&);

}  // namespace ropewalk
