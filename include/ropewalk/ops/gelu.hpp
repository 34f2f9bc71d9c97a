// gelu(x): x Phi(x), by erf; gelu_tanh(x): 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), the form
// of GPT-2. Source: Hendrycks and Gimpel 2016.
#pragma once
#include "ropewalk/core/module.hpp"
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/erf.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/tanh.hpp"

namespace ropewalk {

inline constexpr auto gelu_module = module<"gelu">([](auto x) {
  return x * constant<0.5> * (erf(x * constant<0.70710678118654752440>) + constant<1.0>);
});
inline constexpr auto gelu_tanh_module = module<"gelu_tanh">([](auto x) {
  auto inner = (x + x * x * x * constant<0.044715>) * constant<0.79788456080286535588>;
  return x * constant<0.5> * (tanh(inner) + constant<1.0>);
});

template <floating_expr X>
constexpr auto gelu(const X& x) {
  return gelu_module(x);
}
template <expression X, class Error = dtype_not_supported<"gelu", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error gelu(const X&);
template <floating_expr X>
constexpr auto gelu_tanh(const X& x) {
  return gelu_tanh_module(x);
}
template <expression X, class Error = dtype_not_supported<"gelu_tanh", X::type.d, shp_of<X>>>
  requires(!floating_expr<X>)
Error gelu_tanh(const X&);

}  // namespace ropewalk
