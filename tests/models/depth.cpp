// One binary, any depth: programs with a symbolic layer count, with kernels for the counts 1, 2 and 3
// only, run at other depths too and agree with the reference evaluator.
#include <doctest/doctest.h>

#include "models/depth_programs.hpp"
#include "models/goldens.hpp"
#include "ropewalk/session.hpp"
#include "ropewalk/train/rng.hpp"

namespace {

using namespace ropewalk;
using namespace ropewalk::testing;

std::vector<float> noise(std::size_t n, std::uint64_t seed) {
  rng random(seed);
  std::vector<float> v(n);
  for (float& e : v) e = static_cast<float>(random.normal());
  return v;
}

}  // namespace

TEST_CASE("gradients at depths 1 to 9 equal the reference") {
  for (std::int64_t layers : {1, 2, 3, 4, 9}) {
    CAPTURE(layers);
    const std::vector<dim_binding> dims = {{depth::B, 5}, {depth::L, layers}};
    session<depth::gradients> s(cpu(2), dims, {.seed = 4});
    const auto x = noise(5 * 16, 1), y = noise(5 * 16, 2);
    s.run(depth::x = x, depth::y = y);
    std::map<std::string, dense> leaves = {{"x", {{5, 16}, {x.begin(), x.end()}}},
                                           {"y", {{5, 16}, {y.begin(), y.end()}}}};
    for (const auto& e : s.parameters()->entries()) {
      const tensor_view t = s.param(e.path);
      dense d{{}, t.values()};
      for (int a = 0; a < t.rank(); ++a) d.extent.push_back(t.extent(a));
      leaves[e.path] = d;
    }
    CHECK(leaves.size() == 2 + 2 + 6 * static_cast<std::size_t>(layers));
    const auto right = evaluate_reference(flatten(depth::gradients.table(), dims), dims, leaves);
    for (const auto& [name, value] : right) {
      INFO(name);
      CHECK(largest_difference(s.session_core::get(name).values(), value.v) <
            1e-5 * largest(value.v));
    }
  }
}

TEST_CASE("training at depth 6 makes the loss fall; a depth of 0 and no depth are refused") {
  session<depth::train> s(cpu(2), {{depth::B, 5}, {depth::L, 6}});
  const auto x = noise(5 * 16, 1), y = noise(5 * 16, 2);
  s.run(depth::x = x, depth::y = y, learning_rate = 1e-2f);
  const double first = s.get(depth::loss).item();
  for (int i = 0; i < 30; ++i) s.run(depth::x = x, depth::y = y, learning_rate = 1e-2f);
  CHECK(s.get(depth::loss).item() < first / 2);
  CHECK_THROWS_AS(session<depth::train>(cpu(1), {{depth::B, 5}, {depth::L, 0}}), error);
  CHECK_THROWS_AS(session<depth::train>(cpu(1), {{depth::B, 5}}), error);
}
