// Error function, elementwise. Gradient: 2/sqrt(pi) e^(-x^2).
#pragma once
#include "ropewalk/ops/exp.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/neg.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct erf : elementwise<erf> {
  static constexpr const char* name = "erf";
  static scalar lower(lowering& l) { return l.apply(scalar_op::erf, {l.arg(0)}); }
  static double value(const attrs&, const double* x) { return __builtin_erf(x[0]); }
  template <int J>
  static constexpr auto grad(auto s) {
    auto x = s.template in<0>();
    return s.cotangent() * (ropewalk::exp(-(x * x)) * constant<1.1283791670955126>);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(erf);

template <floating_expr X>
constexpr auto erf(const X&) {
  return node<op::erf, X>{};
}
template <expression X, class Error = dtype_not_supported<"erf", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error erf(const X&);

}  // namespace ropewalk
