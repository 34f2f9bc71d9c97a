// rms_norm<"ln">(x): x / sqrt(mean(x^2) + eps) * weight over the last axis; parameter ln.weight
// (ones). rms_norm_plus_one<"ln">(x): ... * (1 + weight), the weight from zeros, as Gemma has it.
// rms_norm(x): without a weight; rms_norm(x, w) and rms_norm_plus_one(x, w): with one given, w [C].
// Source: Zhang and Sennrich 2019.
#pragma once
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/mean.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/rsqrt.hpp"
#include "ropewalk/ops/square.hpp"
#include "ropewalk/ops/support/composed.hpp"

namespace ropewalk {

namespace composed {
template <number Eps>
struct rms_normalize {
  static constexpr const char* name = "rms_normalize";
  static constexpr auto apply(auto x) {
    return x * ropewalk::rsqrt(mean<axes{-1}.keep()>(square(x)) + constant<Eps>);
  }
};
template <number Eps, bool PlusOne>
struct rms_norm {
  static constexpr const char* name = "rms_norm";
  template <class X>
  static constexpr auto apply(X x) {
    constexpr dim c = X::type.s[-1];
    auto y = detail::call_body<rms_normalize<Eps>>(x);
    auto w = cast<X::type.d>(param < "weight", PlusOne ? init_zeros() : init_ones(), c >);
    if constexpr (PlusOne)
      return y * (w + constant<1.0>);
    else
      return y * w;
  }
};
}  // namespace composed

namespace detail {
template <class X>
inline constexpr bool has_rows = floating_expr<X> && X::type.s.rank >= 1;
// The mistake of an op on the last axis.
template <text Op, class X>
using row_mistake = std::conditional_t<floating_expr<X>, axis_out_of_range<Op, -1, shp_of<X>>,
                                       dtype_not_supported<Op, X::type.d, shp_of<X>>>;
}  // namespace detail

template <number Eps = 1e-5, expression X>
  requires detail::has_rows<X>
constexpr auto rms_norm(const X& x) {
  return detail::call_body<composed::rms_normalize<Eps>>(x);
}
template <number Eps = 1e-5, expression X, class Error = detail::row_mistake<"rms_norm", X>>
  requires(!detail::has_rows<X>)
Error rms_norm(const X&);

template <number Eps = 1e-5, expression X, expression W>
  requires(detail::has_rows<X> && pairable<X, W>)
constexpr auto rms_norm(const X& x, const W& w) {
  return rms_norm<Eps>(x) * w;
}
template <number Eps = 1e-5, expression X, expression W>
  requires(detail::has_rows<X> && pairable<X, W>)
constexpr auto rms_norm_plus_one(const X& x, const W& w) {
  return rms_norm<Eps>(x) * (w + constant<1.0>);
}

template <text Scope, number Eps = 1e-5, expression X>
  requires detail::has_rows<X>
constexpr auto rms_norm(const X& x) {
  return detail::call_body<composed::rms_norm<Eps, false>, Scope>(x);
}
template <text Scope, number Eps = 1e-5, expression X,
          class Error = detail::row_mistake<"rms_norm", X>>
  requires(!detail::has_rows<X>)
Error rms_norm(const X&);

template <text Scope, number Eps = 1e-5, expression X>
  requires detail::has_rows<X>
constexpr auto rms_norm_plus_one(const X& x) {
  return detail::call_body<composed::rms_norm<Eps, true>, Scope>(x);
}
template <text Scope, number Eps = 1e-5, expression X,
          class Error = detail::row_mistake<"rms_norm_plus_one", X>>
  requires(!detail::has_rows<X>)
Error rms_norm_plus_one(const X&);

}  // namespace ropewalk
