// Sum over axes: sum<axes{-1}>(x); sum(x) over all. Gradient: the cotangent, repeated.
#pragma once
#include "ropewalk/ops/expand.hpp"
#include "ropewalk/ops/reshape.hpp"
#include "ropewalk/ops/support/reduction.hpp"

namespace ropewalk {

namespace op {
struct sum_family : reduction_base {
  using family = sum_family;
  static constexpr const char* name = "sum";
  static scalar lower(lowering& l) { return lower_reduction(l, reduction::sum); }
  static void reference(const reference_call& c) {
    for_each_reduced(c, [&](std::size_t to, std::size_t, double v) { c.out[0].v[to] += v; });
  }
};
template <std::int64_t Mask, bool KeepDim>
struct sum : sum_family {
  static constexpr attrs attributes = reduction_attrs(Mask, KeepDim);
  template <int J>
  static constexpr auto grad(auto s) {
    auto x = s.template in<0>();
    using X = decltype(x);
    return expand_to<shp_of<X>>(reshape_to<detail::kept_shape<X, Mask>>(s.cotangent()));
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(sum_family);

template <axes A = axes{}, expression X>
  requires(A.mask(X::type.s.rank) >= 0)
constexpr auto sum(const X&) {
  return node<op::sum<A.mask(X::type.s.rank), A.keepdim>, X>{};
}
template <axes A = axes{}, expression X,
          class Error = axis_out_of_range<"sum", A.bad(X::type.s.rank), shp_of<X>>>
  requires(A.mask(X::type.s.rank) < 0)
Error sum(const X&);

}  // namespace ropewalk
