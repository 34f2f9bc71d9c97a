// max(x, 0), elementwise; NaN stays NaN. The gradient at 0 is 0.
#pragma once
#include "ropewalk/ops/less.hpp"
#include "ropewalk/ops/support/elementwise.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk {
namespace op {
struct relu : elementwise<relu> {
  static constexpr const char* name = "relu";
  static scalar lower(lowering& l) {
    const scalar x = l.arg(0), zero = number_like(x, 0);
    return select(x < zero, zero, x);
  }
  static double value(const attrs&, const double* x) { return x[0] < 0 ? 0 : x[0]; }
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    return ropewalk::where(ropewalk::less(constant<0.0>, s.template in<0>()), g, constant<0.0>);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(relu);

template <floating_expr X>
constexpr auto relu(const X&) {
  return node<op::relu, X>{};
}
template <expression X, class Error = dtype_not_supported<"relu", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error relu(const X&);

}  // namespace ropewalk
