// Lowers one node by itself and sees how it reads its inputs.
#include <algorithm>
#include <set>

#include "../cpu/lowering_node.hpp"
#include "fuse.hpp"

namespace ropewalk {
namespace {

bool transcendental(scalar_op op) {
  switch (op) {
    case scalar_op::exp:
    case scalar_op::log:
    case scalar_op::sin:
    case scalar_op::cos:
    case scalar_op::tanh:
    case scalar_op::erf:
    case scalar_op::pow:
    case scalar_op::random:
      return true;
    default:
      return false;
  }
}

struct visit {
  arena& a;
  node_facts& f;
  std::set<int> seen{};
  std::vector<int> loads{}, reduces{};
  void walk(int e) {
    if (!seen.insert(e).second) return;
    const expr_node& n = a[e];
    switch (n.op) {
      case scalar_op::load:
        loads.push_back(e);
        break;
      case scalar_op::reduce:
        reduces.push_back(e);
        break;
      case scalar_op::constant:
      case scalar_op::index:
      case scalar_op::extent:
      case scalar_op::floor_div:
      case scalar_op::mod:
        break;
      default:
        ++f.flops;
        f.transcendental = f.transcendental || transcendental(n.op);
        if (n.op == scalar_op::div || n.op == scalar_op::sqrt || n.op == scalar_op::rsqrt)
          f.flops += 3;
    }
    a.for_each_child(e, [&](int k) { walk(k); });
  }
};

}  // namespace

const node_facts& node_studies::of(int node) {
  const graph_node& n = g_[node];
  // Equal ops on equal types are alike, whatever the nodes.
  std::string key(reinterpret_cast<const char*>(&n.op), sizeof n.op);
  auto put = [&](const auto& v) { key.append(reinterpret_cast<const char*>(&v), sizeof v); };
  auto put_type = [&](const tensor_type& t) {
    put(t.d);
    put(t.s.rank);
    for (int k = 0; k < t.s.rank; ++k) put(dims_.of(t.s[k]));
  };
  put(n.a.i);
  put(n.a.f);
  for (const dim& d : n.a.d) put(dims_.of(d));
  put_type(n.type);
  for (std::size_t k = 0; k < n.in.size(); ++k) {
    put(static_cast<int>(std::find(n.in.begin(), n.in.end(), n.in[k]) - n.in.begin()));
    put(g_[n.in[k]].op == &constant_info);
    if (g_[n.in[k]].op == &constant_info) put(g_[n.in[k]].a.f[0]);
    put_type(g_[n.in[k]].type);
  }
  const auto [it, fresh] = known_.try_emplace(std::move(key));
  if (fresh) it->second = study(g_, node, dims_);
  return it->second;
}

node_facts study(const graph& g, int node, dim_table& dims) {
  const graph_node& n = g[node];
  arena a(dims);
  std::vector<int> inputs;  // distinct
  for (int k : n.in) {
    if (g[k].op == &constant_info) continue;
    if (std::find(inputs.begin(), inputs.end(), k) == inputs.end()) inputs.push_back(k);
  }
  listed_operands operands(inputs);
  node_lowerer l(g, a, operands);
  std::vector<int> at;
  const shape& s = n.type.s;
  for (int k = 0; k < s.rank; ++k) at.push_back(a.variable(a.new_variable(dims.of(s[k]))));
  const int own = a.variables_made();
  std::uint64_t own_bits = 0;
  for (int v = 0; v < own; ++v) own_bits |= arena::bit(v);
  const int root = l.lower_root(node, at);

  node_facts f;
  visit v{a, f};
  v.walk(root);
  f.reduces = !v.reduces.empty();
  f.view = a[root].op == scalar_op::load && a[root].b < 0 && a[a[root].a].op != scalar_op::load;
  f.constant = a[root].op == scalar_op::constant;
  if (f.constant) f.value = a[root].v;
  const int here = l.linear(s, at);
  if (a[root].op == scalar_op::load && a[root].b < 0 && a[root].a == here) {
    const int k = inputs[static_cast<std::size_t>(a[root].aux)];
    if (g[k].type == n.type)
      f.same_as = static_cast<int>(std::find(n.in.begin(), n.in.end(), k) - n.in.begin());
  }
  std::vector<access> by_operand(inputs.size(), access::pointwise);
  std::vector<int> loads(inputs.size(), 0);
  for (int load : v.loads) {
    const int k = a[load].aux;
    const shape& t = g[inputs[static_cast<std::size_t>(k)]].type.s;
    access kind = access::other;
    if ((a.variables(load) & ~own_bits) != 0) {
      kind = access::reduced;
    } else if (t.rank <= s.rank) {
      std::vector<int> there;
      bool fits = true;
      for (int i = 0; i < t.rank; ++i) {
        const int j = i + s.rank - t.rank;
        fits = fits && (t[i] == s[j] || t[i] == dim(1));
        there.push_back(t[i] == dim(1) ? a.number(0, dtype::i32) : at[static_cast<std::size_t>(j)]);
      }
      if (fits && l.linear(t, there) == a[load].a) kind = access::pointwise;
    }
    if (kind == access::other && a[load].a == here && t.elements() == s.elements())
      kind = access::reshape;
    ++loads[static_cast<std::size_t>(k)];
    access& worst = by_operand[static_cast<std::size_t>(k)];
    worst = std::max(worst, kind);
  }
  for (int k : n.in) {
    const auto where = std::find(inputs.begin(), inputs.end(), k);
    const auto o = static_cast<std::size_t>(where - inputs.begin());
    f.input.push_back(o == inputs.size() ? access::pointwise : by_operand[o]);
    f.loads.push_back(o == inputs.size() ? 0 : loads[o]);
  }
  if (!f.reduces) return f;

  // The pattern of the reduction, from a load that covers the whole space.
  std::vector<int> vars = a.reduction_of(v.reduces.front()).vars;
  bool same = true, sums = true;
  for (int r : v.reduces) {
    same = same && a.reduction_of(r).vars == vars;
    sums = sums && a.reduction_of(r).kind != reduction::argmax;
  }
  f.partial = v.reduces.size() == 1 && sums;
  const int one = dims.of(std::int64_t{1});
  int reduced = one;
  shape rs;
  std::vector<int> rat;
  for (int r : vars) {
    reduced = dims.mul(reduced, a.variable_extent(r));
    rs.push(dims.value(a.variable_extent(r)));
    rat.push_back(a.variable(r));
  }
  const int kept = dims.of(s.elements());
  const int inner = l.linear(rs, rat);
  f.outer = one;
  if (!same) return f;
  auto matches = [&](int position) {
    return std::any_of(v.loads.begin(), v.loads.end(), [&](int x) { return a[x].a == position; });
  };
  if (kept == one) {
    f.role = kernel_role::scalar, f.rows = reduced, f.columns = one;
  } else if (matches(a.index_sum(a.index_scale(here, reduced), inner))) {
    f.role = kernel_role::row, f.rows = kept, f.columns = reduced;
  } else if (matches(a.index_sum(a.index_scale(inner, kept), here))) {
    f.role = kernel_role::column, f.rows = reduced, f.columns = kept;
  } else {
    for (int k = 1; k < s.rank; ++k) {
      shape front, back;
      std::vector<int> fat, bat;
      for (int i = 0; i < s.rank; ++i) {
        (i < k ? front : back).push(s[i]);
        (i < k ? fat : bat).push_back(at[static_cast<std::size_t>(i)]);
      }
      const int tail = dims.of(back.elements());
      const int position =
          a.index_sum(a.index_scale(l.linear(front, fat), dims.mul(reduced, tail)),
                      a.index_sum(a.index_scale(inner, tail), l.linear(back, bat)));
      if (!matches(position)) continue;
      f.role = kernel_role::column, f.split = true;
      f.outer = dims.of(front.elements()), f.rows = reduced, f.columns = tail;
      break;
    }
  }
  return f;
}

}  // namespace ropewalk
