// cumsum<axis>(x): out[i] = x[0] + ... + x[i] along an axis (the last unless given), summed in f64
// and rounded once. Gradient: the same from the other end. Element types f32 and f64.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

namespace op {
// i[0] axis, i[1] 1 where the sum starts at the end.
struct cumsum_family {
  using family = cumsum_family;
  static constexpr const char* name = "cumsum";
  static constexpr op_class kind = op_class::kernel;
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int) {
    return in[0];
  }
  static void kernel(const kernel_call& c);  // codegen/cpu/ops/cumsum.cpp
  static void reference(const reference_call& c) {
    const dense& x = *c.in[0];
    std::int64_t stride = 1;
    const std::int64_t n = x.extent[static_cast<std::size_t>(c.a.i[0])];
    for (std::size_t k = static_cast<std::size_t>(c.a.i[0]) + 1; k < x.extent.size(); ++k)
      stride *= x.extent[k];
    for (std::size_t e = 0; e < x.v.size(); ++e) {
      const std::int64_t i = static_cast<std::int64_t>(e) / stride % n;
      const std::int64_t first = c.a.i[1] == 0 ? 0 : i, last = c.a.i[1] == 0 ? i : n - 1;
      for (std::int64_t k = first; k <= last; ++k)
        c.out[0].v[e] += x.v[e + static_cast<std::size_t>((k - i) * stride)];
    }
  }
};
template <int Axis, bool FromEnd>
struct cumsum : cumsum_family {
  static constexpr attrs attributes{.i = {Axis, FromEnd}};
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    return node<op::cumsum<Axis, !FromEnd>, decltype(g)>{};
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(cumsum_family);

namespace detail {
template <int Axis, class X>
inline constexpr bool cumulates = (X::type.d == dtype::f32 || X::type.d == dtype::f64) &&
                                  Axis >= -X::type.s.rank && Axis < X::type.s.rank;
template <int Axis, class X>
using cumsum_mistake = std::conditional_t<X::type.d == dtype::f32 || X::type.d == dtype::f64,
                                          axis_out_of_range<"cumsum", Axis, shp_of<X>>,
                                          dtype_not_supported<"cumsum", X::type.d, shp_of<X>>>;
}  // namespace detail

template <int Axis = -1, expression X>
  requires detail::cumulates<Axis, X>
constexpr auto cumsum(const X&) {
  return node<op::cumsum<(Axis < 0 ? Axis + X::type.s.rank : Axis), false>, X>{};
}
template <int Axis = -1, expression X, class Error = detail::cumsum_mistake<Axis, X>>
  requires(!detail::cumulates<Axis, X>)
Error cumsum(const X&);

}  // namespace ropewalk
