// What gated units share: two operands of one type, or one that holds both along its last axis.
#pragma once
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/slice.hpp"
#include "ropewalk/ops/support/composed.hpp"

namespace ropewalk {

// The last axis of a packed gate and up is not even.
template <text Op, class X>
struct packed_halves_differ : mistake<X> {
  static_assert(never<X>, "packed halves differ");
};

namespace detail {
template <class X>
inline constexpr bool has_halves =
    floating_expr<X> && X::type.s.rank >= 1 && !(X::type.s[-1].fixed() && X::type.s[-1].n % 2 != 0);
// The first or second half of the last axis.
template <int Half, class X>
constexpr auto half_of(const X& x) {
  constexpr dim width = X::type.s[-1] / dim(2);
  return slice<-1, width * dim(Half), width>(x);
}
template <text Op, class X>
using halves_mistake = std::conditional_t<floating_expr<X>, packed_halves_differ<Op, shp_of<X>>,
                                          dtype_not_supported<Op, X::type.d, shp_of<X>>>;
}  // namespace detail

}  // namespace ropewalk
