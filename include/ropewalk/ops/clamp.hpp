// clamp<min, max>(x): x brought into [min, max], elementwise; clamp_min<min>(x) and
// clamp_max<max>(x) have one bound. The gradient passes where min <= x <= max, at the edges too.
// NaN stays NaN.
#pragma once
#include "ropewalk/ops/less_equal.hpp"
#include "ropewalk/ops/logical_and.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk {

namespace op {

inline constexpr double no_bound = __builtin_inf();

struct clamp_family : elementwise<clamp_family> {
  static constexpr const char* name = "clamp";
  static scalar lower(lowering& l) {
    const double min = l.options().f[0], max = l.options().f[1];
    scalar x = l.arg(0);
    if (min != -no_bound) x = select(x < number_like(x, min), number_like(x, min), x);
    if (max != no_bound) x = select(number_like(x, max) < x, number_like(x, max), x);
    return x;
  }
  static double value(const attrs& a, const double* x) {
    return x[0] < a.f[0] ? a.f[0] : x[0] > a.f[1] ? a.f[1] : x[0];
  }
};
template <number Min, number Max>
struct clamp : clamp_family {
  static constexpr attrs attributes{.f = {Min.v, Max.v}};
  template <int J>
  static constexpr auto grad(auto s) {
    auto x = s.template in<0>();
    auto g = s.cotangent();
    constexpr bool above = Min.v != -no_bound, below = Max.v != no_bound;
    if constexpr (above && below)
      return ropewalk::where(constant<Min> <= x && x <= constant<Max>, g, constant<0.0>);
    else if constexpr (above)
      return ropewalk::where(constant<Min> <= x, g, constant<0.0>);
    else if constexpr (below)
      return ropewalk::where(x <= constant<Max>, g, constant<0.0>);
    else
      return g;
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(clamp_family);

template <class X>
struct clamp_min_above_max : mistake<X> {
  static_assert(never<X>, "clamp min above max");
};
namespace detail {
template <class X>
using clamp_mistake = std::conditional_t<floating_expr<X>, clamp_min_above_max<shp_of<X>>,
                                         dtype_not_supported<"clamp", X::type.d, shp_of<X>>>;
}

template <number Min, number Max, floating_expr X>
  requires(Min.v <= Max.v)
constexpr auto clamp(const X&) {
  return node<op::clamp<Min, Max>, X>{};
}
template <number Min, number Max, expression X, class Error = detail::clamp_mistake<X>>
  requires(!floating_expr<X> || !(Min.v <= Max.v))
Error clamp(const X&);

template <number Min, expression X>
constexpr auto clamp_min(const X& x) {
  return clamp<Min, op::no_bound>(x);
}
template <number Max, expression X>
constexpr auto clamp_max(const X& x) {
  return clamp<-op::no_bound, Max>(x);
}

}  // namespace ropewalk
