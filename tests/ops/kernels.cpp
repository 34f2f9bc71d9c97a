// Compiled kernels against the float64 reference: see check.hpp.
#include <doctest/doctest.h>

#include <cmath>

#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/runtime/session.hpp>

#include "check.hpp"

namespace cases {

using namespace ropewalk;

namespace {

// The values that the leaf's type can hold.
void round_to(dtype d, dense& x) {
  if (d != f32) return;
  for (double& v : x.v) v = static_cast<float>(v);
}

template <class T>
std::vector<T> elements_as(const dense& x) {
  std::vector<T> r;
  for (const double v : x.v) r.push_back(static_cast<T>(v));
  return r;
}

values run(const program_graph& p, const device& on, std::span<const dim_binding> bindings,
           const values& leaves) {
  session_core s(p, on, bindings);
  for (int id = 0; id < p.g.size(); ++id) {
    const graph_node& n = p.g[id];
    if (n.path.empty()) continue;
    const dense& x = leaves.at(n.path);
    const std::vector<float> floats = elements_as<float>(x);
    const std::vector<std::int32_t> integers =
        n.type.d == f32 ? std::vector<std::int32_t>{} : elements_as<std::int32_t>(x);
    const host_data data = n.type.d == f32 ? host_data(floats) : host_data(integers);
    if (n.op == &input_info)
      s.set(n.path, data);
    else
      s.parameters()->set(n.path, data);
  }
  s.run();
  values r;
  for (const program_output& o : p.outputs) r[o.name].v = s.get(o.name).values();
  for (const program_update& u : p.updates)
    r[p.g[u.leaf].path].v = s.param(p.g[u.leaf].path).values();
  return r;
}

void check_inputs(const program_graph& p, std::span<const dim_binding> bindings, values leaves) {
  for (int id = 0; id < p.g.size(); ++id)
    if (!p.g[id].path.empty()) round_to(p.g[id].type.d, leaves.at(p.g[id].path));
  const values want = evaluate_reference(p, bindings, leaves);
  const values one = run(p, cpu(1), bindings, leaves), three = run(p, cpu(3), bindings, leaves);
  for (const auto& [name, value] : want) {
    check_close(p.name + " " + name, one.at(name), value, 1e-5);
    CHECK(one.at(name).v == three.at(name).v);
  }
}

}  // namespace

void check_kernels(const program_table& t, interval in, const values& more,
                   std::span<const dim_binding> bindings) {
  INFO(t.name);
  const program_graph p = flatten(t, bindings);
  if (bindings.empty()) {
    const values leaves = golden_leaves(p, more);
    bool complete = true;
    for (int id = 0; id < p.g.size(); ++id)
      complete = complete && (p.g[id].path.empty() || leaves.contains(p.g[id].path));
    if (complete) check_inputs(p, bindings, leaves);
  }
  std::mt19937 r(5);
  check_inputs(p, bindings, random_leaves(p, in, more, bindings, r));
}

}  // namespace cases
