// Rope's schedules at run time: frequencies to the last bit, magnitudes, tables, refused arguments,
// the order of weight rows.
#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/io/safetensors.hpp>
#include <ropewalk/rope_schedule.hpp>

#include "check.hpp"
#include "rope_programs.hpp"

using namespace cases;

namespace {

const std::string folder = "data/goldens/ops/rope-";

std::vector<double> golden_frequencies(const std::string& name) {
  const tensor_file file(folder + name + ".safetensors");
  const file_tensor& t = file.get("inv_freq");
  std::vector<double> f(static_cast<std::size_t>(t.shape[0]));
  std::memcpy(f.data(), t.bytes.data(), t.bytes.size());
  return f;
}

std::string message_of(const rope_schedule& s, std::int64_t width, std::int64_t length = 0) {
  try {
    s.frequencies(width, length);
  } catch (const error& e) {
    return e.what();
  }
  return "nothing was thrown";
}
template <class Schedule>
std::string refusal(const Schedule& s) {
  try {
    rope_schedule refused(s);
  } catch (const error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

constexpr dim N{"N"};
constexpr auto symbolic = program<"symbolic">([] {
  return outputs(
      output<"out">(rope(x<3, N>, half_split, frequencies<ropewalk::rope_ntk{.factor = 2}>)));
});

// A schedule of the caller's own: the wavelength doubles every `pairs` pairs.
struct doubling {
  double pairs = 4;
  static constexpr const char* name = "doubling";
  static constexpr bool by_length = false;
  constexpr rope_fault fault(std::int64_t) const { return rope_rules{}.positive("pairs", pairs).f; }
  constexpr double magnitude() const { return 1; }
  void fill(std::span<double> f, std::int64_t, std::int64_t) const {
    for (std::size_t i = 0; i < f.size(); ++i) f[i] = std::exp2(-static_cast<double>(i) / pairs);
  }
};
constexpr auto own_schedule = program<"own_schedule">([] {
  return outputs(
      output<"own">(rope(x<3, 8>, half_split, frequencies<doubling{.pairs = 1}>)),
      output<"list">(rope(x<3, 8>, half_split, frequencies<rope_list<4>{{1, 0.5, 0.25, 0.125}}>)));
});

const std::vector<double> shorts(short_factors.begin(), short_factors.end());
const std::vector<double> longs(long_factors.begin(), long_factors.end());

}  // namespace

TEST_CASE("the frequencies of every schedule are the exact ones, rounded once") {
  const auto check = [](const std::string& name, const rope_schedule& s, std::int64_t width,
                        double m = 1, std::int64_t length = 0) {
    INFO(name);
    CHECK(s.frequencies(width, length) == golden_frequencies(name));
    CHECK(std::fabs(s.magnitude() - m) < 1e-15 * m);
  };
  check("standard", rope_standard{}, 16);
  check("explicit", rope_list<4>{{0.5, 0.25, 0.1, 1.5}}, 8);
  check("explicit", rope_frequency_list{{0.5, 0.25, 0.1, 1.5}}, 8);
  check("linear", ropewalk::rope_linear{.factor = 4}, 16);
  check("ntk", ropewalk::rope_ntk{.factor = 4}, 16);
  const rope_dynamic_ntk dynamic{.factor = 4, .original_context = 64};
  check("dynamic-ntk-above", dynamic, 16, 1, 200);
  check("dynamic-ntk-below", dynamic, 16, 1, 64);
  check("llama3-3.1", rope_llama3{}, 64);
  check("yarn-truncated", rope_yarn{.factor = 4}, 32, 1.138629436111989);
  const rope_yarn oss{.base = 150000, .factor = 32, .original_context = 4096, .truncate = false};
  check("yarn-untruncated", oss, 64, 1.3465735902799727);
  check("yarn-attention-factor", rope_yarn{.factor = 8, .attention_factor = 1.25}, 16, 1.25);
  check("yarn-mscale",
        rope_yarn{.factor = 40, .original_context = 4096, .mscale = 0.707, .mscale_all_dim = 1.1},
        16, 0.8968734092501965);
  check("large-positions-yarn",
        rope_yarn{.base = 150000, .factor = 256, .original_context = 4096, .truncate = false}, 32,
        1.5545177444479563);
  check("longrope-short", phi, 16, 1.35400640077266, 64);
  check("longrope-long", phi, 16, 1.35400640077266, 65);
  const rope_longrope_list lists{10000, 32, 64, shorts, longs};
  check("longrope-short", lists, 16, 1.35400640077266, 64);
  check("longrope-long", lists, 16, 1.35400640077266, 65);
  check("proportional-0.25", rope_proportional{.base = 1e6, .share = 0.25}, 16);
  check("ggml-normal-yarn", ramp, 16, 1.0247664925007902);
  check("ggml-partial-neox", ramp, 16, 1.0247664925007902);
  check("ggml-partial-normal", no_ramp, 16, 0.9);
}

TEST_CASE("the frequencies of a program are those of the run-time schedule") {
  constexpr auto program = [] {
    return outputs(output<"f">(
        cast<f64>(node<op::rope_frequencies<rope_llama3{}, rope_options{.width = 128}>>{})));
  };
  constexpr auto frequencies_only = ropewalk::program<"frequencies_only">(program);
  const values got = evaluate_reference(flatten(frequencies_only.table(), {}), {}, {});
  CHECK(got.at("f").v == rope_schedule(rope_llama3{}).frequencies(128));
}

TEST_CASE("a new schedule is a class, and rope takes it as it is") {
  std::mt19937 r(1);
  const program_graph p = flatten(own_schedule.table(), {});
  const values got = evaluate_reference(p, {}, random_leaves(p, {}, {}, {}, r));
  CHECK(got.at("own").v == got.at("list").v);
  CHECK(rope_schedule(doubling{.pairs = 1}).frequencies(8) ==
        std::vector<double>{1, 0.5, 0.25, 0.125});
  CHECK(refusal(doubling{.pairs = 0}) == "[doubling] pairs = 0: must be positive and finite");
}

TEST_CASE("YaRN's numbers") {
  CHECK(yarn_mscale(1) == 1);
  CHECK(yarn_mscale(0.5) == 1);
  for (const double s : {1.5, 4.0, 40.0, 256.0, 1e6})
    for (const double mscale : {0.707, 1.0})
      CHECK(std::fabs(yarn_mscale(s, mscale) - (0.1 * mscale * std::log(s) + 1)) < 4e-16);
  // The same magnitude on both sides cancels; DeepSeek puts it into the scale.
  constexpr rope_yarn deepseek{
      .factor = 40, .original_context = 4096, .mscale = 0.707, .mscale_all_dim = 0.707};
  CHECK(deepseek.magnitude() == 1);
  CHECK(std::fabs(deepseek.attention_scale() - std::pow(0.0707 * std::log(40.0) + 1, 2)) < 1e-15);
  CHECK(rope_yarn{.factor = 40}.attention_scale() == 1);
  // ggml's form keeps growing with a context that shrinks.
  CHECK(std::fabs(rope_ggml{.freq_scale = 2, .ext_factor = 1, .n_ctx_orig = 512}.magnitude() -
                  (1 + 0.1 * std::log(0.5))) < 1e-15);
  CHECK(rope_longrope<1>{.factor = 1, .short_factors = {1}, .long_factors = {1}}.magnitude() == 1);
}

TEST_CASE("a schedule prints its table") {
  CHECK(rope_schedule(rope_standard{10000}).table(8) ==
        "rope_standard, width 8, magnitude 1\n"
        "pair inverse_frequency wavelength\n"
        "0 1 6.28319\n"
        "1 0.10000000000000001 62.8319\n"
        "2 0.01 628.319\n"
        "3 0.001 6283.19\n");
  CHECK(rope_schedule(rope_dynamic_ntk{.factor = 2, .original_context = 16}).table(4, 16) ==
        "rope_dynamic_ntk, width 4, length 16, magnitude 1\n"
        "pair inverse_frequency wavelength\n"
        "0 1 6.28319\n"
        "1 0.01 628.319\n");
  CHECK(rope_schedule(rope_proportional{.share = 0.5}).table(4) ==
        "rope_proportional, width 4, magnitude 1\n"
        "pair inverse_frequency wavelength\n"
        "0 1 6.28319\n"
        "1 0 inf\n");
}

TEST_CASE("a schedule refuses what breaks a rule: argument, value, rule") {
  constexpr double inf = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const std::string positive = ": must be positive and finite";
  CHECK(refusal(rope_standard{0}) == "[rope_standard] base = 0" + positive);
  CHECK(refusal(rope_standard{-1e4}) == "[rope_standard] base = -10000" + positive);
  CHECK(refusal(rope_standard{inf}) == "[rope_standard] base = inf" + positive);
  CHECK(refusal(rope_standard{nan}) == "[rope_standard] base = nan" + positive);
  CHECK(refusal(ropewalk::rope_linear{.factor = 0}) == "[rope_linear] factor = 0" + positive);
  CHECK(refusal(ropewalk::rope_ntk{.factor = -2}) == "[rope_ntk] factor = -2" + positive);
  CHECK(refusal(rope_dynamic_ntk{.original_context = -8}) ==
        "[rope_dynamic_ntk] original_context = -8" + positive);
  CHECK(refusal(rope_llama3{.low = 4, .high = 4}) == "[rope_llama3] high = 4: must exceed low");
  CHECK(refusal(rope_llama3{.original_context = 0}) ==
        "[rope_llama3] original_context = 0" + positive);
  CHECK(refusal(rope_yarn{.base = 1}) == "[rope_yarn] base = 1: must be above 1 and finite");
  CHECK(refusal(rope_yarn{.beta_fast = 1, .beta_slow = 2}) ==
        "[rope_yarn] beta_fast = 1: must exceed beta_slow");
  CHECK(refusal(rope_yarn{.attention_factor = -1}) ==
        "[rope_yarn] attention_factor = -1: must not be negative");
  CHECK(refusal(rope_proportional{.share = 1.5}) ==
        "[rope_proportional] share = 1.5: must be above 0 and at most 1");
  CHECK(refusal(rope_ggml{.freq_base = 0}) == "[rope_ggml] freq_base = 0" + positive);
  CHECK(refusal(rope_ggml{.freq_scale = -1}) == "[rope_ggml] freq_scale = -1" + positive);
  CHECK(refusal(rope_ggml{.ext_factor = 1}) == "[rope_ggml] n_ctx_orig = 0" + positive);
  CHECK(refusal(rope_ggml{.ext_factor = 1, .beta_fast = 1, .n_ctx_orig = 512}) ==
        "[rope_ggml] beta_fast = 1: must exceed beta_slow");
  CHECK(refusal(rope_frequency_list{}) == "[rope_frequency_list] frequency = 0: must not be empty");
  CHECK(refusal(rope_frequency_list{{1, nan}}) ==
        "[rope_frequency_list] frequency = nan: must hold finite numbers");
  CHECK(refusal(rope_longrope_list{.short_factors = {1}, .long_factors = {0}}) ==
        "[rope_longrope_list] long_factors = 0: must hold positive numbers");
  CHECK(refusal(rope_longrope_list{.original_context = 0}) ==
        "[rope_longrope_list] original_context = 0" + positive);
  CHECK(refusal(rope_longrope<1>{
            .factor = 2, .original_context = 1, .short_factors = {1}, .long_factors = {1}}) ==
        "[rope_longrope] original_context = 1: must be above 1");

  const std::string even = ": must be positive and even";
  CHECK(message_of(rope_standard{}, 7) == "[rope_standard] width = 7" + even);
  CHECK(message_of(rope_standard{}, 0) == "[rope_standard] width = 0" + even);
  CHECK(message_of(rope_standard{}, -2) == "[rope_standard] width = -2" + even);
  CHECK(message_of(ropewalk::rope_ntk{.factor = 2}, 2) ==
        "[rope_ntk] width = 2: must be above 2 for NTK scaling");
  CHECK(message_of(rope_dynamic_ntk{}, 2, 9) ==
        "[rope_dynamic_ntk] width = 2: must be above 2 for NTK scaling");
  CHECK(message_of(rope_dynamic_ntk{}, 8) ==
        "[rope_dynamic_ntk] length = 0: must be positive: the frequencies depend on the current "
        "length");
  CHECK(message_of(rope_frequency_list{{1, 0.5}}, 8) ==
        "[rope_frequency_list] frequency = 2: must have width / 2 numbers");
}

TEST_CASE("a width known when a session opens is checked there") {
  const auto run = [&](std::int64_t n) -> std::string {
    const dim_binding dims[] = {{N, n}};
    try {
      evaluate_reference(flatten(symbolic.table(), dims), dims, {{"x", filled({3, n}, 1)}});
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(run(8) == "");
  CHECK(run(2) == "[rope_ntk] width = 2: must be above 2 for NTK scaling");
  CHECK(run(7) != "");
}

TEST_CASE("the order of weight rows: golden, inverse, window, mistakes") {
  const tensor_file file(folder + "row-permutation.safetensors");
  const file_tensor& t = file.get("source_row");
  std::vector<std::int32_t> source(16);
  std::memcpy(source.data(), t.bytes.data(), t.bytes.size());
  const auto half = rope_row_order(2, 8, rope_pairing::interleaved, rope_pairing::half_split);
  CHECK(half == std::vector<std::int64_t>(source.begin(), source.end()));
  const auto back = rope_row_order(2, 8, rope_pairing::half_split, rope_pairing::interleaved);
  for (std::size_t r = 0; r < 16; ++r)
    CHECK(half[static_cast<std::size_t>(back[r])] == static_cast<std::int64_t>(r));
  const auto same = rope_row_order(2, 8, rope_pairing::half_split, rope_pairing::half_split);
  for (std::size_t r = 0; r < 16; ++r) CHECK(same[r] == static_cast<std::int64_t>(r));
  CHECK(rope_row_order(1, 8, rope_pairing::interleaved, rope_pairing::half_split, 4, 2) ==
        std::vector<std::int64_t>{0, 1, 2, 4, 3, 5, 6, 7});

  const auto refused = [](std::int64_t heads, std::int64_t head_dim, std::int64_t width,
                          std::int64_t offset) -> std::string {
    try {
      rope_row_order(heads, head_dim, rope_pairing::interleaved, rope_pairing::half_split, width,
                     offset);
    } catch (const error& e) {
      return e.what();
    }
    return "";
  };
  CHECK(refused(0, 8, 0, 0) == "[rope_row_order] heads = 0: must be positive");
  CHECK(refused(2, 0, 0, 0) == "[rope_row_order] head_dim = 0: must be positive");
  CHECK(refused(2, 8, 3, 0) == "[rope_row_order] width = 3: must be positive and even");
  CHECK(refused(2, 8, 4, 1) == "[rope_row_order] offset = 1: must be even and not negative");
  CHECK(refused(2, 8, 8, 2) ==
        "[rope_row_order] width = 8: must fit into the head behind the offset");
}
