// The flat graph: equal nodes are one, printing, and what the verifier says of every broken rule.
#include <doctest/doctest.h>

#include "build.hpp"

using namespace testing;

namespace {

const dim B{"B"}, T{"T"};

std::string verdict(const program_graph& p) {
  return error_of([&] { verify(p, "test"); });
}

scalar read_third(lowering& l) { return l.in(2, {}); }
scalar read_flat(lowering& l) { return l.in(0, {l.index(0)}); }
scalar compare(lowering& l) { return l.arg(0) < l.arg(0); }
void no_kernel(const kernel_call&) {}
const op_info third{.name = "third", .kind = op_class::pull, .lower = read_third};
const op_info flat{.name = "flat", .kind = op_class::pull, .lower = read_flat};
const op_info flat_of_fixed{.name = "flat_of_fixed", .kind = op_class::pull, .lower = read_flat};
const op_info less{.name = "less", .kind = op_class::pull, .lower = compare};
const op_info two{.name = "two", .kind = op_class::kernel, .results = 2, .kernel = no_kernel};
const op_info call{.name = "call", .kind = op_class::structural};

}  // namespace

TEST_CASE("equal nodes are one node, different ones are not") {
  std::mt19937 r(2);
  builder b;
  std::vector<int> ids{b.input("x", {B, T}), b.param("w", {T}), b.constant(0), b.constant(-0.0)};
  CHECK(ids[2] != ids[3]);
  struct made {
    unsigned kind;
    int a, c, id;
  };
  std::vector<made> all;
  for (int k = 0; k < 300; ++k) {
    const unsigned kind = r() % 3;
    const int a = ids[r() % ids.size()], c = ids[r() % ids.size()];
    const int id = kind == 0 ? b.add(a, c) : kind == 1 ? b.mul(a, c) : b.tanh(a);
    for (const made& m : all) {
      const bool same = m.kind == kind && m.a == a && (kind == 2 || m.c == c);
      CHECK(same == (m.id == id));
    }
    all.push_back({kind, a, c, id});
    if (ids.size() < 12) ids.push_back(id);
  }
  CHECK(verdict(b.p) == "");
}

TEST_CASE("leaves of one path agree") {
  builder b;
  const int x = b.input("x", {B, T});
  CHECK(b.input("x", {B, T}) == x);
  CHECK(error_of([&] { b.input("x", {T, B}); }) ==
        "[graph] leaf x = input f32[T, B]: is already there as input f32[B, T]");
  CHECK(error_of([&] { b.param("x", {B, T}); }) ==
        "[graph] leaf x = param f32[B, T]: is already there as input f32[B, T]");
  b.param("w", {T}, init_ones());
  CHECK(contains(error_of([&] { b.param("w", {T}, init_zeros()); }), "leaf w = param f32[T]"));
  CHECK(b.p.g.size() == 2);
}

TEST_CASE("print shows the table") {
  builder b;
  const int x = b.input("x", {B, 8}), s = b.state("s", {B});
  const int y = b.sum(b.mul(x, b.constant(0.5)), 2);
  b.output("y", y);
  b.update(s, y);
  CHECK(print(b.p) ==
        "program toy: 5 nodes\n"
        "%0 = input \"x\" : f32[B, 8]\n"
        "%1 = state \"s\" : f32[B] {i = [0, 1]}\n"
        "%2 = constant : f32[] {f = [0.5]}\n"
        "%3 = mul(%0, %2) : f32[B, 8]\n"
        "%4 = sum(%3) : f32[B] {i = [2]}\n"
        "output y = %4\n"
        "update %1 \"s\" = %4\n");
  const std::string dot = print_dot(b.p);
  CHECK(contains(dot, "n3 [label=\"mul\\nf32[B, 8]\"];"));
  CHECK(contains(dot, "n2 -> n3;"));
  CHECK(contains(dot, "n4 -> n1 [style=dashed"));
}

TEST_CASE("the verifier names stage, node and rule") {
  const tensor_type t{f32, {B, T}};
  const auto broken = [&](graph_node n) {
    builder b;
    b.input("x", n.op == &flat_of_fixed ? shape{4} : shape{B, T});
    b.p.g.add(n);
    return verdict(b.p);
  };
  CHECK(broken({}) == "[test: %1 ?] has no op");
  CHECK(broken({&third, {}, t, {0}, ""}) ==
        "[test: %1 third] input = 2: is not one of its inputs (1)");
  CHECK(broken({&flat, {}, t, {0}, ""}) ==
        "[test: %1 flat] indices of input 0 = 1: must be its rank, 2");
  CHECK(broken({&less, {}, t, {0}, ""}) ==
        "[test: %1 less] type = f32[B, T]: its lowering gives bool");
  CHECK(broken({&flat_of_fixed, {}, {f32, {5}}, {0}, ""}) ==
        "[test: %1 flat_of_fixed] index 0 of input 0, below = 5: its extent is 4");
  CHECK(broken({&family_info<op::tanh>, {}, t, {1}, ""}) ==
        "[test: %1 tanh] input = %1: must be an earlier node");
  CHECK(broken({&family_info<op::tanh>, {}, {f32, {0, 2}}, {0}, ""}) ==
        "[test: %1 tanh] type = f32[0, 2]: a size is at least 1");
  CHECK(broken({&family_info<op::tanh>, {}, t, {0}, "p"}) ==
        "[test: %1 tanh \"p\"] path = p: only leaves have one");
  CHECK(broken({&call, {}, t, {0}, ""}) ==
        "[test: %1 call] a structural op must be gone once the graph is flat");
  CHECK(broken({&param_info, {}, t, {}, ""}) == "[test: %1 param] a leaf has a path");
  CHECK(broken({&constant_info, {}, t, {}, "c"}) ==
        "[test: %1 constant \"c\"] a constant has no path");
  CHECK(broken({&pick_info, {.i = {1}}, t, {0}, ""}) == "[test: %1 pick] result = 1: input has 1");
}

TEST_CASE("the verifier checks picks, outputs and updates") {
  builder b;
  const int x = b.input("x", {B, T}), w = b.param("w", {T}), y = b.tanh(x);
  const int n = b.p.g.add({&two, {}, {f32, {B}}, {x}, ""});
  b.p.g.add({&pick_info, {.i = {1}}, {f32, {T}}, {n}, ""});
  CHECK(verdict(b.p) == "");
  const auto with = [&](std::vector<program_output> o, std::vector<program_update> u) {
    program_graph p = b.p;
    p.outputs = std::move(o);
    p.updates = std::move(u);
    return verdict(p);
  };
  CHECK(with({{"y", y}}, {{w, w}}) == "");
  CHECK(with({{"", y}}, {}) == "[test: output \"\"] name = \"\": an output has a name");
  CHECK(with({{"y", y}, {"y", x}}, {}) == "[test: output \"y\"] is there twice");
  CHECK(with({{"y", 99}}, {}) == "[test: output \"y\"] node = 99: is not in the graph");
  CHECK(with({}, {{x, y}}) == "[test: %0 input \"x\"] only a param or a state can be updated");
  CHECK(with({}, {{w, y}}) ==
        "[test: %1 param \"w\"] update = f32[B, T]: must be of the leaf's type, f32[T]");
  CHECK(with({}, {{w, w}, {w, w}}) == "[test: %1 param \"w\"] is updated twice");
  CHECK(with({}, {{w, -1}}) == "[test: update of %1] node = -1: is not in the graph");
  b.p.g.add({&pick_info, {.i = {0}}, {f32, {T}}, {n}, ""});
  CHECK(verdict(b.p) == "[test: %5 pick] type = f32[T]: result 0 is f32[B]");
}
