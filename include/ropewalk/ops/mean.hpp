// Mean over axes: mean<axes{-1}>(x); mean(x) over all. Gradient: the cotangent / n, repeated.
#pragma once
#include "ropewalk/ops/div.hpp"
#include "ropewalk/ops/sum.hpp"
#include "ropewalk/ops/support/axes.hpp"

namespace ropewalk {

template <axes A = axes{}, expression X>
  requires reducible<X, A>
constexpr auto mean(const X& x) {
  constexpr dim n = detail::elements_of_axes(X::type.s, A.mask(X::type.s.rank));
  return sum<A>(x) / dim_value<n, X::type.d>();
}
template <axes A = axes{}, expression X, class Error = axes_mistake<"mean", A, X>>
  requires(!reducible<X, A>)
Error mean(const X&);

}  // namespace ropewalk
