// Chooses the stored nodes and groups them into kernels.
//
// Stored at once: what has to be in memory (operands of hand-written kernels, outputs, updates) and
// every reduction. These are grouped in topological order: a node joins a kernel that computes or
// reads the same data over the same space. All else is computed where it is used; what would be
// computed in several kernels at some cost is then stored by the first of them.
#include "fuse.hpp"

#include <algorithm>
#include <set>

#include "views.hpp"

namespace ropewalk {
namespace {

constexpr std::size_t max_nodes = 16;
constexpr std::int64_t widest_row_accumulators = 65536;  // columns, of kernels that also sum rows

std::size_t at(int i) { return static_cast<std::size_t>(i); }

class fuser {
 public:
  fuser(const program_graph& p, dim_table& dims, node_studies& studies)
      : p_(p), g_(p.g), dims_(dims), studies_(studies) {}

  fusion run() {
    const std::size_t n = at(g_.size());
    r_.stored.assign(n, 0);
    r_.group.assign(n, -1);
    facts_.resize(n);
    users_.resize(n);
    wanted_.assign(n, 0);
    unit_.assign(n, -1);
    copies_.assign(n, 1);
    find_wanted();
    for (int k = 0; k < g_.size(); ++k)
      if (wanted_[at(k)] && pull(k)) facts_[at(k)] = &studies_.of(k);
    store_what_must_be();
    for (int k = 0; k < g_.size(); ++k) {
      if (!wanted_[at(k)]) continue;
      if (g_[k].op->kind == op_class::kernel)
        new_unit(k, -1);
      else if (g_[k].op->kind == op_class::pick)
        unit_[at(k)] = unit_[at(g_[k].in[0])];
      else if (r_.stored[at(k)] && pull(k))
        place(k);
    }
    store_what_is_shared();
    return std::move(r_);
  }

 private:
  struct unit {  // a group or a hand-written kernel
    int group = -1, node = -1;
    std::set<int> needs{};  // units
  };
  bool pull(int k) const { return g_[k].op->kind == op_class::pull; }
  const node_facts& facts(int k) const { return *facts_[at(k)]; }
  // Present in memory when anything runs.
  bool in_memory(int k) const {
    const op_class c = g_[k].op->kind;
    return c != op_class::pull || r_.stored[at(k)] != 0;
  }
  int elements(int k) { return dims_.of(g_[k].type.s.elements()); }
  double size(int k) { return dims_.guess(elements(k)); }

  void find_wanted() {
    for (const program_output& o : p_.outputs) wanted_[at(o.node)] = 1;
    for (const program_update& u : p_.updates) wanted_[at(u.node)] = 1;
    for (int k = g_.size() - 1; k >= 0; --k) {
      if (!wanted_[at(k)]) continue;
      for (int i : g_[k].in) wanted_[at(i)] = 1, users_[at(i)].push_back(k);
    }
  }

  void store(int k) {
    if (pull(k)) r_.stored[at(k)] = 1;
  }

  void store_what_must_be() {
    for (int k = 0; k < g_.size(); ++k) {
      if (!wanted_[at(k)]) continue;
      if (pull(k) && facts(k).reduces) store(k);
      if (pull(k) && repeated_at_cost(k)) store(k);
      if (pull(k)) store_where_copies_abound(k);
    }
    for (const program_update& u : p_.updates) store(u.node);
    for (int k = 0; k < g_.size(); ++k)
      if (wanted_[at(k)] && g_[k].op->kind == op_class::kernel)
        for (int i : g_[k].in) store_operand(i, g_[k].op->strided_inputs);
    for (const program_output& o : p_.outputs) {
      const strided s = as_strides(g_, o.node, r_.stored, dims_, studies_);
      const bool updated = std::any_of(p_.updates.begin(), p_.updates.end(),
                                       [&](auto& u) { return u.leaf == s.base; });
      store(s.ok && s.dense && !updated && g_[s.base].op != &constant_info ? s.base : o.node);
    }
  }

  // What is read at many places is not computed at each of them: chains of joins, windows, ...
  void store_where_copies_abound(int k) {
    int together = 1, apart = 0;
    for (std::size_t i = 0; i < g_[k].in.size(); ++i) {
      const int n = g_[k].in[i];
      if (in_memory(n)) continue;
      if (facts(k).input[i] == access::other)
        apart += facts(k).loads[i] * copies_[at(n)];
      else
        together = std::max(together, copies_[at(n)]);
    }
    copies_[at(k)] = std::max(together, apart);
    if (copies_[at(k)] > 6) store(k), copies_[at(k)] = 1;
  }

  void store_operand(int i, bool any_strides) {
    const strided s = as_strides(g_, i, r_.stored, dims_, studies_);
    if (s.ok && (s.dense || (any_strides && s.last_contiguous)))
      store(s.base);
    else
      store(i);
  }

  // Read by something larger, where each element would be computed again and again.
  bool repeated_at_cost(int k) {
    if (!facts(k).transcendental && facts(k).flops < 6) return false;
    const shape& s = g_[k].type.s;
    if (s.rank == 0 || s[-1] == dim(1)) return false;  // once per row, at most
    for (int u : users_[at(k)]) {
      if (!pull(u)) continue;
      double work = size(u);
      if (facts(u).reduces)
        work *= dims_.guess(facts(u).columns < 0 ? elements(k) : facts(u).columns);
      if (work > 2 * size(k) && !(facts(u).reduces && work <= 2 * size(k))) return true;
    }
    return false;
  }

  // --- units ----------------------------------------------------------------------------------
  int new_unit(int node, int group) {
    units_.push_back({.group = group, .node = node});
    const int u = static_cast<int>(units_.size()) - 1;
    if (node >= 0) {
      unit_[at(node)] = u;
      for (int i : g_[node].in) add_needs(u, i);
    }
    return u;
  }
  void add_needs(int u, int node) {
    for (const auto& [m, aligned] : sources(node))
      if (unit_[at(m)] >= 0 && unit_[at(m)] != u) units_[at(u)].needs.insert(unit_[at(m)]);
  }
  bool depends(int u, int on) {
    if (u == on) return true;
    std::vector<char> seen(units_.size(), 0);
    std::vector<int> open{u};
    while (!open.empty()) {
      const int x = open.back();
      open.pop_back();
      for (int k : units_[at(x)].needs) {
        if (k == on) return true;
        if (!seen[at(k)]) seen[at(k)] = 1, open.push_back(k);
      }
    }
    return false;
  }

  // The nodes in memory that `node` reads (itself if it is one), and whether the way there keeps
  // rows and columns.
  using source_list = std::vector<std::pair<int, bool>>;
  source_list sources(int node) {
    source_list r;
    collect(node, true, r);
    return r;
  }
  source_list inputs_of(int node) {
    source_list r;
    for (std::size_t k = 0; k < g_[node].in.size(); ++k)
      collect(g_[node].in[k], facts(node).input[k] != access::other, r);
    return r;
  }
  void collect(int node, bool aligned, source_list& r) {
    if (g_[node].op == &constant_info) return;
    const auto it = std::find_if(r.begin(), r.end(), [&](auto& x) { return x.first == node; });
    if (it != r.end() && (it->second == aligned || !it->second)) return;
    if (in_memory(node)) {
      if (it == r.end())
        r.emplace_back(node, aligned);
      else
        it->second = it->second && aligned;
      return;
    }
    for (std::size_t k = 0; k < g_[node].in.size(); ++k)
      collect(g_[node].in[k], aligned && facts(node).input[k] != access::other, r);
  }

  // --- spaces ---------------------------------------------------------------------------------
  bool covers(int node, int rows, int columns) {  // role full
    const shape& s = g_[node].type.s;
    int front = dims_.of(std::int64_t{1});
    for (int k = 0; k <= s.rank; ++k) {
      int back = dims_.of(std::int64_t{1});
      for (int i = k; i < s.rank; ++i) back = dims_.mul(back, dims_.of(s[i]));
      if (front == rows && back == columns) return true;
      if (k < s.rank) front = dims_.mul(front, dims_.of(s[k]));
    }
    return false;
  }
  // The role of an elementwise node in a space; false where it has none.
  bool elementwise_role(int node, int rows, int columns, kernel_role& role) {
    if (covers(node, rows, columns)) return role = kernel_role::full, true;
    if (elements(node) == rows) return role = kernel_role::row, true;
    return false;
  }

  kernel_group own_group(int k) {
    const node_facts& f = facts(k);
    const int one = dims_.of(std::int64_t{1});
    kernel_group q;
    q.nodes = {k};
    q.roles = {kernel_role::full};
    q.rows = elements(k), q.columns = one, q.outer = one;
    if (!f.reduces) return q;
    q.flat = false;
    q.roles = {f.role};
    if (f.role == kernel_role::full) {  // no pattern: every element by itself
      q.roles = {kernel_role::row};
      closed_ = true;
      return q;
    }
    q.rows = f.rows, q.columns = f.columns, q.outer = f.outer;
    if (f.role == kernel_role::column) {
      q.form = f.partial ? kernel_form::columns : kernel_form::rows;
      const bool narrow =
          dims_.fixed(f.columns) && dims_.number(f.columns) < widest_row_accumulators;
      if (f.partial && !f.split && narrow) q.form = kernel_form::blocks;
      if (!f.partial) {
        q.roles = {kernel_role::row};
        q.rows = elements(k), q.columns = one;
      }
    } else if (f.role == kernel_role::scalar) {
      q.form = f.partial ? kernel_form::blocks : kernel_form::rows;
      q.flat = f.partial;  // its space may still be divided
      if (!f.partial) {
        q.roles = {kernel_role::row};
        q.rows = one, q.columns = f.rows;
      }
    }
    closed_ = (f.role == kernel_role::column || f.role == kernel_role::scalar) && !f.partial;
    return q;
  }

  // Whether k, a group of its own, fits into group q; then q's space and k's role.
  bool fits(int k, const kernel_group& own, kernel_group& q, kernel_role& role) {
    if (q.nodes.size() >= max_nodes) return false;
    if (own.form == kernel_form::columns || q.form == kernel_form::columns) {
      role = kernel_role::column;
      return own.form == q.form && own.rows == q.rows && own.columns == q.columns &&
             own.outer == q.outer;
    }
    const node_facts& f = facts(k);
    if (!f.reduces) {
      if (!q.flat) return elementwise_role(k, q.rows, q.columns, role);
      role = kernel_role::full;
      return elements(k) == dims_.mul(q.rows, q.columns);
    }
    role = own.roles[0];
    if (role == kernel_role::scalar) {
      if (own.rows == dims_.mul(q.rows, q.columns) || own.rows == q.rows) {
        q.form = kernel_form::blocks;
        return true;
      }
      // Elementwise rows under a sum of ... no space in common.
      return false;
    }
    if (q.flat) {
      for (std::size_t i = 0; i < q.nodes.size(); ++i) {
        const int m = q.nodes[i];
        if (q.roles[i] == kernel_role::scalar) {
          if (facts(m).rows != dims_.mul(own.rows, own.columns) && facts(m).rows != own.rows)
            return false;
        } else if (!elementwise_role(m, own.rows, own.columns, q.roles[i])) {
          return false;
        }
      }
      q.rows = own.rows, q.columns = own.columns, q.flat = false;
    } else if (q.rows != own.rows || q.columns != own.columns) {
      return false;
    }
    if (role == kernel_role::column) q.form = kernel_form::blocks;
    return true;
  }

  void place(int k) {
    closed_ = false;
    const kernel_group own = own_group(k);
    const source_list from = inputs_of(k);
    if (!closed_) {
      // Groups that make or read what k reads, latest first.
      std::vector<int> candidates;
      auto offer = [&](int u) {
        if (u >= 0 && units_[at(u)].group >= 0 && !closed_units_.contains(u) &&
            std::find(candidates.begin(), candidates.end(), u) == candidates.end())
          candidates.push_back(u);
      };
      for (const auto& [m, aligned] : from)
        if (aligned) offer(unit_[at(m)]);
      std::sort(candidates.begin(), candidates.end(), std::greater<>());
      const std::size_t makers = candidates.size();
      const double work = dims_.guess(dims_.mul(own.rows, own.columns));
      for (const auto& [m, aligned] : from)
        if (aligned && 2 * size(m) >= work)
          for (int u : readers_[m]) offer(u);
      std::sort(candidates.begin() + static_cast<std::ptrdiff_t>(makers), candidates.end());
      for (int u : candidates)
        if (join(k, own, from, u)) return;
    }
    r_.groups.push_back(own);
    const int u = new_unit(-1, static_cast<int>(r_.groups.size()) - 1);
    if (closed_) closed_units_.insert(u);
    enter(k, from, u);
  }

  bool join(int k, const kernel_group& own, const source_list& from, int u) {
    kernel_group q = r_.groups[at(units_[at(u)].group)];
    kernel_role role = kernel_role::full;
    if (!fits(k, own, q, role)) return false;
    for (const auto& [m, aligned] : from) {
      const int w = unit_[at(m)];
      if (w < 0) continue;
      if (w != u) {
        if (depends(w, u)) return false;
        continue;
      }
      // A member: its value must be there when k's is computed.
      const auto i = std::find(q.nodes.begin(), q.nodes.end(), m) - q.nodes.begin();
      const kernel_role r = q.roles[static_cast<std::size_t>(i)];
      if (!aligned || r == kernel_role::column || r == kernel_role::scalar) return false;
    }
    q.nodes.push_back(k);
    q.roles.push_back(role);
    r_.groups[at(units_[at(u)].group)] = std::move(q);
    enter(k, from, u);
    return true;
  }

  void enter(int k, const source_list& from, int u) {
    unit_[at(k)] = u;
    r_.group[at(k)] = units_[at(u)].group;
    for (const auto& [m, aligned] : from) {
      const int w = unit_[at(m)];
      if (w >= 0 && w != u) units_[at(u)].needs.insert(w);
      if (aligned) readers_[m].insert(u);
    }
  }

  // --- values computed in several kernels -------------------------------------------------------
  void store_what_is_shared() {
    std::vector<int> rank = order();
    std::vector<std::set<int>> full(at(g_.size()));  // the large tensors under a value
    std::vector<int> cost(at(g_.size()), 0);
    for (int k = 0; k < g_.size(); ++k) {
      if (!wanted_[at(k)] || !pull(k) || in_memory(k)) continue;
      bool dear = facts(k).transcendental;
      cost[at(k)] = facts(k).flops;
      for (int i : g_[k].in) {
        if (g_[i].op == &constant_info) continue;
        if (2 * size(i) < size(k)) continue;  // of rows, say: cheap to do again
        if (in_memory(i)) {
          full[at(k)].insert(i);
        } else {
          for (int m : full[at(i)])
            if (2 * size(m) >= size(k)) full[at(k)].insert(m);
          cost[at(k)] = std::min(1000, cost[at(k)] + cost[at(i)]);
          dear = dear || cost[at(i)] >= 500;
        }
      }
      if (dear) cost[at(k)] += 500;
      if (facts(k).view) continue;
      if (full[at(k)].size() < 2 && cost[at(k)] < 24) continue;
      const shape& s = g_[k].type.s;
      if (full[at(k)].empty() && (s.rank == 0 || s[-1] == dim(1))) continue;
      // Used once by something of its size: that is stored instead.
      if (users_[at(k)].size() == 1) {
        const int u = users_[at(k)][0];
        if (pull(u) && !in_memory(u) && !facts(u).view && elements(u) == elements(k)) continue;
      }
      std::set<int> kernels;
      reached(k, kernels);
      if (kernels.size() < 2) continue;
      if (!share(k, kernels, rank)) continue;
      full[at(k)].clear();
      cost[at(k)] = 0;
    }
  }
  // The units that compute k for themselves.
  void reached(int k, std::set<int>& units) {
    for (int u : users_[at(k)]) {
      if (!pull(u)) continue;
      if (in_memory(u))
        units.insert(unit_[at(u)]);
      else
        reached(u, units);
    }
  }
  bool share(int k, const std::set<int>& kernels, std::vector<int>& rank) {
    std::vector<int> by_rank(kernels.begin(), kernels.end());
    std::sort(by_rank.begin(), by_rank.end(),
              [&](int a, int b) { return rank[at(a)] < rank[at(b)]; });
    r_.stored[at(k)] = 1;
    const int first = by_rank.front();
    int home = -1;
    if (units_[at(first)].group >= 0 && !closed_units_.contains(first)) {
      kernel_group& q = r_.groups[at(units_[at(first)].group)];
      kernel_role role = kernel_role::full;
      const kernel_group own = own_group(k);
      kernel_group changed = q;
      if (q.form != kernel_form::columns && fits(k, own, changed, role)) {
        changed.nodes.push_back(k);
        changed.roles.push_back(role);
        q = std::move(changed);
        home = first;
      }
    }
    if (home < 0) {
      // A kernel of its own, before all of them: unless the first of them makes what it reads.
      for (const auto& [m, aligned] : inputs_of(k))
        if (unit_[at(m)] == first) return r_.stored[at(k)] = 0, false;
      r_.groups.push_back(own_group(k));
      home = new_unit(-1, static_cast<int>(r_.groups.size()) - 1);
      rank.push_back(rank[at(first)] - 1);
    }
    enter(k, inputs_of(k), home);
    for (int u : by_rank)
      if (u != home) units_[at(u)].needs.insert(home);
    if (home != first) rank = order();
    return true;
  }
  // A topological order of the units, as ranks.
  std::vector<int> order() {
    std::vector<int> rank(units_.size(), -1);
    int next = 0;
    std::vector<std::pair<int, bool>> open;
    for (std::size_t u = 0; u < units_.size(); ++u) {
      open.emplace_back(static_cast<int>(u), false);
      while (!open.empty()) {
        const auto [x, done] = open.back();
        open.pop_back();
        if (done) rank[at(x)] = 2 * next++;
        if (done || rank[at(x)] != -1) continue;
        rank[at(x)] = -2;
        open.emplace_back(x, true);
        for (int k : units_[at(x)].needs)
          if (rank[at(k)] == -1) open.emplace_back(k, false);
      }
    }
    return rank;
  }

  const program_graph& p_;
  const graph& g_;
  dim_table& dims_;
  fusion r_;
  node_studies& studies_;
  std::vector<const node_facts*> facts_;
  std::vector<std::vector<int>> users_;
  std::vector<char> wanted_;
  std::vector<int> copies_;  // at how many places the leaves under a value are read
  std::vector<unit> units_;
  std::vector<int> unit_;                 // node -> unit, -1
  std::map<int, std::set<int>> readers_;  // node -> units that read it, aligned
  std::set<int> closed_units_;
  bool closed_ = false;
};

}  // namespace

fusion fuse(const program_graph& p, dim_table& dims, node_studies& studies) {
  return fuser(p, dims, studies).run();
}

}  // namespace ropewalk
