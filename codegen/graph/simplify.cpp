// Rewrites of the graph that keep every value. What an op amounts to is seen in its lowering, so
// the rules hold for every op: a node that loads one input as it is (x * 1, x + 0, a cast, reshape
// or expand to the same type) is that input; a scalar whose lowering is a number is a constant. Ops
// that can leave results out (op_info::wanted_results) are told what is read.
#include <ropewalk/graph/schedule.hpp>
#include <ropewalk/ops/expand.hpp>
#include <ropewalk/ops/matmul.hpp>
#include <ropewalk/ops/permute.hpp>
#include <ropewalk/ops/reshape.hpp>

#include "fuse.hpp"

namespace ropewalk {
namespace {

bool is(const graph_node& n, const op_info& family) { return n.op == &family; }

class simplifier {
 public:
  explicit simplifier(const program_graph& p) : p_(p), studies_(r_.g, dims_) {}

  program_graph run() {
    std::vector<char> wanted(static_cast<std::size_t>(p_.g.size()), 0);
    for (const program_output& o : p_.outputs) wanted[static_cast<std::size_t>(o.node)] = 1;
    for (const program_update& u : p_.updates)
      wanted[static_cast<std::size_t>(u.node)] = wanted[static_cast<std::size_t>(u.leaf)] = 1;
    for (int k = p_.g.size() - 1; k >= 0; --k)
      if (wanted[static_cast<std::size_t>(k)])
        for (int i : p_.g[k].in) wanted[static_cast<std::size_t>(i)] = 1;
    std::vector<std::int64_t> read(static_cast<std::size_t>(p_.g.size()), 0);  // bits of results
    for (int k = 0; k < p_.g.size(); ++k)
      if (const graph_node& n = p_.g[k]; wanted[static_cast<std::size_t>(k)] && n.op == &pick_info)
        read[static_cast<std::size_t>(n.in[0])] |= std::int64_t{1} << n.a.i[0];
    to_.assign(static_cast<std::size_t>(p_.g.size()), -1);
    for (int k = 0; k < p_.g.size(); ++k) {
      if (!wanted[static_cast<std::size_t>(k)]) continue;
      graph_node n = p_.g[k];
      if (n.op->wanted_results >= 0)
        n.a.i[n.op->wanted_results] &= read[static_cast<std::size_t>(k)];
      to_[static_cast<std::size_t>(k)] = rewritten(std::move(n));
    }
    r_.name = p_.name;
    for (const program_output& o : p_.outputs)
      r_.outputs.push_back({o.name, in_memory(at(o.node))});
    for (const program_update& u : p_.updates)
      r_.updates.push_back({at(u.leaf), in_memory(at(u.node))});
    return std::move(r_);
  }

 private:
  int at(int old) const { return to_[static_cast<std::size_t>(old)]; }

  // A constant has no buffer: where one is needed it becomes the result of an op.
  int in_memory(int id) {
    const graph_node& n = r_.g[id];
    if (n.op != &constant_info) return id;
    return r_.g.add({.op = &family_info<op::expand_family>,
                     .a = op::attrs_of(n.type.s),
                     .type = n.type,
                     .in = {id},
                     .path = {}});
  }

  int rewritten(graph_node n) {
    for (int& i : n.in) {
      i = at(i);
      if (n.op->kind == op_class::kernel) i = in_memory(i);
    }
    if (is(n, family_info<op::reshape_family>)) {
      // The same elements in the same order, whatever shapes lie between.
      while (is(r_.g[n.in[0]], family_info<op::reshape_family>)) n.in[0] = r_.g[n.in[0]].in[0];
    } else if (is(n, family_info<op::permute_family>)) {
      while (is(r_.g[n.in[0]], family_info<op::permute_family>)) {
        const graph_node& x = r_.g[n.in[0]];
        for (int k = 0; k < n.type.s.rank; ++k) n.a.i[k] = x.a.i[n.a.i[k]];
        n.in[0] = x.in[0];
      }
    } else if (is(n, family_info<op::matmul_family>)) {
      for (int k = 0; k < 2; ++k) transpose_operand(n, k);
    }
    const int id = r_.g.add(n);
    if (n.op->kind != op_class::pull) return id;
    const node_facts& f = studies_.of(id);
    if (f.same_as >= 0) return n.in[static_cast<std::size_t>(f.same_as)];
    if (f.constant && n.type.s.rank == 0)
      return r_.g.add(
          {.op = &constant_info, .a = {.f = {f.value}}, .type = n.type, .in = {}, .path = {}});
    return id;
  }

  // An operand whose last two axes are exchanged is read the other way round instead.
  void transpose_operand(graph_node& n, int k) {
    const graph_node x = r_.g[n.in[static_cast<std::size_t>(k)]];
    const int last = x.type.s.rank - 1;
    if (!is(x, family_info<op::permute_family>) || last < 1 || x.a.i[last - 1] != last) return;
    graph_node y = x;
    std::swap(y.a.i[last - 1], y.a.i[last]);
    std::swap(y.type.s[last - 1], y.type.s[last]);
    bool still = true;
    for (int i = 0; i <= last; ++i) still = still && y.a.i[i] == i;
    n.in[static_cast<std::size_t>(k)] = still ? x.in[0] : r_.g.add(y);
    n.a.i[k] = n.a.i[k] == 0;
  }

  const program_graph& p_;
  program_graph r_;
  dim_table dims_;
  node_studies studies_;
  std::vector<int> to_;
};

}  // namespace

program_graph simplify(const program_graph& p) { return simplifier(p).run(); }

}  // namespace ropewalk
