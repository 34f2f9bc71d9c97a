// Rope in compiled kernels beyond the golden cases: exact angles, half precision, stated maximum,
// decoding, schedules by length, run-time frequencies, YaRN's temperature, weight rows.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>

#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/rope_schedule.hpp>
#include <ropewalk/runtime/session.hpp>

#include "check.hpp"
#include "rope_more_programs.hpp"
#include "rope_programs.hpp"
#include "rope_turns.hpp"

using namespace cases;

namespace {

using integers = std::vector<std::int32_t>;

// A program's session at T = n.
session_core open(const program_table& t, std::size_t n, const session_options& options = {}) {
  const dim_binding dims[] = {{T, static_cast<std::int64_t>(n)}};
  return session_core(flatten(t, dims), cpu(2), dims, options);
}
session_core open(const program_table& t) { return session_core(flatten(t, {}), cpu(2), {}); }

std::vector<float> random_floats(std::size_t n, unsigned seed) {
  std::mt19937 r(seed);
  std::uniform_real_distribution<float> u(-2, 2);
  std::vector<float> v(n);
  for (float& e : v) e = u(r);
  return v;
}

// x [T, W] rotated by half-split pairs, positions and frequencies, in float64.
std::vector<double> turned(const std::vector<float>& x, const integers& at,
                           const std::vector<double>& f, double m = 1) {
  std::vector<double> out(x.size());
  const std::size_t half = f.size();
  for (std::size_t t = 0; t < at.size(); ++t)
    for (std::size_t i = 0; i < half; ++i) {
      const double u = x[t * 2 * half + i], v = x[t * 2 * half + half + i], a = at[t] * f[i];
      out[t * 2 * half + i] = m * (u * std::cos(a) - v * std::sin(a));
      out[t * 2 * half + half + i] = m * (v * std::cos(a) + u * std::sin(a));
    }
  return out;
}
void check_values(const std::vector<double>& got, const std::vector<double>& want) {
  const auto n = static_cast<std::int64_t>(want.size());
  check_close("values", {{n}, got}, {{n}, want}, 1e-6);
}

template <class F>
std::string message_of(F f) {
  try {
    f();
  } catch (const error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

// 10,000 positions from 0 to 2^20: the ends, powers of two and their neighbours, the others random.
integers many_positions() {
  integers at{0, 1, 2, 3, (1 << 20) - 1, 1 << 20};
  for (int k = 2; k < 20; ++k)
    for (int d = -1; d <= 1; ++d) at.push_back((1 << k) + d);
  std::mt19937 r(1);
  std::uniform_int_distribution<std::int32_t> u(0, 1 << 20);
  while (at.size() < 10000) at.push_back(u(r));
  return at;
}

double ulp(double v) {
  const float f = std::fabs(static_cast<float>(v));
  return static_cast<double>(std::nextafter(f, INFINITY)) - static_cast<double>(f);
}

// The largest error of cos and sin, in units of max(1 ulp of float32, 1.5e-10).
double angle_error(const program_table& t, const rope_turns (&turns)[32]) {
  static const integers at = many_positions();
  session_core s = open(t, at.size());
  std::vector<float> ones(at.size() * 64);
  for (std::size_t e = 0; e < ones.size(); ++e) ones[e] = e % 64 < 32 ? 1 : 0;
  s.set("x", ones);
  s.set("positions", at);
  if (std::strcmp(t.name, "accuracy_factors") == 0) {
    std::vector<float> c;
    for (int i = 0; i < 32; ++i) c.push_back(1 + static_cast<float>(i) / 8);
    s.set("c", c);
  }
  s.run();
  const auto out = s.get("out").as<float>();
  double worst = 0;
  for (std::size_t t = 0; t < at.size(); ++t)
    for (std::size_t i = 0; i < 32; ++i) {
      const unsigned __int128 turn =
          ((static_cast<unsigned __int128>(turns[i].high) << 64) | turns[i].low) *
          static_cast<unsigned>(at[t]);
      const auto signed_part = static_cast<std::int64_t>(turn >> 64);
      const double a = static_cast<double>(signed_part) * 0x1p-64 * (2 * std::numbers::pi);
      const double c = std::cos(a), n = std::sin(a);
      worst = std::max(worst, std::fabs(out[t * 64 + i] - c) / std::max(ulp(c), 1.5e-10));
      worst = std::max(worst, std::fabs(out[t * 64 + 32 + i] - n) / std::max(ulp(n), 1.5e-10));
    }
  return worst;
}

}  // namespace

TEST_CASE("rope's cos and sin are right to 1 ulp of float32 or 1.5e-10 up to position 2^20") {
  const auto check = [](const program_table& t, const rope_turns(&turns)[32]) {
    INFO(t.name);
    CHECK(angle_error(t, turns) <= 1);
  };
  check(accuracy_standard.table(), standard_turns);
  check(accuracy_list.table(), list_turns);
  check(accuracy_linear.table(), linear_turns);
  check(accuracy_ntk.table(), ntk_turns);
  check(accuracy_dynamic_ntk.table(), dynamic_ntk_turns);
  check(accuracy_llama3.table(), llama3_turns);
  check(accuracy_yarn.table(), yarn_turns);
  check(accuracy_yarn_untruncated.table(), yarn_untruncated_turns);
  check(accuracy_longrope.table(), longrope_turns);
  check(accuracy_proportional.table(), proportional_turns);
  check(accuracy_factors.table(), factors_turns);
  check(accuracy_ggml.table(), ggml_turns);
}

TEST_CASE("rope of half precision is rope in float32, rounded once") {
  const auto check = [](const program_table& t, dtype d) {
    INFO(t.name);
    session_core s = open(t);
    std::vector<std::uint16_t> bits(2 * 5 * 12);
    for (const char* name : {"h", "d_h"}) {
      const std::vector<float> v = random_floats(bits.size(), 3);
      for (std::size_t e = 0; e < bits.size(); ++e) store_number(d, bits.data(), e, v[e]);
      s.set(name, host_data(bits.data(), d, bits.size()));
    }
    s.run();
    for (const char* name : {"half", "half_gradient"}) {
      const auto got = s.get(name).values();
      const auto wide = s.get(std::strcmp(name, "half") == 0 ? "float" : "float_gradient").values();
      for (std::size_t e = 0; e < got.size(); ++e) {
        std::uint16_t rounded;
        store_number(d, &rounded, 0, wide[e]);
        CHECK(got[e] == load_number(d, &rounded, 0));
      }
    }
  };
  check(half_f16.table(), f16);
  check(half_bf16.table(), bf16);
}

TEST_CASE("a position at or beyond the stated maximum is an error that names both") {
  const auto check = [](session_core& s, const std::string& want) {
    CHECK(message_of([&] { s.run(); }) == want);
  };
  session_core given = open(maximum_given.table(), 3);
  given.set("x", random_floats(3 * 8, 1));
  given.set("positions", integers{4095, -3, 0});
  given.run();
  given.set("positions", integers{0, 4096, 1});
  check(given, "[rope] position 1 = 4096: must be below the maximum position 4096");

  session_core computed = open(maximum_computed.table(), 4);
  computed.set("x", random_floats(4 * 8, 1));
  computed.set("past", integers{60});
  computed.run();
  computed.set("past", integers{62});
  check(computed, "[rope] position 2 = 64: must be below the maximum position 64");

  session_core own = open(maximum_own.table(), 6);
  own.set("x", random_floats(6 * 8, 1));
  own.run();
  session_core longer = open(maximum_own.table(), 7);
  longer.set("x", random_floats(7 * 8, 1));
  check(longer, "[rope] position 6 = 6: must be below the maximum position 6");

  session_core streams = open(maximum_streams.table(), 2);
  streams.set("x", random_floats(2 * 8, 1));
  streams.set("streams", integers{1, 2, 3, 99, 5, 6});
  streams.run();
  streams.set("streams", integers{1, 2, 3, 100, 5, 6});
  check(streams, "[rope] position 3 = 100: must be below the maximum position 100");

  // The reference too.
  const dim_binding dims[] = {{T, 1}};
  const values leaves{{"x", filled({1, 8}, 1)}, {"positions", filled({1}, 5000)}};
  CHECK(message_of([&] {
          evaluate_reference(flatten(maximum_given.table(), dims), dims, leaves);
        }) == "[rope] position 0 = 5000: must be below the maximum position 4096");
}

TEST_CASE("rope token by token is rope of the whole sequence, bit for bit") {
  for (const program_table& t : {decode_standard.table(), decode_yarn.table()}) {
    INFO(t.name);
    constexpr std::size_t n = 37, width = 24;
    const std::vector<float> x = random_floats(2 * n * width, 5);
    integers at(n);
    for (std::size_t k = 0; k < n; ++k) at[k] = 1000 + static_cast<std::int32_t>(k);
    session_core all = open(t, n), one = open(t, 1);
    all.set("x", x);
    all.set("positions", at);
    all.run();
    const auto whole = all.get("out").as<float>();
    for (std::size_t k = 0; k < n; ++k) {
      std::vector<float> token;
      for (std::size_t h = 0; h < 2; ++h)
        for (std::size_t d = 0; d < width; ++d) token.push_back(x[(h * n + k) * width + d]);
      one.set("x", token);
      one.set("positions", integers{at[k]});
      one.run();
      const auto got = one.get("out").as<float>();
      for (std::size_t h = 0; h < 2; ++h)
        CHECK(std::memcmp(&got[h * width], &whole[(h * n + k) * width], width * 4) == 0);
    }
  }
}

TEST_CASE("schedules by length take the largest position + 1, T, or the length they are told") {
  const rope_schedule ntk = rope_dynamic_ntk{.factor = 2, .original_context = 8};
  const rope_schedule lists = by_length;
  const auto check = [&](session_core& s, const integers& at, const std::vector<float>& x,
                         std::int64_t length) {
    s.set("x", x);
    s.run();
    check_values(s.get("ntk").values(), turned(x, at, ntk.frequencies(8, length)));
    check_values(s.get("lists").values(),
                 turned(x, at, lists.frequencies(8, length), lists.magnitude()));
  };
  session_core given = open(length_given.table(), 4);
  for (const integers& at : {integers{0, 3, 7, 2}, integers{0, 8, 2, 1}, integers{40, 2, 3, 9}}) {
    given.set("positions", at);
    check(given, at, random_floats(32, 2), *std::max_element(at.begin(), at.end()) + 1);
  }
  for (const std::size_t n : {8, 9, 30}) {
    session_core own = open(length_own.table(), n), told = open(length_told.table(), n);
    integers at(n);
    for (std::size_t k = 0; k < n; ++k) at[k] = static_cast<std::int32_t>(k);
    check(own, at, random_floats(n * 8, 2), static_cast<std::int64_t>(n));
    told.set("length", integers{50});
    check(told, at, random_floats(n * 8, 2), 50);
    told.set("length", integers{8});
    check(told, at, random_floats(n * 8, 2), 8);
  }
}

TEST_CASE("rope of a width that is known when a session opens") {
  const values more{{"positions", {{3}, {2, 0, 77}}}};
  for (const std::int64_t n : {4, 8, 24}) {
    const dim_binding dims[] = {{T, 3}, {W, n}};
    for (const program_table& t : {symbolic_width.table(), symbolic_window.table()}) {
      check_adjoint(t, more, dims);
      check_kernels(t, {}, more, dims);
    }
  }
  const dim_binding narrow[] = {{T, 3}, {W, 2}};
  session_core s(flatten(symbolic_width.table(), narrow), cpu(1), narrow);
  s.set("x", random_floats(12, 1));
  s.set("d_out", random_floats(12, 1));
  s.set("positions", integers{0, 1, 2});
  CHECK(message_of([&] { s.run(); }) == "[rope_ntk] width = 2: must be above 2 for NTK scaling");
}

TEST_CASE("a schedule known at run time enters as values") {
  const std::vector<float> x = random_floats(3 * 8, 9);
  const integers at{5, 70, 2000};
  session_core s = open(run_time.table(), 3);
  s.set("x", x);
  s.set("positions", at);
  for (const rope_schedule& schedule :
       {rope_schedule(rope_yarn{.factor = 8, .original_context = 64}),
        rope_schedule(rope_ggml{.freq_scale = 0.5, .attn_factor = 0.7}),
        rope_schedule(rope_frequency_list{{1, 0.5, 0, 2}})}) {
    s.set("f", schedule.frequencies(8));
    s.set("m", std::vector<double>{schedule.magnitude()});
    s.run();
    check_values(s.get("out").values(),
                 turned(x, at, schedule.frequencies(8), schedule.magnitude()));
  }
}

TEST_CASE("frequencies and magnitude as values have gradients") {
  const values more{{"positions", {{2, 4}, {0, 1, 2, 3, 11, 5, 0, 7}}}};
  check_gradients(values_differentiated.table(), {0.3, 1.5}, more);
  check_kernels(values_differentiated.table(), {0.3, 1.5}, more);
}

TEST_CASE("rope in float64 keeps float64's digits") {
  const integers at{1, 70, 5000};
  const std::vector<float> x = random_floats(3 * 8, 6);
  session_core s = open(in_float64.table(), 3);
  s.set("x", std::vector<double>(x.begin(), x.end()));
  s.set("positions", at);
  s.run();
  const rope_schedule yarn = rope_yarn{.factor = 4};
  const std::vector<double> want = turned(x, at, yarn.frequencies(8), yarn.magnitude());
  check_close("float64", {{24}, s.get("out").values()}, {{24}, want}, 1e-14);
}

TEST_CASE("frequency factors as a parameter have the golden gradient") {
  const program_graph p = flatten(trained_factors.table(), {});
  values leaves = golden_leaves(flatten(rope_grad_factors.table(), {}));
  const program_graph golden = flatten(rope_grad_factors.table(), {});
  const values want = evaluate_reference(golden, {}, leaves);
  session_core s(p, cpu(1), {});
  for (const char* name : {"x", "d_out"}) {
    const dense& v = leaves.at(name);
    s.set(name, std::vector<float>(v.v.begin(), v.v.end()));
  }
  const dense &at = leaves.at("positions"), &c = leaves.at("c");
  s.set("positions", integers(at.v.begin(), at.v.end()));
  s.parameters()->set("c", std::vector<float>(c.v.begin(), c.v.end()));
  s.run();
  check_close("grad.c", {{4}, s.get("grad.c").values()}, want.at("d_c"), 1e-5);
}

TEST_CASE("rope's gradient in the factors can be differentiated again") {
  const values more{{"positions", {{1, 3}, {1, 5, 12}}}};
  for (const program_table& t : {twice_half_split.table(), twice_interleaved.table()}) {
    check_gradients(t, {0.5, 1.5}, more);
    check_kernels(t, {0.5, 1.5}, more);
  }
}

TEST_CASE("YaRN's temperature on q and k or in the scale gives the same attention") {
  const program_graph p = flatten(temperature.table(), {});
  std::mt19937 r(4);
  const values leaves = random_leaves(p, {}, {}, {}, r);
  const values got = evaluate_reference(p, {}, leaves);
  check_close("float64", got.at("on_q_and_k"), got.at("in_scale"), 1e-13);
  session_core s(p, cpu(2), {});
  for (const char* name : {"q", "k", "v"}) {
    const dense& v = leaves.at(name);
    s.set(name, std::vector<float>(v.v.begin(), v.v.end()));
  }
  s.run();
  const dense scaled{{1, 2, 6, 16}, s.get("in_scale").values()};
  check_close("float32", {{1, 2, 6, 16}, s.get("on_q_and_k").values()}, scaled, 1e-5);
  check_close("float32 and float64", scaled, got.at("in_scale"), 1e-5);
}

TEST_CASE("a checkpoint's rows move between the pairings") {
  const program_graph p = flatten(moved_rows.table(), {});
  CHECK(check_golden(moved_rows.table(), "data/goldens/ops/rope-row-permutation.safetensors",
                     {{"bias", filled({16}, 0)}}) == 1);
  values leaves{{"w_interleaved", filled({16, 5}, 0)}, {"bias", filled({16}, 0)}};
  for (auto& [name, v] : leaves)
    for (std::size_t e = 0; e < v.v.size(); ++e) v.v[e] = static_cast<double>(e);
  const values got = evaluate_reference(p, {}, leaves);
  CHECK(got.at("back").v == leaves.at("w_interleaved").v);
  const auto order = rope_row_order(2, 8, rope_pairing::interleaved, rope_pairing::half_split);
  for (std::size_t r = 0; r < 16; ++r) {
    CHECK(got.at("bias_half_split").v[r] == static_cast<double>(order[r]));
    CHECK(got.at("w_half_split").v[5 * r] == static_cast<double>(5 * order[r]));
  }
  session_core s(p, cpu(1), {});
  for (const auto& [name, v] : leaves) s.set(name, std::vector<float>(v.v.begin(), v.v.end()));
  s.run();
  CHECK(s.get("w_half_split").values() == got.at("w_half_split").v);
}
