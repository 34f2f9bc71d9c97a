// The bounds of integer inputs that are used as indices.
#include <memory>

#include <ropewalk/graph/bounds.hpp>

#include "scalar_tree.hpp"

namespace ropewalk {
namespace {

class finder {
 public:
  explicit finder(const program_graph& p) : g_(p.g) {}

  std::vector<index_bound> run() {
    trees_.resize(static_cast<std::size_t>(g_.size()));
    for (int id = 0; id < g_.size(); ++id) {
      const graph_node& n = g_[id];
      if (n.op->kind != op_class::pull) continue;
      trees_[static_cast<std::size_t>(id)] =
          std::make_unique<scalar_tree>(g_, id, std::string(n.op->name));
      const scalar_tree& t = *trees_[static_cast<std::size_t>(id)];
      walk(id, t, t.root(), {});
    }
    return std::move(found_);
  }

 private:
  // Every load below scalar `s`, with the conditions it is under (-1: one that must not hold).
  void walk(int id, const scalar_tree& t, int s, const std::vector<int>& under) {
    const scalar_node& x = t[s];
    if (x.op == scalar_op::load) look(id, t, x, under);
    for (std::size_t k = 0; k < x.args.size(); ++k) {
      if (x.op != scalar_op::select || k == 0) {
        walk(id, t, x.args[k], under);
      } else {
        std::vector<int> more = under;
        more.push_back(k == 1 ? x.args[0] : -1);
        walk(id, t, x.args[k], more);
      }
    }
  }

  void look(int id, const scalar_tree& t, const scalar_node& load, const std::vector<int>& under) {
    for (std::size_t k = 0; k < load.args.size(); ++k) {
      const int leaf = source(id, t, load.args[k]);
      if (leaf < 0) continue;
      const dim& bound = t.type(load.input).s[static_cast<int>(k)];
      if (!under.empty() && !(under.size() == 1 && keeps_below(t, under[0], load.args[k], bound)))
        continue;
      const index_bound b{g_[leaf].path, bound, g_[id].op->name};
      bool known = false;
      for (const index_bound& f : found_)
        known = known || (f.input == b.input && f.bound == b.bound);
      if (!known) found_.push_back(b);
    }
  }

  // Whether condition `c` is index < bound, perhaps and something else about its range.
  static bool keeps_below(const scalar_tree& t, int c, int index, const dim& bound) {
    if (c < 0) return false;
    const scalar_node& x = t[c];
    if (x.op == scalar_op::logical_and)
      return keeps_below(t, x.args[0], index, bound) || keeps_below(t, x.args[1], index, bound);
    return x.op == scalar_op::lt && x.args[0] == index && t[x.args[1]].op == scalar_op::extent &&
           t[x.args[1]].extent == bound;
  }

  // The input leaf whose elements scalar `s` of node `id` passes on unchanged; -1: none.
  int source(int id, const scalar_tree& t, int s) const {
    const scalar_node& x = t[s];
    if (x.op == scalar_op::cast && !is_floating(t[x.args[0]].type)) return source(id, t, x.args[0]);
    if (x.op != scalar_op::load || is_floating(x.type)) return -1;
    const int from = g_[id].in[static_cast<std::size_t>(x.input)];
    if (g_[from].op == &input_info) return from;
    if (g_[from].op->kind != op_class::pull) return -1;
    const scalar_tree& next = *trees_[static_cast<std::size_t>(from)];
    return source(from, next, next.root());
  }

  const graph& g_;
  std::vector<std::unique_ptr<scalar_tree>> trees_;
  std::vector<index_bound> found_;
};

}  // namespace

std::vector<index_bound> index_bounds(const program_graph& p) { return finder(p).run(); }

}  // namespace ropewalk
