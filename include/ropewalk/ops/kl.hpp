// Kullback-Leibler divergence of predictions x from targets y, the mean over rows (all axes but the
// last) of sum p (log p - log q):
//   kl_from_logits(x, y)     p = softmax(y), q = softmax(x)
//   kl_from_log_probs(x, y)  log p = y, log q = x
#pragma once
#include "ropewalk/ops/div.hpp"
#include "ropewalk/ops/exp.hpp"
#include "ropewalk/ops/log_softmax.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/sum.hpp"
#include "ropewalk/ops/support/loss.hpp"

namespace ropewalk {

namespace composed {
struct kl {
  static constexpr const char* name = "kl";
  template <class X, class Y>
  static constexpr auto apply(X x, Y y) {
    constexpr dim rows = X::type.s.elements() / X::type.s[-1];
    return sum(ropewalk::exp(y) * (y - x)) / dim_value<rows, X::type.d>();
  }
};
}  // namespace composed

namespace detail {
template <class X, class Y>
inline constexpr bool kl_fits = floating_expr<X> && same_type<X, Y> && X::type.s.rank >= 1;
}

template <expression X, expression Y>
  requires detail::kl_fits<X, Y>
constexpr auto kl_from_log_probs(const X& x, const Y& y) {
  return detail::call_body<composed::kl>(x, y);
}
template <expression X, expression Y, class Error = loss_mistake<"kl_from_log_probs", X, Y>>
  requires(!detail::kl_fits<X, Y>)
Error kl_from_log_probs(const X&, const Y&);

template <expression X, expression Y>
  requires detail::kl_fits<X, Y>
constexpr auto kl_from_logits(const X& x, const Y& y) {
  return detail::call_body<composed::kl>(log_softmax(x), log_softmax(y));
}
template <expression X, expression Y, class Error = loss_mistake<"kl_from_logits", X, Y>>
  requires(!detail::kl_fits<X, Y>)
Error kl_from_logits(const X&, const Y&);

}  // namespace ropewalk
