// where(c, a, b): a where c, else b; NumPy broadcasting of all three; c is bool (other types: != 0).
// Only the chosen operand is read, so its gradient is exact beside an infinite other one.
#pragma once
#include "ropewalk/ops/cast.hpp"
#include "ropewalk/ops/sum_to.hpp"

namespace ropewalk {

namespace op {
struct where : elementwise<where> {
  static constexpr const char* name = "where";
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int) {
    return {in[1].d, broadcast(in[0].s, broadcast(in[1].s, in[2].s).s).s};
  }
  static scalar lower(lowering& l) { return select(l.arg(0), l.arg(1), l.arg(2)); }
  static double value(const attrs&, const double* x) { return x[0] != 0 ? x[1] : x[2]; }
  template <int J>
  static constexpr auto grad(auto s) {
    if constexpr (J == 0) {
      return no_gradient{};
    } else {
      auto c = s.template in<0>();
      auto g = s.cotangent();
      auto zero = constant_t<0.0, decltype(g)::type.d>{};
      if constexpr (J == 1) return sum_to(make<where>(c, g, zero), s.template in<1>());
      else return sum_to(make<where>(c, zero, g), s.template in<2>());
    }
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(where);

// The choices do not pair; or the condition does not broadcast with their shape.
namespace detail {
template <class C, class A, class B, bool Pairable>
struct where_mistake {};
template <expression C, expression A, expression B>
struct where_mistake<C, A, B, false> {
  using type = ropewalk::pair_mistake<"where", A, B>;
};
template <expression C, expression A, expression B>
struct where_mistake<C, A, B, true> {
  using type = shapes_do_not_broadcast<"where", shp_of<C>, shp_of<A>>;
};
}  // namespace detail
template <class C, class A, class B>
using where_mistake = typename detail::where_mistake<C, A, B, pairable<A, B>>::type;

template <expression C, expression A, expression B>
  requires(pairable<A, B> && broadcast(C::type.s, broadcast(A::type.s, B::type.s).s).ok)
constexpr auto where(const C& c, const A&, const B&) {
  return make<op::where>(cast<dtype::boolean>(c), detail::left_of<A, B>{}, detail::right_of<A, B>{});
}
template <expression C, expression A, expression B,
          class Error = where_mistake<C, A, B>>
  requires(!(pairable<A, B> && broadcast(C::type.s, broadcast(A::type.s, B::type.s).s).ok))
Error where(const C&, const A&, const B&);

}  // namespace ropewalk
