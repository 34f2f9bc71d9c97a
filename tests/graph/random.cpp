// Random graphs of elementwise ops, movements, gathers, casts and reductions over random shapes,
// some dims 1, some symbolic: whatever the generator fuses, the values are those of the reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include <ropewalk/ops/add.hpp>
#include <ropewalk/ops/argmax.hpp>
#include <ropewalk/ops/cast.hpp>
#include <ropewalk/ops/concat.hpp>
#include <ropewalk/ops/equal.hpp>
#include <ropewalk/ops/exp.hpp>
#include <ropewalk/ops/expand.hpp>
#include <ropewalk/ops/gather_rows.hpp>
#include <ropewalk/ops/iota.hpp>
#include <ropewalk/ops/less.hpp>
#include <ropewalk/ops/max.hpp>
#include <ropewalk/ops/mul.hpp>
#include <ropewalk/ops/pad.hpp>
#include <ropewalk/ops/permute.hpp>
#include <ropewalk/ops/reshape.hpp>
#include <ropewalk/ops/slice.hpp>
#include <ropewalk/ops/sub.hpp>
#include <ropewalk/ops/sum.hpp>
#include <ropewalk/ops/tanh.hpp>
#include <ropewalk/ops/where.hpp>

#include "compiled.hpp"

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

struct random_graph {
  graph_case c;
  std::mt19937 r;
  std::vector<value> pool;
  const dim B{"B"}, T{"T"};

  explicit random_graph(unsigned seed) : r(seed) {
    c.name = "random " + std::to_string(seed);
    c.p.name = c.name;
    c.bindings = {{B, 2}, {T, 3}};
    for (int k = 0; k < 3; ++k) leaf();
    const int n = 4 + static_cast<int>(r() % 14);
    for (int k = 0; k < n; ++k) grow();
    // Outputs: the last one and some others; an update now and then.
    c.p.outputs.push_back({"last", pool.back().id});
    for (int k = 0; k < 2; ++k)
      c.p.outputs.push_back({"o" + std::to_string(k), pool[r() % pool.size()].id});
    const value v = pool[r() % pool.size()];
    if (r() % 2 == 0) {
      const value leaf = leaf_value(c.p.g, state_info, "state", v.type());
      const value next = apply<op::add>(c.p.g, {leaf, v});
      c.p.updates.push_back({leaf.id, next.id});
      if (r() % 2 == 0) c.p.outputs.push_back({"both", apply<op::mul>(c.p.g, {leaf, next}).id});
    }
    // Every symbol must be used by the program.
    std::erase_if(c.bindings, [&](const dim_binding& b) {
      const std::vector<std::string> s = symbols(c.p);
      return std::find(s.begin(), s.end(), b.name.sym) == s.end();
    });
  }

  dim any_dim() {
    switch (r() % 8) {
      case 0:
        return 1;
      case 1:
        return B;
      case 2:
        return T;
      case 3:
        return 17;
      default:
        return static_cast<int>(2 + r() % 5);
    }
  }
  void leaf() {
    shape s;
    const int rank = static_cast<int>(r() % 4);
    for (int k = 0; k < rank; ++k) s.push(any_dim());
    pool.push_back(
        leaf_value(c.p.g, input_info, "x" + std::to_string(pool.size()), {dtype::f32, s}));
  }
  // Recent nodes are taken more often: deep graphs.
  value any() {
    const std::size_t n = pool.size();
    return r() % 3 == 0 ? pool[r() % n] : pool[n - 1 - r() % std::min<std::size_t>(n, 3)];
  }
  // A node that broadcasts with v.
  value beside(value v) {
    for (int k = 0; k < 12; ++k)
      if (value w = any(); broadcast(w.type().s, v.type().s).ok && w.type().s.rank <= 4) return w;
    shape s = v.type().s;
    for (int k = 0; k < s.rank; ++k)
      if (r() % 3 == 0) s[k] = 1;
    pool.push_back(
        leaf_value(c.p.g, input_info, "y" + std::to_string(pool.size()), {dtype::f32, s}));
    return pool.back();
  }
  void add(value v) {
    std::int64_t n = evaluate(v.type().s.elements(), c.bindings);
    if (n <= 20000) pool.push_back(v);
  }
  void grow() {
    graph& g = c.p.g;
    const value x = any();
    const shape& s = x.type().s;
    const int axis = s.rank > 0 ? static_cast<int>(r() % static_cast<unsigned>(s.rank)) : 0;
    switch (r() % 17) {
      case 0:
        return add(apply<op::add>(g, {x, beside(x)}));
      case 1:
        return add(apply<op::mul>(g, {apply<op::tanh>(g, {x}), beside(x)}));
      case 2:
        return add(apply<op::exp>(g, {apply<op::tanh>(g, {x})}));
      case 3:
        return add(apply<op::sub>(g, {beside(x), x}));
      case 4:
      case 5: {
        if (s.rank == 0) return;
        const std::int64_t mask = 1 + static_cast<std::int64_t>(r() % ((1u << s.rank) - 1));
        const attrs a = op::reduction_attrs(mask, r() % 2 == 0);
        if (r() % 3 == 0) return add(apply<op::max_family>(g, {x}, a));
        return add(apply<op::mul>(
            g, {apply<op::sum_family>(g, {x}, a), constant_value(g, 0.25, dtype::f32)}));
      }
      case 6: {
        if (s.rank < 2) return;
        int order[4] = {0, 1, 2, 3};
        if (s.rank > 4) return;
        std::shuffle(order, order + s.rank, r);
        attrs a;
        for (int k = 0; k < s.rank; ++k) a.i[k] = order[k];
        return add(apply<op::permute_family>(g, {x}, a));
      }
      case 7: {  // merge two axes, split one, or drop and add ones
        shape t;
        if (s.rank >= 2 && r() % 2 == 0) {
          for (int k = 0; k < s.rank; ++k) {
            if (k == axis && k + 1 < s.rank)
              t.push(s[k] * s[k + 1]), ++k;
            else
              t.push(s[k]);
          }
        } else {
          for (int k = 0; k < s.rank; ++k) {
            if (k == axis && s[k].fixed() && s[k].n % 2 == 0 && s.rank < 4)
              t.push(s[k] / 2), t.push(2);
            else if (!(s[k] == dim(1)))
              t.push(s[k]);
          }
          if (t.rank < 4 && r() % 2 == 0) t.push(1);
        }
        return add(apply<op::reshape_family>(g, {x}, op::attrs_of(t)));
      }
      case 8: {
        if (s.rank == 0 || !s[axis].fixed() || s[axis].n < 3) return;
        attrs a{.i = {axis, 1}};
        a.d[0] = static_cast<int>(r() % 2), a.d[1] = s[axis].n - 2;
        return add(apply<op::slice_family>(g, {x}, a));
      }
      case 9: {
        if (s.rank == 0) return;
        attrs a{.i = {axis}, .f = {r() % 2 == 0 ? 0.0 : 0.5}};
        a.d[0] = static_cast<int>(r() % 3), a.d[1] = s[axis];
        a.d[2] = a.d[0] + s[axis] + dim(static_cast<int>(r() % 3));
        return add(apply<op::pad_family>(g, {x}, a));
      }
      case 10: {
        if (s.rank == 0) return;
        return add(apply<op::concat_family>(g, {x, apply<op::tanh>(g, {x})}, attrs{.i = {axis}}));
      }
      case 11: {  // a row picked by an input, some of them outside
        if (s.rank == 0) return;
        shape u = s;
        if (s.rank != 2) {
          dim rest = 1;
          for (int k = 1; k < s.rank; ++k) rest = rest * s[k];
          u = shape{s[0], rest};
        }
        const value ids = leaf_value(g, input_info, "ids" + std::to_string(pool.size()),
                                     {dtype::i32, {any_dim(), 2}});
        const value table = apply<op::reshape_family>(g, {x}, op::attrs_of(u));
        return add(apply<op::gather_rows>(g, {table, ids}));
      }
      case 12: {  // choices by leaves: close values compare alike in f32 and f64
        const value l = leaf_value(g, input_info, "c" + std::to_string(pool.size()),
                                   {r() % 2 == 0 ? dtype::f32 : dtype::i32, s});
        const value k = constant_value(g, 1, l.type().d);
        const value c = r() % 2 == 0 ? apply<op::less>(g, {l, k}) : apply<op::equal>(g, {k, l});
        return add(apply<op::where>(g, {c, x, apply<op::tanh>(g, {beside(x)})}));
      }
      case 13: {  // on the way through another type
        const attrs a{.i = {static_cast<std::int64_t>(dtype::f64)}},
            back{.i = {static_cast<std::int64_t>(dtype::f32)}};
        const value y = apply<op::cast_family>(g, {x}, a);
        if (r() % 3 == 0) c.p.outputs.push_back({"typed" + std::to_string(pool.size()), y.id});
        return add(apply<op::cast_family>(g, {apply<op::tanh>(g, {y})}, back));
      }
      case 14: {
        if (s.rank == 0) return;
        const value l =
            leaf_value(g, input_info, "m" + std::to_string(pool.size()), {dtype::f32, s});
        const value k =
            apply<op::argmax_family>(g, {l}, op::reduction_attrs(std::int64_t{1} << axis, false));
        const attrs to{.i = {static_cast<std::int64_t>(dtype::f32)}};
        return add(apply<op::cast_family>(g, {k}, to));
      }
      case 15: {  // a position among the values
        if (s.rank == 0) return;
        const attrs a{.i = {static_cast<std::int64_t>(dtype::f32)}, .d = {s[-1]}};
        return add(apply<op::mul>(g, {apply<op::tanh>(g, {x}), apply<op::iota_family>(g, {}, a)}));
      }
      default: {
        shape t = s;
        for (int k = 0; k < t.rank; ++k)
          if (t[k] == dim(1)) t[k] = any_dim();
        shape u;
        if (t.rank < 4 && r() % 3 == 0) u.push(any_dim());
        for (int k = 0; k < t.rank; ++k) u.push(t[k]);
        return add(apply<op::expand_family>(g, {x}, op::attrs_of(u)));
      }
    }
  }
};

}  // namespace

TEST_CASE("random graphs agree with the reference") {
  std::vector<graph_case> cases;
  for (unsigned seed = 1; seed <= 100; ++seed) cases.push_back(std::move(random_graph(seed).c));
  check_cases(cases);
}
