// Ops and options that no golden file has: values by formula, gradients by central differences.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include <ropewalk/graph/flatten.hpp>

#include "check.hpp"
#include "extra_programs.hpp"

using namespace cases;

namespace {

struct formula {
  program_table program;
  double (*value)(double);
  interval in{-3, 3};
};
const formula elementwise[] = {
    {leaky.table(), [](double x) { return x > 0 ? x : 0.2 * x; }},
    {leaky_default.table(), [](double x) { return x > 0 ? x : 0.01 * x; }},
    {elu_default.table(), [](double x) { return x > 0 ? x : std::exp(x) - 1; }},
    {elu_steep.table(), [](double x) { return x > 0 ? x : 1.7 * (std::exp(x) - 1); }},
    {capped.table(), [](double x) { return std::min(x, 0.3); }},
    {clamp_ints.table(), [](double x) { return std::max(-1.0, std::min(x, 1.0)); }},
    {error_function.table(), [](double x) { return std::erf(x); }},
    {fifth.table(), [](double x) { return x * x * x * x * x; }},
    {constant_power.table(), [](double) { return 1.0; }},
    {identity_power.table(), [](double x) { return x; }},
    {inverse_square.table(), [](double x) { return 1 / (x * x); }, {0.5, 2}},
    {inverse_root.table(), [](double x) { return 1 / std::sqrt(x); }, {0.5, 2}},
    {real_power.table(), [](double x) { return std::exp(2.3 * std::log(x)); }, {0.5, 2}},
    {large_power.table(), [](double x) { return std::pow(x, 16) * x; }, {-1.2, -0.5}},
    {pieces.table(),
     [](double x) { return x > 0.5 || x <= -0.5 ? x * x : 1 / (1 + std::exp(-x)); }}};

const program_table grouped[] = {
    softmax_two.table(),        log_softmax_two.table(),   variance_unbiased_two.table(),
    repeat_each_middle.table(), tile_last.table(),         pad_zero.table(),
    geglu_packed.table(),       geglu_tanh_packed.table(), huber_default.table()};
const program_table linear[] = {repeat_each_middle.table(), tile_last.table(), pad_zero.table()};
const program_table symbolic[] = {
    symbolic_mean.table(),       symbolic_variance.table(), symbolic_softmax.table(),
    symbolic_logsumexp.table(),  symbolic_tile.table(),     symbolic_pad.table(),
    symbolic_cumsum.table(),     symbolic_max.table(),      symbolic_rms_norm.table(),
    symbolic_group_norm.table(), symbolic_kl.table(),       symbolic_swiglu.table()};
const program_table odd[] = {rank0.table(), ones.table(), ones_between.table(), rank5.table(),
                             rank6.table()};

values outputs_of(const program_table& t, const values& leaves,
                  std::span<const dim_binding> bindings = {}) {
  return evaluate_reference(flatten(t, bindings), bindings, leaves);
}

}  // namespace

TEST_CASE("elementwise ops are their formulas") {
  std::mt19937 r(11);
  for (const formula& f : elementwise) {
    INFO(f.program.name);
    const program_graph p = flatten(f.program);
    const values leaves = random_leaves(p, f.in, {}, {}, r);
    const dense got = evaluate_reference(p, {}, leaves).at("out");
    dense want = leaves.at("x");
    for (double& v : want.v) v = f.value(v);
    check_close(f.program.name, got, want, 1e-14);
    check_gradients(f.program, f.in);
  }
}

TEST_CASE("groups of axes, packed and repeated forms") {
  for (const program_table& t : grouped) check_gradients(t);
  for (const program_table& t : linear) check_adjoint(t);
  std::mt19937 r(3);
  const values in = random_leaves(flatten(softmax_two.table()), {}, {}, {}, r);
  const dense y = outputs_of(softmax_two.table(), in).at("out");
  for (std::size_t j = 0; j < 2; ++j) {  // out  [3, 2, 4]
    double total = 0;
    for (std::size_t e = 0; e < y.v.size(); ++e)
      if (e / 4 % 2 == j) total += y.v[e];
    CHECK(total == doctest::Approx(1).epsilon(1e-14));
  }
  const dense logs = outputs_of(log_softmax_two.table(), in).at("out");
  for (std::size_t k = 0; k < 4; ++k) {
    double total = 0;
    for (std::size_t e = k; e < logs.v.size(); e += 4) total += std::exp(logs.v[e]);
    CHECK(total == doctest::Approx(1).epsilon(1e-14));
  }
}

TEST_CASE("copies stand where they should") {
  const dense x{{2, 3}, {1, 2, 3, 4, 5, 6}};
  const dense tiled =
      outputs_of(tile_last.table(), {{"x", x}, {"d_out", filled({2, 6}, 1)}}).at("out");
  CHECK(tiled.v == std::vector<double>{1, 2, 3, 1, 2, 3, 4, 5, 6, 4, 5, 6});
  const dense padded =
      outputs_of(pad_zero.table(), {{"x", x}, {"d_out", filled({5, 3}, 1)}}).at("out");
  CHECK(padded.v == std::vector<double>{0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 0, 0, 0});
  dense counted{{2, 3, 2}, std::vector<double>(12)};
  std::iota(counted.v.begin(), counted.v.end(), 0);
  const dense each =
      outputs_of(repeat_each_middle.table(), {{"x", counted}, {"d_out", filled({2, 9, 2}, 1)}})
          .at("out");
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t b = 0; b < 2; ++b)
      CHECK(each.v[b * 18 + i * 2] == counted.v[b * 6 + i / 3 * 2]);
}

TEST_CASE("symbolic dims are bound late") {
  for (const std::int64_t b : {1, 3})
    for (const std::int64_t t : {2, 5}) {
      const dim_binding bound[] = {{B, b}, {T, t}};
      for (const program_table& p : symbolic) check_gradients(p, {}, {}, bound);
    }
}

TEST_CASE("rank 0, sizes of 1, ranks 5 and 6") {
  for (const program_table& t : odd) check_gradients(t);
}

TEST_CASE("compiled kernels of all of these match the reference") {
  for (const formula& f : elementwise) check_kernels(f.program, f.in);
  for (const program_table& t : grouped) check_kernels(t);
  for (const program_table& t : odd) check_kernels(t);
  for (const std::int64_t b : {1, 3})
    for (const std::int64_t t : {2, 5, 70}) {
      const dim_binding bound[] = {{B, b}, {T, t}};
      for (const program_table& p : symbolic) check_kernels(p, {}, {}, bound);
    }
}
