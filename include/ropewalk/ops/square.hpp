// x^2, elementwise: one node, so that a long x is named once.
#pragma once
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct square : elementwise<square> {
  static constexpr const char* name = "square";
  static scalar lower(lowering& l) {
    const scalar x = l.arg(0);
    return x * x;
  }
  static double value(const attrs&, const double* x) { return x[0] * x[0]; }
  template <int J>
  static constexpr auto grad(auto s) {
    auto x = s.template in<0>();
    return s.cotangent() * (x + x);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(square);

template <floating_expr X>
constexpr auto square(const X&) {
  return node<op::square, X>{};
}
template <expression X, class Error = dtype_not_supported<"square", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error square(const X&);

}  // namespace ropewalk
