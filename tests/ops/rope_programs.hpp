// Programs that the golden files have values for: every schedule and pairing of rope.
#pragma once
#include <ropewalk/ops/rope.hpp>

#include "leaves.hpp"

namespace cases {

template <dim... D>
inline constexpr auto at = input<"positions", i32, D...>;
template <dim... D>
inline constexpr auto factors = input<"c", f32, D...>;

// x [B, H, T, N] rotated, and its gradient.
template <dim... D, class P, class... Option>
constexpr auto rotated(const P& positions, const Option&... option) {
  return differentiated(rope(x<D...>, positions, option...), x<D...>);
}

inline constexpr std::array<double, 8> short_factors{1.0, 1.05, 1.1, 1.2, 1.3, 1.5, 1.7, 2.0};
inline constexpr std::array<double, 8> long_factors{1.1, 1.5, 2.2, 4.1, 8.0, 13.5, 30.25, 48.0};
inline constexpr rope_longrope<8> phi{.factor = 32,
                                      .original_context = 64,
                                      .short_factors = short_factors,
                                      .long_factors = long_factors};
// What ggml is given; without its ramp: ext_factor 0.
inline constexpr rope_ggml ramp{
    .freq_scale = 0.25, .ext_factor = 1, .attn_factor = 0.9, .beta_fast = 16, .n_ctx_orig = 512};
inline constexpr rope_ggml no_ramp{
    .freq_scale = 0.25, .attn_factor = 0.9, .beta_fast = 16, .n_ctx_orig = 512};

inline constexpr auto standard_rope =
    program<"rope_standard">([] { return rotated<1, 2, 6, 16>(at<1, 6>, half_split); });
inline constexpr auto rope_interleaved =
    program<"rope_interleaved">([] { return rotated<1, 2, 6, 16>(at<1, 6>, interleaved); });
inline constexpr auto rope_explicit = program<"rope_explicit">([] {
  return rotated<1, 2, 6, 8>(at<1, 6>, half_split,
                             frequencies<rope_list<4>{{0.5, 0.25, 0.1, 1.5}}>);
});
inline constexpr auto linear_rope = program<"rope_linear">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, half_split, frequencies<rope_linear{.factor = 4}>);
});
inline constexpr auto ntk_rope = program<"rope_ntk">(
    [] { return rotated<1, 2, 6, 16>(at<1, 6>, half_split, frequencies<rope_ntk{.factor = 4}>); });
inline constexpr auto rope_dynamic_ntk_above = program<"rope_dynamic_ntk_above">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, half_split,
                              frequencies<rope_dynamic_ntk{.factor = 4, .original_context = 64}>,
                              current_length(constant<200.0, i32>));
});
inline constexpr auto rope_dynamic_ntk_below = program<"rope_dynamic_ntk_below">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, half_split,
                              frequencies<rope_dynamic_ntk{.factor = 4, .original_context = 64}>);
});
inline constexpr auto rope_llama3_3_1 = program<"rope_llama3_3_1">(
    [] { return rotated<1, 1, 6, 64>(at<1, 6>, half_split, frequencies<rope_llama3{}>); });
inline constexpr auto rope_yarn_truncated = program<"rope_yarn_truncated">(
    [] { return rotated<1, 1, 6, 32>(at<1, 6>, half_split, frequencies<rope_yarn{.factor = 4}>); });
inline constexpr auto rope_yarn_untruncated = program<"rope_yarn_untruncated">([] {
  return rotated<1, 1, 6, 64>(
      at<1, 6>, half_split,
      frequencies<rope_yarn{
          .base = 150000, .factor = 32, .original_context = 4096, .truncate = false}>);
});
inline constexpr auto rope_yarn_attention_factor = program<"rope_yarn_attention_factor">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, half_split,
                              frequencies<rope_yarn{.factor = 8, .attention_factor = 1.25}>);
});
inline constexpr auto rope_yarn_mscale = program<"rope_yarn_mscale">([] {
  return rotated<1, 2, 6, 16>(
      at<1, 6>, half_split,
      frequencies<rope_yarn{
          .factor = 40, .original_context = 4096, .mscale = 0.707, .mscale_all_dim = 1.1}>);
});
inline constexpr auto rope_longrope_short = program<"rope_longrope_short">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, half_split, frequencies<&phi>,
                              current_length(constant<64.0, i32>));
});
inline constexpr auto rope_longrope_long = program<"rope_longrope_long">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, half_split, frequencies<phi>,
                              current_length(constant<65.0, i32>));
});
inline constexpr auto rope_proportional_0_25 = program<"rope_proportional_0_25">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, half_split,
                              frequencies<rope_proportional{.base = 1e6, .share = 0.25}>);
});
inline constexpr auto rope_ggml_normal_yarn = program<"rope_ggml_normal_yarn">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, ggml_rope_mode<0>, rotary_window<16>, frequencies<ramp>);
});
inline constexpr auto rope_ggml_neox_yarn = program<"rope_ggml_neox_yarn">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, ggml_rope_mode<2>, rotary_window<16>, frequencies<ramp>);
});
inline constexpr auto rope_ggml_neox_factors = program<"rope_ggml_neox_factors">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, ggml_rope_mode<2>, frequencies<no_ramp>,
                              frequency_factors(factors<8>));
});
inline constexpr auto rope_ggml_normal_yarn_factors = program<"rope_ggml_normal_yarn_factors">([] {
  return rotated<1, 2, 6, 16>(at<1, 6>, ggml_rope_mode<0>, frequencies<ramp>,
                              frequency_factors(factors<8>));
});
inline constexpr auto rope_ggml_partial_neox = program<"rope_ggml_partial_neox">([] {
  return rotated<1, 2, 6, 24>(at<1, 6>, ggml_rope_mode<2>, rotary_window<16>, frequencies<ramp>);
});
inline constexpr auto rope_ggml_partial_normal = program<"rope_ggml_partial_normal">([] {
  return rotated<1, 2, 6, 24>(at<1, 6>, ggml_rope_mode<0>, rotary_window<16>, frequencies<no_ramp>);
});
inline constexpr auto rope_grad_factors = program<"rope_grad_factors">([] {
  return differentiated(rope(x<1, 2, 4, 8>, at<1, 4>, half_split, frequencies<no_ramp>,
                             frequency_factors(factors<4>)),
                        x<1, 2, 4, 8>, factors<4>);
});
inline constexpr auto rope_mrope = program<"rope_mrope">(
    [] { return rotated<1, 2, 5, 16>(at<4, 1, 5>, ggml_rope_mode<8, 3, 3, 2, 0>); });
inline constexpr auto rope_mrope_interleaved = program<"rope_mrope_interleaved">(
    [] { return rotated<1, 2, 5, 16>(at<4, 1, 5>, interleaved_mrope<3, 3, 2>); });
inline constexpr auto rope_vision = program<"rope_vision">(
    [] { return rotated<1, 2, 5, 16>(at<4, 1, 5>, ggml_rope_mode<24, 4, 4, 4, 4>); });
inline constexpr auto rope_window_offset = program<"rope_window_offset">(
    [] { return rotated<1, 2, 6, 24>(at<1, 6>, half_split, rotary_window<8, 6>); });
inline constexpr auto rope_window_offset_interleaved =
    program<"rope_window_offset_interleaved">([] {
      return rotated<1, 2, 6, 24>(at<1, 6>, interleaved, rotary_window<8, 16>, rope_magnitude<1.5>);
    });
inline constexpr auto rope_batch_positions =
    program<"rope_batch_positions">([] { return rotated<2, 2, 5, 8>(at<2, 5>, half_split); });
inline constexpr auto rope_positions_shared =
    program<"rope_positions_shared">([] { return rotated<3, 2, 3, 8>(at<1, 3>, half_split); });
inline constexpr auto rope_large_positions =
    program<"rope_large_positions">([] { return rotated<1, 1, 7, 64>(at<1, 7>, half_split); });
inline constexpr auto rope_large_positions_500000 = program<"rope_large_positions_500000">(
    [] { return rotated<1, 1, 7, 32>(at<1, 7>, interleaved, rope_base<500000.0>); });
inline constexpr auto rope_large_positions_yarn = program<"rope_large_positions_yarn">([] {
  return rotated<1, 1, 7, 32>(
      at<1, 7>, half_split,
      frequencies<rope_yarn{
          .base = 150000, .factor = 256, .original_context = 4096, .truncate = false}>);
});
inline constexpr auto rope_magnitude_0_75 = program<"rope_magnitude">(
    [] { return rotated<1, 2, 6, 8>(at<1, 6>, half_split, rope_magnitude<0.75>); });

}  // namespace cases
