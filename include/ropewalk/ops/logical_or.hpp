// logical_or(a, b), a || b of bools, elementwise. Both sides are evaluated. No gradient.
#pragma once
#include "ropewalk/ops/support/logical.hpp"

namespace ropewalk {
namespace op {
struct logical_or : comparison<logical_or> {
  static constexpr const char* name = "logical_or";
  static scalar lower(lowering& l) { return l.arg(0) || l.arg(1); }
  static double value(const attrs&, const double* x) { return x[0] != 0 || x[1] != 0 ? 1 : 0; }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(logical_or);

template <expression A, expression B>
  requires bool_pair<A, B>
constexpr auto logical_or(const A&, const B&) {
  return node<op::logical_or, A, B>{};
}
template <expression A, expression B, class Error = bool_pair_mistake<"logical_or", A, B>>
  requires(!bool_pair<A, B>)
Error logical_or(const A&, const B&);

template <expression A, expression B>
  requires bool_pair<A, B>
constexpr auto operator||(const A& a, const B& b) {
  return logical_or(a, b);
}
template <expression A, expression B, class Error = bool_pair_mistake<"logical_or", A, B>>
  requires(!bool_pair<A, B>)
Error operator||(const A&, const B&);

}  // namespace ropewalk
