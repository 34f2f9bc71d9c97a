// The next token: greedy, cut and drawn against a plain restatement of the rules.
#include "ropewalk/infer/sampling.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>

#include "io/scratch.hpp"
#include "ropewalk/core/error.hpp"

using namespace ropewalk;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();

// The probabilities that the options leave, written the long way round.
std::vector<double> probabilities(const std::vector<float>& logits, const sampling_options& o) {
  std::vector<std::size_t> order(logits.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](auto a, auto b) { return logits[a] != logits[b] ? logits[a] > logits[b] : a < b; });
  if (o.top_k > 0 && static_cast<std::size_t>(o.top_k) < order.size())
    order.resize(static_cast<std::size_t>(o.top_k));
  std::vector<double> p(logits.size(), 0.0);
  double sum = 0;
  for (auto i : order) sum += p[i] = std::exp((logits[i] - logits[order[0]]) / o.temperature);
  double reached = 0;
  for (auto i : order) {
    if (reached >= o.top_p * sum && o.top_p < 1) p[i] = 0;
    reached += p[i];
  }
  for (double& v : p) v /= reached;
  return p;
}

}  // namespace

TEST_CASE("temperature 0 takes the largest, the first of equals, and draws nothing") {
  rng r(1);
  token_sampler s({.temperature = 0, .top_k = 3, .top_p = 0.5, .seed = 4});
  for (int round = 0; round < 200; ++round) {
    std::vector<float> logits(1 + r.below(20));
    for (float& v : logits) v = static_cast<float>(r.below(5)) - 2;
    CHECK(s.next(logits) == std::max_element(logits.begin(), logits.end()) - logits.begin());
  }
  CHECK(s.state() == rng_state{4, 0});
}

TEST_CASE("top_k = 1 is greedy too, and so is a tiny top_p or temperature without ties") {
  rng r(2);
  for (int round = 0; round < 100; ++round) {
    std::vector<float> logits(1 + r.below(20));
    for (float& v : logits) v = static_cast<float>(r.below(5)) - 2;
    const auto greedy = token_sampler({.temperature = 0}).next(logits);
    CHECK(token_sampler({.top_k = 1, .seed = r.bits64()}).next(logits) == greedy);
    CHECK(token_sampler({.top_p = 1e-9, .seed = r.bits64()}).next(logits) == greedy);
    logits[0] = 3;
    CHECK(token_sampler({.temperature = 1e-300, .seed = r.bits64()}).next(logits) == 0);
  }
}

TEST_CASE("tokens are drawn as often as the rules say, and never where they say never") {
  rng r(3);
  for (int round = 0; round < 60; ++round) {
    std::vector<float> logits(2 + r.below(12));
    for (float& v : logits) v = static_cast<float>(r.normal()) * 2;
    if (round % 3 == 0) logits[r.below(logits.size() - 1) + 1] = -inf;
    if (round % 4 == 0) logits.back() = logits[0];
    sampling_options o{.temperature = 0.5 + r.uniform(), .seed = r.bits64()};
    if (round % 2) o.top_k = 1 + static_cast<long>(r.below(logits.size() + 2));
    if (round % 5 > 1) o.top_p = 0.3 + 0.69 * r.uniform();
    const auto p = probabilities(logits, o);
    token_sampler s(o);
    const int n = 4000;
    std::vector<int> counts(logits.size());
    for (int i = 0; i < n; ++i) ++counts[static_cast<std::size_t>(s.next(logits))];
    for (std::size_t i = 0; i < p.size(); ++i) {
      const double deviation = std::sqrt(n * p[i] * (1 - p[i]));
      CHECK(std::abs(counts[i] - n * p[i]) <= 5 * deviation + 1e-9 * n);
    }
  }
}

TEST_CASE("the same seed gives the same tokens, another state others; restore continues") {
  std::vector<float> logits(1000, 0.f);
  token_sampler a({.seed = 9}), b({.seed = 9}), c({.seed = 10});
  int equal_c = 0;
  for (int i = 0; i < 100; ++i) {
    const auto t = a.next(logits);
    CHECK(t == b.next(logits));
    equal_c += t == c.next(logits);
  }
  CHECK(equal_c < 5);
  c.restore(a.state());
  for (int i = 0; i < 100; ++i) CHECK(a.next(logits) == c.next(logits));
}

TEST_CASE("the whole vocabulary can be drawn; large values neither overflow nor vanish") {
  std::vector<float> logits(7, -3e38f);
  std::map<int, int> seen;
  token_sampler s({.temperature = 1e-30});
  for (int i = 0; i < 300; ++i) ++seen[s.next(logits)];
  CHECK(seen.size() == 7);
  logits[3] = 3e38f;
  for (int i = 0; i < 20; ++i) CHECK(s.next(logits) == 3);
}

TEST_CASE("faults: options and logits") {
  auto option = [](sampling_options o) { return message_of([&] { token_sampler{o}; }); };
  const double nan = std::nan("");
  CHECK(has(option({.temperature = -1}), "temperature = -1.0"));
  CHECK(has(option({.temperature = nan}), "temperature = "));
  CHECK(has(option({.temperature = 1e300 * 1e300}), "temperature = inf"));
  CHECK(has(option({.top_k = -1}), "top_k = -1"));
  CHECK(has(option({.top_p = 0}), "top_p = 0.0"));
  CHECK(has(option({.top_p = 1.1}), "top_p = 1.1"));
  CHECK(has(option({.top_p = nan}), "top_p = "));
  for (double temperature : {0.0, 1.0}) {
    token_sampler s({.temperature = temperature});
    auto fault = [&](std::vector<float> l) { return message_of([&] { s.next(l); }); };
    CHECK(has(fault({}), "logits = none"));
    CHECK(has(fault({1, std::nanf(""), 2}), "logits[1] = "));
    CHECK(has(fault({std::nanf("")}), "logits[0] = "));
    CHECK(has(fault({1, 2, inf}), "logits[2] = inf"));
    CHECK(has(fault({-inf, -inf}), "all -inf"));
    CHECK(s.next(std::vector<float>{-inf, 1, -inf}) == 1);
  }
}
