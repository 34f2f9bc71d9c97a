// The interface that ops lower themselves through.
#include "lowering_node.hpp"

namespace ropewalk {
namespace {

class op_lowering final : public lowering {
 public:
  op_lowering(node_lowerer& l, int node, const std::vector<int>& at)
      : l_(l), a_(l.exprs()), n_(l.nodes()[node]), at_(at) {}

  const attrs& options() const override { return n_.a; }
  const tensor_type& type() const override { return n_.type; }
  const tensor_type& type(int input) const override {
    return l_.nodes()[n_.in[static_cast<std::size_t>(input)]].type;
  }
  int inputs() const override { return static_cast<int>(n_.in.size()); }
  scalar index(int axis) override { return {this, at_[static_cast<std::size_t>(axis)]}; }
  scalar extent(const dim& d) override { return {this, a_.index_value(a_.dims().of(d))}; }
  scalar number(double v, dtype d) override { return {this, a_.number(v, d)}; }
  scalar in(int input, std::span<const scalar> at) override {
    std::vector<int> where;
    for (const scalar& x : at) where.push_back(x.id);
    return {this, l_.value(n_.in[static_cast<std::size_t>(input)], where)};
  }
  scalar apply(scalar_op op, std::span<const scalar> args) override {
    int ids[3], k = 0;
    for (const scalar& x : args) ids[k++] = x.id;
    return {this, a_.apply(op, std::span<const int>(ids, static_cast<std::size_t>(k)))};
  }
  scalar cast(scalar x, dtype d) override { return {this, a_.cast(x.id, d)}; }
  dtype type_of(scalar x) const override { return a_[x.id].type; }

  scalar reduce(reduction kind, std::span<const dim> extents, const body& f) override {
    dim_table& dims = a_.dims();
    std::vector<int> vars, index;
    bind(extents, vars, index);
    std::vector<scalar> r;
    for (int i : index) r.push_back({this, i});
    const int x = f(r).id;
    if (kind != reduction::argmax) return {this, a_.reduce(kind, vars, x)};
    // The lowest position that holds the maximum; 0 where every element is NaN.
    shape s;
    for (const dim& d : extents) s.push(d);
    const int most = a_.reduce(reduction::max, vars, x);
    const int none = a_.index_value(dims.of(std::int64_t{0x7fffffff}));
    const int here = a_.apply(scalar_op::select,
                              {a_.apply(scalar_op::eq, {x, most}), l_.linear(s, index), none});
    const int first = a_.reduce(reduction::min, vars, here);
    return {this, a_.apply(scalar_op::select, {a_.apply(scalar_op::eq, {first, none}),
                                               a_.number(0, dtype::i32), first})};
  }

 private:
  // The loop variables of a reduction: the kernel's own where its extent is theirs and they are
  // free, else new ones.
  void bind(std::span<const dim> extents, std::vector<int>& vars, std::vector<int>& index) {
    dim_table& dims = a_.dims();
    shape s;
    int total = dims.of(std::int64_t{1});
    for (const dim& d : extents) {
      s.push(d);
      total = dims.mul(total, dims.of(d));
    }
    if (const iteration_space* k = l_.space()) {
      std::uint64_t used = 0, rows = 0, columns = 0;
      for (int e : at_) used |= a_.variables(e);
      for (int v : k->outer_vars) used &= ~arena::bit(v);
      for (int v : k->row_vars) rows |= arena::bit(v);
      for (int v : k->column_vars) columns |= arena::bit(v);
      // Only what is one value for a whole row (column) is reduced by the kernel's own loops.
      const bool row_value = (used & ~rows) == 0, column_value = (used & ~columns) == 0;
      const int all = dims.mul(k->rows, k->columns);
      int position = -1;
      if (k->reduce_rows && row_value && column_value && total == all) {
        position = a_.index_sum(a_.index_scale(k->row, k->columns), k->column);
        vars = k->row_vars;
        vars.insert(vars.end(), k->column_vars.begin(), k->column_vars.end());
      } else if (k->reduce_rows && column_value && total == k->rows) {
        position = k->row;
        vars = k->row_vars;
      } else if (row_value && total == k->columns) {
        position = k->column;
        vars = k->column_vars;
      }
      if (position >= 0) {
        index = l_.element(s, position);
        return;
      }
    }
    for (const dim& d : extents) {
      vars.push_back(a_.new_variable(dims.of(d)));
      index.push_back(a_.variable(vars.back()));
    }
  }

  node_lowerer& l_;
  arena& a_;
  const graph_node& n_;
  const std::vector<int>& at_;
};

}  // namespace

int node_lowerer::linear(const shape& s, const std::vector<int>& at) {
  dim_table& dims = a_.dims();
  int r = a_.index_value(dims.of(std::int64_t{0})), stride = dims.of(std::int64_t{1});
  for (int k = s.rank - 1; k >= 0; --k) {
    r = a_.index_sum(r, a_.index_scale(at[static_cast<std::size_t>(k)], stride));
    stride = dims.mul(stride, dims.of(s[k]));
  }
  return r;
}

std::vector<int> node_lowerer::element(const shape& s, int from, int to, int position) {
  dim_table& dims = a_.dims();
  std::vector<int> r(static_cast<std::size_t>(to - from));
  for (int k = to - 1; k >= from; --k) {
    const int d = dims.of(s[k]);
    // Positions stay inside the shape: the first index needs no remainder.
    bool first = true;
    for (int j = from; j < k; ++j) first = first && s[j] == dim(1);
    r[static_cast<std::size_t>(k - from)] = first ? position : a_.modulo(position, d);
    if (first) {
      for (int j = from; j < k; ++j)
        r[static_cast<std::size_t>(j - from)] = a_.index_value(dims.of(std::int64_t{0}));
      break;
    }
    position = a_.floor_div(position, d);
  }
  return r;
}

int node_lowerer::value(int n, const std::vector<int>& at) {
  const graph_node& x = g_[n];
  if (x.op == &constant_info) return a_.number(x.a.f[0], x.type.d);
  bool safe = true;
  for (int k = 0; k < x.type.s.rank; ++k)
    safe = safe && a_.within(at[static_cast<std::size_t>(k)], a_.dims().of(x.type.s[k]));
  const int operand = operands_.operand(n);
  if (operand < 0) {
    const int r = lower_root(n, at);
    if (safe) a_.mark_defined(r);
    return r;
  }
  return a_.load(operand, x.type.d, linear(x.type.s, at), safe);
}

int node_lowerer::lower_root(int n, const std::vector<int>& at) {
  const graph_node& x = g_[n];
  if (x.op == &constant_info) return a_.number(x.a.f[0], x.type.d);
  const auto [it, fresh] = done_.try_emplace({n, at}, -1);
  if (!fresh && it->second >= 0) return it->second;
  if (x.op->kind == op_class::leaf) return value(n, at);
  if (x.op->lower == nullptr)
    throw error("lowering", std::string(x.op->name) + " has no scalar expression");
  op_lowering l(*this, n, at);
  const int r = x.op->lower(l).id;
  return done_[{n, at}] = r;
}

std::vector<scalar> reshape_index(lowering& l, const shape& to, const shape& from) {
  std::vector<scalar> r(static_cast<std::size_t>(from.rank));
  auto fill = [&](scalar lin, int begin, int end) {
    for (int k = end - 1; k >= begin; --k) {
      const bool first = k == begin;
      r[static_cast<std::size_t>(k)] =
          first ? lin : l.apply(scalar_op::mod, {lin, l.extent(from[k])});
      if (!first) lin = l.apply(scalar_op::floor_div, {lin, l.extent(from[k])});
    }
  };
  // Groups of axes with equal products, from the front; the last group takes what is left.
  int i = 0, j = 0;
  while (j < from.rank) {
    int i1 = i, j1 = j;
    dim a = 1, b = 1;
    if (i1 < to.rank) a = to[i1++];
    b = from[j1++];
    while (!(a == b)) {
      const bool more_a = i1 < to.rank, more_b = j1 < from.rank;
      if (!more_a && !more_b) break;
      // Fixed products tell which side is behind; symbolic ones take from the side with fewer axes.
      bool take_a = more_a;
      if (more_a && more_b) {
        if (a.fixed() && b.fixed())
          take_a = a.n < b.n;
        else if (a.fixed() != b.fixed())
          take_a = a.fixed();
        else
          take_a = i1 - i <= j1 - j;
      }
      if (take_a)
        a = a * to[i1++];
      else
        b = b * from[j1++];
    }
    if (j1 == from.rank)
      while (i1 < to.rank) ++i1;
    scalar lin = l.number(0, dtype::i32);
    for (int k = i; k < i1; ++k) lin = lin * l.extent(to[k]) + l.index(k);
    fill(lin, j, j1);
    i = i1, j = j1;
  }
  return r;
}

}  // namespace ropewalk
