// What max and min over axes share.
#pragma once
#include "ropewalk/ops/cast.hpp"
#include "ropewalk/ops/div.hpp"
#include "ropewalk/ops/equal.hpp"
#include "ropewalk/ops/sum.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk::op {

template <class Self, reduction Kind>
struct extremum_base : reduction_base {
  using family = Self;
  static scalar lower(lowering& l) { return lower_reduction(l, Kind); }
  static void reference(const reference_call& c) {
    std::vector<bool> seen(c.out[0].v.size(), false);
    for_each_reduced(c, [&](std::size_t to, std::size_t, double v) {
      if (!seen[to] || Self::better(v, c.out[0].v[to])) c.out[0].v[to] = v;
      seen[to] = true;
    });
  }
};

// The cotangent divided by the number of tied elements, at those elements.
template <std::int64_t Mask>
constexpr auto share_gradient(auto s) {
  auto x = s.template in<0>();
  using X = decltype(x);
  using kept = ropewalk::detail::kept_shape<X, Mask>;
  auto tied = ropewalk::equal(x, reshape_to<kept>(s.out()));
  auto ones = ropewalk::cast<X::type.d>(tied);
  auto ties = node<sum<Mask, true>, decltype(ones)>{};
  return ropewalk::where(tied, reshape_to<kept>(s.cotangent()) / ties, constant<0.0>);
}

}  // namespace ropewalk::op
