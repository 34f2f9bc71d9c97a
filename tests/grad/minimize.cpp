// Programs that train: the optimizers' golden steps, clipping, accumulation, frozen parameters.
#include "grad/derivatives.hpp"
#include "grad/minimize_programs.hpp"
#include "models/goldens.hpp"

using namespace ropewalk;
using namespace ropewalk::testing;

namespace {

dense scalar_value(double v) { return {{}, {v}}; }

// Runs the program once and writes what it updates back to the leaves.
values step(const program_graph& p, values& leaves, std::span<const dim_binding> dims = {}) {
  values got = evaluate_reference(p, dims, leaves);
  for (const program_update& u : p.updates) {
    const std::string& path = p.g[u.leaf].path;
    leaves.at(path) = got.at(path);
  }
  return got;
}

// Zeros for every state of the program.
void add_states(const program_graph& p, values& leaves) {
  for (int id = 0; id < p.g.size(); ++id) {
    const graph_node& n = p.g[id];
    if (n.op != &state_info) continue;
    dense d{evaluate(n.type.s, std::span<const dim_binding>()), {}};
    std::size_t count = 1;
    for (const auto e : d.extent) count *= static_cast<std::size_t>(e);
    d.v.assign(count, 0);
    leaves[n.path] = d;
  }
}

void check_steps(const program_table& t, const std::string& state = "",
                 const std::string& golden = "") {
  INFO(t.name);
  const values known = load_all("data/goldens/ops/" + std::string(t.name) + ".safetensors");
  const program_graph p = flatten(t);
  verify(p, "test");
  values leaves;
  add_states(p, leaves);
  leaves["p"] = known.at("p");
  leaves["learning_rate"] = scalar_value(0.1);
  for (std::size_t s = 0; s < 5; ++s) {
    const auto at = [&](const std::string& name) {
      const auto& v = known.at(name).v;
      const auto from = v.begin() + static_cast<std::ptrdiff_t>(12 * s);
      return dense{{3, 4}, {from, from + 12}};
    };
    leaves["g"] = at("grads");
    step(p, leaves);
    CHECK(difference(leaves.at("p"), at("p_steps")) < 1e-10);
  }
  CHECK(leaves.at("step").v[0] == 5);
  if (!state.empty()) CHECK(difference(leaves.at(state + ".p"), known.at(golden)) < 1e-10);
}

}  // namespace

TEST_CASE("five steps of each optimizer equal PyTorch in float64") {
  check_steps(training_steps::sgd_plain.table());
  check_steps(training_steps::sgd_momentum.table(), "momentum", "state_momentum");
  check_steps(training_steps::sgd_nesterov.table(), "momentum", "state_momentum");
  check_steps(training_steps::sgd_decay.table());
  check_steps(training_steps::sgd_all.table(), "momentum", "state_momentum");
  check_steps(training_steps::adam_plain.table(), "adam_m", "state_m");
  check_steps(training_steps::adam_l2.table(), "adam_v", "state_v");
  check_steps(training_steps::adamw_plain.table(), "adam_v", "state_v");
  check_steps(training_steps::adamw_no_decay.table(), "adam_m", "state_m");
}

TEST_CASE("clipping scales all gradients by one factor, above the norm only") {
  for (const bool active : {true, false}) {
    const program_graph p =
        flatten((active ? training_steps::clipped.table() : training_steps::unclipped.table()));
    const values known = load_all(std::string("data/goldens/ops/clip_global_norm-") +
                                  (active ? "active" : "inactive") + ".safetensors");
    values leaves;
    add_states(p, leaves);
    leaves["learning_rate"] = scalar_value(-1);
    for (const std::string i : {"0", "1", "2"}) {
      leaves["g" + i] = known.at("g" + i);
      leaves["p" + i] = known.at("g" + i);
      for (double& v : leaves.at("p" + i).v) v = 0;
    }
    const values got = step(p, leaves);
    CHECK(got.at("grad_norm").v[0] == doctest::Approx(known.at("norm").v[0]).epsilon(1e-12));
    for (const std::string i : {"0", "1", "2"})
      CHECK(difference(leaves.at("p" + i), known.at("out" + i)) < 1e-12);
  }
}

TEST_CASE("accumulating over three runs equals one batch of three times the size") {
  const std::vector<dim_binding> two = {{dim("B"), 2}}, six = {{dim("B"), 6}};
  const program_graph big = flatten(training_steps::big.table()),
                      parts = flatten(training_steps::parts.table());
  values whole = random_leaves(big, 3, six);
  add_states(big, whole);
  whole["learning_rate"] = scalar_value(0.1);
  values split = whole;
  split.erase("x"), split.erase("y");
  add_states(parts, split);
  for (int update = 0; update < 3; ++update) {
    step(big, whole, six);
    for (std::size_t part = 0; part < 3; ++part) {
      for (const auto& [name, width] : {std::pair<std::string, std::size_t>{"x", 4}, {"y", 2}}) {
        const auto from = whole.at(name).v.begin() + static_cast<std::ptrdiff_t>(part * 2 * width);
        split[name] = {{2, static_cast<long>(width)},
                       {from, from + static_cast<std::ptrdiff_t>(2 * width)}};
      }
      const dense before = split.at("a.weight");
      step(parts, split, two);
      CHECK((difference(before, split.at("a.weight")) == 0) == (part < 2));
    }
    for (const std::string name : {"a.weight", "a.bias", "b.weight", "b.bias"})
      CHECK(difference(whole.at(name), split.at(name)) < 1e-12);
  }
}

TEST_CASE("frozen parameters stay as they are") {
  const std::vector<dim_binding> dims = {{dim("B"), 2}};
  const program_graph p = flatten(training_steps::part_frozen.table());
  std::vector<std::string> updated;
  for (const program_update& u : p.updates) updated.push_back(p.g[u.leaf].path);
  std::sort(updated.begin(), updated.end());
  CHECK(updated == std::vector<std::string>{"b.bias", "b.weight", "step"});
}
