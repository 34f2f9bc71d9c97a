// bce_with_logits(x, y): binary cross entropy of logits x against probabilities y, the mean over
// all elements of log(1 + e^x) - x y. Stable for any finite x.
#pragma once
#include "ropewalk/ops/mean.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/softplus.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/support/composed.hpp"
#include "ropewalk/ops/support/loss.hpp"

namespace ropewalk {

namespace composed {
struct bce_with_logits {
  static constexpr const char* name = "bce_with_logits";
  static constexpr auto apply(auto x, auto y) { return ropewalk::softplus(x) - x * y; }
};
}  // namespace composed

template <floating_expr X, floating_expr Y>
  requires same_type<X, Y>
constexpr auto bce_with_logits(const X& x, const Y& y) {
  return mean(detail::call_body<composed::bce_with_logits>(x, y));
}
template <expression X, expression Y, class Error = loss_mistake<"bce_with_logits", X, Y>>
  requires(!(floating_expr<X> && same_type<X, Y>))
Error bce_with_logits(const X&, const Y&);

}  // namespace ropewalk
