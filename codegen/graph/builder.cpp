// Graph nodes made at run time.
#include "ropewalk/graph/builder.hpp"

namespace ropewalk {

value apply(graph& g, const op_info& op, const attrs& a, std::span<const value> in) {
  graph_node n{.op = &op, .a = a, .type = {}, .in = {}, .path = {}};
  std::vector<tensor_type> types;
  for (const value& v : in) {
    n.in.push_back(v.id);
    types.push_back(v.type());
  }
  n.type = op.result(a, types.data(), static_cast<int>(types.size()), 0);
  return {&g, g.add(n)};
}

value constant_value(graph& g, double v, dtype d) {
  return {&g, g.add({.op = &constant_info, .a = {.f = {v}}, .type = {d, shape{}}, .in = {},
                     .path = {}})};
}

value leaf_value(graph& g, const op_info& kind, const std::string& path, const tensor_type& type,
                 const attrs& a) {
  return {&g, g.add({.op = &kind, .a = a, .type = type, .in = {}, .path = path})};
}

}  // namespace ropewalk
