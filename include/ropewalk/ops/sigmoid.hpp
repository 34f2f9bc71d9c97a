// 1 / (1 + e^-x), elementwise. Computed from e^-|x|, which never overflows. Gradient: y (1 - y).
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct sigmoid : elementwise<sigmoid> {
  static constexpr const char* name = "sigmoid";
  static scalar lower(lowering& l) {
    const scalar x = l.arg(0), e = l.apply(scalar_op::exp, {-l.apply(scalar_op::abs, {x})});
    return select(x < number_like(x, 0), e, number_like(x, 1)) / (1.0 + e);
  }
  static double value(const attrs&, const double* x) {
    const double e = __builtin_exp(-__builtin_fabs(x[0]));
    return (x[0] < 0 ? e : 1) / (1 + e);
  }
  template <int J>
  static constexpr auto grad(auto s) {
    auto y = s.out();
    return s.cotangent() * (y * (constant<1.0> - y));
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(sigmoid);

template <floating_expr X>
constexpr auto sigmoid(const X&) {
  return node<op::sigmoid, X>{};
}
template <expression X, class Error = dtype_not_supported<"sigmoid", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error sigmoid(const X&);

}  // namespace ropewalk
