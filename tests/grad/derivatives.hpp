// Checks of programs in the float64 reference evaluator: random leaves, central differences, and
// two programs that must agree.
#pragma once
#include <algorithm>
#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include <ropewalk/graph/bindings.hpp>
#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/graph/reference.hpp>
#include <ropewalk/ropewalk.hpp>

namespace ropewalk::testing {

using values = std::map<std::string, dense>;

// Values for every leaf of the program: floats from (-1, 1), integers from 0 to 3.
inline values random_leaves(const program_graph& p, unsigned seed = 1,
                            std::span<const dim_binding> dims = {}) {
  std::mt19937 r(seed);
  std::uniform_real_distribution<double> u(-1, 1);
  values v;
  for (int id = 0; id < p.g.size(); ++id) {
    const graph_node& n = p.g[id];
    if (n.path.empty() || v.contains(n.path)) continue;
    dense d{evaluate(n.type.s, dims), {}};
    std::size_t count = 1;
    for (const auto e : d.extent) count *= static_cast<std::size_t>(e);
    for (std::size_t i = 0; i < count; ++i)
      d.v.push_back(is_floating(n.type.d) ? u(r) : static_cast<double>(r() % 4));
    v[n.path] = d;
  }
  return v;
}

inline values run(const program_table& t, const values& leaves,
                  std::span<const dim_binding> dims = {}) {
  return evaluate_reference(flatten(t, dims), dims, leaves);
}

inline double difference(const dense& a, const dense& b) {
  double worst = a.v.size() == b.v.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.v.size(), b.v.size()); ++i)
    worst = std::max(worst, std::isnan(a.v[i] - b.v[i]) ? INFINITY : std::abs(a.v[i] - b.v[i]));
  return worst;
}

// Every output "grad.<leaf>" is the derivative of the scalar output "loss", to 1e-6 of the largest.
// Returns how many leaves were checked.
inline int check_derivatives(const program_table& t, std::span<const dim_binding> dims = {},
                             unsigned seed = 1) {
  INFO(t.name);
  const program_graph p = flatten(t, dims);
  verify(p, "test");
  program_graph forward = p;
  std::erase_if(forward.outputs, [](const program_output& o) { return o.name != "loss"; });
  forward.updates.clear();
  values leaves = random_leaves(p, seed, dims);
  const values got = evaluate_reference(p, dims, leaves);
  int checked = 0;
  for (const auto& [name, gradient] : got) {
    if (!name.starts_with("grad.")) continue;
    ++checked;
    INFO(name);
    dense& x = leaves.at(name.substr(5));
    REQUIRE(x.v.size() == gradient.v.size());
    double scale = 1e-2;
    for (const double g : gradient.v) scale = std::max(scale, std::abs(g));
    double worst = 0;
    const std::size_t step = x.v.size() / 6 + 1;
    for (std::size_t i = 0; i < x.v.size(); i += step) {
      const double keep = x.v[i], h = 1e-5;
      double side[2];
      for (int s = 0; s < 2; ++s) {
        x.v[i] = keep + (s == 0 ? h : -h);
        side[s] = evaluate_reference(forward, dims, leaves).at("loss").v[0];
      }
      x.v[i] = keep;
      worst = std::max(worst, std::abs((side[0] - side[1]) / (2 * h) - gradient.v[i]));
    }
    CHECK(worst < 1e-6 * scale);
  }
  return checked;
}

}  // namespace ropewalk::testing
