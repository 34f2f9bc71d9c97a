// add_scalars(a, b, ...): the sum of any number of scalars, in order, in float64. One kernel whatever
// the number, so that a program's text does not depend on how many parameters it has (the global norm
// of the gradients). Gradient: the cotangent for each.
#pragma once
#include "ropewalk/core/mistake.hpp"
#include "ropewalk/ops/cast.hpp"

namespace ropewalk {

namespace op {
struct add_scalars {
  using family = add_scalars;
  static constexpr const char* name = "add_scalars";
  static constexpr op_class kind = op_class::kernel;
  static constexpr attrs attributes{};
  static constexpr tensor_type result(const attrs&, const tensor_type*, int, int) {
    return {dtype::f64, shape{}};
  }
  static void kernel(const kernel_call& c);  // codegen/cpu/ops/add_scalars.cpp
  static void reference(const reference_call& c) {
    for (const dense* x : c.in) c.out[0].v[0] += x->v[0];
  }
  template <int J>
  static constexpr auto grad(auto s) {
    return cast<decltype(s.template in<J>())::type.d>(s.cotangent());
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(add_scalars);

// An operand of add_scalars with axes, or not floating.
template <class Shp>
struct add_scalars_needs_scalars : mistake<Shp> {
  static_assert(never<Shp>, "[add_scalars] every operand is a floating scalar: reduce it first");
};

namespace detail {
template <class X>
inline constexpr bool is_scalar = floating_expr<X> && X::type.s.rank == 0;
}

template <expression X, expression... More>
  requires(detail::is_scalar<X> && (detail::is_scalar<More> && ...))
constexpr auto add_scalars(const X&, const More&...) {
  return node<op::add_scalars, X, More...>{};
}
template <expression X, expression... More, class Error = add_scalars_needs_scalars<shp_of<X>>>
  requires(!(detail::is_scalar<X> && (detail::is_scalar<More> && ...)))
Error add_scalars(const X&, const More&...);

}  // namespace ropewalk
