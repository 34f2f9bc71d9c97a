// log(1 + e^x), elementwise. Computed as max(x, 0) + log1p(e^-|x|), which never overflows and keeps
// the small values at large -x. log1p from log: W. Kahan's log(u) e / (u - 1), u = 1 + e rounded.
// Gradient: sigmoid(x).
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/sigmoid.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {
namespace op {
struct softplus : elementwise<softplus> {
  static constexpr const char* name = "softplus";
  static scalar lower(lowering& l) {
    const scalar x = l.arg(0), e = l.apply(scalar_op::exp, {-l.apply(scalar_op::abs, {x})});
    const scalar u = 1.0 + e, one = number_like(x, 1);
    const scalar log1p =
        select(u == one, e, l.apply(scalar_op::log, {u}) * select(u == one, one, e / (u - 1.0)));
    return l.apply(scalar_op::max, {x, number_like(x, 0)}) + log1p;
  }
  static double value(const attrs&, const double* x) {
    return (x[0] > 0 ? x[0] : 0) + __builtin_log1p(__builtin_exp(-__builtin_fabs(x[0])));
  }
  template <int J>
  static constexpr auto grad(auto s) {
    return s.cotangent() * ropewalk::sigmoid(s.template in<0>());
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(softplus);

template <floating_expr X>
constexpr auto softplus(const X&) {
  return node<op::softplus, X>{};
}
template <expression X, class Error = dtype_not_supported<"softplus", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error softplus(const X&);

}  // namespace ropewalk
