// layer_norm<"ln">(x): (x - mean) / sqrt(var + eps) * weight + bias over the last axis; parameters
// ln.weight (ones) and ln.bias (zeros). normalize(x): the same without parameters.
// var divides by n; eps is inside the root. Source: Ba, Kiros and Hinton 2016.
#pragma once
#include "ropewalk/core/module.hpp"
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/mean.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/rsqrt.hpp"
#include "ropewalk/ops/sub.hpp"

namespace ropewalk {

template <number Eps>
inline constexpr auto normalize_module = module<"normalize">([](auto x) {
  auto c = let([=] { return x - mean<axes{-1}.keep()>(x); });
  return c * rsqrt(mean<axes{-1}.keep()>(c * c) + constant<Eps>);
});
template <number Eps>
inline constexpr auto layer_norm_module = module<"layer_norm">([](auto x) {
  constexpr dim c = decltype(x)::type.s[-1];
  return normalize_module<Eps>(x) * param<"weight", init_ones(), c> + param<"bias", init_zeros(), c>;
});

template <number Eps = 1e-5, floating_expr X>
  requires(X::type.s.rank >= 1)
constexpr auto normalize(const X& x) {
  return normalize_module<Eps>(x);
}
template <text Scope, number Eps = 1e-5, floating_expr X>
  requires(X::type.s.rank >= 1)
constexpr auto layer_norm(const X& x) {
  return call<Scope>(layer_norm_module<Eps>)(x);
}
// With weight and bias given.
template <number Eps = 1e-5, floating_expr X, floating_expr W, floating_expr B>
constexpr auto layer_norm(const X& x, const W& w, const B& b) {
  return normalize_module<Eps>(x) * w + b;
}
template <text Scope, number Eps = 1e-5, expression X,
          class Error = dtype_not_supported<"layer_norm", X::type.d, shp_of<X>>>
  requires(!floating_expr<X> || X::type.s.rank < 1)
Error layer_norm(const X&);

}  // namespace ropewalk
