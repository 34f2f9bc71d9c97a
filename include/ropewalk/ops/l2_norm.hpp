// l2_norm(x): x / sqrt(sum of x^2 + eps) over the last axis; l2_norm_max(x): x / max(|x|, eps),
// where |x| is the root of that sum.
#pragma once
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/maximum.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/rsqrt.hpp"
#include "ropewalk/ops/square.hpp"
#include "ropewalk/ops/sum.hpp"
#include "ropewalk/ops/support/axes.hpp"
#include "ropewalk/ops/support/composed.hpp"

namespace ropewalk {

namespace composed {
template <number Eps>
struct l2_norm {
  static constexpr const char* name = "l2_norm";
  static constexpr auto apply(auto x) {
    return x * ropewalk::rsqrt(sum<axes{-1}.keep()>(square(x)) + constant<Eps>);
  }
};
// 1 / max(|x|, eps) as rsqrt(max(x^2, eps^2)): no root, so no infinite gradient, at x = 0.
template <number Eps>
struct l2_norm_max {
  static constexpr const char* name = "l2_norm_max";
  static constexpr auto apply(auto x) {
    return x * ropewalk::rsqrt(maximum(sum<axes{-1}.keep()>(square(x)), constant<Eps.v * Eps.v>));
  }
};
}  // namespace composed

template <number Eps = 1e-12, expression X>
  requires reducible<X, axes{-1}>
constexpr auto l2_norm(const X& x) {
  return detail::call_body<composed::l2_norm<Eps>>(x);
}
template <number Eps = 1e-12, expression X, class Error = axes_mistake<"l2_norm", axes{-1}, X>>
  requires(!reducible<X, axes{-1}>)
Error l2_norm(const X&);

template <number Eps = 1e-12, expression X>
  requires reducible<X, axes{-1}>
constexpr auto l2_norm_max(const X& x) {
  return detail::call_body<composed::l2_norm_max<Eps>>(x);
}
template <number Eps = 1e-12, expression X, class Error = axes_mistake<"l2_norm_max", axes{-1}, X>>
  requires(!reducible<X, axes{-1}>)
Error l2_norm_max(const X&);

}  // namespace ropewalk
