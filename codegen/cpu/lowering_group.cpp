// Lowers groups: chooses rows and columns for elementwise work, splits the column loop where
// indices take it apart, and cuts reductions over rows into two kernels.
#include "lowering_group.hpp"

#include <algorithm>
#include <unordered_set>

namespace ropewalk {
namespace {

// Expressions under e, each once.
template <class F>
void for_each_expr(const arena& a, int e, std::unordered_set<int>& seen, F f) {
  if (!seen.insert(e).second) return;
  f(e);
  a.for_each_child(e, [&](int k) { for_each_expr(a, k, seen, f); });
}
template <class F>
void for_each_expr(const arena& a, const std::vector<kernel_root>& roots, F f) {
  std::unordered_set<int> seen;
  for (const kernel_root& r : roots) {
    for_each_expr(a, r.value, seen, f);
    if (r.element >= 0) for_each_expr(a, r.element, seen, f);
  }
}

class group_lowerer final : operand_source {
 public:
  group_lowerer(const graph& g, const kernel_group& q, const std::vector<char>& stored,
                buffer_source& buffers, dim_table& dims)
      : g_(g),
        q_(q),
        stored_(stored),
        buffers_(buffers),
        dims_(dims),
        one_(dims.of(std::int64_t{1})) {}

  lowered_group run() {
    lowered_group r;
    if (q_.form == kernel_form::columns) {
      r.first = columns();
      return r;
    }
    if (q_.flat) {
      r.first = elementwise();
    } else {
      r.first = rows(q_.rows, q_.columns);
      split_columns(r.first);
    }
    for (kernel_role role : {kernel_role::column, kernel_role::scalar})
      if (std::find(q_.roles.begin(), q_.roles.end(), role) != q_.roles.end())
        r.second.push_back(second(r.first, role));
    return r;
  }

 private:
  // Nodes with buffers are loaded, but for those that this kernel makes.
  int operand(int n) override {
    const bool there =
        g_[n].op->kind != op_class::pull || stored_[static_cast<std::size_t>(n)] != 0;
    if (!there || std::find(q_.nodes.begin(), q_.nodes.end(), n) != q_.nodes.end()) return -1;
    return buffers_.of(n);
  }

  // Where the axes of a full node are divided between rows and columns.
  int division(int node, int rows, int columns) {
    const shape& s = g_[node].type.s;
    int front = one_;
    for (int k = 0; k <= s.rank; ++k) {
      int back = one_;
      for (int i = k; i < s.rank; ++i) back = dims_.mul(back, dims_.of(s[i]));
      if (front == rows && back == columns) return k;
      if (k < s.rank) front = dims_.mul(front, dims_.of(s[k]));
    }
    return -1;
  }

  lowered_kernel rows(int rows, int columns) {
    lowered_kernel r;
    r.exprs = std::make_unique<arena>(dims_);
    arena& a = *r.exprs;
    node_lowerer l(g_, a, *this);
    iteration_space& s = r.work.space;
    s.rows = rows, s.columns = columns;
    s.row_vars = {a.new_variable(rows)};
    s.row = a.variable(s.row_vars[0]);
    if (columns == one_) {
      s.column = a.number(0, dtype::i32);
    } else {
      s.column_vars = {a.new_variable(columns)};
      s.column = a.variable(s.column_vars[0]);
    }
    r.work.blocks = q_.form == kernel_form::blocks;
    s.reduce_rows = r.work.blocks;
    l.set_space(&s);
    for (std::size_t k = 0; k < q_.nodes.size(); ++k) {
      const int n = q_.nodes[k];
      const shape& t = g_[n].type.s;
      std::vector<int> at;
      kernel_root root{.buffer = -1, .type = g_[n].type.d};
      switch (q_.roles[k]) {
        case kernel_role::full: {
          const int d = q_.flat && columns == one_ ? t.rank : division(n, rows, columns);
          at = l.element(t, 0, d, s.row);
          const std::vector<int> back = l.element(t, d, t.rank, s.column);
          at.insert(at.end(), back.begin(), back.end());
          break;
        }
        case kernel_role::row:
          at = l.element(t, s.row);
          break;
        case kernel_role::column:
          at = l.element(t, s.column);
          break;
        case kernel_role::scalar:
          at = l.element(t, a.number(0, dtype::i32));
          break;
      }
      root.value = l.lower_root(n, at);
      if (q_.roles[k] == kernel_role::column || q_.roles[k] == kernel_role::scalar) {
        const int e = find_reduction(a, root.value);
        const reduce_record& rec = a.reduction_of(e);
        root.kind = root_kind::accumulate;
        root.value = rec.body;
        root.how = rec.kind;
        root.every_column = std::any_of(rec.vars.begin(), rec.vars.end(), [&](int v) {
          return std::find(s.column_vars.begin(), s.column_vars.end(), v) != s.column_vars.end();
        });
        if (q_.roles[k] == kernel_role::column) root.element = s.column;
        root.type = a[e].type;
      } else {
        root.buffer = buffers_.of(n);
        root.element = l.linear(t, at);
      }
      r.work.roots.push_back(root);
    }
    return r;
  }

  static int find_reduction(const arena& a, int e) {
    if (a[e].op == scalar_op::reduce) return e;
    int found = -1;
    a.for_each_child(e, [&](int k) {
      if (found < 0 && a.reduces(k)) found = find_reduction(a, k);
    });
    return found;
  }

  // Quotients or remainders of the innermost variables, which would not vectorise.
  bool divides(const lowered_kernel& k) {
    const arena& a = *k.exprs;
    const iteration_space& s = k.work.space;
    std::uint64_t inner = 0;
    for (int v : s.column_vars.empty() ? s.row_vars : s.column_vars) inner |= arena::bit(v);
    bool found = false;
    for_each_expr(a, k.work.roots, [&](int e) {
      if ((a[e].op == scalar_op::floor_div || a[e].op == scalar_op::mod) &&
          (a.variables(e) & inner) != 0)
        found = true;
    });
    return found;
  }

  lowered_kernel elementwise() {
    lowered_kernel flat = rows(q_.rows, one_);
    if (!divides(flat)) return flat;
    // Rows and columns: the widest columns that leave enough rows to share.
    int node = -1;
    for (std::size_t k = 0; k < q_.nodes.size(); ++k)
      if (q_.roles[k] == kernel_role::full) node = q_.nodes[k];
    if (node < 0) return flat;
    const shape& s = g_[node].type.s;
    int best = -1, fallback = -1;
    for (int d = 1; d < s.rank; ++d) {
      int front = one_, back = one_;
      for (int k = 0; k < d; ++k) front = dims_.mul(front, dims_.of(s[k]));
      for (int k = d; k < s.rank; ++k) back = dims_.mul(back, dims_.of(s[k]));
      bool all = back != one_;
      for (std::size_t k = 0; k < q_.nodes.size(); ++k)
        if (q_.roles[k] == kernel_role::full)
          all = all && division(q_.nodes[k], front, back) >= 0;
        else
          all = all && q_.roles[k] == kernel_role::scalar;
      if (!all) continue;
      if (dims_.guess(back) >= 16 || fallback < 0) fallback = d;
      if (best >= 0 && dims_.guess(back) < 16) continue;
      lowered_kernel r = rows(front, back);
      if (divides(r)) continue;
      best = d;
      if (dims_.guess(front) >= 64) return r;
    }
    const int d = best >= 0 ? best : fallback;
    if (d < 0) return flat;
    int front = one_, back = one_;
    for (int k = 0; k < d; ++k) front = dims_.mul(front, dims_.of(s[k]));
    for (int k = d; k < s.rank; ++k) back = dims_.mul(back, dims_.of(s[k]));
    lowered_kernel r = rows(front, back);
    split_columns(r);
    return r;
  }

  // c -> c1 K + c2 where the columns are divided by K.
  void split_columns(lowered_kernel& k) {
    arena& a = *k.exprs;
    iteration_space& s = k.work.space;
    for (int turn = 0; turn < 4 && !s.column_vars.empty(); ++turn) {
      int var = -1, by = -1;
      for_each_expr(a, k.work.roots, [&](int e) {
        if (a[e].op != scalar_op::floor_div && a[e].op != scalar_op::mod) return;
        if (a[a[e].a].op != scalar_op::index) return;
        const int v = a[a[e].a].aux;
        if (std::find(s.column_vars.begin(), s.column_vars.end(), v) == s.column_vars.end()) return;
        if (dims_.divide(a.variable_extent(v), a[e].aux) < 0) return;
        if (var < 0 || (var == v && dims_.divide(by, a[e].aux) >= 0)) var = v, by = a[e].aux;
      });
      if (var < 0) break;
      const int high = a.new_variable(dims_.divide(a.variable_extent(var), by));
      const int low = a.new_variable(by);
      // In the order of the loops, which is the order of the terms of their sum.
      const int outer = a.variable(high), inner = a.variable(low);
      arena::substitution sub;
      sub.variables.assign(static_cast<std::size_t>(a.variables_made()), -1);
      sub.variables[static_cast<std::size_t>(var)] = a.index_sum(a.index_scale(outer, by), inner);
      for (kernel_root& r : k.work.roots) {
        r.value = a.substitute(r.value, sub);
        if (r.element >= 0) r.element = a.substitute(r.element, sub);
      }
      s.column = a.substitute(s.column, sub);
      std::vector<int> vars;
      for (int v : s.column_vars) {
        if (v == var)
          vars.push_back(high), vars.push_back(low);
        else
          vars.push_back(v);
      }
      s.column_vars = std::move(vars);
    }
    unroll(k);
  }

  // A last loop of a few turns is written out.
  void unroll(lowered_kernel& k) {
    arena& a = *k.exprs;
    iteration_space& s = k.work.space;
    if (s.column_vars.size() < 2) return;
    const int v = s.column_vars.back(), n = a.variable_extent(v);
    if (!dims_.fixed(n) || dims_.number(n) > 4) return;
    bool plain = true;
    for_each_expr(a, k.work.roots, [&](int e) { plain = plain && a[e].op != scalar_op::reduce; });
    for (const kernel_root& r : k.work.roots) plain = plain && r.kind == root_kind::store;
    if (!plain) return;
    std::vector<kernel_root> roots;
    for (const kernel_root& r : k.work.roots)
      for (std::int64_t i = 0; i < dims_.number(n); ++i) {
        arena::substitution sub;
        sub.variables.assign(static_cast<std::size_t>(a.variables_made()), -1);
        sub.variables[static_cast<std::size_t>(v)] = a.index_value(dims_.of(i));
        kernel_root x = r;
        x.value = a.substitute(r.value, sub);
        x.element = a.substitute(r.element, sub);
        roots.push_back(x);
      }
    k.work.roots = std::move(roots);
    s.column_vars.pop_back();
  }

  // out = post(reduction over blocks of the partial results).
  lowered_kernel second(lowered_kernel& first, kernel_role wanted) {
    lowered_kernel r;
    r.exprs = std::make_unique<arena>(dims_);
    arena& a = *r.exprs;
    node_lowerer l(g_, a, *this);
    const int blocks = dims_.of(row_blocks);
    const bool wide = wanted == kernel_role::column;
    const int columns = wide ? q_.columns : one_;
    r.by_columns = wide;
    iteration_space s;
    s.rows = blocks, s.columns = columns;
    s.row_vars = {a.new_variable(blocks)};
    s.column_vars = {a.new_variable(columns)};
    s.row = a.variable(s.row_vars[0]), s.column = a.variable(s.column_vars[0]);
    // The nodes again, in a space of the first kernel's sizes, to see what surrounds the reduction.
    iteration_space outer = s;
    outer.rows = first.work.space.rows, outer.columns = first.work.space.columns;
    outer.row_vars = {a.new_variable(outer.rows)};
    outer.row = a.variable(outer.row_vars[0]);
    if (!wide && outer.columns != one_) {
      outer.column_vars = {a.new_variable(outer.columns)};
      outer.column = a.variable(outer.column_vars[0]);
    }
    outer.reduce_rows = true;
    l.set_space(&outer);
    for (std::size_t k = 0; k < q_.nodes.size(); ++k) {
      if (q_.roles[k] != wanted) continue;
      const int n = q_.nodes[k];
      const std::vector<int> at =
          l.element(g_[n].type.s, wide ? s.column : a.number(0, dtype::i32));
      const int whole = l.lower_root(n, at), e = find_reduction(a, whole);
      const reduce_record rec = a.reduction_of(e);
      const dtype d = a[e].type;
      kernel_root& from = first.work.roots[k];
      from.buffer = buffers_.temporary(d, dims_.mul(blocks, columns), n);
      const int position = wide ? a.index_sum(a.index_scale(s.row, columns), s.column) : s.row;
      const int part = a.load(from.buffer, d, position, true);
      arena::substitution sub;
      sub.exprs[e] = a.reduce(rec.kind, s.row_vars, part);
      r.roots().push_back({.value = a.substitute(whole, sub),
                           .buffer = buffers_.of(n),
                           .element = l.linear(g_[n].type.s, at),
                           .type = g_[n].type.d});
    }
    if (wide) {
      r.strips.space = s;
    } else {  // one element: a loop over the blocks inside one row
      r.work.space = s;
      r.work.space.rows = one_;
      r.work.space.row_vars = {a.new_variable(one_)};
      r.work.space.column_vars.clear();
    }
    return r;
  }

  lowered_kernel columns() {
    lowered_kernel r;
    r.exprs = std::make_unique<arena>(dims_);
    r.by_columns = true;
    arena& a = *r.exprs;
    node_lowerer l(g_, a, *this);
    iteration_space& s = r.strips.space;
    s.rows = q_.rows, s.columns = q_.columns;
    s.row_vars = {a.new_variable(q_.rows)};
    s.column_vars = {a.new_variable(q_.columns)};
    s.row = a.variable(s.row_vars[0]), s.column = a.variable(s.column_vars[0]);
    s.reduce_rows = true;
    int position = s.column;
    if (q_.outer != one_) {
      r.strips.outer = a.new_variable(q_.outer);
      s.outer_vars = {r.strips.outer};
      position = a.index_sum(a.index_scale(a.variable(r.strips.outer), q_.columns), s.column);
    }
    l.set_space(&s);
    for (int n : q_.nodes) {
      const std::vector<int> at = l.element(g_[n].type.s, position);
      kernel_root root{.buffer = buffers_.of(n), .type = g_[n].type.d};
      root.value = l.lower_root(n, at);
      root.element = l.linear(g_[n].type.s, at);
      r.strips.roots.push_back(root);
    }
    return r;
  }

  const graph& g_;
  const kernel_group& q_;
  const std::vector<char>& stored_;
  buffer_source& buffers_;
  dim_table& dims_;
  int one_;
};

}  // namespace

lowered_group lower_group(const graph& g, const kernel_group& q, const std::vector<char>& stored,
                          buffer_source& buffers, dim_table& dims) {
  return group_lowerer(g, q, stored, buffers, dims).run();
}

lowered_kernel lower_copy(dim_table& dims, int elements, int from, int to, dtype from_type,
                          dtype to_type) {
  lowered_kernel r;
  r.exprs = std::make_unique<arena>(dims);
  arena& a = *r.exprs;
  iteration_space& s = r.work.space;
  s.rows = elements, s.columns = dims.of(std::int64_t{1});
  s.row_vars = {a.new_variable(elements)};
  s.row = a.variable(s.row_vars[0]);
  s.column = a.number(0, dtype::i32);
  r.work.roots.push_back({.value = a.load(from, from_type, s.row, true),
                          .buffer = to,
                          .element = s.row,
                          .type = to_type});
  return r;
}

}  // namespace ropewalk
