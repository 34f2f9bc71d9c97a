// Programs whose output is itself a gradient: v pulled back through an expression of x.
#pragma once
#include <ropewalk/ops.hpp>

#include "leaves.hpp"

namespace cases {

template <text Name, class F>
constexpr auto twice(F) {
  return program<Name>([] {
    auto y = F{}(x<3, 4>);
    constexpr input_t<"v", shp_of<decltype(y)>, f32> v{};
    return differentiated(vector_jacobian(y, v, x<3, 4>), x<3, 4>, v);
  });
}
inline constexpr auto twice_mul = twice<"twice_mul">([](auto x) { return x * x * x; });
inline constexpr auto twice_div = twice<"twice_div">([](auto x) { return sin(x) / exp(x); });
inline constexpr auto twice_pow = twice<"twice_pow">([](auto x) { return pow<4>(x); });
inline constexpr auto twice_erf = twice<"twice_erf">([](auto x) { return erf(x); });
inline constexpr auto twice_sigmoid = twice<"twice_sigmoid">([](auto x) { return sigmoid(x); });
inline constexpr auto twice_softplus = twice<"twice_softplus">([](auto x) { return softplus(x); });
inline constexpr auto twice_silu = twice<"twice_silu">([](auto x) { return silu(x); });
inline constexpr auto twice_gelu = twice<"twice_gelu">([](auto x) { return gelu_tanh(x); });
inline constexpr auto twice_elu = twice<"twice_elu">([](auto x) { return elu(x); });
inline constexpr auto twice_softmax = twice<"twice_softmax">([](auto x) { return softmax(x); });
inline constexpr auto twice_log_softmax =
    twice<"twice_log_softmax">([](auto x) { return log_softmax<axes{0}>(x); });
inline constexpr auto twice_logsumexp =
    twice<"twice_logsumexp">([](auto x) { return logsumexp<axes{1}>(x); });
inline constexpr auto twice_variance =
    twice<"twice_variance">([](auto x) { return square(variance<axes{1}>(x)); });
inline constexpr auto twice_rms_norm = twice<"twice_rms_norm">([](auto x) { return rms_norm(x); });
inline constexpr auto twice_l2_norm = twice<"twice_l2_norm">([](auto x) { return l2_norm(x); });
inline constexpr auto twice_cumsum =
    twice<"twice_cumsum">([](auto x) { return square(cumsum<0>(x)); });
inline constexpr auto twice_matmul =
    twice<"twice_matmul">([](auto x) { return matmul<false, true>(x, tanh(x)); });
inline constexpr auto twice_swiglu =
    twice<"twice_swiglu">([](auto x) { return swiglu(pad<1, 1, 1>(x)); });

}  // namespace cases
