// Rope beside the golden cases: angles of every schedule, half precision, stated maximum, decoding,
// schedules by length, run-time frequencies, YaRN's temperature, weight rows.
#pragma once
#include <ropewalk/ops/attention.hpp>
#include <ropewalk/ops/rope.hpp>

#include "leaves.hpp"

namespace cases {

inline constexpr dim T{"T"};
inline constexpr auto places = input<"positions", i32, T>;

// cos and sin of every pair: (1, 0) rotated.
template <class... Option>
constexpr auto angles_of(const Option&... option) {
  return outputs(output<"out">(rope(x<T, 64>, places, half_split, option...)));
}
constexpr std::array<double, 32> list_of(double first, double step) {
  std::array<double, 32> r{};
  for (int i = 0; i < 32; ++i) r[static_cast<std::size_t>(i)] = first + step * i;
  return r;
}
inline constexpr rope_longrope<32> accuracy_lists{.factor = 32,
                                                  .original_context = 4096,
                                                  .short_factors = list_of(1, 0.125),
                                                  .long_factors = list_of(1, 0.25),
                                                  .attention_factor = 1};

inline constexpr auto accuracy_standard =
    program<"accuracy_standard">([] { return angles_of(rope_base<10000.0>); });
inline constexpr auto accuracy_list = program<"accuracy_list">(
    [] { return angles_of(frequencies<rope_list<32>{list_of(1, -0.015625)}>); });
inline constexpr auto accuracy_linear =
    program<"accuracy_linear">([] { return angles_of(frequencies<rope_linear{.factor = 3}>); });
inline constexpr auto accuracy_ntk =
    program<"accuracy_ntk">([] { return angles_of(frequencies<rope_ntk{.factor = 4}>); });
inline constexpr auto accuracy_dynamic_ntk = program<"accuracy_dynamic_ntk">([] {
  return angles_of(frequencies<rope_dynamic_ntk{.factor = 3, .original_context = 4096}>,
                   current_length(constant<65536.0, i32>));
});
inline constexpr auto accuracy_llama3 =
    program<"accuracy_llama3">([] { return angles_of(frequencies<rope_llama3{}>); });
inline constexpr auto accuracy_yarn = program<"accuracy_yarn">(
    [] { return angles_of(frequencies<rope_yarn{.factor = 4, .attention_factor = 1}>); });
inline constexpr auto accuracy_yarn_untruncated = program<"accuracy_yarn_untruncated">([] {
  return angles_of(frequencies<rope_yarn{.base = 150000,
                                         .factor = 32,
                                         .original_context = 4096,
                                         .truncate = false,
                                         .attention_factor = 1}>);
});
inline constexpr auto accuracy_longrope =
    program<"accuracy_longrope">([] { return angles_of(frequencies<&accuracy_lists>); });
inline constexpr auto accuracy_proportional = program<"accuracy_proportional">([] {
  return angles_of(frequencies<rope_proportional{.base = 1e6, .share = 0.25, .factor = 8}>);
});
inline constexpr auto accuracy_factors =
    program<"accuracy_factors">([] { return angles_of(frequency_factors(input<"c", f32, 32>)); });
inline constexpr auto accuracy_ggml = program<"accuracy_ggml">([] {  // m = 1
  return angles_of(frequencies<rope_ggml{.freq_scale = 0.25,
                                         .ext_factor = 1,
                                         .attn_factor = 1 / yarn_mscale(4),
                                         .n_ctx_orig = 2048}>);
});

// Half precision beside the same in float32, and the gradients.
template <dtype D>
constexpr auto halves() {
  auto h = input<"h", D, 2, 5, 12>;
  auto g = input<"d_h", D, 2, 5, 12>;
  auto wide = cast<f32>(h);
  auto wide_g = cast<f32>(g);
  return outputs(
      output<"half">(rope(h, half_split, rotary_window<8, 2>)),
      output<"float">(rope(wide, half_split, rotary_window<8, 2>)),
      output<"half_gradient">(vector_jacobian(rope(h, half_split, rotary_window<8, 2>), g, h)),
      output<"float_gradient">(
          vector_jacobian(rope(wide, half_split, rotary_window<8, 2>), wide_g, wide)));
}
inline constexpr auto half_f16 = program<"half_f16">([] { return halves<f16>(); });
inline constexpr auto half_bf16 = program<"half_bf16">([] { return halves<bf16>(); });

// A stated maximum: of given positions, of computed ones, and of 0 .. T-1.
inline constexpr auto maximum_given = program<"maximum_given">([] {
  return outputs(output<"out">(rope(x<T, 8>, places, half_split, maximum_position<4096>)));
});
inline constexpr auto maximum_computed = program<"maximum_computed">([] {
  return outputs(output<"out">(
      rope(x<T, 8>, iota<T> + input<"past", i32>, interleaved, maximum_position<64>)));
});
inline constexpr auto maximum_own = program<"maximum_own">(
    [] { return outputs(output<"out">(rope(x<T, 8>, half_split, maximum_position<6>))); });
inline constexpr auto maximum_streams = program<"maximum_streams">([] {
  return outputs(output<"out">(
      rope(x<T, 8>, input<"streams", i32, 3, T>, mrope<2, 1, 1>, maximum_position<100>)));
});

// Token by token or all at once.
inline constexpr auto decode_standard = program<"decode_standard">([] {
  return outputs(output<"out">(rope(x<2, T, 24>, places, interleaved, rotary_window<16, 4>)));
});
inline constexpr auto decode_yarn = program<"decode_yarn">([] {
  return outputs(
      output<"out">(rope(x<2, T, 24>, places, half_split, frequencies<rope_yarn{.factor = 4}>)));
});

// Schedules by length: from given positions, from T, from a length of the caller's.
inline constexpr rope_longrope<4> by_length{.factor = 4,
                                            .original_context = 8,
                                            .short_factors = {1, 1.5, 2, 2.5},
                                            .long_factors = {2, 4, 6, 8}};
inline constexpr auto length_given = program<"length_given">([] {
  return outputs(
      output<"ntk">(rope(x<T, 8>, places, half_split,
                         frequencies<rope_dynamic_ntk{.factor = 2, .original_context = 8}>)),
      output<"lists">(rope(x<T, 8>, places, half_split, frequencies<&by_length>)));
});
inline constexpr auto length_own = program<"length_own">([] {
  return outputs(
      output<"ntk">(rope(x<T, 8>, half_split,
                         frequencies<rope_dynamic_ntk{.factor = 2, .original_context = 8}>)),
      output<"lists">(rope(x<T, 8>, half_split, frequencies<&by_length>)));
});
inline constexpr auto length_told = program<"length_told">([] {
  auto l = current_length(input<"length", i32>);
  return outputs(
      output<"ntk">(rope(x<T, 8>, half_split,
                         frequencies<rope_dynamic_ntk{.factor = 2, .original_context = 8}>, l)),
      output<"lists">(rope(x<T, 8>, half_split, frequencies<&by_length>, l)));
});

// A width that is known when a session opens.
inline constexpr dim W{"W"};
inline constexpr auto symbolic_width = program<"symbolic_width">([] {
  auto wide = input<"x", f32, 2, T, W>;
  return differentiated(rope(wide, places, half_split, frequencies<rope_ntk{.factor = 4}>), wide);
});
inline constexpr auto symbolic_window = program<"symbolic_window">([] {
  auto wide = input<"x", f32, 2, T, dim(2) * W>;
  return differentiated(
      rope(wide, places, interleaved, rotary_window<W>, frequencies<rope_yarn{.factor = 4}>), wide);
});

// Frequencies and magnitude as values of a run.
inline constexpr auto run_time = program<"run_time">([] {
  return outputs(
      output<"out">(rope(x<T, 8>, places, half_split, frequencies_from(input<"f", f64, 4>),
                         magnitude_from(input<"m", f64>))));
});

// Their gradients; and features in float64.
inline constexpr auto values_differentiated = program<"values_differentiated">([] {
  auto f = input<"f", f32, 4>;
  auto m = input<"m", f32>;
  auto turned = rope(x<2, 3, 4, 10>, input<"positions", i32, 2, 4>, interleaved,
                     rotary_window<8, 2>, frequencies_from(f), magnitude_from(m));
  return differentiated(turned, x<2, 3, 4, 10>, f, m);
});
inline constexpr auto in_float64 = program<"in_float64">([] {
  return outputs(output<"out">(
      rope(input<"x", f64, T, 8>, places, half_split, frequencies<rope_yarn{.factor = 4}>)));
});

// Frequency factors that are trained.
inline constexpr auto trained_factors = program<"trained_factors">([] {
  auto turned = rope(x<1, 2, 4, 8>, input<"positions", i32, 1, 4>, half_split,
                     frequencies<rope_ggml{.freq_scale = 0.25, .attn_factor = 0.9}>,
                     frequency_factors(param<"c", init_ones(), 4>));
  return outputs(parameter_gradients(sum(turned * input<"d_out", f32, 1, 2, 4, 8>)));
});

// The gradients in factors and features, differentiated again.
template <class... Option>
constexpr auto pulled_twice(const Option&... option) {
  auto t = x<1, 2, 3, 12>;
  auto f = input<"c", f32, 4>;
  auto turned =
      rope(t, input<"positions", i32, 1, 3>, rotary_window<8, 2>, frequency_factors(f), option...);
  auto to_factors = vector_jacobian(turned, y<1, 2, 3, 12>, f);
  return differentiated(to_factors, t, f, y<1, 2, 3, 12>);
}
inline constexpr auto twice_half_split =
    program<"twice_half_split">([] { return pulled_twice(half_split); });
inline constexpr auto twice_interleaved =
    program<"twice_interleaved">([] { return pulled_twice(interleaved, rope_magnitude<0.8>); });

// YaRN's temperature as m on q and k, or in the scale of attention.
inline constexpr rope_yarn warm{.factor = 8, .original_context = 64};
inline constexpr rope_yarn cold{.factor = 8, .original_context = 64, .attention_factor = 1};
inline constexpr double warmth = yarn_mscale(8) * yarn_mscale(8);
inline constexpr auto temperature = program<"temperature">([] {
  auto q = input<"q", f32, 1, 2, 6, 16>;
  auto k = input<"k", f32, 1, 2, 6, 16>;
  auto v = input<"v", f32, 1, 2, 6, 16>;
  return outputs(output<"on_q_and_k">(attention(rope(q, half_split, frequencies<warm>),
                                                rope(k, half_split, frequencies<warm>), v, causal)),
                 output<"in_scale">(attention(rope(q, half_split, frequencies<cold>),
                                              rope(k, half_split, frequencies<cold>), v, causal,
                                              scaled<warmth / 4>)));
});

// A checkpoint's rows, moved: q by interleaved pairs becomes q by half-split pairs, and back.
inline constexpr auto moved_rows = program<"moved_rows">([] {
  auto given = input<"w_interleaved", f32, 16, 5>;
  auto bias = input<"bias", f32, 16>;
  auto half = half_split_rows<2>(given);
  return outputs(output<"w_half_split">(half), output<"back">(interleaved_rows<2>(half)),
                 output<"bias_half_split">(half_split_rows<2>(bias)));
});

}  // namespace cases
