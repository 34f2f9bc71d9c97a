// elu<alpha>(x): x where x > 0, else alpha (e^x - 1), elementwise (alpha 1 unless given). The
// gradient is that of the negative side at 0: alpha e^x = y + alpha.
#pragma once
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/less.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk {

namespace op {
struct elu_family : elementwise<elu_family> {
  static constexpr const char* name = "elu";
  static scalar lower(lowering& l) {
    const scalar x = l.arg(0);
    return select(number_like(x, 0) < x, x,
                  (l.apply(scalar_op::exp, {x}) - 1.0) * l.options().f[0]);
  }
  static double value(const attrs& a, const double* x) {
    return x[0] > 0 ? x[0] : a.f[0] * __builtin_expm1(x[0]);
  }
};
template <number Alpha>
struct elu : elu_family {
  static constexpr attrs attributes{.f = {Alpha.v}};
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    return ropewalk::where(ropewalk::less(constant<0.0>, s.template in<0>()), g,
                           g * (s.out() + constant<Alpha>));
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(elu_family);

template <number Alpha = 1.0, floating_expr X>
constexpr auto elu(const X&) {
  return node<op::elu<Alpha>, X>{};
}
template <number Alpha = 1.0, expression X,
          class Error = dtype_not_supported<"elu", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error elu(const X&);

}  // namespace ropewalk
