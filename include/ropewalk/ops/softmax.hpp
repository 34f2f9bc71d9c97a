// softmax<axes{-1}>(x): e^x / (the sum of e^x over the axes, the last unless given). Stable for any
// finite x; a group of -inf only gives zeros, and zero gradients.
#pragma once
#include "ropewalk/ops/reciprocal.hpp"
#include "ropewalk/ops/support/axes.hpp"
#include "ropewalk/ops/support/composed.hpp"
#include "ropewalk/ops/support/shifted_exp.hpp"

namespace ropewalk {

namespace composed {
template <axes A>
struct softmax {
  static constexpr const char* name = "softmax";
  static constexpr auto apply(auto x) {
    auto e = ropewalk::exp(detail::shifted<A>(x));
    return e * reciprocal(detail::nonzero(sum<A.keep()>(e)));
  }
};
}  // namespace composed

template <axes A = axes{-1}, expression X>
  requires reducible<X, A>
constexpr auto softmax(const X& x) {
  return detail::call_body<composed::softmax<A>>(x);
}
template <axes A = axes{-1}, expression X, class Error = axes_mistake<"softmax", A, X>>
  requires(!reducible<X, A>)
Error softmax(const X&);

}  // namespace ropewalk
