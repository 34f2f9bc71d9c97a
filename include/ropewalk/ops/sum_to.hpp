// sum_to: g summed down to the shape that broadcasting started from: the adjoint of expand.
#pragma once
#include "ropewalk/ops/reshape.hpp"
#include "ropewalk/ops/support/reduction.hpp"

namespace ropewalk {

namespace op {
template <std::int64_t Mask, bool KeepDim>
struct sum;
}

namespace detail {
// The axes of `from` that broadcasting `to` had repeated.
constexpr std::int64_t broadcast_mask(const shape& from, const shape& to) {
  std::int64_t m = 0;
  for (int i = 0; i < from.rank; ++i) {
    const int j = i - (from.rank - to.rank);
    if (j < 0 || (to[j] == dim(1) && !(from[i] == dim(1)))) m |= std::int64_t{1} << i;
  }
  return m;
}
}  // namespace detail

// g with the shape of x, to which x was broadcast.
template <class G, class X>
constexpr auto sum_to(const G& g, const X&) {
  if constexpr (std::is_same_v<G, no_gradient> || G::type.s == X::type.s) {
    return g;
  } else {
    constexpr std::int64_t mask = detail::broadcast_mask(G::type.s, X::type.s);
    return reshape_to<shp_of<X>>(node<op::sum<mask, true>, G>{});
  }
}

}  // namespace ropewalk

#include "ropewalk/ops/sum.hpp"  // sum itself needs expand, whose gradient is sum_to
