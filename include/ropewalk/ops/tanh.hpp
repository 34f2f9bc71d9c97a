// Hyperbolic tangent, elementwise. Gradient: 1 - y^2.
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct tanh : elementwise<tanh> {
  static constexpr const char* name = "tanh";
  static scalar lower(lowering& l) { return l.apply(scalar_op::tanh, {l.arg(0)}); }
  static double value(const attrs&, const double* x) { return __builtin_tanh(x[0]); }
  template <int J>
  static constexpr auto grad(auto s) {
    auto y = s.out();
    return s.cotangent() * (constant<1.0> - y * y);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(tanh);

template <floating_expr X>
constexpr auto tanh(const X&) {
  return node<op::tanh, X>{};
}
template <expression X, class Error = dtype_not_supported<"tanh", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error tanh(const X&);

}  // namespace ropewalk
