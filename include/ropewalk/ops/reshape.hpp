// reshape: the same elements in the same row-major order under another shape.
//   reshape<B * T, C>(x)
// Both shapes must have the same number of elements. Gradient: reshape back.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"
#include "ropewalk/ops/support/shape_attrs.hpp"

namespace ropewalk {

namespace op {
struct reshape_family {
  using family = reshape_family;
  static constexpr const char* name = "reshape";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    return {in[0].d, shape_in(a)};
  }
  static scalar lower(lowering& l) { return l.in(0, reshape_index(l, l.type().s, l.type(0).s)); }
  static void reference(const reference_call& c) { c.out[0].v = c.in[0]->v; }
};
template <class Shp>
struct reshape : reshape_family {
  static constexpr attrs attributes = attrs_of(Shp::value);
  template <int J>
  static constexpr auto grad(auto s);
};
}  // namespace op
ROPEWALK_LIBRARY_OP(reshape_family);

template <class X, class Target>
struct reshape_changes_element_count : mistake<Target> {
  static_assert(never<Target>, "reshape changes element count");
};
namespace detail {
template <class Shp, class X>
inline constexpr bool reshapes = same_elements(X::type.s, Shp::value);
}

template <class Shp, expression X>
  requires detail::reshapes<Shp, X>
constexpr auto reshape_to(const X& x) {
  if constexpr (X::type.s == Shp::value) return x;
  else return node<op::reshape<Shp>, X>{};
}
template <class Shp, expression X, class Error = reshape_changes_element_count<shp_of<X>, Shp>>
  requires(!detail::reshapes<Shp, X>)
Error reshape_to(const X&);

template <dim... D, expression X>
  requires detail::reshapes<shp_of_dims<D...>, X>
constexpr auto reshape(const X& x) {
  return reshape_to<shp_of_dims<D...>>(x);
}
template <dim... D, expression X,
          class Error = reshape_changes_element_count<shp_of<X>, shp_of_dims<D...>>>
  requires(!detail::reshapes<shp_of_dims<D...>, X>)
Error reshape(const X&);

}  // namespace ropewalk

template <class Shp>
template <int J>
constexpr auto ropewalk::op::reshape<Shp>::grad(auto s) {
  return reshape_to<shp_of<decltype(s.template in<0>())>>(s.cotangent());
}
