// logical_not(a), !a of a bool, elementwise. No gradient.
#pragma once
#include "ropewalk/ops/support/logical.hpp"

namespace ropewalk {
namespace op {
struct logical_not : comparison<logical_not> {
  static constexpr const char* name = "logical_not";
  static scalar lower(lowering& l) { return !l.arg(0); }
  static double value(const attrs&, const double* x) { return x[0] != 0 ? 0 : 1; }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(logical_not);

template <bool_expr X>
constexpr auto logical_not(const X&) {
  return node<op::logical_not, X>{};
}
template <expression X, class Error = dtype_not_supported<"logical_not", X::type.d, shp_of<X>>>
  requires(!bool_expr<X>)
Error logical_not(const X&);

template <bool_expr X>
constexpr auto operator!(const X& x) {
  return logical_not(x);
}
template <expression X, class Error = dtype_not_supported<"logical_not", X::type.d, shp_of<X>>>
  requires(!bool_expr<X>)
Error operator!(const X&);

}  // namespace ropewalk
