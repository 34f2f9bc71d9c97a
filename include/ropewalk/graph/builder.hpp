// Building graph nodes at run time with the same ops: for optimizers and rewrites.
#pragma once
#include <initializer_list>
#include <string>

#include "ropewalk/core/expr.hpp"
#include "ropewalk/graph/graph.hpp"

namespace ropewalk {

// A node of a graph under construction. Arithmetic makes nodes (broadcasting as in the language).
struct value {
  graph* g = nullptr;
  int id = -1;
  const tensor_type& type() const { return (*g)[id].type; }
};

// op(inputs) with the op's own shape rule.
value apply(graph& g, const op_info& op, const attrs& a, std::span<const value> in);
inline value apply(graph& g, const op_info& op, const attrs& a, std::initializer_list<value> in) {
  return apply(g, op, a, std::span<const value>(in.begin(), in.size()));
}
template <class Op>
value apply(graph& g, std::initializer_list<value> in, const attrs& a = {}) {
  return apply(g, family_info<Op>, a, in);
}
value constant_value(graph& g, double v, dtype d);
value leaf_value(graph& g, const op_info& kind, const std::string& path, const tensor_type& type,
                 const attrs& a = {});

// What an optimizer's rule sees for one parameter.
struct update_context {
  program_graph& program;
  std::string path;
  value parameter, gradient;
  value learning_rate;  // f32 scalar
  value step;           // f64 scalar: 1 at the first update
  value apply_now;      // bool scalar; without a graph: always

  // A state beside the parameter, "<name>.<path>", starting at zero.
  value state(const char* name);
  // leaf := v after the run (at every run that updates).
  void update(value leaf, value v);
};

// Adds the updates of every parameter: clipping, accumulation, the rule, the step counter.
struct parameter_gradient {
  value parameter, gradient;
};
struct training;
void build_updates(program_graph& p, const training& rule,
                   const std::vector<parameter_gradient>& gradients);

}  // namespace ropewalk
