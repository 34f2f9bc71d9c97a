// Variance over axes: variance<axes{-1}>(x), of mean squared deviations; variance<axes{-1}, 1>(x)
// divides by n - 1 instead of n.
#pragma once
#include "ropewalk/ops/mean.hpp"
#include "ropewalk/ops/square.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/support/composed.hpp"

namespace ropewalk {

namespace composed {
template <axes A, int Correction>
struct variance {
  static constexpr const char* name = "variance";
  template <class X>
  static constexpr auto apply(X x) {
    constexpr dim n = detail::elements_of_axes(X::type.s, A.mask(X::type.s.rank));
    return sum<A>(square(x - mean<A.keep()>(x))) / dim_value<n - dim(Correction), X::type.d>();
  }
};
}  // namespace composed

template <axes A = axes{}, int Correction = 0, expression X>
  requires reducible<X, A>
constexpr auto variance(const X& x) {
  return detail::call_body<composed::variance<A, Correction>>(x);
}
template <axes A = axes{}, int Correction = 0, expression X,
          class Error = axes_mistake<"variance", A, X>>
  requires(!reducible<X, A>)
Error variance(const X&);

}  // namespace ropewalk
