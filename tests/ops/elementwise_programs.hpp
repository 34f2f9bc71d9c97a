// Programs that the golden files have values for: elementwise ops.
#pragma once
#include <ropewalk/ops/abs.hpp>
#include <ropewalk/ops/clamp.hpp>
#include <ropewalk/ops/cos.hpp>
#include <ropewalk/ops/exp.hpp>
#include <ropewalk/ops/gelu.hpp>
#include <ropewalk/ops/log.hpp>
#include <ropewalk/ops/maximum.hpp>
#include <ropewalk/ops/minimum.hpp>
#include <ropewalk/ops/neg.hpp>
#include <ropewalk/ops/pow.hpp>
#include <ropewalk/ops/reciprocal.hpp>
#include <ropewalk/ops/relu.hpp>
#include <ropewalk/ops/rsqrt.hpp>
#include <ropewalk/ops/sigmoid.hpp>
#include <ropewalk/ops/silu.hpp>
#include <ropewalk/ops/sin.hpp>
#include <ropewalk/ops/softplus.hpp>
#include <ropewalk/ops/sqrt.hpp>
#include <ropewalk/ops/square.hpp>
#include <ropewalk/ops/tanh.hpp>
#include <ropewalk/ops/where.hpp>

#include "leaves.hpp"

namespace cases {

template <dim... D>
inline constexpr auto cond = input<"cond", i32, D...>;

inline constexpr auto maximum_same = program<"maximum_same">(
    [] { return differentiated(maximum(x<3, 4>, y<3, 4>), x<3, 4>, y<3, 4>); });
inline constexpr auto maximum_scalar =
    program<"maximum_scalar">([] { return differentiated(maximum(x<3, 4>, y<>), x<3, 4>, y<>); });
inline constexpr auto maximum_scalar_left = program<"maximum_scalar_left">(
    [] { return differentiated(maximum(x<>, y<2, 5>), x<>, y<2, 5>); });
inline constexpr auto maximum_last = program<"maximum_last">(
    [] { return differentiated(maximum(x<2, 3, 4>, y<2, 3, 1>), x<2, 3, 4>, y<2, 3, 1>); });
inline constexpr auto maximum_both = program<"maximum_both">(
    [] { return differentiated(maximum(x<2, 1, 4>, y<1, 3, 1>), x<2, 1, 4>, y<1, 3, 1>); });
inline constexpr auto maximum_ties = program<"maximum_ties">(
    [] { return differentiated(maximum(x<2, 3>, y<2, 3>), x<2, 3>, y<2, 3>); });
inline constexpr auto minimum_same = program<"minimum_same">(
    [] { return differentiated(minimum(x<3, 4>, y<3, 4>), x<3, 4>, y<3, 4>); });
inline constexpr auto minimum_scalar =
    program<"minimum_scalar">([] { return differentiated(minimum(x<3, 4>, y<>), x<3, 4>, y<>); });
inline constexpr auto minimum_scalar_left = program<"minimum_scalar_left">(
    [] { return differentiated(minimum(x<>, y<2, 5>), x<>, y<2, 5>); });
inline constexpr auto minimum_last = program<"minimum_last">(
    [] { return differentiated(minimum(x<2, 3, 4>, y<2, 3, 1>), x<2, 3, 4>, y<2, 3, 1>); });
inline constexpr auto minimum_both = program<"minimum_both">(
    [] { return differentiated(minimum(x<2, 1, 4>, y<1, 3, 1>), x<2, 1, 4>, y<1, 3, 1>); });
inline constexpr auto minimum_ties = program<"minimum_ties">(
    [] { return differentiated(minimum(x<2, 3>, y<2, 3>), x<2, 3>, y<2, 3>); });
inline constexpr auto pow_square =
    program<"pow_square">([] { return differentiated(pow<2.0>(x<3, 4>), x<3, 4>); });
inline constexpr auto pow_cube =
    program<"pow_cube">([] { return differentiated(pow<3.0>(x<3, 4>), x<3, 4>); });
inline constexpr auto pow_half =
    program<"pow_half">([] { return differentiated(pow<0.5>(x<2, 5>), x<2, 5>); });
inline constexpr auto pow_tensor =
    program<"pow_tensor">([] { return differentiated(pow(x<3, 4>, y<3, 4>), x<3, 4>, y<3, 4>); });
inline constexpr auto exp_basic =
    program<"exp_basic">([] { return differentiated(exp(x<3, 5>), x<3, 5>); });
inline constexpr auto log_basic =
    program<"log_basic">([] { return differentiated(log(x<3, 5>), x<3, 5>); });
inline constexpr auto sqrt_basic =
    program<"sqrt_basic">([] { return differentiated(sqrt(x<3, 5>), x<3, 5>); });
inline constexpr auto tanh_basic =
    program<"tanh_basic">([] { return differentiated(tanh(x<3, 5>), x<3, 5>); });
inline constexpr auto tanh_extreme =
    program<"tanh_extreme">([] { return differentiated(tanh(x<8>), x<8>); });
inline constexpr auto sigmoid_basic =
    program<"sigmoid_basic">([] { return differentiated(sigmoid(x<3, 5>), x<3, 5>); });
inline constexpr auto sigmoid_extreme =
    program<"sigmoid_extreme">([] { return differentiated(sigmoid(x<8>), x<8>); });
inline constexpr auto relu_basic =
    program<"relu_basic">([] { return differentiated(relu(x<3, 5>), x<3, 5>); });
inline constexpr auto relu_zero =
    program<"relu_zero">([] { return differentiated(relu(x<4>), x<4>); });
inline constexpr auto silu_basic =
    program<"silu_basic">([] { return differentiated(silu(x<3, 5>), x<3, 5>); });
inline constexpr auto silu_extreme =
    program<"silu_extreme">([] { return differentiated(silu(x<8>), x<8>); });
inline constexpr auto softplus_basic =
    program<"softplus_basic">([] { return differentiated(softplus(x<3, 5>), x<3, 5>); });
inline constexpr auto softplus_extreme =
    program<"softplus_extreme">([] { return differentiated(softplus(x<8>), x<8>); });
inline constexpr auto neg_basic =
    program<"neg_basic">([] { return differentiated(-x<3, 5>, x<3, 5>); });
inline constexpr auto abs_basic =
    program<"abs_basic">([] { return differentiated(abs(x<3, 5>), x<3, 5>); });
inline constexpr auto abs_zero =
    program<"abs_zero">([] { return differentiated(abs(x<4>), x<4>); });
inline constexpr auto sin_basic =
    program<"sin_basic">([] { return differentiated(sin(x<3, 5>), x<3, 5>); });
inline constexpr auto cos_basic =
    program<"cos_basic">([] { return differentiated(cos(x<3, 5>), x<3, 5>); });
inline constexpr auto reciprocal_basic =
    program<"reciprocal_basic">([] { return differentiated(reciprocal(x<3, 5>), x<3, 5>); });
inline constexpr auto rsqrt_basic =
    program<"rsqrt_basic">([] { return differentiated(rsqrt(x<3, 5>), x<3, 5>); });
inline constexpr auto square_basic =
    program<"square_basic">([] { return differentiated(square(x<3, 5>), x<3, 5>); });
inline constexpr auto gelu_tanh_form =
    program<"gelu_tanh">([] { return differentiated(gelu_tanh(x<3, 5>), x<3, 5>); });
inline constexpr auto gelu_erf =
    program<"gelu_erf">([] { return differentiated(gelu(x<3, 5>), x<3, 5>); });
inline constexpr auto gelu_extreme_tanh =
    program<"gelu_extreme_tanh">([] { return differentiated(gelu_tanh(x<8>), x<8>); });
inline constexpr auto clamp_both =
    program<"clamp_both">([] { return differentiated(clamp<-0.5, 1.0>(x<4, 5>), x<4, 5>); });
inline constexpr auto clamp_min_only =
    program<"clamp_min_only">([] { return differentiated(clamp_min<0.1>(x<3, 4>), x<3, 4>); });
inline constexpr auto clamp_edges =
    program<"clamp_edges">([] { return differentiated(clamp<-1.0, 1.0>(x<5>), x<5>); });
inline constexpr auto where_same = program<"where_same">(
    [] { return differentiated(where(cond<3, 4>, x<3, 4>, y<3, 4>), x<3, 4>, y<3, 4>); });
inline constexpr auto where_broadcast = program<"where_broadcast">(
    [] { return differentiated(where(cond<3, 4>, x<2, 3, 4>, y<>), x<2, 3, 4>, y<>); });

}  // namespace cases
