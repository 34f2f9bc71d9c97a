// The node table as text and for Graphviz.
#include <cstdio>

#include <ropewalk/graph/graph.hpp>

namespace ropewalk {
namespace {

std::string printed(double v) {
  char b[32];
  std::snprintf(b, sizeof b, "%.9g", v);
  return b;
}
std::string printed(std::int64_t v) { return std::to_string(v); }
std::string printed(const dim& d) { return d.fixed() ? std::to_string(d.n) : d.sym; }

template <class T>
bool is_zero(const T& v) {
  return v == T(0);
}

// "name = [1, 0, 2]" without trailing zeros; nothing when all are zero.
template <class T, std::size_t N>
void put(std::string& out, const char* name, const T (&v)[N]) {
  std::size_t n = N;
  while (n > 0 && is_zero(v[n - 1])) --n;
  if (n == 0) return;
  out += out.empty() ? "" : ", ";
  out += std::string(name) + " = [";
  for (std::size_t k = 0; k < n; ++k) out += (k > 0 ? ", " : "") + printed(v[k]);
  out += "]";
}

std::string options(const attrs& a) {
  std::string r;
  put(r, "i", a.i);
  put(r, "f", a.f);
  put(r, "d", a.d);
  return r;
}

std::string type_text(const tensor_type& t) {
  return std::string(dtype_name(t.d)) + detail::print_shape(t.s).s;
}

std::string name_of(const graph_node& n) { return n.op == nullptr ? "?" : n.op->name; }

std::string escaped(const std::string& s) {
  std::string r;
  for (const char c : s) {
    if (c == '"' || c == '\\') r += '\\';
    r += c;
  }
  return r;
}

}  // namespace

std::string print(const program_graph& p) {
  std::string r = "program " + p.name + ": " + std::to_string(p.g.size()) + " nodes\n";
  for (int id = 0; id < p.g.size(); ++id) {
    const graph_node& n = p.g[id];
    r += "%" + std::to_string(id) + " = " + name_of(n);
    if (!n.path.empty()) r += " \"" + n.path + "\"";
    if (!n.in.empty()) {
      r += "(";
      for (std::size_t k = 0; k < n.in.size(); ++k)
        r += (k > 0 ? ", %" : "%") + std::to_string(n.in[k]);
      r += ")";
    }
    r += " : " + type_text(n.type);
    if (const std::string o = options(n.a); !o.empty()) r += " {" + o + "}";
    r += "\n";
  }
  for (const program_output& o : p.outputs)
    r += "output " + o.name + " = %" + std::to_string(o.node) + "\n";
  for (const program_update& u : p.updates)
    r += "update %" + std::to_string(u.leaf) + " \"" +
         (u.leaf >= 0 && u.leaf < p.g.size() ? p.g[u.leaf].path : "?") + "\" = %" +
         std::to_string(u.node) + "\n";
  return r;
}

std::string print_dot(const program_graph& p) {
  std::string r = "digraph \"" + escaped(p.name) + "\" {\n  node [shape=box];\n";
  for (int id = 0; id < p.g.size(); ++id) {
    const graph_node& n = p.g[id];
    const bool leaf = n.op != nullptr && n.op->kind == op_class::leaf;
    r += "  n" + std::to_string(id) + " [label=\"" + escaped(name_of(n));
    if (!n.path.empty()) r += " " + escaped(n.path);
    r += "\\n" + escaped(type_text(n.type));
    if (const std::string o = options(n.a); !o.empty()) r += "\\n" + escaped(o);
    r += leaf ? "\", style=filled];\n" : "\"];\n";
    for (const int in : n.in)
      r += "  n" + std::to_string(in) + " -> n" + std::to_string(id) + ";\n";
  }
  for (std::size_t k = 0; k < p.outputs.size(); ++k)
    r += "  o" + std::to_string(k) + " [label=\"" + escaped(p.outputs[k].name) +
         "\", shape=oval];\n  n" + std::to_string(p.outputs[k].node) + " -> o" + std::to_string(k) +
         ";\n";
  for (const program_update& u : p.updates)
    r += "  n" + std::to_string(u.node) + " -> n" + std::to_string(u.leaf) +
         " [style=dashed, constraint=false];\n";
  return r + "}\n";
}

}  // namespace ropewalk
