// Square root, elementwise.
#pragma once
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/div.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct sqrt : elementwise<sqrt> {
  static constexpr const char* name = "sqrt";
  static scalar lower(lowering& l) { return l.apply(scalar_op::sqrt, {l.arg(0)}); }
  static double value(const attrs&, const double* x) { return __builtin_sqrt(x[0]); }
  template <int J>
  static constexpr auto grad(auto s) {
    return s.cotangent() / (s.out() + s.out());
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(sqrt);

template <floating_expr X>
constexpr auto sqrt(const X&) {
  return node<op::sqrt, X>{};
}
template <expression X, class Error = dtype_not_supported<"sqrt", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error sqrt(const X&);

}  // namespace ropewalk
