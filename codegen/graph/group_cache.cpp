// Signatures of groups.
#include "group_cache.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

namespace ropewalk {
namespace {

// Walks what a group computes, numbers its nodes and writes down all that its kernels depend on.
class signature {
 public:
  signature(const graph& g, const std::vector<char>& stored, const kernel_group& q, dim_table& dims)
      : g_(g), stored_(stored), q_(q), dims_(dims) {
    put(q.form), put(q.rows), put(q.columns), put(q.outer), put(q.flat);
    for (std::size_t k = 0; k < q.nodes.size(); ++k) {
      put(q.roles[k]);
      put(walk(q.nodes[k]));
    }
  }
  std::string key;
  std::vector<int> nodes;

 private:
  template <class T>
  void put(const T& v) {
    key.append(reinterpret_cast<const char*>(&v), sizeof v);
  }
  int walk(int n) {
    if (const auto it = number_.find(n); it != number_.end()) return it->second;
    const graph_node& x = g_[n];
    const bool here = std::find(q_.nodes.begin(), q_.nodes.end(), n) != q_.nodes.end();
    const bool operand =
        x.op != &constant_info && !here &&
        (x.op->kind != op_class::pull || stored_[static_cast<std::size_t>(n)] != 0);
    std::vector<int> in;
    if (!operand)
      for (int i : x.in) in.push_back(walk(i));
    put(operand);
    put(here);
    put(x.type.d);
    put(x.type.s.rank);
    for (int k = 0; k < x.type.s.rank; ++k) put(dims_.of(x.type.s[k]));
    if (!operand) {
      put(x.op);
      put(x.a.i), put(x.a.f);
      for (const dim& d : x.a.d) put(dims_.of(d));
      put(in.size());
      for (int i : in) put(i);
    }
    nodes.push_back(n);
    return number_[n] = static_cast<int>(nodes.size()) - 1;
  }

  const graph& g_;
  const std::vector<char>& stored_;
  const kernel_group& q_;
  dim_table& dims_;
  std::unordered_map<int, int> number_;
};

class slots final : public buffer_source {
 public:
  slots(const graph& g, const std::vector<int>& nodes, std::vector<shared_group::slot>& made)
      : g_(g), nodes_(nodes), made_(made) {}
  int of(int node) override {
    const auto [it, fresh] = known_.try_emplace(node, static_cast<int>(made_.size()));
    if (fresh) {
      const auto at = std::find(nodes_.begin(), nodes_.end(), node) - nodes_.begin();
      made_.push_back({.node = static_cast<int>(at), .type = g_[node].type.d});
    }
    return it->second;
  }
  int temporary(dtype type, int elements, int node) override {
    const auto at = std::find(nodes_.begin(), nodes_.end(), node) - nodes_.begin();
    made_.push_back({static_cast<int>(at), true, type, elements});
    return static_cast<int>(made_.size()) - 1;
  }

 private:
  const graph& g_;
  const std::vector<int>& nodes_;
  std::vector<shared_group::slot>& made_;
  std::unordered_map<int, int> known_;
};

void find_reads(const arena& a, int e, std::vector<char>& seen, std::set<int>& reads) {
  if (seen[static_cast<std::size_t>(e)]) return;
  seen[static_cast<std::size_t>(e)] = 1;
  if (a[e].op == scalar_op::load) reads.insert(a[e].aux);
  a.for_each_child(e, [&](int k) { find_reads(a, k, seen, reads); });
}

void add_kernel(shared_group& g, lowered_kernel work) {
  std::set<int> reads, writes;
  const arena& a = *work.exprs;
  std::vector<char> seen(static_cast<std::size_t>(a.size()), 0);
  for (const kernel_root& r : work.roots()) {
    writes.insert(r.buffer);
    find_reads(a, r.value, seen, reads);
    if (r.element >= 0) find_reads(a, r.element, seen, reads);
  }
  g.kernels.push_back({.work = std::move(work),
                       .reads = {reads.begin(), reads.end()},
                       .writes = {writes.begin(), writes.end()},
                       .texts = {}});
}

}  // namespace

group_use group_cache::of(const kernel_group& q) {
  signature s(g_, stored_, q, dims_);
  const auto [it, fresh] = known_.try_emplace(std::move(s.key));
  if (fresh) {
    it->second = std::make_shared<shared_group>();
    shared_group& g = *it->second;
    slots made(g_, s.nodes, g.slots);
    lowered_group l = lower_group(g_, q, stored_, made, dims_);
    add_kernel(g, std::move(l.first));
    for (lowered_kernel& k : l.second) add_kernel(g, std::move(k));
  }
  return {it->second, std::move(s.nodes)};
}

std::shared_ptr<shared_group> shared_copy(dim_table& dims, int elements, dtype from, dtype to) {
  auto g = std::make_shared<shared_group>();
  g->slots = {{.type = from}, {.type = to}};
  add_kernel(*g, lower_copy(dims, elements, 0, 1, from, to));
  return g;
}

const kernel_text& text_of(shared_group& g, std::size_t k, const std::vector<int>& same_as) {
  shared_group::kernel& x = g.kernels[k];
  const auto [it, fresh] = x.texts.try_emplace(same_as);
  if (fresh) {
    buffer_table table;
    for (const shared_group::slot& s : g.slots) table.types.push_back(s.type);
    table.same_as = same_as;
    it->second = x.work.by_columns ? emit_columns(*x.work.exprs, x.work.strips, table)
                                   : emit_rows(*x.work.exprs, x.work.work, table);
  }
  return it->second;
}

}  // namespace ropewalk
