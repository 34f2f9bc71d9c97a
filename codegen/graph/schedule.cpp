// Puts the passes together: simplify, fuse, lower, decide what is written in place, order, print.
#include <ropewalk/graph/schedule.hpp>

#include <algorithm>
#include <map>
#include <set>

#include "fuse.hpp"
#include "group_cache.hpp"
#include "order.hpp"
#include "views.hpp"

namespace ropewalk {
namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

std::uint64_t hash_text(const std::string& s) {
  std::uint64_t h = 14695981039346656037ull;
  for (const char c : s) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211ull;
  return h;
}

class scheduler {
 public:
  explicit scheduler(const program_graph& p) : p_(simplify(p)), g_(p_.g), studies_(g_, dims_) {}

  schedule run() {
    fusion_ = fuse(p_, dims_, studies_);
    buffer_of_.assign(at(g_.size()), -1);
    draft_kernels();
    draft_groups();
    write_updates();
    find_outputs();
    const std::vector<int> order = order_steps(order_input());
    for (int k : order) print_step(drafts_[at(k)]);
    drop_unused_buffers();
    return std::move(s_);
  }

 private:
  struct draft {
    int kernel_node = -1;  // a hand-written kernel
    std::vector<view> in, out;
    std::shared_ptr<shared_group> group;  // or a generated one
    std::size_t which = 0;                // of the group's kernels
    std::vector<int> slots;               // their buffers
    std::vector<int> nodes;               // whose values it makes
    std::vector<int> reads, writes;       // buffers
    int position = 0;                     // where the graph has it
    std::string label;
  };

  // --- buffers ----------------------------------------------------------------------------------
  int of(int node) {
    int& b = buffer_of_[at(node)];
    if (b >= 0) return b;
    const graph_node& n = g_[node];
    if (n.op->kind == op_class::pick) {
      b = result(n.in[0], static_cast<int>(n.a.i[0]));
      return b;
    }
    if (n.op->kind == op_class::kernel) return b = result(node, 0);
    buffer x{.type = n.type.d, .elements = n.type.s.elements(), .path = n.path, .node = node};
    if (n.op == &input_info) x.kind = buffer_kind::input;
    if (n.op == &param_info) x.kind = buffer_kind::param;
    if (n.op == &state_info) x.kind = buffer_kind::state;
    return b = add(x);
  }
  int result(int node, int k) {
    const auto [it, fresh] = results_.try_emplace({node, k}, -1);
    if (fresh) {
      const tensor_type t = result_type(node, k);
      it->second = add({.type = t.d, .elements = t.s.elements(), .path = {}, .node = node});
    }
    return it->second;
  }
  tensor_type result_type(int node, int k) {
    const graph_node& n = g_[node];
    if (k == 0 || n.op->result == nullptr) return n.type;
    std::vector<tensor_type> in;
    for (int i : n.in) in.push_back(g_[i].type);
    return n.op->result(n.a, in.data(), static_cast<int>(in.size()), k);
  }
  int temporary(dtype type, int elements, int node) {
    return add({.type = type, .elements = dims_.value(elements), .path = {}, .node = node});
  }
  int add(buffer b) {
    table_.types.push_back(b.type);
    table_.same_as.push_back(static_cast<int>(s_.buffers.size()));
    s_.buffers.push_back(std::move(b));
    return static_cast<int>(s_.buffers.size()) - 1;
  }

  // --- drafts -----------------------------------------------------------------------------------
  static view dense_view(int buffer, const tensor_type& t) {
    view v;
    v.buffer = buffer, v.type = t.d, v.rank = t.s.rank;
    dim stride = 1;
    for (int k = t.s.rank - 1; k >= 0; --k) {
      v.extent[k] = t.s[k];
      v.stride[k] = stride;
      stride = stride * t.s[k];
    }
    return v;
  }

  void draft_kernels() {
    std::vector<char> wanted(at(g_.size()), 0);
    for (const program_output& o : p_.outputs) wanted[at(o.node)] = 1;
    for (const program_update& u : p_.updates) wanted[at(u.node)] = 1;
    for (int k = g_.size() - 1; k >= 0; --k)
      if (wanted[at(k)])
        for (int i : g_[k].in) wanted[at(i)] = 1;
    for (int k = 0; k < g_.size(); ++k) {
      if (!wanted[at(k)] || g_[k].op->kind != op_class::kernel) continue;
      draft d;
      d.kernel_node = k;
      d.position = k;
      d.label = g_[k].op->name;
      d.nodes = {k};
      for (int i : g_[k].in) {
        if (g_[i].op == &constant_info || fusion_.stored[at(i)] ||
            g_[i].op->kind != op_class::pull) {
          d.in.push_back(dense_view(of(i), g_[i].type));
        } else {
          const strided w = as_strides(g_, i, fusion_.stored, dims_, studies_);
          d.in.push_back(w.dense ? dense_view(of(w.base), g_[i].type) : w.where);
          d.in.back().buffer = of(w.base);
        }
        d.reads.push_back(d.in.back().buffer);
      }
      for (int r = 0; r < g_[k].op->results; ++r) {
        d.out.push_back(dense_view(result(k, r), result_type(k, r)));
        d.writes.push_back(d.out.back().buffer);
      }
      drafts_.push_back(std::move(d));
    }
  }

  void take(std::shared_ptr<shared_group> group, std::size_t which, const std::vector<int>& slots,
            std::vector<int> nodes, int position, std::string label) {
    draft d;
    d.group = std::move(group);
    d.which = which;
    d.slots = slots;
    d.nodes = std::move(nodes);
    d.position = position;
    d.label = std::move(label);
    for (int k : d.group->kernels[which].reads) d.reads.push_back(slots[at(k)]);
    for (int k : d.group->kernels[which].writes) d.writes.push_back(slots[at(k)]);
    drafts_.push_back(std::move(d));
  }
  void copy(int from, int to, int elements, std::vector<int> nodes, int position,
            std::string label) {
    take(shared_copy(dims_, elements, table_.type(from), table_.type(to)), 0, {from, to},
         std::move(nodes), position, std::move(label));
  }

  std::string label_of(const kernel_group& q) {
    // The ops between what it reads and what it stores, most of all the stored ones.
    std::vector<std::string> names;
    std::set<int> seen;
    for (int n : q.nodes) collect_names(n, q, seen, names);
    std::string s;
    for (std::size_t k = 0; k < names.size() && k < 12; ++k) s += (k > 0 ? "+" : "") + names[k];
    if (names.size() > 12) s += "+...";
    return s;
  }
  void collect_names(int n, const kernel_group& q, std::set<int>& seen,
                     std::vector<std::string>& names) {
    if (g_[n].op->kind != op_class::pull || !seen.insert(n).second) return;
    const bool here = std::find(q.nodes.begin(), q.nodes.end(), n) != q.nodes.end();
    if (fusion_.stored[at(n)] && !here) return;
    for (int i : g_[n].in) collect_names(i, q, seen, names);
    if (names.empty() || names.back() != g_[n].op->name) names.emplace_back(g_[n].op->name);
  }

  void draft_groups() {
    group_cache cache(g_, fusion_.stored, dims_);
    for (const kernel_group& q : fusion_.groups) {
      const group_use use = cache.of(q);
      std::vector<int> slots;
      for (const shared_group::slot& x : use.group->slots) {
        const int node = use.nodes[at(x.node)];
        slots.push_back(x.temporary ? temporary(x.type, x.elements, node) : of(node));
      }
      const int last = *std::max_element(q.nodes.begin(), q.nodes.end());
      const std::string label = label_of(q);
      std::vector<int> here;
      for (std::size_t k = 0; k < q.nodes.size(); ++k)
        if (q.form == kernel_form::columns || q.roles[k] == kernel_role::full ||
            q.roles[k] == kernel_role::row)
          here.push_back(q.nodes[k]);
      std::vector<std::vector<int>> later;
      for (kernel_role role : {kernel_role::column, kernel_role::scalar}) {
        std::vector<int> nodes;
        for (std::size_t k = 0; k < q.nodes.size(); ++k)
          if (q.roles[k] == role) nodes.push_back(q.nodes[k]);
        if (!nodes.empty()) later.push_back(std::move(nodes));
      }
      // A reduction's second kernel makes its node.
      take(use.group, 0, slots, here, last, label);
      for (std::size_t k = 0; k + 1 < use.group->kernels.size(); ++k)
        take(use.group, k + 1, slots, later[k], last, "combine " + label);
    }
  }

  // --- updates ----------------------------------------------------------------------------------
  void write_updates() {
    for (std::size_t k = 0; k < drafts_.size(); ++k) note(static_cast<int>(k));
    std::set<int> updated;
    for (const program_update& u : p_.updates) updated.insert(u.leaf);
    for (const program_update& u : p_.updates) {
      if (u.leaf == u.node) continue;
      int from = of(u.node);
      const int to = of(u.leaf);
      if (in_place(u)) {
        table_.same_as[at(from)] = to;
        continue;
      }
      const int elements = dims_.of(g_[u.leaf].type.s.elements());
      if (updated.contains(u.node)) {  // the old value of another updated leaf
        const int kept = temporary(g_[u.node].type.d, elements, u.node);
        copy(from, kept, elements, {}, u.node, "copy");
        note(static_cast<int>(drafts_.size()) - 1);
        from = kept;
      }
      copy(from, to, elements, {u.node}, g_.size(), "copy to " + g_[u.leaf].path);
      note(static_cast<int>(drafts_.size()) - 1);
      late_.push_back({static_cast<int>(drafts_.size()) - 1, to});
    }
  }
  // Who reads and who makes a buffer.
  void note(int k) {
    readers_.resize(s_.buffers.size());
    maker_.resize(s_.buffers.size(), -1);
    for (int b : drafts_[at(k)].reads) readers_[at(b)].push_back(k);
    for (int b : drafts_[at(k)].writes)
      if (s_.buffers[at(b)].kind == buffer_kind::temporary) maker_[at(b)] = k;
    first_.resize(drafts_.size());
  }

  // The step that makes the value may write it over the old one: it reads the old value only at the
  // element it writes, and no step that reads the old value depends on it.
  bool in_place(const program_update& u) {
    const int value = of(u.node), leaf = of(u.leaf);
    readers_.resize(s_.buffers.size());
    maker_.resize(s_.buffers.size(), -1);
    if (table_.type(value) != table_.type(leaf) || table_.place(value) != value) return false;
    if (g_[u.node].op->kind != op_class::pull) return false;
    const int maker = maker_[at(value)];
    if (maker < 0 || drafts_[at(maker)].kernel_node >= 0) return false;
    const draft& d = drafts_[at(maker)];
    lowered_kernel& work = d.group->kernels[d.which].work;
    int element = -1, stores = 0;
    for (const kernel_root& r : work.roots())
      if (d.slots[at(r.buffer)] == value) element = r.element, ++stores;
    if (stores != 1) return false;
    const bool reads = std::find(d.reads.begin(), d.reads.end(), leaf) != d.reads.end();
    if (reads && work.by_columns) return false;
    if (reads) {
      std::vector<char> seen(at(work.exprs->size()), 0);
      const int slot =
          static_cast<int>(std::find(d.slots.begin(), d.slots.end(), leaf) - d.slots.begin());
      for (const kernel_root& r : work.roots())
        if (!only_at(*work.exprs, r.value, slot, element, seen)) return false;
    }
    for (int k : readers_[at(leaf)])
      if (k != maker && depends(k, maker)) return false;
    for (int k : readers_[at(leaf)])
      if (k != maker) {
        before_.emplace_back(k, maker);
        first_[at(maker)].push_back(k);
      }
    return true;
  }
  static bool only_at(const arena& a, int e, int slot, int element, std::vector<char>& seen) {
    if (seen[at(e)]) return true;
    seen[at(e)] = 1;
    if (a[e].op == scalar_op::load && a[e].aux == slot && a[e].a != element) return false;
    bool ok = true;
    a.for_each_child(e, [&](int k) { ok = ok && only_at(a, k, slot, element, seen); });
    return ok;
  }
  // Whether draft x needs what draft y makes, also through what must stand before.
  bool depends(int x, int y) {
    std::vector<char> seen(drafts_.size(), 0);
    std::vector<int> open{x};
    while (!open.empty()) {
      const int k = open.back();
      open.pop_back();
      if (k == y) return true;
      if (seen[at(k)]) continue;
      seen[at(k)] = 1;
      for (int b : drafts_[at(k)].reads)
        if (maker_[at(b)] >= 0) open.push_back(maker_[at(b)]);
      open.insert(open.end(), first_[at(k)].begin(), first_[at(k)].end());
    }
    return false;
  }

  // --- order and text ---------------------------------------------------------------------------
  void find_outputs() {
    for (const program_output& o : p_.outputs) {
      schedule::result r{.name = o.name, .type = g_[o.node].type, .where = {}};
      if (fusion_.stored[at(o.node)] || g_[o.node].op->kind != op_class::pull) {
        r.where = dense_view(of(o.node), r.type);
      } else {
        r.where =
            dense_view(of(as_strides(g_, o.node, fusion_.stored, dims_, studies_).base), r.type);
      }
      s_.outputs.push_back(std::move(r));
    }
  }

  ordering order_input() {
    ordering in;
    for (std::size_t b = 0; b < s_.buffers.size(); ++b) {
      const buffer& x = s_.buffers[b];
      const bool leaf = x.kind != buffer_kind::temporary;
      const bool elsewhere = table_.place(static_cast<int>(b)) != static_cast<int>(b);
      in.leaf.push_back(leaf ? 1 : 0);
      in.buffer_bytes.push_back(leaf || elsewhere ? 0
                                                  : dims_.guess(dims_.of(x.elements)) *
                                                        static_cast<double>(dtype_size(x.type)));
    }
    for (const draft& d : drafts_) in.steps.push_back({d.reads, d.writes, d.position});
    in.before = before_;
    for (const auto& [step, leaf] : late_)
      for (int k : readers_[at(leaf)])
        if (k != step) in.before.emplace_back(k, step);
    for (const schedule::result& r : s_.outputs) in.kept.push_back(r.where.buffer);
    return in;
  }

  void print_step(draft& d) {
    step x;
    x.nodes = d.nodes;
    if (d.kernel_node >= 0) {
      x.what = step::kind::kernel;
      x.op = g_[d.kernel_node].op;
      x.a = g_[d.kernel_node].a;
      x.in = std::move(d.in);
      x.out = std::move(d.out);
      s_.steps.push_back(std::move(x));
      return;
    }
    // Slots that are one buffer: the first of them stands for all.
    std::vector<int> same_as;
    for (std::size_t k = 0; k < d.slots.size(); ++k) {
      std::size_t first = 0;
      while (table_.place(d.slots[first]) != table_.place(d.slots[k])) ++first;
      same_as.push_back(static_cast<int>(first));
    }
    const kernel_text& t = text_of(*d.group, d.which, same_as);
    const auto [it, fresh] = texts_.try_emplace(t.text, static_cast<int>(s_.kernels.size()));
    if (fresh) s_.kernels.push_back({.text = t.text, .key = hash_text(t.text), .label = d.label});
    x.kernel = it->second;
    for (int k : t.buffers) x.buffers.push_back(d.slots[at(k)]);
    for (int k : t.writes) x.writes.push_back(d.slots[at(k)]);
    for (int k : t.dims) x.dims.push_back(dims_.value(k));
    x.parallel = dims_.value(t.parallel);
    x.grain = t.grain;
    x.scratch_bytes = 64 * t.scratch.size();
    int all = dims_.of(std::int64_t{0});
    for (int k : t.scratch) all = dims_.add(all, k);
    x.scratch_elements = dims_.value(all);
    s_.steps.push_back(std::move(x));
  }

  void drop_unused_buffers() {
    std::vector<int> to(s_.buffers.size(), -1);
    std::vector<buffer> kept;
    auto use = [&](int& b) {
      if (b < 0) return;
      b = table_.place(b);
      if (to[at(b)] < 0) {
        to[at(b)] = static_cast<int>(kept.size());
        kept.push_back(std::move(s_.buffers[at(b)]));
      }
      b = to[at(b)];
    };
    for (step& x : s_.steps) {
      for (int& b : x.buffers) use(b);
      for (int& b : x.writes) use(b);
      for (view& v : x.in) use(v.buffer);
      for (view& v : x.out) use(v.buffer);
    }
    for (schedule::result& r : s_.outputs) use(r.where.buffer);
    s_.buffers = std::move(kept);
  }

  program_graph p_;
  const graph& g_;
  dim_table dims_;
  node_studies studies_;
  fusion fusion_;
  schedule s_;
  std::vector<int> buffer_of_;
  std::map<std::pair<int, int>, int> results_;
  buffer_table table_;
  std::vector<draft> drafts_;
  std::vector<std::pair<int, int>> before_, late_;
  std::vector<std::vector<int>> readers_;  // buffer -> drafts
  std::vector<int> maker_;                 // temporary -> draft
  std::vector<std::vector<int>> first_;    // draft -> drafts that must stand before it
  std::map<std::string, int> texts_;
};

}  // namespace

schedule make_schedule(const program_graph& p) { return scheduler(p).run(); }

}  // namespace ropewalk
