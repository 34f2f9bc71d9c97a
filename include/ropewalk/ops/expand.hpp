// expand: x repeated to a larger shape by NumPy broadcasting (size-1 and missing leading axes).
// Gradient: the sum over the repeated axes.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"
#include "ropewalk/ops/support/shape_attrs.hpp"

namespace ropewalk {

namespace op {
struct expand_family {
  using family = expand_family;
  static constexpr const char* name = "expand";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    return {in[0].d, shape_in(a)};
  }
  static scalar lower(lowering& l) { return l.arg(0); }
  static void reference(const reference_call& c) {
    dense& out = c.out[0];
    for (std::size_t e = 0; e < out.v.size(); ++e)
      out.v[e] = c.in[0]->v[broadcast_position(out.extent, c.in[0]->extent,
                                               static_cast<std::int64_t>(e))];
  }
};
template <class Shp>
struct expand : expand_family {
  static constexpr attrs attributes = attrs_of(Shp::value);
  template <int J>
  static constexpr auto grad(auto s);
};
}  // namespace op
ROPEWALK_LIBRARY_OP(expand_family);

template <class X, class Target>
struct cannot_expand : mistake<Target> {
  static_assert(never<Target>, "cannot expand");
};
namespace detail {
template <class Shp, class X>
inline constexpr bool expands = [] {
  constexpr broadcast_result r = broadcast(X::type.s, Shp::value);
  return r.ok && r.s == Shp::value;
}();
}  // namespace detail

// x as shape Shp (a type, shp_of<...>).
template <class Shp, expression X>
  requires detail::expands<Shp, X>
constexpr auto expand_to(const X& x) {
  if constexpr (X::type.s == Shp::value) return x;
  else return node<op::expand<Shp>, X>{};
}
template <class Shp, expression X, class Error = cannot_expand<shp_of<X>, Shp>>
  requires(!detail::expands<Shp, X>)
Error expand_to(const X&);

// expand<B, T, C>(x)
template <dim... D, expression X>
  requires detail::expands<shp_of_dims<D...>, X>
constexpr auto expand(const X& x) {
  return expand_to<shp_of_dims<D...>>(x);
}
template <dim... D, expression X, class Error = cannot_expand<shp_of<X>, shp_of_dims<D...>>>
  requires(!detail::expands<shp_of_dims<D...>, X>)
Error expand(const X&);

}  // namespace ropewalk

#include "ropewalk/ops/sum_to.hpp"

template <class Shp>
template <int J>
constexpr auto ropewalk::op::expand<Shp>::grad(auto s) {
  return sum_to(s.cotangent(), s.template in<0>());
}
