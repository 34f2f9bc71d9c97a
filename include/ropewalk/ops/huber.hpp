// huber<delta>(x, y): the mean over all elements of h(|x - y|), h(r) = r^2 / 2 up to delta (1
// unless given), then the tangent: delta (r - delta / 2).
#pragma once
#include "ropewalk/ops/clamp.hpp"
#include "ropewalk/ops/mean.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/support/loss.hpp"

namespace ropewalk {

namespace op {
// Of one residual. Gradient: the residual brought into [-delta, delta].
struct huber_family : elementwise<huber_family> {
  static constexpr const char* name = "huber";
  static scalar lower(lowering& l) {
    const double delta = l.options().f[0];
    const scalar r = l.apply(scalar_op::abs, {l.arg(0)});
    return select(r <= number_like(r, delta), r * r * 0.5, (r - 0.5 * delta) * delta);
  }
  static double value(const attrs& a, const double* x) {
    const double delta = a.f[0], r = __builtin_fabs(x[0]);
    return r <= delta ? 0.5 * r * r : delta * (r - 0.5 * delta);
  }
};
template <number Delta>
struct huber : huber_family {
  static constexpr attrs attributes{.f = {Delta.v}};
  template <int J>
  static constexpr auto grad(auto s) {
    return s.cotangent() * ropewalk::clamp<-Delta.v, Delta>(s.template in<0>());
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(huber_family);

template <number Delta = 1.0, floating_expr X, floating_expr Y>
  requires(same_type<X, Y> && Delta.v > 0)
constexpr auto huber(const X& x, const Y& y) {
  return mean(make<op::huber<Delta>>(x - y));
}
template <number Delta = 1.0, expression X, expression Y, class Error = loss_mistake<"huber", X, Y>>
  requires(!(floating_expr<X> && same_type<X, Y> && Delta.v > 0))
Error huber(const X&, const Y&);

}  // namespace ropewalk
