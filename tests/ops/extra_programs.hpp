// Programs of ops and options that no golden file has, and of shapes that are easy to get wrong.
#pragma once
#include <ropewalk/ops.hpp>

#include "leaves.hpp"

namespace cases {

inline constexpr dim B{"B"}, T{"T"};

// One operand, elementwise.
template <text Name, class F>
constexpr auto unary(F) {
  return program<Name>([] { return differentiated(F{}(x<3, 5>), x<3, 5>); });
}
inline constexpr auto leaky = unary<"leaky">([](auto x) { return leaky_relu<0.2>(x); });
inline constexpr auto leaky_default = unary<"leaky_default">([](auto x) { return leaky_relu(x); });
inline constexpr auto elu_default = unary<"elu_default">([](auto x) { return elu(x); });
inline constexpr auto elu_steep = unary<"elu_steep">([](auto x) { return elu<1.7>(x); });
inline constexpr auto capped = unary<"capped">([](auto x) { return clamp_max<0.3>(x); });
inline constexpr auto clamp_ints = unary<"clamp_ints">([](auto x) { return clamp<-1, 1>(x); });
inline constexpr auto error_function = unary<"error_function">([](auto x) { return erf(x); });
inline constexpr auto fifth = unary<"fifth">([](auto x) { return pow<5>(x); });
inline constexpr auto constant_power = unary<"constant_power">([](auto x) { return pow<0>(x); });
inline constexpr auto identity_power = unary<"identity_power">([](auto x) { return pow<1>(x); });
inline constexpr auto inverse_square = unary<"inverse_square">([](auto x) { return pow<-2>(x); });
inline constexpr auto inverse_root = unary<"inverse_root">([](auto x) { return pow<-0.5>(x); });
inline constexpr auto real_power = unary<"real_power">([](auto x) { return pow<2.3>(x); });
inline constexpr auto large_power = unary<"large_power">([](auto x) { return pow<17>(x); });
inline constexpr auto pieces = unary<"pieces">(
    [](auto x) { return where(x > constant<0.5> || x <= constant<-0.5>, square(x), sigmoid(x)); });

// Groups of axes, negative axes, packed and repeated forms.
inline constexpr auto softmax_two = program<"softmax_two">(
    [] { return differentiated(softmax<axes{0, -1}>(x<3, 2, 4>), x<3, 2, 4>); });
inline constexpr auto log_softmax_two = program<"log_softmax_two">(
    [] { return differentiated(log_softmax<axes{-3, 1}>(x<3, 2, 4>), x<3, 2, 4>); });
inline constexpr auto variance_unbiased_two = program<"variance_unbiased_two">(
    [] { return differentiated(variance<axes{0, 1}.keep(), 1>(x<3, 2, 4>), x<3, 2, 4>); });
inline constexpr auto repeat_each_middle = program<"repeat_each_middle">(
    [] { return differentiated(repeat_each<1, 3>(x<2, 3, 2>), x<2, 3, 2>); });
inline constexpr auto tile_last =
    program<"tile_last">([] { return differentiated(tile<-1, 2>(x<2, 3>), x<2, 3>); });
inline constexpr auto pad_zero =
    program<"pad_zero">([] { return differentiated(pad<0, 2, 1>(x<2, 3>), x<2, 3>); });
inline constexpr auto geglu_packed =
    program<"geglu_packed">([] { return differentiated(geglu(x<3, 8>), x<3, 8>); });
inline constexpr auto geglu_tanh_packed =
    program<"geglu_tanh_packed">([] { return differentiated(geglu_tanh(x<3, 8>), x<3, 8>); });
inline constexpr auto huber_default = program<"huber_default">(
    [] { return differentiated(huber(x<3, 4>, y<3, 4>), x<3, 4>, y<3, 4>); });

// Symbolic dims: counts are known when a session opens.
inline constexpr auto symbolic_mean =
    program<"symbolic_mean">([] { return differentiated(mean(x<B, T, 3>), x<B, T, 3>); });
inline constexpr auto symbolic_variance = program<"symbolic_variance">(
    [] { return differentiated(variance<axes{0, 1}, 1>(x<B, T, 3>), x<B, T, 3>); });
inline constexpr auto symbolic_softmax =
    program<"symbolic_softmax">([] { return differentiated(softmax(x<B, T, T>), x<B, T, T>); });
inline constexpr auto symbolic_logsumexp = program<"symbolic_logsumexp">(
    [] { return differentiated(logsumexp<axes{1}>(x<B, T>), x<B, T>); });
inline constexpr auto symbolic_tile = program<"symbolic_tile">(
    [] { return differentiated(tile<1, T>(repeat_each<0, 2>(x<B, T, 3>)), x<B, T, 3>); });
inline constexpr auto symbolic_pad =
    program<"symbolic_pad">([] { return differentiated(pad<-1, B, 2, -1.0>(x<B, T>), x<B, T>); });
inline constexpr auto symbolic_cumsum =
    program<"symbolic_cumsum">([] { return differentiated(cumsum<1>(x<B, T, 3>), x<B, T, 3>); });
inline constexpr auto symbolic_max =
    program<"symbolic_max">([] { return differentiated(max<axes{0, 2}>(x<B, T, 3>), x<B, T, 3>); });
inline constexpr auto symbolic_rms_norm = program<"symbolic_rms_norm">(
    [] { return differentiated(rms_norm(x<B, T>, w<T>), x<B, T>, w<T>); });
inline constexpr auto symbolic_group_norm = program<"symbolic_group_norm">(
    [] { return differentiated(group_norm<2>(x<B, 4, T>, w<4>, b<4>), x<B, 4, T>, w<4>, b<4>); });
inline constexpr auto symbolic_kl = program<"symbolic_kl">(
    [] { return differentiated(kl_from_logits(x<B, T>, y<B, T>), x<B, T>, y<B, T>); });
inline constexpr auto symbolic_swiglu =
    program<"symbolic_swiglu">([] { return differentiated(swiglu(x<B, 2 * T>), x<B, 2 * T>); });

// Rank 0, sizes of 1, rank 5 and 6.
inline constexpr auto rank0 = program<"rank0">(
    [] { return differentiated(silu(x<>) * maximum(y<>, x<>) + mean(x<>), x<>, y<>); });
inline constexpr auto ones = program<"ones">([] {
  return differentiated(softmax(x<1, 1>) + variance<axes{0}.keep()>(x<1, 1>) + cumsum(x<1, 1>),
                        x<1, 1>);
});
inline constexpr auto ones_between = program<"ones_between">([] {
  return differentiated(max<axes{1}.keep()>(x<3, 1, 2>) * y<1, 4, 1> - logsumexp(x<3, 1, 2>),
                        x<3, 1, 2>, y<1, 4, 1>);
});
inline constexpr auto rank5 = program<"rank5">([] {
  return differentiated(softmax<axes{1, 3}>(x<2, 3, 1, 2, 2>) * y<2, 1, 1>, x<2, 3, 1, 2, 2>,
                        y<2, 1, 1>);
});
inline constexpr auto rank6 = program<"rank6">([] {
  return differentiated(permute<5, 0, 4, 1, 3, 2>(tile<2, 2>(pad<4, 1, 0>(x<2, 1, 2, 1, 2, 3>))),
                        x<2, 1, 2, 1, 2, 3>);
});

}  // namespace cases
