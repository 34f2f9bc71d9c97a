// pow<e>(x): x to the power of a number; pow(x, y): of a tensor (NumPy broadcasting). Elementwise.
// Gradients: e x^(e-1); y x^(y-1), zero where y = 0; x^y log x, zero at x = 0 where y >= 0.
// Whole exponents up to 16 are products, so negative x are exact on every backend.
#pragma once
#include "ropewalk/ops/equal.hpp"
#include "ropewalk/ops/less_equal.hpp"
#include "ropewalk/ops/log.hpp"
#include "ropewalk/ops/logical_and.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk {

namespace op {

struct power_family : elementwise<power_family> {
  static constexpr const char* name = "power";
  static scalar product(scalar x, int n) {
    if (n == 1) return x;
    const scalar half = product(x, n / 2);
    return n % 2 == 0 ? half * half : half * half * x;
  }
  static scalar lower(lowering& l) {
    const scalar x = l.arg(0);
    const double e = l.options().f[0], size = __builtin_fabs(e);
    if (e == 0.5) return l.apply(scalar_op::sqrt, {x});
    if (e == -0.5) return l.apply(scalar_op::rsqrt, {x});
    if (e == 0) return number_like(x, 1);
    if (size != __builtin_trunc(size) || size > 16)
      return l.apply(scalar_op::pow, {x, number_like(x, e)});
    const scalar p = product(x, static_cast<int>(size));
    return e < 0 ? 1.0 / p : p;
  }
  static double value(const attrs& a, const double* x) { return __builtin_pow(x[0], a.f[0]); }
};
template <number E>
struct power : power_family {
  static constexpr attrs attributes{.f = {E.v}};
  template <int J>
  static constexpr auto grad(auto s) {
    auto x = s.template in<0>();
    if constexpr (E.v == 0)
      return no_gradient{};
    else
      return s.cotangent() * (make<power<E.v - 1>>(x) * constant<E>);
  }
};

struct pow : elementwise<pow> {
  static constexpr const char* name = "pow";
  static scalar lower(lowering& l) { return l.apply(scalar_op::pow, {l.arg(0), l.arg(1)}); }
  static double value(const attrs&, const double* x) { return __builtin_pow(x[0], x[1]); }
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    auto x = s.template in<0>();
    auto y = s.template in<1>();
    constexpr auto zero = constant<0.0>;
    if constexpr (J == 0)
      return sum_to(ropewalk::where(ropewalk::equal(y, zero), zero,
                                    g * (y * make<pow>(x, y - constant<1.0>))),
                    x);
    else
      return sum_to(ropewalk::where(ropewalk::equal(x, zero) && zero <= y, zero,
                                    g * (s.out() * ropewalk::log(x))),
                    y);
  }
};

}  // namespace op
ROPEWALK_LIBRARY_OP(power_family);
ROPEWALK_LIBRARY_OP(pow);

template <number E, floating_expr X>
constexpr auto pow(const X&) {
  return node<op::power<E>, X>{};
}
template <number E, expression X, class Error = dtype_not_supported<"pow", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error pow(const X&);

template <floating_expr A, floating_expr B>
  requires pairable<A, B>
constexpr auto pow(const A&, const B&) {
  return detail::binary_node<op::pow, A, B>{};
}
template <expression A, expression B,
          class Error =
              std::conditional_t<pairable<A, B>, dtype_not_supported<"pow", A::type.d, shp_of<A>>,
                                 pair_mistake<"pow", A, B>>>
  requires(!pairable<A, B> || !floating_expr<A> || !floating_expr<B>)
Error pow(const A&, const B&);

}  // namespace ropewalk
