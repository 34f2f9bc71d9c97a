// The smallest element over axes: min<axes{-1}>(x); min(x) over all. Equal smallest elements share
// the gradient equally.
#pragma once
#include "ropewalk/ops/support/extremum.hpp"

namespace ropewalk {

namespace op {
struct min_family : extremum_base<min_family, reduction::min> {
  static constexpr const char* name = "min";
  static bool better(double a, double b) { return a < b; }
};
template <std::int64_t Mask, bool KeepDim>
struct min : min_family {
  static constexpr attrs attributes = reduction_attrs(Mask, KeepDim);
  template <int J>
  static constexpr auto grad(auto s) {
    return share_gradient<Mask>(s);
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(min_family);

template <axes A = axes{}, expression X>
  requires(A.mask(X::type.s.rank) >= 0)
constexpr auto min(const X&) {
  return node<op::min<A.mask(X::type.s.rank), A.keepdim>, X>{};
}
template <axes A = axes{}, expression X,
          class Error = axis_out_of_range<"min", A.bad(X::type.s.rank), shp_of<X>>>
  requires(A.mask(X::type.s.rank) < 0)
Error min(const X&);

}  // namespace ropewalk
