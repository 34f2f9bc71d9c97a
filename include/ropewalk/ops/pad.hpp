// pad<axis, before, after, value>(x): `before` elements of a constant (0 unless given) in front of
// x along an axis, `after` behind. Gradient: the slice of the cotangent that is x's.
#pragma once
#include "ropewalk/ops/slice.hpp"

namespace ropewalk {

namespace op {
// i[0] axis, d[0] before, d[1] extent of x along the axis, d[2] of the result, f[0] value.
struct pad_family {
  using family = pad_family;
  static constexpr const char* name = "pad";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    tensor_type t = in[0];
    t.s[static_cast<int>(a.i[0])] = a.d[2];
    return t;
  }
  static scalar lower(lowering& l) {
    const attrs& a = l.options();
    const int axis = static_cast<int>(a.i[0]);
    const scalar i = l.index(axis), start = l.extent(a.d[0]);
    std::vector<scalar> at;
    for (int k = 0; k < l.type().s.rank; ++k) at.push_back(k == axis ? i - start : l.index(k));
    return select(start <= i && i < start + l.extent(a.d[1]), l.in(0, at),
                  l.number(a.f[0], l.type().d));
  }
  static void reference(const reference_call& c) {
    for (double& v : c.out[0].v) v = c.a.f[0];
    const attrs at{.i = {c.a.i[0], 1}, .d = {c.a.d[0]}};
    for_each_slice({at, c.in, c.out}, *c.in[0], c.out[0],
                   [&](std::size_t s, std::size_t l) { c.out[0].v[l] = c.in[0]->v[s]; });
  }
};
template <int Axis, dim Before, dim Count, dim Full, number Value>
struct pad : pad_family {
  static constexpr attrs attributes{.i = {Axis}, .f = {Value.v}, .d = {Before, Count, Full}};
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    return node<op::slice<Axis, Before, Count, 1>, decltype(g)>{};
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(pad_family);

template <dim Before, dim After, class X>
struct pad_is_negative : mistake<X> {
  static_assert(never<X>, "pad is negative");
};
namespace detail {
constexpr bool axes_pad_in_range(int rank, int axis) { return axis >= -rank && axis < rank; }
constexpr bool pads(const shape& s, int axis, dim before, dim after) {
  return axes_pad_in_range(s.rank, axis) && !(before.fixed() && before.n < 0) &&
         !(after.fixed() && after.n < 0);
}
template <int Axis, dim Before, dim After, class X>
using pad_mistake = std::conditional_t<axes_pad_in_range(X::type.s.rank, Axis),
                                       pad_is_negative<Before, After, shp_of<X>>,
                                       axis_out_of_range<"pad", Axis, shp_of<X>>>;
}  // namespace detail

template <int Axis, dim Before, dim After, number Value = 0.0, expression X>
  requires(detail::pads(X::type.s, Axis, Before, After))
constexpr auto pad(const X&) {
  constexpr int axis = Axis < 0 ? Axis + X::type.s.rank : Axis;
  constexpr dim n = X::type.s[axis];
  return node<op::pad<axis, Before, n, Before + n + After, Value>, X>{};
}
template <int Axis, dim Before, dim After, number Value = 0.0, expression X,
          class Error = detail::pad_mistake<Axis, Before, After, X>>
  requires(!detail::pads(X::type.s, Axis, Before, After))
Error pad(const X&);

}  // namespace ropewalk
