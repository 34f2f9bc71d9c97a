// What ops over axes of floats share: which operands they take, the mistakes of others, and how
// many elements a group has.
#pragma once
#include "ropewalk/ops/dim_value.hpp"
#include "ropewalk/ops/support/reduction.hpp"

namespace ropewalk {

template <class X, axes A>
concept reducible = floating_expr<X> && A.mask(X::type.s.rank) >= 0;

template <text Op, axes A, class X>
using axes_mistake =
    std::conditional_t<floating_expr<X>, axis_out_of_range<Op, A.bad(X::type.s.rank), shp_of<X>>,
                       dtype_not_supported<Op, X::type.d, shp_of<X>>>;

namespace detail {

constexpr dim elements_of_axes(const shape& s, std::int64_t mask) {
  dim n = 1;
  for (int i = 0; i < s.rank; ++i)
    if (mask >> i & 1) n = n * s[i];
  return n;
}

}  // namespace detail

}  // namespace ropewalk
