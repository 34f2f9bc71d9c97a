// The largest element over axes: max<axes{-1}>(x); max(x) over all. Equal largest elements share
// the gradient equally.
#pragma once
#include "ropewalk/ops/support/extremum.hpp"

namespace ropewalk {

namespace op {
struct max_family : extremum_base<max_family, reduction::max> {
  static constexpr const char* name = "max";
  static bool better(double a, double b) { return a > b; }
};
template <std::int64_t Mask, bool KeepDim>
struct max : max_family {
  static constexpr attrs attributes = reduction_attrs(Mask, KeepDim);
  template <int J>
  static constexpr auto grad(auto s) {
    return share_gradient<Mask>(s);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(max_family);

template <axes A = axes{}, expression X>
  requires(A.mask(X::type.s.rank) >= 0)
constexpr auto max(const X&) {
  return node<op::max<A.mask(X::type.s.rank), A.keepdim>, X>{};
}
template <axes A = axes{}, expression X,
          class Error = axis_out_of_range<"max", A.bad(X::type.s.rank), shp_of<X>>>
  requires(A.mask(X::type.s.rank) < 0)
Error max(const X&);

}  // namespace ropewalk
