// Ops on bools, masked rows, ties, and dropout.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include <ropewalk/graph/flatten.hpp>

#include "check.hpp"
#include "masks_programs.hpp"

using namespace cases;

namespace {

constexpr double inf = INFINITY;

values run(const program_table& t, const values& leaves) {
  return evaluate_reference(flatten(t), {}, leaves);
}

values keyed(double seed, double step) {
  return {{"x", filled({40, 50}, 1)}, {"y", filled({40, 50}, 3)}, {"rng", {{2}, {seed, step}}}};
}
double share_of_zeros(const dense& d) {
  return static_cast<double>(std::count(d.v.begin(), d.v.end(), 0.0)) /
         static_cast<double>(d.v.size());
}

}  // namespace

TEST_CASE("relations and logic") {
  const double values_of[] = {-1, 0, 2};
  dense a{{9}, {}}, b{{9}, {}};
  for (const double p : values_of)
    for (const double q : values_of) a.v.push_back(p), b.v.push_back(q);
  const values got = run(relations.table(), {{"x", a}, {"y", b}});
  for (std::size_t i = 0; i < 9; ++i) {
    const double p = a.v[i], q = b.v[i];
    const auto is = [&](const char* name, bool want) { CHECK(got.at(name).v[i] == want); };
    is("less", p < q);
    is("less_equal", p <= q);
    is("greater", p > q);
    is("greater_equal", p >= q);
    is("equal", p == q);
    is("not_equal", p != q);
    is("and", p < q && 0 < p);
    is("or", p < q || 0 < p);
    is("not", !(p < q));
  }
}

TEST_CASE("rows of -inf give zeros and -inf, and no NaN") {
  const dense all{{3, 4}, {1, -inf, 2, -inf, -inf, -inf, -inf, -inf, 5, 6, 7, 8}};
  const values got =
      run(masked.table(), {{"x", all}, {"y", filled({3, 4}, 0.5)}, {"z", filled({3}, 2)}});
  for (const char* name : {"softmax", "d_softmax", "d_logsumexp"})
    for (const double v : got.at(name).v) CHECK(std::isfinite(v));
  for (std::size_t k = 4; k < 8; ++k) {
    CHECK(got.at("softmax").v[k] == 0);
    CHECK(got.at("log_softmax").v[k] == -inf);
    CHECK(got.at("d_logsumexp").v[k] == 0);
  }
  CHECK(got.at("logsumexp").v[1] == -inf);
  CHECK(got.at("softmax").v[1] == 0);
  CHECK(got.at("softmax").v[0] + got.at("softmax").v[2] == doctest::Approx(1).epsilon(1e-15));
  CHECK(got.at("d_logsumexp").v[0] == doctest::Approx(2 * got.at("softmax").v[0]).epsilon(1e-15));
}

TEST_CASE("ties share the gradient; argmax takes the first") {
  const values got =
      run(tied.table(),
          {{"x", {{2, 4}, {3, 1, 3, 3, -2, 0, -2, -1}}}, {"y", {{2}, {6, 5}}}, {"z", {{}, {1}}}});
  CHECK(got.at("max").v == std::vector<double>{3, 0});
  CHECK(got.at("min").v == std::vector<double>{-2});
  CHECK(got.at("argmax").v == std::vector<double>{0, 1});
  CHECK(got.at("d_max").v == std::vector<double>{2, 0, 2, 2, 0, 5, 0, 0});
  CHECK(got.at("d_min").v == std::vector<double>{0, 0, 0, 0, 0.5, 0, 0.5, 0});
}

TEST_CASE("dropout drops the share it should, and scales the rest") {
  for (double step = 0; step < 4; ++step) {
    const values got = run(dropped.table(), keyed(7, step));
    for (const char* name : {"first", "second", "third"}) {
      CHECK(std::fabs(share_of_zeros(got.at(name)) - 0.25) < 0.04);  // 4 standard deviations
      for (const double v : got.at(name).v) CHECK((v == 0 || v == 1 / 0.75));
    }
  }
}

TEST_CASE("dropout masks differ by seed, step, layer and name, and are the same in backward") {
  std::set<std::vector<double>> masks;
  for (const double seed : {7.0, 8.0})
    for (const double step : {0.0, 1.0, 2.0}) {
      const values got = run(dropped.table(), keyed(seed, step));
      for (const char* name : {"first", "second", "third"}) masks.insert(got.at(name).v);
      for (std::size_t i = 0; i < 2000; ++i) {
        CHECK(got.at("d_first").v[i] == 3 * got.at("first").v[i]);
        CHECK(got.at("again").v[i] == 2 * got.at("first").v[i]);
      }
      CHECK(run(dropped.table(), keyed(seed, step)).at("first").v == got.at("first").v);
    }
  CHECK(masks.size() == 18);
}

TEST_CASE("dropout in a repeat: a mask per layer, forward and backward") {
  const values got = run(deep_dropout.table(), keyed(3, 1));
  // Three independent masks keep 0.75^3 = 0.42 of the elements; one mask thrice would keep 0.75.
  CHECK(std::fabs(share_of_zeros(got.at("out")) - (1 - 0.421875)) < 0.05);
  for (std::size_t i = 0; i < 2000; ++i)
    CHECK(got.at("d_x").v[i] == doctest::Approx(3 * got.at("out").v[i]).epsilon(1e-15));
}

TEST_CASE("dropout outside of training is the identity and wants no key") {
  const dense v{{3, 2}, {1, 2, 3, 4, 5, 6}}, g{{3, 2}, {6, 5, 4, 3, 2, 1}};
  const values got = run(kept.table(), {{"x", v}, {"d_out", g}});
  CHECK(got.at("out").v == v.v);
  CHECK(got.at("d_x").v == g.v);
}

TEST_CASE("compiled kernels mask, share ties and drop as the reference does") {
  check_kernels(relations.table());
  check_kernels(tied.table(), {}, {{"x", {{2, 4}, {3, 1, 3, 3, -2, 0, -2, -1}}}});
  check_kernels(masked.table(), {},
                {{"x", {{3, 4}, {1, -inf, 2, -inf, -inf, -inf, -inf, -inf, 5, 6, 7, 8}}}});
  check_kernels(kept.table());
  const double largest = (1 << 30) - 1;
  for (const std::vector<double>& key :
       {std::vector<double>{0, 0}, {12345, 7}, {largest, largest}}) {
    check_kernels(dropped.table(), {}, {{"rng", {{2}, key}}});
    check_kernels(deep_dropout.table(), {}, {{"rng", {{2}, key}}});
  }
}
