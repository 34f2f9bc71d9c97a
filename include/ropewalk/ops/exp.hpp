// e^x, elementwise.
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct exp : elementwise<exp> {
  static constexpr const char* name = "exp";
  static scalar lower(lowering& l) { return l.apply(scalar_op::exp, {l.arg(0)}); }
  static double value(const attrs&, const double* x) { return __builtin_exp(x[0]); }
  template <int J>
  static constexpr auto grad(auto s) {
    return s.cotangent() * s.out();
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(exp);

template <floating_expr X>
constexpr auto exp(const X&) {
  return node<op::exp, X>{};
}
template <expression X, class Error = dtype_not_supported<"exp", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error exp(const X&);

}  // namespace ropewalk
