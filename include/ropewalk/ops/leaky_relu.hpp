// leaky_relu<slope>(x): x where x > 0, else slope x, elementwise (slope 0.01 unless given). The
// gradient at 0 is that of the negative side.
#pragma once
#include "ropewalk/ops/less.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk {

namespace op {
struct leaky_relu_family : elementwise<leaky_relu_family> {
  static constexpr const char* name = "leaky_relu";
  static scalar lower(lowering& l) {
    const scalar x = l.arg(0);
    return select(number_like(x, 0) < x, x, x * l.options().f[0]);
  }
  static double value(const attrs& a, const double* x) { return x[0] > 0 ? x[0] : a.f[0] * x[0]; }
};
template <number Slope>
struct leaky_relu : leaky_relu_family {
  static constexpr attrs attributes{.f = {Slope.v}};
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    return ropewalk::where(ropewalk::less(constant<0.0>, s.template in<0>()), g,
                           g * constant<Slope>);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(leaky_relu_family);

template <number Slope = 0.01, floating_expr X>
constexpr auto leaky_relu(const X&) {
  return node<op::leaky_relu<Slope>, X>{};
}
template <number Slope = 0.01, expression X,
          class Error = dtype_not_supported<"leaky_relu", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error leaky_relu(const X&);

}  // namespace ropewalk
