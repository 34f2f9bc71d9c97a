// Sine, elementwise (radians).
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/neg.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct cos;
struct sin : elementwise<sin> {
  static constexpr const char* name = "sin";
  static scalar lower(lowering& l) { return l.apply(scalar_op::sin, {l.arg(0)}); }
  static double value(const attrs&, const double* x) { return __builtin_sin(x[0]); }
  template <int J>
  static constexpr auto grad(auto s) {
    return s.cotangent() * make<cos>(s.template in<0>());
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(sin);

template <floating_expr X>
constexpr auto sin(const X&) {
  return node<op::sin, X>{};
}
template <expression X, class Error = dtype_not_supported<"sin", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error sin(const X&);

}  // namespace ropewalk
