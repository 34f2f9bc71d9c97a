// linear<"name", N>(x): x [..., C] -> x W^T + b [..., N] with parameters name.weight [N, C] and
// name.bias [N]. Options: no_bias; init<...> for the weight (normal, std 0.02).
#pragma once
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/matmul.hpp"

namespace ropewalk {

struct linear_options {
  bool bias = true;
  initializer weight = init_normal(0.02);
};
inline constexpr linear_options no_bias{.bias = false};

template <dim N, linear_options O>
inline constexpr auto linear_module = module<"linear">([](auto x) {
  constexpr dim c = decltype(x)::type.s[-1];
  auto y = matmul<false, true>(x, param<"weight", O.weight, N, c>);
  if constexpr (O.bias) return y + param<"bias", init_zeros(), N>;
  else return y;
});

template <text Scope, dim N, linear_options O = linear_options{}, floating_expr X>
  requires(X::type.s.rank >= 2)
constexpr auto linear(const X& x) {
  return call<Scope>(linear_module<N, O>)(x);
}
template <text Scope, dim N, linear_options O = linear_options{}, expression X,
          class Error = dtype_not_supported<"linear", X::type.d, shp_of<X>>>
  requires(!floating_expr<X> || X::type.s.rank < 2)
Error linear(const X&);

// With weight [N, C] and bias [N] given (shared weights).
template <expression X, expression W>
constexpr auto linear(const X& x, const W& w) {
  return matmul<false, true>(x, w);
}
template <expression X, expression W, expression B>
constexpr auto linear(const X& x, const W& w, const B& b) {
  return matmul<false, true>(x, w) + b;
}

}  // namespace ropewalk
