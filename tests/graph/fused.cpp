// Compositions that a transformer is made of: fused = reference, and fused as they should be.
#include <doctest/doctest.h>

#include <ropewalk/ops/add.hpp>
#include <ropewalk/ops/argmax.hpp>
#include <ropewalk/ops/cast.hpp>
#include <ropewalk/ops/concat.hpp>
#include <ropewalk/ops/equal.hpp>
#include <ropewalk/ops/exp.hpp>
#include <ropewalk/ops/gather_rows.hpp>
#include <ropewalk/ops/iota.hpp>
#include <ropewalk/ops/matmul.hpp>
#include <ropewalk/ops/max.hpp>
#include <ropewalk/ops/mul.hpp>
#include <ropewalk/ops/permute.hpp>
#include <ropewalk/ops/rsqrt.hpp>
#include <ropewalk/ops/slice.hpp>
#include <ropewalk/ops/sub.hpp>
#include <ropewalk/ops/sum.hpp>
#include <ropewalk/ops/tanh.hpp>
#include <ropewalk/ops/where.hpp>

#include "compiled.hpp"

using namespace ropewalk;
using namespace ropewalk::test;

namespace {

value operator+(value a, value b) { return apply<op::add>(*a.g, {a, b}); }
value operator-(value a, value b) { return apply<op::sub>(*a.g, {a, b}); }
value operator*(value a, value b) { return apply<op::mul>(*a.g, {a, b}); }
value operator*(value a, double b) { return a * constant_value(*a.g, b, a.type().d); }
value operator+(value a, double b) { return a + constant_value(*a.g, b, a.type().d); }
value exp(value a) { return apply<op::exp>(*a.g, {a}); }
value tanh(value a) { return apply<op::tanh>(*a.g, {a}); }
value rsqrt(value a) { return apply<op::rsqrt>(*a.g, {a}); }
value sum(value a, std::int64_t mask, bool keep = false) {
  return apply<op::sum_family>(*a.g, {a}, op::reduction_attrs(mask, keep));
}
value max(value a, std::int64_t mask, bool keep = false) {
  return apply<op::max_family>(*a.g, {a}, op::reduction_attrs(mask, keep));
}
value reshape(value a, const shape& s) {
  return apply<op::reshape_family>(*a.g, {a}, op::attrs_of(s));
}
value permute(value a, std::initializer_list<int> order) {
  attrs o;
  int k = 0;
  for (int i : order) o.i[k++] = i;
  return apply<op::permute_family>(*a.g, {a}, o);
}

struct maker {
  graph_case c;
  explicit maker(const char* name, std::vector<dim_binding> b = {}) {
    c.name = name;
    c.p.name = name;
    c.bindings = std::move(b);
  }
  value input(const char* path, const shape& s, dtype d = dtype::f32) {
    return leaf_value(c.p.g, input_info, path, {d, s});
  }
  value param(const char* path, const shape& s) {
    return leaf_value(c.p.g, param_info, path, {dtype::f32, s});
  }
  value state(const char* path, const shape& s) {
    return leaf_value(c.p.g, state_info, path, {dtype::f32, s});
  }
  void output(const char* name, value v) { c.p.outputs.push_back({name, v.id}); }
  void update(value leaf, value v) { c.p.updates.push_back({leaf.id, v.id}); }
};

const dim B{"B"}, T{"T"};
const std::vector<dim_binding> sizes{{B, 3}, {T, 5}};

graph_case layer_norm() {
  maker m("layer_norm", sizes);
  const shape s{B, T, 24}, k{B, T, 1}, w{24};
  value x = m.input("x", s), g = m.param("weight", w), b = m.param("bias", w),
        dy = m.input("dy", s);
  value mean = sum(x, 4, true) * (1.0 / 24), d = x - mean;
  value var = sum(d * d, 4, true) * (1.0 / 24), r = rsqrt(var + 1e-5);
  value h = d * r;
  m.output("y", h * g + b);
  // backward
  value dh = dy * g, m1 = sum(dh, 4, true) * (1.0 / 24), m2 = sum(dh * h, 4, true) * (1.0 / 24);
  m.output("dx", (dh - m1 - h * m2) * r);
  m.output("dw", sum(dy * h, 3));
  m.output("db", sum(dy, 3));
  return std::move(m.c);
}

graph_case softmax() {
  maker m("softmax", sizes);
  value x = m.input("x", {B, T, 40}), e = exp(x - max(x, 4, true));
  value s = sum(e, 4, true);
  m.output("p", e * apply<op::rsqrt>(m.c.p.g, {s * s}));
  return std::move(m.c);
}

graph_case heads() {
  maker m("heads", sizes);
  value x = m.input("x", {B, T, 24});
  value q = permute(reshape(tanh(x), {B, T, 4, 6}), {0, 2, 1, 3});  // [B, 4, T, 6]
  m.output("split", q);
  m.output("merged", reshape(permute(q * 2.0, {0, 2, 1, 3}), {B, T, 24}));
  m.output("turned", permute(x, {2, 0, 1}));
  return std::move(m.c);
}

graph_case joined() {
  maker m("joined", sizes);
  value x = m.input("x", {B, 7}), y = m.input("y", {B, 9}), z = m.input("z", {B, T});
  attrs last{.i = {1}};
  value c = apply<op::concat_family>(m.c.p.g, {x, exp(y), x}, last);
  m.output("fixed", c * 2.0);
  m.output("symbolic", apply<op::concat_family>(m.c.p.g, {z, x}, last));
  m.output("first", apply<op::concat_family>(m.c.p.g, {x, x}, attrs{}));
  m.output("sum", sum(c, 2));
  // A maximum over two axes beside what it is taken of: its loops are cut and split with the rest.
  value b = m.input("b", {4, 2, 5});
  value w = apply<op::concat_family>(m.c.p.g, {b, tanh(b)}, attrs{.i = {2}});
  m.output("over most", w + max(w, 6, true));
  // A row's own sum under a condition on its columns.
  value narrow = apply<op::concat_family>(m.c.p.g, {x, tanh(x)}, last);
  m.output("spread",
           apply<op::concat_family>(
               m.c.p.g, {narrow * sum(narrow, 2, true), sum(narrow * narrow, 2, true)}, last));
  return std::move(m.c);
}

graph_case gathered() {
  maker m("gathered", sizes);
  value t = m.param("table", {11, 6}), ids = m.input("ids", {B, T}, dtype::i32);
  m.c.leaves["ids"] = {{3, 5}, {0, 10, 3, -1, 11, 2, 2, 2, 9, 8, -100, 7, 6, 5, 4}};
  value e = apply<op::gather_rows>(m.c.p.g, {t * 2.0, ids});
  m.output("rows", e + 1.0);
  m.output("best", apply<op::argmax_family>(m.c.p.g, {m.input("x", {B, 13})},
                                            op::reduction_attrs(2, false)));
  return std::move(m.c);
}

graph_case reductions() {
  maker m("reductions", sizes);
  value x = m.input("x", {B, T, 37});
  m.output("all", sum(x * x, 7));
  m.output("rows", sum(exp(x), 4));
  m.output("columns", sum(x * 2.0, 3));
  m.output("middle", sum(x, 2));
  m.output("outer", sum(x, 5));
  m.output("most", max(x, 3));
  m.output("highest", max(x, 7));
  m.output("scaled", sum(x, 3) * 0.5 + 1.0);
  value v = m.input("v", {50000});
  m.output("long", sum(v * v, 1));
  m.output("wide", sum(m.input("w", {3, 70000}), 1));
  // Alike in every column, and yet every column counts.
  value r = m.input("r", {B, 1}),
        e = apply<op::expand_family>(m.c.p.g, {tanh(r)}, op::attrs_of({B, 9}));
  m.output("alike", e * 2.0);
  m.output("alike all", sum(e * 2.0, 3));
  // A row's maximum read along the columns of a square.
  value q = m.input("q", {5, 5}), top = max(q, 2);
  m.output("top", top);
  m.output("square", sum(exp(q + top), 2));
  m.output("both", (q + top) * sum(exp(q + top), 2, true));
  value l = m.input("l", {3, 5000});
  m.output("sums", sum(l * 0.5, 2));
  m.output("long softmax",
           exp(l - max(l, 2, true)) * rsqrt(sum(exp(l - max(l, 2, true)), 2, true)));
  return std::move(m.c);
}

graph_case residual() {
  maker m("residual", sizes);
  const shape s{B, T, 8};
  value x = m.input("x", s), a = m.input("a", s), b = m.input("b", s);
  value y = x + a;
  value n = y * rsqrt(sum(y * y, 4, true) + 1.0), z = y + b + n;
  m.output("z", z * rsqrt(sum(z * z, 4, true) + 1.0));
  value w = m.param("w", {8, 6});
  m.output("product", apply<op::matmul_family>(m.c.p.g, {reshape(n, {B * T, 8}), w}));
  return std::move(m.c);
}

graph_case optimizer() {
  maker m("optimizer");
  value norm = constant_value(m.c.p.g, 0, dtype::f32);
  std::vector<std::pair<value, value>> all;
  const shape shapes[] = {{8, 6}, {6}, {40, 3, 2}, {1}};
  int k = 0;
  for (const shape& s : shapes) {
    const std::string name(1, static_cast<char>('a' + k++));
    value p = m.param(name.c_str(), s), g = m.input(("g" + name).c_str(), s);
    norm = norm + sum(g * g, (1 << s.rank) - 1);
    all.emplace_back(p, g);
  }
  value scale = rsqrt(norm + 1.0);
  for (auto& [p, g] : all) {
    value mom = leaf_value(m.c.p.g, state_info, "m." + m.c.p.g[p.id].path, p.type());
    value next = mom * 0.9 + g * scale;
    m.update(mom, next);
    m.update(p, p - next * 0.1);
  }
  // Two that trade places, one that is read by its own mean, one set to an input.
  value u = m.param("u", {5}), v = m.param("v", {5});
  m.update(u, v);
  m.update(v, u);
  value c = m.param("square", {6, 5});
  m.update(c, c - sum(c, 3));
  m.output("old", u + v);
  value e = m.param("twisted", {4, 3});
  m.update(e, permute(e * 2.0, {0, 1}) + reshape(permute(e, {1, 0}), {4, 3}));
  m.output("norm", norm);
  m.output("three", constant_value(m.c.p.g, 1, dtype::f32) + 2.0);
  m.update(m.param("reset", {1}), reshape(constant_value(m.c.p.g, 4, dtype::f32), {1}));
  return std::move(m.c);
}

// Sixteen-bit floats, integers and bools in memory; their values are exact in the reference as
// well.
graph_case types() {
  maker m("types", {{B, 3}});
  auto cast = [&](value v, dtype d) {
    return apply<op::cast_family>(m.c.p.g, {v}, {.i = {static_cast<std::int64_t>(d)}});
  };
  value h = m.input("h", {B, 6}, dtype::f16), b = m.input("b", {B, 6}, dtype::bf16);
  value i = m.input("i", {B, 6}, dtype::i32), u = m.input("u", {6}, dtype::u8);
  for (const char* path : {"h", "b"}) {
    dense d{{3, 6}, {}};
    for (int k = 0; k < 18; ++k) d.v.push_back((k - 9) * 0.25);
    m.c.leaves[path] = d;
  }
  m.output("sum", cast(h, dtype::f32) + cast(b, dtype::f32));
  m.output("halves", cast(cast(i, dtype::f32) * 0.5, dtype::f16));
  m.output("brains", cast(cast(i, dtype::f64) * 0.25, dtype::bf16));
  m.output("wholes", i * i - cast(u, dtype::i32));
  m.output("bytes", cast(i, dtype::u8));
  m.output("equal", apply<op::equal>(m.c.p.g, {i, cast(u, dtype::i32)}));
  m.output("rows", sum(i, 2));
  m.output("columns", max(i, 1));
  m.output("all", sum(i, 3));
  return std::move(m.c);
}

// Products whose operands are turned: flags of the product, or a copy.
graph_case products() {
  maker m("products", sizes);
  value x = m.input("x", {B, T, 8}), w = m.param("w", {6, 8});
  auto product = [&](value a, value b) { return apply<op::matmul_family>(m.c.p.g, {a, b}); };
  m.output("turned", product(x, permute(w, {1, 0})));
  m.output("both", product(permute(x, {0, 2, 1}), permute(reshape(x * 2.0, {T, B, 8}), {1, 0, 2})));
  m.output("three", product(permute(x, {1, 2, 0}), permute(x, {1, 0, 2})));
  m.output("far", product(permute(x, {2, 1, 0}), permute(x, {2, 0, 1})));
  return std::move(m.c);
}

// A cache [B, 6, T, 4] that takes new rows at a position given as an input.
graph_case cache() {
  maker m("cache", sizes);
  value old = m.state("cache", {B, 6, T, 4}), rows = m.input("rows", {B, 6, 1, 4});
  value at = m.input("at", shape{}, dtype::i32);
  m.c.leaves["at"] = {{}, {2}};
  value places = reshape(
      apply<op::iota_family>(m.c.p.g, {}, {.i = {static_cast<std::int64_t>(dtype::i32)}, .d = {T}}),
      {T, 1});
  value here = apply<op::equal>(m.c.p.g, {places, at});
  m.update(old, apply<op::where>(m.c.p.g, {here, rows * 2.0, old}));
  return std::move(m.c);
}

}  // namespace

TEST_CASE("fused kernels agree with the reference") {
  std::vector<graph_case> cases;
  for (graph_case (*make)() : {layer_norm, softmax, heads, joined, gathered, reductions, residual,
                               optimizer, products, types, cache})
    cases.push_back(make());
  check_cases(cases);
}

TEST_CASE("layer norm is one kernel forward and one backward") {
  const schedule s = make_schedule(layer_norm().p);
  INFO(print(s));
  // forward with its statistics; dx with the column sums; their second stage
  CHECK(s.steps.size() <= 3);
}

TEST_CASE("softmax is one kernel that computes each exponential once") {
  const schedule s = make_schedule(softmax().p);
  INFO(print(s));
  REQUIRE(s.steps.size() == 1);
  const std::string& t = s.kernels[0].text;
  CHECK(t.find("exp(") == t.rfind("exp("));
}

TEST_CASE("a turned operand of a product is not copied") {
  maker m("turned");
  value x = m.input("x", {5, 8}), w = m.param("w", {6, 8});
  m.output("y", apply<op::matmul_family>(m.c.p.g, {x, permute(w, {1, 0})}));
  const schedule s = make_schedule(m.c.p);
  INFO(print(s));
  CHECK(s.steps.size() == 1);
}

TEST_CASE("a cache is written in place, where it changes") {
  const schedule s = make_schedule(cache().p);
  INFO(print(s));
  REQUIRE(s.steps.size() == 1);
  CHECK(text_contains(s, "if ("));
  for (const buffer& b : s.buffers) CHECK(b.kind != buffer_kind::temporary);
}

TEST_CASE("parameters of all shapes share the text of their update, in place") {
  maker m("updates");
  const shape shapes[] = {{8, 6}, {6}, {40, 3, 2}};
  for (const shape& s : shapes) {
    const std::string name = "p" + std::to_string(s.rank);
    value p = m.param(name.c_str(), s), g = m.input(("g" + name).c_str(), s);
    m.update(p, p - g * 0.1);
  }
  const schedule s = make_schedule(m.c.p);
  INFO(print(s));
  CHECK(s.kernels.size() == 1);
  CHECK(s.steps.size() == 3);
  for (const buffer& b : s.buffers) CHECK(b.kind != buffer_kind::temporary);
}
