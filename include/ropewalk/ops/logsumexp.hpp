// logsumexp<axes{-1}>(x): log of the sum of e^x over the axes; logsumexp(x) over all. Stable for
// any finite x; a group of -inf only gives -inf, and zero gradients. Gradient: softmax.
#pragma once
#include "ropewalk/ops/log.hpp"
#include "ropewalk/ops/support/axes.hpp"
#include "ropewalk/ops/support/composed.hpp"
#include "ropewalk/ops/support/shifted_exp.hpp"

namespace ropewalk {

namespace composed {
template <axes A>
struct logsumexp {
  static constexpr const char* name = "logsumexp";
  template <class X>
  static constexpr auto apply(X x) {
    auto total = sum<A.keep()>(ropewalk::exp(detail::shifted<A>(x)));
    auto largest = stop_gradient(ropewalk::max<A.keep()>(x));
    auto y = ropewalk::log(detail::nonzero(total)) + detail::shift_of<A>(x);
    using result = shp_for<reduced<X>>;
    return reshape_to<result>(where(equal(total, constant<0.0>), largest, y));
  }
  template <class X>
  struct reduced {
    static constexpr shape value =
        op::reduced_shape(X::type.s, op::reduction_attrs(A.mask(X::type.s.rank), A.keepdim));
  };
};
}  // namespace composed

template <axes A = axes{}, expression X>
  requires reducible<X, A>
constexpr auto logsumexp(const X& x) {
  return detail::call_body<composed::logsumexp<A>>(x);
}
template <axes A = axes{}, expression X, class Error = axes_mistake<"logsumexp", A, X>>
  requires(!reducible<X, A>)
Error logsumexp(const X&);

}  // namespace ropewalk
