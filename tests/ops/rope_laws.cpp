// The laws of rope in float64: adjoint, isometry, relativity, composition, identity at 0. Every
// pairing with every window, each with random schedules, magnitudes and positions.
#include <doctest/doctest.h>

#include <cmath>

#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/rope_schedule.hpp>

#include "check.hpp"
#include "rope_pairings.hpp"

namespace {

using namespace cases;

struct variant {
  program_table table;
  std::int64_t width, offset;
  bool several_streams;
};

// With frequencies and magnitude as inputs.
template <int Pairing, dim W, dim Offset>
constexpr auto law = program<"law">([] {
  return differentiated(
      rope(rows, places<Pairing>(), pairing<Pairing, W>(), rotary_window<W, Offset>,
           frequencies_from(input<"f", f64, W / dim(2)>), magnitude_from(input<"m", f64>)),
      rows);
});
template <int P, dim W, dim Offset>
variant law_variant() {
  return {law<P, W, Offset>.table(), W.n, Offset.n, P >= 2};
}
template <int P>
void add_laws(std::vector<variant>& v) {
  v.push_back(law_variant<P, 24, 0>());
  v.push_back(law_variant<P, 16, 0>());
  v.push_back(law_variant<P, 12, 8>());
}
std::vector<variant> law_variants() {
  std::vector<variant> v;
  add_laws<0>(v), add_laws<1>(v), add_laws<2>(v), add_laws<3>(v), add_laws<4>(v);
  return v;
}

constexpr int schedules = 12;

// Schedule number k with random arguments, for `width`.
rope_schedule random_schedule(int k, std::int64_t width, std::mt19937& r) {
  const auto between = [&](double low, double high) {
    return std::uniform_real_distribution<double>(low, high)(r);
  };
  const auto list = [&](double low, double high) {
    std::vector<double> v(static_cast<std::size_t>(width / 2));
    for (double& e : v) e = between(low, high);
    return v;
  };
  const double base = std::exp(between(2, 14)), factor = between(1, 40),
               context = between(64, 9000);
  switch (k) {
    case 0:
      return rope_standard{base};
    case 1:
      return rope_frequency_list{list(-1, 2)};
    case 2:
      return rope_linear{base, factor};
    case 3:
      return rope_ntk{base, factor};
    case 4:
      return rope_dynamic_ntk{base, factor, context};
    case 5:
      return rope_llama3{base, factor, between(0.5, 2), between(2.5, 8), context};
    case 6:
      return rope_yarn{base, factor, between(10, 40), between(0.5, 2), context};
    case 7:
      return rope_yarn{base, factor, 32, 1, context, false};
    case 8:
      return rope_longrope_list{base, factor, context, list(1, 3), list(1, 50)};
    case 9:
      return rope_proportional{base, between(0.1, 1), factor};
    case 10:
      return rope_ggml{base, between(0.1, 2), 0, between(0.5, 1.5)};
    default:
      return rope_ggml{base, between(0.1, 2), between(0.1, 1), between(0.5, 1.5), 32, 1, context};
  }
}

dense random_positions(const variant& v, std::mt19937& r, int largest) {
  dense p = filled(v.several_streams ? std::vector<std::int64_t>{4, batch, steps}
                                     : std::vector<std::int64_t>{batch, steps},
                   0);
  for (double& e : p.v) e = std::uniform_int_distribution<int>(0, largest)(r);
  return p;
}

double dot(const dense& a, const dense& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.v.size(); ++i) s += a.v[i] * b.v[i];
  return s;
}
double largest_difference(const dense& a, const dense& b) {
  double m = a.v.size() == b.v.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < a.v.size(); ++i) m = std::max(m, std::fabs(a.v[i] - b.v[i]));
  return m;
}

// One variant at work: forward and backward.
struct rotation {
  program_graph p;
  values leaves;

  rotation(const variant& v, const std::vector<double>& f, double m) : p(flatten(v.table, {})) {
    leaves["f"] = {{static_cast<std::int64_t>(f.size())}, f};
    leaves["m"] = {{}, {m}};
  }
  values run(const dense& x, const dense& d_out, const dense& positions) {
    leaves["x"] = x, leaves["d_out"] = d_out, leaves["positions"] = positions;
    return evaluate_reference(p, {}, leaves);
  }
  dense forward(const dense& x, const dense& positions) { return run(x, x, positions).at("out"); }
  dense back(const dense& x, const dense& positions) { return run(x, x, positions).at("d_x"); }
};

dense random_rows(std::mt19937& r) {
  dense x = filled({batch, heads, steps, features}, 0);
  for (double& e : x.v) e = std::uniform_real_distribution<double>(-1, 1)(r);
  return x;
}

// Sum over the features of the window, per row.
template <class F>
std::vector<double> per_row(const variant& v, F f) {
  std::vector<double> r;
  for (std::size_t row = 0; row < batch * heads * steps; ++row) {
    double s = 0;
    for (std::int64_t d = v.offset; d < v.offset + v.width; ++d)
      s += f(row * features + static_cast<std::size_t>(d));
    r.push_back(s);
  }
  return r;
}

}  // namespace

TEST_CASE("rope obeys its laws: pairings x windows x random schedules") {
  std::mt19937 r(11);
  int combinations = 0;
  for (const variant& v : law_variants())
    for (int k = 0; k < schedules; ++k)
      for (int again = 0; again < 2; ++again) {
        ++combinations;
        const std::int64_t exponent_width = v.width;
        const rope_schedule s = random_schedule(k, exponent_width, r);
        INFO(s.table(exponent_width, 4000), v.width, " ", v.offset);
        const auto f = s.frequencies(exponent_width, 4000);
        const double m = s.magnitude();
        const dense x = random_rows(r), y = random_rows(r);
        const dense p = random_positions(v, r, 4000), q = random_positions(v, r, 4000);
        dense sum = p, zero = p;
        for (std::size_t i = 0; i < p.v.size(); ++i) sum.v[i] += q.v[i], zero.v[i] = 0;
        rotation scaled(v, f, m), turn(v, f, 1);

        // Adjoint.
        const values both = scaled.run(x, y, p);
        CHECK(std::fabs(dot(both.at("out"), y) - dot(x, both.at("d_x"))) <
              1e-12 * std::sqrt(dot(x, x) * dot(y, y)) * std::max(1.0, m));
        // Features outside the window, and their gradient, pass.
        for (std::size_t e = 0; e < x.v.size(); ++e) {
          const auto d = static_cast<std::int64_t>(e % features);
          if (d >= v.offset && d < v.offset + v.width) continue;
          CHECK(both.at("out").v[e] == x.v[e]);
          CHECK(both.at("d_x").v[e] == y.v[e]);
        }
        // Identity at position 0, but for m.
        const dense still = scaled.forward(x, zero);
        CHECK(largest_difference(turn.forward(x, zero), x) == 0);
        // Isometry, and backward as the inverse, for m = 1.
        const dense xp = turn.forward(x, p);
        const auto before = per_row(v, [&](std::size_t e) { return x.v[e] * x.v[e]; });
        const auto after = per_row(v, [&](std::size_t e) { return xp.v[e] * xp.v[e]; });
        const auto grown = per_row(v, [&](std::size_t e) { return still.v[e] * still.v[e]; });
        for (std::size_t row = 0; row < before.size(); ++row) {
          CHECK(std::fabs(after[row] - before[row]) < 1e-12);
          CHECK(std::fabs(grown[row] - m * m * before[row]) < 1e-11);
        }
        CHECK(largest_difference(turn.back(xp, p), x) < 1e-12);
        // Composition. The angles' own rounding is 4000 * 2 * 2^-53.
        CHECK(largest_difference(turn.forward(xp, q), turn.forward(x, sum)) < 1e-11);
        // Relativity: <R_p x, R_p+q y> = <x, R_q y>.
        const dense yq = turn.forward(y, q), ys = turn.forward(y, sum);
        const auto near = per_row(v, [&](std::size_t e) { return x.v[e] * yq.v[e]; });
        const auto far = per_row(v, [&](std::size_t e) { return xp.v[e] * ys.v[e]; });
        for (std::size_t row = 0; row < near.size(); ++row)
          CHECK(std::fabs(near[row] - far[row]) < 1e-11);
      }
  CHECK(combinations >= 200);
}
