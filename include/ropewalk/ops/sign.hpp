// -1, 0 or 1 by the sign of x, elementwise; its gradient is zero.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct sign : elementwise<sign> {
  static constexpr const char* name = "sign";
  static scalar lower(lowering& l) { const scalar x = l.arg(0), zero = number_like(x, 0);
    return select(zero < x, number_like(x, 1), select(x < zero, number_like(x, -1), zero)); }
  static double value(const attrs&, const double* x) { return x[0] > 0 ? 1 : x[0] < 0 ? -1 : 0; }
  template <int J>
  static constexpr auto grad(auto) {
    return no_gradient{};
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(sign);

template <floating_expr X>
constexpr auto sign(const X&) {
  return node<op::sign, X>{};
}
template <expression X, class Error = dtype_not_supported<"sign", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error sign(const X&);

}  // namespace ropewalk
