// Rope as other libraries spell it (docs/rope.md): each call of theirs as an expression of ours,
// and its values against plain loops over that library's own convention.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/io/file.hpp>
#include <ropewalk/ops/permute.hpp>
#include <ropewalk/ops/rope.hpp>
#include <ropewalk/rope_schedule.hpp>

#include "check.hpp"
#include "examples/05_rope_schedules/wavelengths.hpp"
#include "leaves.hpp"

namespace elsewhere {

using namespace ropewalk;

inline constexpr dim B{"B", 2}, H{"H", 2}, T{"T", 5}, D{"D", 16};
inline constexpr auto x = input<"x", f32, B, H, T, D>;
inline constexpr auto d_out = input<"d_out", f32, B, H, T, D>;

// --- ggml ---
// ggml_rope_ext(x, pos, c, n_dims = 12, mode = NEOX, n_ctx_orig = 512, freq_base = 10000,
//               freq_scale = 0.25, ext_factor = 1, attn_factor = 0.9, beta_fast = 16, beta_slow =
//               1)
inline constexpr auto pos = input<"pos", i32, T>;
inline constexpr auto c = input<"c", f32, 6>;
inline constexpr rope_ggml parameters{.freq_base = 10000,
                                      .freq_scale = 0.25,
                                      .ext_factor = 1,
                                      .attn_factor = 0.9,
                                      .beta_fast = 16,
                                      .beta_slow = 1,
                                      .n_ctx_orig = 512};
inline constexpr auto rope_ext = rope(x, pos, ggml_rope_mode<2>, rotary_window<12>,
                                      frequencies<parameters>, frequency_factors(c));
// ggml_rope_ext_back: the gradient.
inline constexpr auto rope_ext_back = vector_jacobian(rope_ext, d_out, x);
// ggml_rope_multi(..., sections = {3, 3, 2, 0}, mode = MROPE, ...): pos [4 * T], stream by stream.
inline constexpr auto rope_multi =
    rope(x, input<"pos4", i32, 4, T>, ggml_rope_mode<8, 3, 3, 2, 0>, rope_base<10000.0>);

// --- Kaun ---
// Rope.apply t ~pos x, with t made by
//   Rope.of_frequencies ~context:64 f
//   Rope.make ~theta:10000. ~head_dim:16 ~context:64 ()
//   Rope.llama3 ~theta:500000. ~head_dim:16 ~factor:8. ~low_freq_factor:1. ~high_freq_factor:4.
//               ~original_context:8192 ~context:131072
//   Rope.yarn ~theta:150000. ~head_dim:16 ~factor:32. ~beta_fast:32. ~beta_slow:1.
//             ~original_context:4096 ~context:131072
// (Kaun's yarn keeps norms; the temperature goes into the scale of attention: scaled<s>, with
// s = yarn_mscale(32)^2 / sqrt(head_dim).)
inline constexpr auto at = input<"at", i32, B, T>;
inline constexpr auto of_frequencies =
    rope(x, at, half_split, frequencies<rope_list<8>{{1, 0.5, 0.3, 0.2, 0.1, 0.05, 0.01, 0}}>,
         maximum_position<64>);
inline constexpr auto make_ = rope(x, at, half_split, rope_base<10000.0>, maximum_position<64>);
inline constexpr auto llama3_ =
    rope(x, at, half_split, frequencies<rope_llama3{}>, maximum_position<131072>);
inline constexpr auto yarn_ = rope(x, at, half_split,
                                   frequencies<rope_yarn{.base = 150000,
                                                         .factor = 32,
                                                         .original_context = 4096,
                                                         .truncate = false,
                                                         .attention_factor = 1}>,
                                   maximum_position<131072>);

// --- itsubaki/gpt ---
// function.RoPE(theta, headDim, contextLen)(offset)(x): interleaved, an offset for the cache, a
// context that positions must not leave, backward by the conjugate.
inline constexpr auto offset = input<"offset", i32>;
inline constexpr auto go_rope =
    rope(x, iota<T> + offset, interleaved, rope_base<10000.0>, maximum_position<64>);
inline constexpr auto go_rope_backward = vector_jacobian(go_rope, d_out, x);

// --- Hugging Face transformers: rope_scaling ---
// {"rope_type": "default"}, partial_rotary_factor 0.5
inline constexpr auto hf_default = rope(x, at, half_split, rotary_window<8>);
// {"rope_type": "linear", "factor": 4}
inline constexpr auto hf_linear = rope(x, at, half_split, frequencies<rope_linear{.factor = 4}>);
// {"rope_type": "dynamic", "factor": 4}, max_position_embeddings 8
inline constexpr auto hf_dynamic =
    rope(x, at, half_split, frequencies<rope_dynamic_ntk{.factor = 4, .original_context = 8}>);
// {"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 2048}
inline constexpr auto hf_yarn =
    rope(x, at, half_split, frequencies<rope_yarn{.factor = 4, .original_context = 2048}>);
// {"rope_type": "llama3", "factor": 32, "low_freq_factor": 1, "high_freq_factor": 4,
//  "original_max_position_embeddings": 8192}, rope_theta 500000
inline constexpr auto hf_llama3 = rope(x, at, half_split, frequencies<rope_llama3{.factor = 32}>);
// {"rope_type": "longrope", "short_factor": [...], "long_factor": [...]},
// original_max_position_embeddings 8, max_position_embeddings 32 (factor = 32 / 8)
inline constexpr rope_longrope<8> phi3{.factor = 4,
                                       .original_context = 8,
                                       .short_factors = {1, 1, 1, 1, 1.5, 2, 2, 2},
                                       .long_factors = {1, 2, 3, 4, 5, 6, 7, 8}};
inline constexpr auto hf_longrope = rope(x, at, half_split, frequencies<&phi3>);
// {"rope_type": "proportional"}, partial_rotary_factor 0.25, rope_theta 1000000
inline constexpr auto hf_proportional =
    rope(x, at, half_split, frequencies<rope_proportional{.base = 1e6, .share = 0.25}>);
// Qwen2-VL: {"mrope_section": [4, 2, 2]}; Qwen3-VL: {"mrope_interleaved": true}. Positions [3, B,
// T].
inline constexpr auto at3 = input<"at3", i32, 3, B, T>;
inline constexpr auto hf_mrope = rope(x, at3, mrope<4, 2, 2>);
inline constexpr auto hf_mrope_interleaved =
    rope(x, at3, interleaved_mrope<4, 2, 2, 0, mrope_rest::t>);

// GLM-4.1V: {"mrope_section": [2, 3, 3]}, pairs (2 i, 2 i + 1).
inline constexpr auto hf_glm = rope(x, at3, interleaved, mrope<2, 3, 3>);

// --- torchtune ---
// RotaryPositionalEmbeddings(dim=16, max_seq_len=64, base=10000)(x, input_pos=at): x [b, s, n_h,
// h_d], pairs (2 i, 2 i + 1).
inline constexpr auto by_token = input<"by_token", f32, B, T, H, D>;
inline constexpr auto tune =
    permute<0, 2, 1, 3>(rope(permute<0, 2, 1, 3>(by_token), at, interleaved, maximum_position<64>));

}  // namespace elsewhere

namespace {

using namespace cases;
namespace ew = elsewhere;

constexpr std::size_t batch = 2, heads = 2, steps = 5, width = 16;

values random_values(std::mt19937& r) {
  values v;
  const auto put = [&](const char* name, std::vector<std::int64_t> extent, int low, int high) {
    dense& d = v[name] = filled(std::move(extent), 0);
    for (double& e : d.v)
      e = high > 1 ? std::uniform_int_distribution<int>(low, high)(r)
                   : std::uniform_real_distribution<double>(-1, 1)(r);
  };
  put("x", {batch, heads, steps, width}, 0, 0);
  put("d_out", {batch, heads, steps, width}, 0, 0);
  put("by_token", {batch, steps, heads, width}, 0, 0);
  put("pos", {steps}, 0, 60);
  put("pos4", {4, steps}, 0, 60);
  put("at", {batch, steps}, 0, 60);
  put("at3", {3, batch, steps}, 0, 60);
  v["offset"] = {{}, {9}};
  v["c"] = {{6}, {1, 1.25, 1.5, 2, 3, 5}};
  return v;
}

// The value of an expression under the values that it reads.
template <class E>
dense value_of(const E&, const values& all) {
  constexpr auto p = program<"elsewhere">([] { return outputs(output<"out">(E{})); });
  const program_graph g = flatten(p.table(), {});
  values leaves;
  for (int id = 0; id < g.g.size(); ++id)
    if (!g.g[id].path.empty()) leaves[g.g[id].path] = all.at(g.g[id].path);
  return evaluate_reference(g, {}, leaves).at("out");
}

// x rotated by plain loops: pair i of `pairs` at features (u, v), by angle(batch, step, pair).
using angle_rule = std::function<double(std::size_t, std::size_t, std::size_t)>;
dense rotated(const dense& x, std::size_t pairs, bool interleaved, double m,
              const angle_rule& angle) {
  dense out = x;
  for (std::size_t b = 0; b < batch; ++b)
    for (std::size_t h = 0; h < heads; ++h)
      for (std::size_t t = 0; t < steps; ++t)
        for (std::size_t i = 0; i < pairs; ++i) {
          const std::size_t row = ((b * heads + h) * steps + t) * width;
          const std::size_t u = row + (interleaved ? 2 * i : i);
          const std::size_t v = row + (interleaved ? 2 * i + 1 : i + pairs);
          const double a = angle(b, t, i);
          out.v[u] = m * (x.v[u] * std::cos(a) - x.v[v] * std::sin(a));
          out.v[v] = m * (x.v[u] * std::sin(a) + x.v[v] * std::cos(a));
        }
  return out;
}
double standard(double base, std::size_t i, double d) {
  return std::pow(base, -2 * static_cast<double>(i) / d);
}

}  // namespace

TEST_CASE("ggml's rope_ext, rope_ext_back and rope_multi") {
  std::mt19937 r(1);
  const values v = random_values(r);
  // ggml's walk over the pairs: theta grows by one factor, the ramp mixes two angles.
  const auto corr = [](double turns) {
    return 12 * std::log(512 / (turns * 2 * std::numbers::pi)) / (2 * std::log(10000.0));
  };
  const double low = std::max(0.0, std::floor(corr(16))), high = std::min(11.0, std::ceil(corr(1)));
  const auto angle = [&](std::size_t, std::size_t t, std::size_t i) {
    const double theta = v.at("pos").v[t] * standard(10000, i, 12) / v.at("c").v[i];
    const double y = (static_cast<double>(i) - low) / std::max(0.001, high - low);
    const double mix = 1 - std::min(1.0, std::max(0.0, y));
    return 0.25 * theta * (1 - mix) + theta * mix;
  };
  const double m = 0.9 * (1 + 0.1 * std::log(4.0));
  check_close("rope_ext", value_of(ew::rope_ext, v), rotated(v.at("x"), 6, false, m, angle), 1e-13);
  const auto back = [&](std::size_t b, std::size_t t, std::size_t i) { return -angle(b, t, i); };
  check_close("rope_ext_back", value_of(ew::rope_ext_back, v),
              rotated(v.at("d_out"), 6, false, m, back), 1e-13);
  const auto section = [&](std::size_t, std::size_t t, std::size_t i) {
    const std::size_t stream = i < 3 ? 0 : i < 6 ? 1 : 2;
    return v.at("pos4").v[stream * steps + t] * standard(10000, i, 16);
  };
  check_close("rope_multi", value_of(ew::rope_multi, v), rotated(v.at("x"), 8, false, 1, section),
              1e-13);
}

TEST_CASE("Kaun's Rope, Hugging Face's rope_scaling, itsubaki/gpt, torchtune") {
  std::mt19937 r(2);
  const values v = random_values(r);
  const auto check = [&](const char* what, const dense& got, const rope_schedule& s,
                         std::size_t pairs = 8, std::int64_t length = 0) {
    const auto f = s.frequencies(2 * static_cast<std::int64_t>(pairs), length);
    check_close(what, got,
                rotated(v.at("x"), pairs, false, s.magnitude(),
                        [&](std::size_t b, std::size_t t, std::size_t i) {
                          return v.at("at").v[b * steps + t] * f[i];
                        }),
                1e-13);
  };
  const auto &at = v.at("at").v, &at3 = v.at("at3").v;
  const auto length = static_cast<std::int64_t>(*std::max_element(at.begin(), at.end())) + 1;
  REQUIRE(length > 8);

  check("Rope.of_frequencies", value_of(ew::of_frequencies, v),
        rope_frequency_list{{1, 0.5, 0.3, 0.2, 0.1, 0.05, 0.01, 0}});
  check("Rope.make", value_of(ew::make_, v), rope_standard{});
  check("Rope.llama3", value_of(ew::llama3_, v), rope_llama3{});
  const rope_yarn oss{.base = 150000,
                      .factor = 32,
                      .original_context = 4096,
                      .truncate = false,
                      .attention_factor = 1};
  check("Rope.yarn", value_of(ew::yarn_, v), oss);

  check("default", value_of(ew::hf_default, v), rope_standard{}, 4);
  check("linear", value_of(ew::hf_linear, v), rope_linear{.factor = 4});
  check("dynamic", value_of(ew::hf_dynamic, v),
        rope_ntk{.factor = 4.0 * static_cast<double>(length) / 8 - 3});
  check("yarn", value_of(ew::hf_yarn, v), rope_yarn{.factor = 4});
  check("llama3", value_of(ew::hf_llama3, v), rope_llama3{.factor = 32});
  check("longrope", value_of(ew::hf_longrope, v), ew::phi3, 8, length);
  check("proportional", value_of(ew::hf_proportional, v),
        rope_frequency_list{{1, standard(1e6, 1, 16), 0, 0, 0, 0, 0, 0}});
  const auto streams = [&](auto stream) {
    return [&at3, stream](std::size_t b, std::size_t t, std::size_t i) {
      return at3[(stream(i) * batch + b) * steps + t] * standard(10000, i, 16);
    };
  };
  check_close("mrope", value_of(ew::hf_mrope, v),
              rotated(v.at("x"), 8, false, 1, streams([](std::size_t i) -> std::size_t {
                        return i < 4 ? 0 : i < 6 ? 1 : 2;
                      })),
              1e-13);
  check_close("GLM", value_of(ew::hf_glm, v),
              rotated(v.at("x"), 8, true, 1, streams([](std::size_t i) -> std::size_t {
                        return i < 2 ? 0 : i < 5 ? 1 : 2;
                      })),
              1e-13);
  check_close("interleaved mrope", value_of(ew::hf_mrope_interleaved, v),
              rotated(v.at("x"), 8, false, 1, streams([](std::size_t i) -> std::size_t {
                        return i % 3 != 0 && i < 6 ? i % 3 : 0;
                      })),
              1e-13);

  const auto conjugate = [&](double sign) {
    return [sign](std::size_t, std::size_t t, std::size_t i) {
      return sign * (9 + static_cast<double>(t)) * standard(10000, i, 16);
    };
  };
  check_close("itsubaki/gpt", value_of(ew::go_rope, v),
              rotated(v.at("x"), 8, true, 1, conjugate(1)), 1e-13);
  check_close("itsubaki/gpt, backward", value_of(ew::go_rope_backward, v),
              rotated(v.at("d_out"), 8, true, 1, conjugate(-1)), 1e-13);

  // torchtune's rows are [b, s, n_h, h_d]: the same rotation, heads and steps swapped.
  const dense& given = v.at("by_token");
  const auto swapped = [](const dense& from, std::size_t first, std::size_t second) {
    dense to = from;
    for (std::size_t b = 0; b < batch; ++b)
      for (std::size_t i = 0; i < first; ++i)
        for (std::size_t j = 0; j < second; ++j)
          for (std::size_t d = 0; d < width; ++d)
            to.v[((b * second + j) * first + i) * width + d] =
                from.v[((b * first + i) * second + j) * width + d];
    return to;
  };
  const dense turned = rotated(swapped(given, steps, heads), 8, true, 1,
                               [&](std::size_t b, std::size_t t, std::size_t i) {
                                 return at[b * steps + t] * standard(10000, i, 16);
                               });
  check_close("torchtune", value_of(ew::tune, v), swapped(turned, heads, steps), 1e-13);
}

TEST_CASE("the picture of the documentation is what the example draws") {
  using namespace examples;
  CHECK(wavelengths_svg(shown_schedules(), shown_width, shown_context) ==
        read_file("../docs/rope_wavelengths.svg"));
}
