// batch_norm<"bn">(x): x [N, C, ...] normalised per channel, * weight + bias.
//   training:  by the batch's mean and variance (divisor n; the gradient goes through both), and
//              bn.mean, bn.var := (1 - momentum) old + momentum batch (variance with n - 1)
//   otherwise: by bn.mean and bn.var
// Parameters bn.weight (ones), bn.bias (zeros); states bn.mean (zeros), bn.var (ones); all [C].
// batch_norm(x, w, b, mean, var): with those given; mean and var are states.
// Source: Ioffe and Szegedy 2015.
#pragma once
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/maximum.hpp"
#include "ropewalk/ops/mean.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/rsqrt.hpp"
#include "ropewalk/ops/stop_gradient.hpp"
#include "ropewalk/ops/support/channels.hpp"
#include "ropewalk/ops/support/composed.hpp"
#include "ropewalk/ops/variance.hpp"

namespace ropewalk {

namespace composed {

// Every axis but the channels'.
template <class X>
inline constexpr axes batch_axes = [] {
  axes a;
  for (int i = 0; i < X::type.s.rank; ++i)
    if (i != 1) a.axis[a.n++] = i;
  return a;
}();

template <number Eps, number Momentum>
struct batch_norm {
  static constexpr const char* name = "batch_norm";
  template <class X, class M, class V>
  static constexpr auto normalized(X x, M m, V v) {
    return (x - detail::per_channel<X>(m)) *
           ropewalk::rsqrt(detail::per_channel<X>(v) + constant<Eps>);
  }
  template <class Old, class New>
  static constexpr auto running(Old old, New value) {
    return old * constant<1 - Momentum.v> + stop_gradient(value) * constant<Momentum.v>;
  }
  template <class X, class W, class B, class M, class V>
  static constexpr auto apply(X x, W w, B b, M mean_state, V var_state) {
    constexpr axes group = batch_axes<X>;
    constexpr dim n = X::type.s.elements() / X::type.s[1];
    auto m = let([=] { return mean<group>(x); });
    auto v = let([=] { return ropewalk::variance<group>(x); });
    auto unbiased = v * (dim_value<n, X::type.d>() /
                         maximum(dim_value<n - dim(1), X::type.d>(), constant<1.0>));
    auto batch = with_update(mean_state, normalized(x, m, v), running(mean_state, m));
    auto train = with_update(var_state, batch, running(var_state, unbiased));
    auto y = in_training(train, normalized(x, mean_state, var_state));
    return y * detail::per_channel<X>(w) + detail::per_channel<X>(b);
  }
};
template <number Eps, number Momentum>
struct named_batch_norm {
  static constexpr const char* name = "batch_norm";
  template <class X>
  static constexpr auto apply(X x) {
    constexpr dim c = X::type.s[1];
    return batch_norm<Eps, Momentum>::apply(
        x, param<"weight", init_ones(), c>, param<"bias", init_zeros(), c>,
        state<"mean", init_zeros(), c>, state<"var", init_ones(), c>);
  }
};
}  // namespace composed

namespace detail {
template <class X, class... V>
inline constexpr bool batch_norm_fits = [] {
  if constexpr (has_channels<X>)
    return (is_per_channel<V, X> && ...);
  else
    return false;
}();
}  // namespace detail

template <number Eps = 1e-5, number Momentum = 0.1, expression X, expression W, expression B,
          expression M, expression V>
  requires detail::batch_norm_fits<X, W, B, M, V>
constexpr auto batch_norm(const X& x, const W& w, const B& b, const M& mean, const V& var) {
  return detail::call_body<composed::batch_norm<Eps, Momentum>>(x, w, b, mean, var);
}
template <
    number Eps = 1e-5, number Momentum = 0.1, expression X, expression W, expression B,
    expression M, expression V,
    class Error = std::conditional_t<detail::has_channels<X>,
                                     not_one_number_per_channel<"batch_norm", shp_of<X>, shp_of<W>>,
                                     needs_channels<"batch_norm", X::type.d, shp_of<X>>>>
  requires(!detail::batch_norm_fits<X, W, B, M, V>)
Error batch_norm(const X&, const W&, const B&, const M&, const V&);

// x is f32, the type of its parameters and states.
template <text Scope, number Eps = 1e-5, number Momentum = 0.1, expression X>
  requires(detail::has_channels<X> && X::type.d == dtype::f32)
constexpr auto batch_norm(const X& x) {
  return detail::call_body<composed::named_batch_norm<Eps, Momentum>, Scope>(x);
}
template <text Scope, number Eps = 1e-5, number Momentum = 0.1, expression X,
          class Error = needs_channels<"batch_norm", X::type.d, shp_of<X>>>
  requires(!(detail::has_channels<X> && X::type.d == dtype::f32))
Error batch_norm(const X&);

}  // namespace ropewalk
