// 1 / sqrt(x), elementwise. Gradient: -y^3 / 2.
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct rsqrt : elementwise<rsqrt> {
  static constexpr const char* name = "rsqrt";
  static scalar lower(lowering& l) { return l.apply(scalar_op::rsqrt, {l.arg(0)}); }
  static double value(const attrs&, const double* x) { return 1 / __builtin_sqrt(x[0]); }
  template <int J>
  static constexpr auto grad(auto s) {
    auto y = s.out();
    return s.cotangent() * (y * y * y * constant<-0.5>);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(rsqrt);

template <floating_expr X>
constexpr auto rsqrt(const X&) {
  return node<op::rsqrt, X>{};
}
template <expression X, class Error = dtype_not_supported<"rsqrt", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error rsqrt(const X&);

}  // namespace ropewalk
