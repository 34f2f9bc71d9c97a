// log_softmax<axes{-1}>(x): x - log(the sum of e^x over the axes, the last unless given). Stable
// for any finite x; a group of -inf only stays so.
#pragma once
#include "ropewalk/ops/log.hpp"
#include "ropewalk/ops/support/axes.hpp"
#include "ropewalk/ops/support/composed.hpp"
#include "ropewalk/ops/support/shifted_exp.hpp"

namespace ropewalk {

namespace composed {
template <axes A>
struct log_softmax {
  static constexpr const char* name = "log_softmax";
  static constexpr auto apply(auto x) {
    auto u = detail::shifted<A>(x);
    return u - ropewalk::log(detail::nonzero(sum<A.keep()>(ropewalk::exp(u))));
  }
};
}  // namespace composed

template <axes A = axes{-1}, expression X>
  requires reducible<X, A>
constexpr auto log_softmax(const X& x) {
  return detail::call_body<composed::log_softmax<A>>(x);
}
template <axes A = axes{-1}, expression X, class Error = axes_mistake<"log_softmax", A, X>>
  requires(!reducible<X, A>)
Error log_softmax(const X&);

}  // namespace ropewalk
