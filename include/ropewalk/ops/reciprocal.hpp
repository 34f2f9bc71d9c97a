// 1 / x, elementwise. Gradient: -y^2.
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/neg.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct reciprocal : elementwise<reciprocal> {
  static constexpr const char* name = "reciprocal";
  static scalar lower(lowering& l) { return 1.0 / l.arg(0); }
  static double value(const attrs&, const double* x) { return 1 / x[0]; }
  template <int J>
  static constexpr auto grad(auto s) {
    auto y = s.out();
    return -(s.cotangent() * (y * y));
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(reciprocal);

template <floating_expr X>
constexpr auto reciprocal(const X&) {
  return node<op::reciprocal, X>{};
}
template <expression X, class Error = dtype_not_supported<"reciprocal", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error reciprocal(const X&);

}  // namespace ropewalk
