// argmax<axis>(x): where along an axis (the last unless given) the largest element stands, i32; of
// equal ones the first. The axis is dropped. No gradient.
#pragma once
#include "ropewalk/ops/support/reduction.hpp"

namespace ropewalk {

namespace op {
struct argmax_family : reduction_base {
  using family = argmax_family;
  static constexpr const char* name = "argmax";
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    return {dtype::i32, reduced_shape(in[0].s, a)};
  }
  static scalar lower(lowering& l) { return lower_reduction(l, reduction::argmax); }
  static void reference(const reference_call& c) {
    std::vector<double> best(c.out[0].v.size());
    std::vector<int> seen(c.out[0].v.size(), 0);
    for_each_reduced(c, [&](std::size_t to, std::size_t, double v) {
      if (seen[to] == 0 || v > best[to]) best[to] = v, c.out[0].v[to] = seen[to];
      ++seen[to];
    });
  }
};
template <std::int64_t Mask>
struct argmax : argmax_family {
  static constexpr attrs attributes = reduction_attrs(Mask, false);
  template <int J>
  static constexpr auto grad(auto) {
    return no_gradient{};
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(argmax_family);

template <int Axis = -1, expression X>
  requires(axes{Axis}.mask(X::type.s.rank) >= 0)
constexpr auto argmax(const X&) {
  return node<op::argmax<axes{Axis}.mask(X::type.s.rank)>, X>{};
}
template <int Axis = -1, expression X, class Error = axis_out_of_range<"argmax", Axis, shp_of<X>>>
  requires(axes{Axis}.mask(X::type.s.rank) < 0)
Error argmax(const X&);

}  // namespace ropewalk
