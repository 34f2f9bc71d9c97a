// What composed modules become: parameter paths, shared weights, layers of a repeat, states, modes.
#include <doctest/doctest.h>

#include <algorithm>

#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/graph/reference.hpp>

#include "core/modules_programs.hpp"

using namespace ropewalk;
using values = std::map<std::string, dense>;

namespace {

std::vector<std::string> paths(const program_graph& p, const op_info& kind) {
  std::vector<std::string> r;
  for (int id = 0; id < p.g.size(); ++id)
    if (p.g[id].op == &kind) r.push_back(p.g[id].path);
  std::sort(r.begin(), r.end());
  return r;
}
using names = std::vector<std::string>;

// A different number for every parameter, the same for every depth.
values some_values(const program_graph& p) {
  values v{{"x", {{2}, {1.5, -0.5}}}};
  for (const std::string& path : paths(p, param_info)) {
    double h = 0.5;
    for (const char c : path) h = h * 0.7 + 0.01 * c;
    v[path] = {{2}, {h, 1 - h / 3}};
  }
  for (const std::string& path : paths(p, state_info)) v[path] = {{}, {0}};
  return v;
}

}  // namespace

TEST_CASE("a parameter's path is its scopes and its name") {
  const program_graph p = flatten(modules::scopes.table());
  CHECK(paths(p, param_info) == names{"a.in.s", "a.own", "a.t", "b.in.s", "b.own", "b.t"});
}
TEST_CASE("one scope called twice has one set of parameters") {
  const program_graph p = flatten(modules::shared.table());
  CHECK(paths(p, param_info) == names{"w.s", "w.t"});
  values v = some_values(p);
  const double s = v["w.s"].v[0], t = v["w.t"].v[0];
  CHECK(evaluate_reference(p, {}, v).at("y").v[0] == doctest::Approx(1.5 * s * s + t));
}
TEST_CASE("layer l of a repeated pattern runs block l mod its length") {
  const program_graph p = flatten(modules::pattern.table());
  CHECK(paths(p, param_info) == names{"h.0.s", "h.1.s", "h.2.t", "h.3.s", "h.4.s", "h.5.t"});
  values v = some_values(p);
  double y = 1.5;
  for (const std::string l : {"0.s", "1.s", "2.t", "3.s", "4.s", "5.t"}) {
    const double w = v["h." + l].v[0];
    y = l.ends_with("s") ? y * w : y + w;
  }
  CHECK(evaluate_reference(p, {}, v).at("y").v[0] == doctest::Approx(y));
}
TEST_CASE("a symbolic count, once bound, is the fixed one") {
  const program_table fixed[] = {modules::depth<1>.table(), modules::depth<3>.table(),
                                 modules::depth<7>.table()};
  const std::int64_t count[] = {1, 3, 7};
  for (int k = 0; k < 3; ++k) {
    const std::vector<dim_binding> bound = {{modules::L, count[k]}};
    const program_graph a = flatten(fixed[k]),
                        b = flatten(modules::depth<modules::L>.table(), bound);
    CHECK(print(a) == print(b));
    const values v = some_values(a), one = evaluate_reference(a, {}, v),
                 other = evaluate_reference(b, {}, v);
    CHECK(one.size() == static_cast<std::size_t>(2 + 3 * count[k]));
    for (const auto& [name, value] : one) CHECK(value.v == other.at(name).v);
  }
  CHECK_THROWS_WITH_AS(flatten(modules::depth<modules::L>.table()), doctest::Contains("L"), error);
}
TEST_CASE("states are kept per scope and updated when the program has run") {
  const program_graph p = flatten(modules::states.table());
  CHECK(paths(p, state_info) == names{"first.n", "h.0.n", "h.1.n"});
  values v = some_values(p);
  v["h.1.n"].v[0] = 4;
  const values got = evaluate_reference(p, {}, v);
  CHECK(got.at("y").v[0] == doctest::Approx(1.5 * 1 * 1 * 5));
  CHECK(got.at("first.n").v[0] == 1);
  CHECK(got.at("h.0.n").v[0] == 1);
  CHECK(got.at("h.1.n").v[0] == 5);
}
TEST_CASE("one state has one update: two calls in one scope ask for the same value") {
  const program_graph p = flatten(modules::twice.table());
  CHECK(p.updates.size() == 1);
  CHECK(evaluate_reference(p, {}, some_values(p)).at("c.n").v[0] == 1);
}
TEST_CASE("in_training takes its first operand in programs that train") {
  values v{{"x", {{2}, {1.5, -0.5}}}};
  CHECK(evaluate_reference(flatten(modules::evaluating.table()), {}, v).at("y").v[0] == 4.5);
  CHECK(evaluate_reference(flatten(modules::training_mode.table()), {}, v).at("y").v[0] == 3);
}
TEST_CASE("an expression named by let is the expression") {
  const program_graph p = flatten(modules::lets.table());
  CHECK(p.outputs[0].node == p.outputs[1].node);
  CHECK(p.g.size() == 3);
  CHECK(print(p) ==
        "program lets: 3 nodes\n"
        "%0 = input \"x\" : f32[2]\n%1 = mul(%0, %0) : f32[2]\n%2 = add(%1, %0) : f32[2]\n"
        "output a = %2\noutput b = %2\n");
}
