// equal(a, b), and !=: a bool, elementwise. No gradient.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct equal : comparison<equal> {
  static constexpr const char* name = "equal";
  static scalar lower(lowering& l) { return l.arg(0) == l.arg(1); }
  static double value(const attrs&, const double* x) { return x[0] == x[1] ? 1 : 0; }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(equal);

template <expression A, expression B>
  requires pairable<A, B>
constexpr auto equal(const A&, const B&) {
  return detail::binary_node<op::equal, A, B>{};
}
template <expression A, expression B, class Error = pair_mistake<"equal", A, B>>
  requires(!pairable<A, B>)
Error equal(const A&, const B&);

}  // namespace ropewalk
