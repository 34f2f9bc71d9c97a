// softsign(x) = x / (1 + |x|), elementwise. Gradient: (1 - |y|)^2.
#pragma once
#include "ropewalk/ops/abs.hpp"
#include "ropewalk/ops/square.hpp"
#include "ropewalk/ops/sub.hpp"

namespace ropewalk {
namespace op {
struct softsign : elementwise<softsign> {
  static constexpr const char* name = "softsign";
  static scalar lower(lowering& l) {
    const scalar x = l.arg(0);
    return x / (1.0 + l.apply(scalar_op::abs, {x}));
  }
  static double value(const attrs&, const double* x) { return x[0] / (1 + __builtin_fabs(x[0])); }
  template <int J>
  static constexpr auto grad(auto s) {
    return s.cotangent() * ropewalk::square(constant<1.0> - ropewalk::abs(s.out()));
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(softsign);

template <floating_expr X>
constexpr auto softsign(const X&) {
  return node<op::softsign, X>{};
}
template <expression X, class Error = dtype_not_supported<"softsign", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error softsign(const X&);

}  // namespace ropewalk
