// Mean over axes: mean<axes{-1}>(x); mean(x) over all. The sum divided by the number of elements.
#pragma once
#include "ropewalk/ops/dim_value.hpp"
#include "ropewalk/ops/div.hpp"
#include "ropewalk/ops/sum.hpp"

namespace ropewalk {

namespace detail {
// How many elements of a shape one reduced element stands for.
constexpr dim reduced_count(const shape& s, std::int64_t mask) {
  dim n = 1;
  for (int i = 0; i < s.rank; ++i)
    if (mask >> i & 1) n = n * s[i];
  return n;
}
}  // namespace detail

template <axes A = axes{}, floating_expr X>
  requires(A.mask(X::type.s.rank) >= 0)
constexpr auto mean(const X& x) {
  constexpr dim n = detail::reduced_count(X::type.s, A.mask(X::type.s.rank));
  return sum<A>(x) / dim_value<n, X::type.d>();
}
template <axes A = axes{}, expression X,
          class Error = axis_out_of_range<"mean", A.bad(X::type.s.rank), shp_of<X>>>
  requires(A.mask(X::type.s.rank) < 0)
Error mean(const X&);
template <axes A = axes{}, expression X,
          class Error = dtype_not_supported<"mean", X::type.d, shp_of<X>>>
  requires(!floating_expr<X> && A.mask(X::type.s.rank) >= 0)
Error mean(const X&);

}  // namespace ropewalk
