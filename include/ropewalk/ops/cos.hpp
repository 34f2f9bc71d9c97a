// Cosine, elementwise (radians).
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/neg.hpp"
#include "ropewalk/ops/sin.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct cos : elementwise<cos> {
  static constexpr const char* name = "cos";
  static scalar lower(lowering& l) { return l.apply(scalar_op::cos, {l.arg(0)}); }
  static double value(const attrs&, const double* x) { return __builtin_cos(x[0]); }
  template <int J>
  static constexpr auto grad(auto s) {
    return -(s.cotangent() * ropewalk::sin(s.template in<0>()));
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(cos);

template <floating_expr X>
constexpr auto cos(const X&) {
  return node<op::cos, X>{};
}
template <expression X, class Error = dtype_not_supported<"cos", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error cos(const X&);

}  // namespace ropewalk
