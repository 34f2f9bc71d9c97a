// The reference evaluator against a recursive evaluation of the same random graphs.
#include <doctest/doctest.h>

#include <cmath>

#include <ropewalk/graph/reference.hpp>

#include "build.hpp"

using namespace testing;

namespace {

const dim B{"B"}, T{"T"};

// Element (b, t) of a node of a graph in which every node is [B, T], [T] or [], by recursion.
double element(const graph& g, int id, const std::map<std::string, dense>& leaves, std::int64_t b,
               std::int64_t t) {
  const graph_node& n = g[id];
  const std::string op = n.op->name;
  const auto in = [&](std::size_t k) { return element(g, n.in[k], leaves, b, t); };
  if (op == "constant") return n.a.f[0];
  if (n.op->kind == op_class::leaf) {
    const dense& x = leaves.at(n.path);
    const std::int64_t at = n.type.s.rank == 2 ? b * x.extent[1] + t : t;
    return x.v[static_cast<std::size_t>(at)];
  }
  if (op == "add") return in(0) + in(1);
  if (op == "sub") return in(0) - in(1);
  if (op == "mul") return in(0) * in(1);
  REQUIRE(op == "tanh");
  return std::tanh(in(0));
}

void split_reference(const reference_call& c) {
  const dense& x = *c.in[0];
  for (std::size_t k = 0; k < 2; ++k)
    if (!c.out[k].v.empty())
      for (std::size_t e = 0; e < c.out[k].v.size(); ++e) c.out[k].v[e] = x.v[2 * e + k];
}
void no_kernel(const kernel_call&) {}
const op_info split{.name = "split",
                    .kind = op_class::kernel,
                    .results = 2,
                    .reference = split_reference,
                    .kernel = no_kernel};
void wrong_size(const reference_call& c) { c.out[0].v.resize(1); }
const op_info wrong{
    .name = "wrong", .kind = op_class::kernel, .reference = wrong_size, .kernel = no_kernel};
const op_info silent{.name = "silent", .kind = op_class::kernel, .kernel = no_kernel};

}  // namespace

TEST_CASE("random graphs agree with recursive evaluation") {
  std::mt19937 r(3);
  for (int round = 0; round < 60; ++round) {
    builder b;
    std::vector<int> ids{b.input("x", {B, T}), b.param("w", {T}), b.state("s", {B, T}),
                         b.constant(0.25)};
    const auto any = [&] { return ids[r() % ids.size()]; };
    for (int k = 0; k < 12; ++k) {
      switch (r() % 4) {
        case 0:
          ids.push_back(b.add(any(), any()));
          break;
        case 1:
          ids.push_back(b.sub(any(), any()));
          break;
        case 2:
          ids.push_back(b.mul(any(), any()));
          break;
        default:
          ids.push_back(b.tanh(any()));
      }
    }
    const std::int64_t rows = r() % 3 + 1, columns = r() % 4 + 1;
    const int out = b.add(ids.back(), ids[0]);  // [B, T]
    b.output("y", out);
    b.output("x again", ids[0]);
    b.update(ids[2], b.tanh(out));
    const dim_binding bound[] = {{B, rows}, {T, columns}};
    const std::map<std::string, dense> leaves{{"x", random_dense({rows, columns}, r)},
                                              {"w", random_dense({columns}, r)},
                                              {"s", random_dense({rows, columns}, r)}};
    verify(b.p, "test");
    const auto got = evaluate_reference(b.p, bound, leaves);
    REQUIRE(got.size() == 3);
    CHECK(got.at("x again").v == leaves.at("x").v);
    REQUIRE(got.at("y").extent == std::vector<std::int64_t>{rows, columns});
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < columns; ++j) {
        const auto at = static_cast<std::size_t>(i * columns + j);
        const double want = element(b.p.g, out, leaves, i, j);
        CHECK(got.at("y").v[at] == want);
        CHECK(got.at("s").v[at] == std::tanh(want));
      }
  }
}

TEST_CASE("results of one op are picked, in any combination") {
  for (const unsigned picked : {0u, 1u, 2u, 3u}) {
    builder b;
    const int n = b.p.g.add({&split, {}, {f32, {T}}, {b.input("x", {2 * T})}, ""});
    if (picked == 0) b.output("whole", n);
    for (std::int64_t k = 0; k < 2; ++k)
      if (picked >> k & 1)
        b.output(k == 0 ? "even" : "odd", b.p.g.add({&pick_info, {.i = {k}}, {f32, {T}}, {n}, ""}));
    const dim_binding bound[] = {{T, 3}};
    const auto got = evaluate_reference(b.p, bound, {{"x", {{6}, {0, 1, 2, 3, 4, 5}}}});
    if (picked == 0) CHECK(got.at("whole").v == std::vector<double>{0, 2, 4});
    if (picked & 1) CHECK(got.at("even").v == std::vector<double>{0, 2, 4});
    if (picked & 2) CHECK(got.at("odd").v == std::vector<double>{1, 3, 5});
  }
}

TEST_CASE("reference faults") {
  builder b;
  const int x = b.input("x", {B, 2}), w = b.param("w", {2});
  b.output("y", b.add(x, w));
  const dim_binding bound[] = {{B, 2}};
  const dense good_x{{2, 2}, {1, 2, 3, 4}}, good_w{{2}, {1, 2}};
  const auto said = [&](const std::map<std::string, dense>& leaves) {
    return error_of([&] { evaluate_reference(b.p, bound, leaves); });
  };
  CHECK(said({{"x", good_x}, {"w", good_w}}) == "");
  CHECK(said({{"x", good_x}}) ==
        "[reference of toy] param w = missing: needs a value of shape [2]");
  CHECK(said({{"x", good_w}, {"w", good_w}}) ==
        "[reference of toy] input x = [2] (2 elements): must be [2, 2]");
  CHECK(said({{"x", {{2, 2}, {1}}}, {"w", good_w}}) ==
        "[reference of toy] input x = [2, 2] (1 elements): must be [2, 2]");
  CHECK(said({{"x", good_x}, {"w", good_w}, {"v", good_w}}) ==
        "[reference of toy] leaf v is not in the program");
  CHECK(contains(error_of([&] { evaluate_reference(b.p, {}, {}); }), "dim B = unbound"));
  b.p.outputs = {{"y", b.p.g.add({&silent, {}, {f32, {2}}, {x}, ""})}};
  CHECK(said({{"x", good_x}}) == "[reference of toy] %3 silent: the op has no reference");
  b.p.outputs = {{"y", b.p.g.add({&wrong, {}, {f32, {2}}, {x}, ""})}};
  CHECK(said({{"x", good_x}}) ==
        "[reference of toy] %4 wrong = 1 elements: its reference must leave [2]");
}
