// |x|, elementwise; gradient 0 at 0.
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/sign.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct abs : elementwise<abs> {
  static constexpr const char* name = "abs";
  static scalar lower(lowering& l) { return l.apply(scalar_op::abs, {l.arg(0)}); }
  static double value(const attrs&, const double* x) { return __builtin_fabs(x[0]); }
  template <int J>
  static constexpr auto grad(auto s) {
    return s.cotangent() * ropewalk::sign(s.template in<0>());
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(abs);

template <floating_expr X>
constexpr auto abs(const X&) {
  return node<op::abs, X>{};
}
template <expression X, class Error = dtype_not_supported<"abs", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error abs(const X&);

}  // namespace ropewalk
