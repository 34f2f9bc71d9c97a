// The verifier that runs between passes: names the stage and the node that broke an invariant.
#include <set>
#include <string>

#include "scalar_tree.hpp"

namespace ropewalk {
namespace {

std::string printed(const tensor_type& t) {
  return std::string(dtype_name(t.d)) + detail::print_shape(t.s).s;
}

class verifier {
 public:
  verifier(const program_graph& p, const char* stage) : p_(p), g_(p.g), stage_(stage) {}

  void run() const {
    for (int id = 0; id < g_.size(); ++id) node(id);
    std::set<std::string> names;
    for (const program_output& o : p_.outputs) {
      const std::string where = stage_ + ": output \"" + o.name + "\"";
      if (o.name.empty()) throw error(where, "name", "\"\"", "an output has a name");
      if (!names.insert(o.name).second) throw error(where, "is there twice");
      if (!exists(o.node))
        throw error(where, "node", std::to_string(o.node), "is not in the graph");
    }
    std::set<int> updated;
    for (const program_update& u : p_.updates) update(u, updated);
  }

 private:
  bool exists(int id) const { return id >= 0 && id < g_.size(); }
  std::string where(int id) const {
    const graph_node& n = g_[id];
    return stage_ + ": %" + std::to_string(id) + " " + (n.op == nullptr ? "?" : n.op->name) +
           (n.path.empty() ? "" : " \"" + n.path + "\"");
  }

  void update(const program_update& u, std::set<int>& updated) const {
    const std::string at = stage_ + ": update of %" + std::to_string(u.leaf);
    if (!exists(u.leaf)) throw error(at, "leaf", std::to_string(u.leaf), "is not in the graph");
    if (!exists(u.node)) throw error(at, "node", std::to_string(u.node), "is not in the graph");
    const graph_node& leaf = g_[u.leaf];
    if (leaf.op != &param_info && leaf.op != &state_info)
      throw error(where(u.leaf), "only a param or a state can be updated");
    if (!(leaf.type == g_[u.node].type))
      throw error(where(u.leaf), "update", printed(g_[u.node].type),
                  "must be of the leaf's type, " + printed(leaf.type));
    if (!updated.insert(u.leaf).second) throw error(where(u.leaf), "is updated twice");
  }

  void node(int id) const {
    const graph_node& n = g_[id];
    if (n.op == nullptr) throw error(where(id), "has no op");
    for (const int in : n.in)
      if (in < 0 || in >= id)
        throw error(where(id), "input", "%" + std::to_string(in), "must be an earlier node");
    for (int i = 0; i < n.type.s.rank; ++i)
      if (const dim& d = n.type.s[i]; d.fixed() && d.n < 1)
        throw error(where(id), "type", printed(n.type), "a size is at least 1");
    if (n.op->kind != op_class::leaf && !n.path.empty())
      throw error(where(id), "path", n.path, "only leaves have one");
    check_rule(id, n, 0);
    switch (n.op->kind) {
      case op_class::leaf:
        return leaf(id);
      case op_class::pull:
        return pull(id);
      case op_class::pick:
        return pick(id);
      case op_class::kernel:
        if (n.op->kernel == nullptr) throw error(where(id), "the op has no kernel");
        if (n.op->results < 1) throw error(where(id), "the op has no result");
        return;
      case op_class::structural:
        throw error(where(id), "a structural op must be gone once the graph is flat");
    }
  }

  // The type of node `id` against the shape rule of result k of `of` (itself, or what it picks).
  void check_rule(int id, const graph_node& of, int k) const {
    if (of.op->result == nullptr) return;
    std::vector<tensor_type> in;
    for (const int i : of.in) in.push_back(g_[i].type);
    const tensor_type t = of.op->result(of.a, in.data(), static_cast<int>(in.size()), k);
    if (!(t == g_[id].type))
      throw error(where(id), "type", printed(g_[id].type), "by the op's rule it is " + printed(t));
  }

  void leaf(int id) const {
    const graph_node& n = g_[id];
    if (!n.in.empty()) throw error(where(id), "a leaf has no inputs");
    const bool constant = n.op == &constant_info;
    if (constant != n.path.empty())
      throw error(where(id), constant ? "a constant has no path" : "a leaf has a path");
  }

  void pick(int id) const {
    const graph_node& n = g_[id];
    if (n.in.size() != 1) throw error(where(id), "a pick has one input");
    const graph_node& of = g_[n.in[0]];
    if (n.a.i[0] < 0 || n.a.i[0] >= of.op->results)
      throw error(where(id), "result", std::to_string(n.a.i[0]),
                  std::string(of.op->name) + " has " + std::to_string(of.op->results));
    check_rule(id, of, static_cast<int>(n.a.i[0]));
    if (n.a.i[0] == 0 && !(n.type == of.type))
      throw error(where(id), "type", printed(n.type), "result 0 is " + printed(of.type));
  }

  void pull(int id) const {
    const graph_node& n = g_[id];
    if (n.op->lower == nullptr) throw error(where(id), "the op has no lowering");
    if (n.op->results != 1) throw error(where(id), "a pull op has one result");
    const scalar_tree tree(g_, id, where(id));
    const dtype d = tree[tree.root()].type;
    if (is_floating(d) != is_floating(n.type.d))
      throw error(where(id), "type", printed(n.type),
                  std::string("its lowering gives ") + dtype_name(d));
    for_each_certain_load(tree, [&](const scalar_node& load) {
      const shape& from = tree.type(load.input).s;
      for (int k = 0; k < from.rank; ++k)
        if (const scalar_node& i = tree[load.args[static_cast<std::size_t>(k)]];
            i.op == scalar_op::index && i.extent.fixed() && from[k].fixed() &&
            i.extent.n > from[k].n)
          throw error(
              where(id),
              "index " + std::to_string(k) + " of input " + std::to_string(load.input) + ", below",
              std::to_string(i.extent.n), "its extent is " + std::to_string(from[k].n));
    });
  }

  const program_graph& p_;
  const graph& g_;
  std::string stage_;
};

}  // namespace

void verify(const program_graph& p, const char* stage) { verifier(p, stage).run(); }

}  // namespace ropewalk
