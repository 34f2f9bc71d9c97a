// linear_cross_entropy: the chunked head equals its composition, in float64 and in f32 kernels, and
// holds no buffer of tokens x vocabulary.
#include <doctest/doctest.h>

#include <cmath>

#include "ops/head_programs.hpp"
#include "ropewalk/graph/reference.hpp"
#include "ropewalk/session.hpp"
#include "ropewalk/train/rng.hpp"

namespace {

using namespace ropewalk;

struct data {
  std::vector<float> x, w;
  std::vector<std::int32_t> labels;
  explicit data(int n, std::uint64_t seed) {
    rng random(seed);
    for (int i = 0; i < n * 12; ++i) x.push_back(static_cast<float>(random.normal()));
    for (int i = 0; i < 4500 * 12; ++i) w.push_back(static_cast<float>(random.normal()));
    for (int i = 0; i < n; ++i)
      labels.push_back(i % 5 == 3 ? -1 : static_cast<std::int32_t>(random.below(4500)));
  }
  std::map<std::string, dense> leaves() const {
    const auto n = static_cast<std::int64_t>(labels.size());
    return {{"x", {{n, 12}, {x.begin(), x.end()}}},
            {"w", {{4500, 12}, {w.begin(), w.end()}}},
            {"labels", {{n}, {labels.begin(), labels.end()}}}};
  }
};

double difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0, top = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    worst = std::max(worst, std::abs(a[i] - b[i]));
    top = std::max(top, std::abs(b[i]));
  }
  return worst / top;
}

template <auto Chunked, auto Composed>
void compare(int n, std::uint64_t seed) {
  const data d(n, seed);
  const std::vector<dim_binding> dims = {{head::N, n}};
  const auto right = evaluate_reference(flatten(Composed.table()), dims, d.leaves());
  const auto oracle = evaluate_reference(flatten(Chunked.table()), dims, d.leaves());
  std::vector<double> first;
  for (int threads : {1, 2}) {
    session<Chunked> s(cpu(threads), dims);
    s.set("x", d.x);
    s.set("w", d.w);
    s.set("labels", d.labels);
    s.run();
    for (const auto& [name, value] : right) {
      INFO(name);
      CHECK(difference(oracle.at(name).v, value.v) < 1e-12);
      CHECK(difference(s.session_core::get(name).values(), value.v) < 1e-5);
    }
    const auto weights = s.session_core::get("d_w").values();
    if (first.empty()) first = weights;
    CHECK(first == weights);
  }
}

}  // namespace

TEST_CASE("the chunked head equals its composition") {
  for (int n : {1, 7, 33}) {
    compare<head::plain, head::plain_composed>(n, static_cast<std::uint64_t>(n));
    compare<head::smooth, head::smooth_composed>(n, static_cast<std::uint64_t>(n) + 50);
  }
}

TEST_CASE("its gradient's gradient equals the composition's") {
  const data d(6, 9);
  const std::vector<dim_binding> dims = {{head::N, 6}};
  const auto a = evaluate_reference(flatten(head::second.table()), dims, d.leaves());
  const auto b = evaluate_reference(flatten(head::second_composed.table()), dims, d.leaves());
  CHECK(difference(a.at("d_x").v, b.at("d_x").v) < 1e-10);
}

TEST_CASE("a label that is no class makes the loss infinite, in both forms, and has no gradient") {
  for (const std::int32_t wrong : {-2, 4500, 1000000}) {
    data d(7, 3);
    d.labels[2] = wrong;
    const std::vector<dim_binding> dims = {{head::N, 7}};
    const auto oracle = evaluate_reference(flatten(head::plain.table()), dims, d.leaves());
    session<head::plain> a(cpu(2), dims);
    session<head::plain_composed> b(cpu(2), dims);
    auto check = [&](session_core& s) {
      s.set("x", d.x);
      s.set("w", d.w);
      s.set("labels", d.labels);
      s.run();
      CHECK(std::isinf(s.get("loss").item()));
      const auto d_x = s.get("d_x").values();
      CHECK(difference(d_x, oracle.at("d_x").v) < 1e-5);
      for (std::size_t k = 2 * 12; k < 3 * 12; ++k) CHECK(d_x[k] == 0);
    };
    check(a);
    check(b);
    CHECK(std::isinf(oracle.at("loss").v[0]));
  }
}

TEST_CASE("no buffer holds tokens x vocabulary") {
  const std::int64_t n = 512;
  const session<head::plain> chunked(cpu(1), {{head::N, n}});
  const session<head::plain_composed> composed(cpu(1), {{head::N, n}});
  CHECK(chunked.arena_bytes() < static_cast<std::size_t>(n * 4500 * 4 * 3 / 4));
  CHECK(composed.arena_bytes() > static_cast<std::size_t>(n * 4500 * 4));
}
