// Programs that the golden files have values for: matrix products and gated units.
#pragma once
#include <ropewalk/ops/add.hpp>
#include <ropewalk/ops/geglu.hpp>
#include <ropewalk/ops/matmul.hpp>
#include <ropewalk/ops/swiglu.hpp>

#include "leaves.hpp"

namespace cases {

template <dim... D>
inline constexpr auto a = input<"a", f32, D...>;
template <dim... D>
inline constexpr auto gate = input<"gate", f32, D...>;
template <dim... D>
inline constexpr auto up = input<"up", f32, D...>;
template <dim... D>
inline constexpr auto wg = input<"wg", f32, D...>;
template <dim... D>
inline constexpr auto wu = input<"wu", f32, D...>;
template <dim... D>
inline constexpr auto wd = input<"wd", f32, D...>;

inline constexpr auto matmul_2d =
    program<"matmul_2d">([] { return differentiated(matmul(a<3, 4>, b<4, 5>), a<3, 4>, b<4, 5>); });
inline constexpr auto matmul_batched = program<"matmul_batched">(
    [] { return differentiated(matmul(a<2, 3, 4>, b<2, 4, 5>), a<2, 3, 4>, b<2, 4, 5>); });
inline constexpr auto matmul_broadcast_right = program<"matmul_broadcast_right">(
    [] { return differentiated(matmul(a<2, 3, 4>, b<4, 5>), a<2, 3, 4>, b<4, 5>); });
inline constexpr auto matmul_broadcast_left = program<"matmul_broadcast_left">(
    [] { return differentiated(matmul(a<3, 4>, b<2, 4, 5>), a<3, 4>, b<2, 4, 5>); });
inline constexpr auto matmul_broadcast_batch = program<"matmul_broadcast_batch">(
    [] { return differentiated(matmul(a<2, 1, 3, 4>, b<3, 4, 2>), a<2, 1, 3, 4>, b<3, 4, 2>); });
inline constexpr auto matmul_outer = program<"matmul_outer">(
    [] { return differentiated(matmul(a<5, 1>, b<1, 4>), a<5, 1>, b<1, 4>); });
inline constexpr auto matmul_inner = program<"matmul_inner">(
    [] { return differentiated(matmul(a<1, 6>, b<6, 1>), a<1, 6>, b<6, 1>); });
inline constexpr auto matmul_row = program<"matmul_row">(
    [] { return differentiated(matmul(a<2, 1, 4>, b<2, 4, 3>), a<2, 1, 4>, b<2, 4, 3>); });
inline constexpr auto matmul_k17 = program<"matmul_k17">(
    [] { return differentiated(matmul(a<7, 17>, b<17, 9>), a<7, 17>, b<17, 9>); });
inline constexpr auto matmul_transposed_b = program<"matmul_transposed_b">(
    [] { return differentiated(matmul<false, true>(a<3, 4>, b<5, 4>), a<3, 4>, b<5, 4>); });
inline constexpr auto matmul_transposed_a = program<"matmul_transposed_a">(
    [] { return differentiated(matmul<true, false>(a<3, 4>, b<3, 3>), a<3, 4>, b<3, 3>); });
inline constexpr auto matmul_transposed_both = program<"matmul_transposed_both">(
    [] { return differentiated(matmul<true, true>(a<4, 3>, b<5, 4>), a<4, 3>, b<5, 4>); });
inline constexpr auto linear_bias = program<"linear_bias">([] {
  return differentiated(matmul<false, true>(x<2, 3, 4>, w<5, 4>) + b<5>, x<2, 3, 4>, w<5, 4>, b<5>);
});
inline constexpr auto swiglu_pair = program<"swiglu_pair">(
    [] { return differentiated(swiglu(gate<3, 4>, up<3, 4>), gate<3, 4>, up<3, 4>); });
inline constexpr auto geglu_pair_tanh = program<"geglu_pair_tanh">(
    [] { return differentiated(geglu_tanh(gate<3, 4>, up<3, 4>), gate<3, 4>, up<3, 4>); });
inline constexpr auto geglu_pair_erf = program<"geglu_pair_erf">(
    [] { return differentiated(geglu(gate<3, 4>, up<3, 4>), gate<3, 4>, up<3, 4>); });
inline constexpr auto swiglu_packed =
    program<"swiglu_packed">([] { return differentiated(swiglu(x<3, 8>), x<3, 8>); });
inline constexpr auto swiglu_mlp = program<"swiglu_mlp">([] {
  return differentiated(matmul<false, true>(swiglu(matmul<false, true>(x<3, 4>, wg<6, 4>),
                                                   matmul<false, true>(x<3, 4>, wu<6, 4>)),
                                            wd<4, 6>),
                        x<3, 4>, wg<6, 4>, wu<6, 4>, wd<4, 6>);
});

}  // namespace cases
