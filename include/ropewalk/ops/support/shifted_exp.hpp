// e^(x - m) and its sum over a group of axes, m the group's largest element: what softmax,
// log_softmax and logsumexp share. Shifting by m changes no result and lets nothing overflow, so m
// carries no gradient. A group of -inf only (all masked) sums to 0 instead of NaN: m is then taken
// as the lowest float, and whoever divides by the sum or takes its logarithm uses `nonzero`.
#pragma once
#include "ropewalk/ops/exp.hpp"
#include "ropewalk/ops/max.hpp"
#include "ropewalk/ops/maximum.hpp"
#include "ropewalk/ops/stop_gradient.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/sum.hpp"

namespace ropewalk::detail {

template <axes A, class X>
constexpr auto shift_of(const X& x) {
  constexpr double lowest = X::type.d == dtype::f16 ? -65504.0 : -3.3895e38;  // bf16 holds it too
  return stop_gradient(maximum(ropewalk::max<A.keep()>(x), constant<lowest>));
}
template <axes A, class X>
constexpr auto shifted(const X& x) {
  return x - shift_of<A>(x);
}
// The sum, or 1 where it is 0.
template <class S>
constexpr auto nonzero(const S& s) {
  return where(equal(s, constant<0.0>), constant<1.0>, s);
}

}  // namespace ropewalk::detail
