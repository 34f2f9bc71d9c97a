// Sessions on schedules made without the generator: values, sharing, faults, allocations, threads.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include <ropewalk/graph/reference.hpp>
#include <ropewalk/ops/attention.hpp>
#include <ropewalk/ops/linear_cross_entropy.hpp>
#include <ropewalk/runtime/registry.hpp>

#include "allocations.hpp"
#include "naive.hpp"

using namespace testing;

namespace {

const dim B{"B"}, T{"T"};

std::vector<float> random_floats(std::size_t n, std::mt19937& r) {
  std::vector<float> v(n);
  std::uniform_real_distribution<float> u(-1, 1);
  for (float& x : v) x = u(r);
  return v;
}

dense as_dense(const tensor_view& t) { return load(t.ref()); }

session_core open(const builder& b, std::vector<dim_binding> bound = {},
                  const session_options& o = {}, int threads = 1) {
  return session_core(b.p, naive_schedule(b), cpu(threads), bound, o);
}

// Generated kernels as the generator would make them, by hand.
// y[i] = 2 x[i] for i in [begin, end), rows of dims[0] elements.
void twice(const generated_args& a) {
  const auto* x = static_cast<const float*>(a.buffers[0]);
  auto* y = static_cast<float*>(a.buffers[1]);
  for (std::int64_t i = a.begin * a.dims[0]; i < a.end * a.dims[0]; ++i) y[i] = 2 * x[i];
}
// y[i] = sum of row i, by way of the worker's scratch.
void row_sum(const generated_args& a) {
  const auto* x = static_cast<const float*>(a.buffers[0]);
  auto* y = static_cast<float*>(a.buffers[1]);
  auto* scratch = reinterpret_cast<double*>(a.scratch);
  for (std::int64_t i = a.begin; i < a.end; ++i) {
    for (std::int64_t k = 0; k < a.dims[0]; ++k)
      scratch[k] = (k > 0 ? scratch[k - 1] : 0.0) + x[i * a.dims[0] + k];
    y[i] = static_cast<float>(scratch[a.dims[0] - 1]);
  }
}
void reciprocal(const generated_args& a) {
  const auto* x = static_cast<const float*>(a.buffers[0]);
  auto* y = static_cast<float*>(a.buffers[1]);
  for (std::int64_t i = a.begin; i < a.end; ++i) y[i] = 1 / x[i];
}
void wish(const generated_args&) {}
const kernel_entry entries[] = {{901, twice}, {902, row_sum}, {903, reciprocal}};
const kernel_entry again[] = {{901, wish}};
const kernel_registration portable("portable", entries, 3), avx2("avx2", entries, 3),
    avx512("avx512", entries, 3), second("portable", again, 1);

schedule one_kernel(const builder& b, std::uint64_t key, const char* label, dim rows) {
  schedule s;
  for (int id = 0; id < 2; ++id) {
    const graph_node& n = b.p.g[id];
    s.buffers.push_back({id == 0 ? buffer_kind::input : buffer_kind::temporary, n.type.d,
                         n.type.s.elements(), n.path, id});
  }
  s.kernels = {{"", key, label}};
  step x;
  x.nodes = {1};
  x.kernel = 0;
  x.buffers = {0, 1};
  x.writes = {1};
  x.dims = {T};
  x.parallel = rows;
  x.grain = 3;
  x.scratch_elements = T;
  s.steps = {x};
  s.outputs = {{"y", b.p.g[1].type, whole(b.p.g[1], 1)}};
  return s;
}

scalar lower_gather(lowering& l) { return l.in(0, {l.in(1, {l.index(0)}), l.index(1)}); }
// Ignores negative tokens.
scalar lower_ignoring(lowering& l) {
  const scalar t = l.in(1, {l.index(0)});
  return select(t < l.number(0, i32), l.number(0, f32), l.in(0, {t, l.index(1)}));
}
// Reads nothing out of range.
scalar lower_guarded(lowering& l) {
  const scalar t = l.in(1, {l.index(0)});
  return select(l.number(0, i32) <= t && t < l.extent(0, 0), l.in(0, {t, l.index(1)}),
                l.number(0, f32));
}
struct gather_family {
  static constexpr const char* name = "gather";
  static constexpr op_class kind = op_class::pull;
  static tensor_type result(const attrs&, const tensor_type* in, int, int) {
    return {f32, {in[1].s[0], in[0].s[1]}};
  }
  static scalar lower(lowering& l) { return lower_gather(l); }
  static void reference(const reference_call& c) {
    const auto columns = static_cast<std::size_t>(c.in[0]->extent[1]);
    for (std::size_t e = 0; e < c.out[0].v.size(); ++e)
      if (const double t = c.in[1]->v[e / columns]; t >= 0)
        c.out[0].v[e] = c.in[0]->v[static_cast<std::size_t>(t) * columns + e % columns];
  }
};
struct ignoring_family : gather_family {
  static scalar lower(lowering& l) { return lower_ignoring(l); }
};
struct guarded_family : gather_family {
  static scalar lower(lowering& l) { return lower_guarded(l); }
};

}  // namespace

TEST_CASE("random programs run as the reference says, states included, over several runs") {
  std::mt19937 r(6);
  for (int round = 0; round < 40; ++round) {
    builder b;
    const int x = b.input("x", {B, T}), w = b.param("w", {T}, init_normal(1)),
              s = b.state("s", {B, T}, init_constant(0.5));
    std::vector<int> ids{x, w, s, b.constant(0.25)};
    const auto any = [&] { return ids[r() % ids.size()]; };
    for (int k = 0; k < 10; ++k) {
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
    const int y = b.tanh(b.add(ids.back(), x));
    b.output("y", y);
    b.output("rows", b.sum(y, 2));
    b.update(s, b.tanh(b.mul(y, s)));
    b.update(w, b.tanh(b.add(w, b.sum(y, 1))));
    const std::int64_t rows = r() % 3 + 1, columns = r() % 5 + 1;
    const std::vector<dim_binding> bound{{B, rows}, {T, columns}};
    session_core run = open(b, bound, {.seed = r()});
    for (int turn = 0; turn < 3; ++turn) {
      const auto data = random_floats(static_cast<std::size_t>(rows * columns), r);
      run.set("x", data);
      std::map<std::string, dense> leaves{{"x", {{rows, columns}, {data.begin(), data.end()}}},
                                          {"w", as_dense(run.param("w"))},
                                          {"s", as_dense(run.param("s"))}};
      run.run();
      for (const auto& [name, want] : evaluate_reference(b.p, bound, leaves)) {
        const bool leaf = name == "s" || name == "w";
        const dense got = as_dense(leaf ? run.param(name) : run.get(name));
        REQUIRE(got.extent == want.extent);
        for (std::size_t e = 0; e < want.v.size(); ++e)
          REQUIRE(std::fabs(got.v[e] - want.v[e]) <= 1e-5 * (1 + std::fabs(want.v[e])));
      }
    }
  }
}

TEST_CASE("generated kernels: the same bits for 1, 2 and 3 threads, a run allocates nothing") {
  builder b;
  b.output("y", b.sum(b.input("x", {B, T}), 2));
  std::mt19937 r(7);
  const auto data = random_floats(101 * 37, r);
  std::vector<float> first;
  for (const int threads : {1, 2, 3}) {
    const std::vector<dim_binding> bound{{B, 101}, {T, 37}};
    session_core s(b.p, one_kernel(b, 902, "sum", B), cpu(threads), bound);
    s.set("x", data);
    s.run();
    for (int turn = 0; turn < 5; ++turn) {
      const long before = allocations();
      s.set("x", data);
      s.bind("x", data);
      s.run();
      CHECK(allocations() == before);
    }
    const auto y = s.get("y").as<float>();
    if (first.empty()) first.assign(y.begin(), y.end());
    CHECK(std::equal(y.begin(), y.end(), first.begin(), first.end()));
    for (std::size_t i = 0; i < 101; ++i) {
      double want = 0;
      for (std::size_t k = 0; k < 37; ++k) want += data[i * 37 + k];
      CHECK(std::fabs(y[i] - want) < 1e-5);
    }
    CHECK(s.arena_bytes() >= 101 * 4 + static_cast<std::size_t>(threads) * 37 * 8);
  }
}

TEST_CASE("bind reads the caller's memory, set copies it") {
  builder b;
  b.output("y", b.tanh(b.input("x", {B, T})));  // stands for any op
  const std::vector<dim_binding> bound{{B, 1}, {T, 2}};
  session_core s(b.p, one_kernel(b, 901, "twice", B), cpu(1), bound);
  std::vector<float> data{1, 2};
  s.bind("x", data);
  s.run();
  CHECK(s.get("y").values() == std::vector<double>{2, 4});
  data = {3, 4};
  s.run();
  CHECK(s.get("y").values() == std::vector<double>{6, 8});
  s.set("x", data);
  data[0] = 9;
  session_core moved = std::move(s);
  moved.run();
  CHECK(moved.get("y").values() == std::vector<double>{6, 8});
}

TEST_CASE("sessions of one model share parameters") {
  builder train("train"), use("use");
  const auto model = [](builder& b) { return b.mul(b.input("x", {2}), b.param("w", {2})); };
  const int y = model(train);
  train.update(train.param("w", {2}), train.add(y, train.constant(1)));
  train.output("steps", train.state("steps", {1}, init_constant(3)));
  use.output("y", model(use));
  session_core a = open(train);
  session_core c = open(use, {}, {.parameters = a.parameters()});
  session_core alone = open(use);
  CHECK(a.parameters() == c.parameters());
  const std::vector<float> x{2, 3};
  for (session_core* s : {&a, &c, &alone}) s->set("x", x);
  a.run();
  a.run();
  c.run();
  alone.run();
  CHECK(c.get("y").values() == std::vector<double>{2 * 3, 3 * 4});
  CHECK(alone.get("y").values() == std::vector<double>{0, 0});
  CHECK(c.param("steps").item() == 3);
  c.parameters()->set("w", std::vector<float>{1, 1});
  CHECK(a.param("w").values() == std::vector<double>{1, 1});
  builder other("other");
  other.output("y", other.tanh(other.param("w", {3})));
  CHECK(contains(error_of([&] { open(other, {}, {.parameters = a.parameters()}); }),
                 "[parameters] param w = f32[3]: another session has it as param f32[2]"));
}

TEST_CASE("session faults") {
  builder b;
  b.output("y", b.add(b.input("x", {B, 2}), b.param("w", {2})));
  session_core s = open(b, {{B, 3}});
  CHECK(error_of([&] { s.get("y"); }) == "[program toy] output y = missing: run() comes first");
  CHECK(error_of([&] { s.run(); }) ==
        "[program toy] input x = missing: set or bind it before run(): f32[3, 2]");
  CHECK(error_of([&] { s.set("z", std::vector<float>(6)); }) ==
        "[program toy] input = z: the program's inputs are x");
  for (const bool bound : {false, true}) {
    const auto give = [&](const host_data& h) {
      return error_of([&] { bound ? s.bind("x", h) : s.set("x", h); });
    };
    CHECK(give(std::vector<float>(5)) == "[x] elements = 5: must be 6, of f32[3, 2]");
    CHECK(give(std::vector<double>(6)) == "[x] element type = f64: is f32[3, 2]");
  }
  CHECK(contains(error_of([&] { s.run(); }), "input x = missing"));
  CHECK(error_of([&] { s.get("z"); }) == "[program toy] output = z: the program's outputs are y");
  CHECK(contains(error_of([&] { s.param("v"); }), "path = v: is not there; the nearest is w"));
  CHECK(contains(error_of([&] { s.profile(); }), "profile = off"));
  CHECK(contains(error_of([&] { open(b); }), "dim B = unbound"));
  CHECK(contains(error_of([&] { open(b, {{B, 0}}); }), "dim B = 0"));
  CHECK(contains(error_of([&] { open(b, {{B, 1}, {T, 1}}); }), "dim T = 1"));
  CHECK(s.value_of(B * 2) == 6);
  // Sizes beyond any memory: told with the dims that make them, and no sum of bytes wraps around.
  CHECK(contains(error_of([&] { open(b, {{B, std::int64_t{1} << 42}}); }),
                 "[memory] arena of program toy, B = 4398046511104 = "));
  CHECK(contains(error_of([&] { open(b, {{B, std::int64_t{1} << 62}}); }),
                 "B = 4611686018427387904: is beyond 64 bits"));
  CHECK(contains(error_of([&] { open(b, {{B, std::int64_t{1} << 61}}); }),
                 "[program toy] memory = more than 2^63 bytes: of dims B = 2305843009213693952"));
  builder g;
  g.output("y", g.tanh(g.input("x", {B, T})));
  CHECK(contains(error_of([&] {
                   const std::vector<dim_binding> bound{{B, 1}, {T, 1}};
                   session_core(g.p, one_kernel(g, 999, "exp+log", B), cpu(1), bound);
                 }),
                 "[program toy] kernel = exp+log: is not compiled into this binary for "));
}

TEST_CASE("indices are checked against what they index") {
  const std::vector<std::int32_t> good{0, 4, 2}, high{0, 5, 2}, low{0, 1, -1};
  const std::string too_low =
      "[program toy] input tokens, element 2 = -1: an index of gather is at least 0 and below 5";
  const auto open_with = [&](auto family, bool check) {
    builder b;
    const int table = b.param("table", {5, 2}, init_ones()), t = b.input("tokens", {T}, i32);
    b.output("y", b.apply<decltype(family)>({table, t}, {}));
    session_core s = open(b, {{T, 3}}, {.check = check});
    s.set("tokens", good);
    s.run();
    CHECK(s.get("y").values() == std::vector<double>(6, 1.0));
    s.bind("tokens", low);
    return s;
  };
  for (const bool check : {false, true}) {
    session_core plain = open_with(gather_family{}, check);
    CHECK(error_of([&] { plain.run(); }) == too_low);
    plain.set("tokens", high);
    CHECK(contains(error_of([&] { plain.run(); }), "input tokens, element 1 = 5: "));
    session_core ignoring = open_with(ignoring_family{}, check);
    ignoring.run();
    CHECK(ignoring.get("y").values() == std::vector<double>{1, 1, 1, 1, 0, 0});
    session_core guarded = open_with(guarded_family{}, check);
    CHECK(error_of([&] { guarded.run(); }) == too_low);
  }
}

TEST_CASE("check names the first step that made a NaN") {
  builder b;
  b.output("y", b.tanh(b.input("x", {B, T})));
  const std::vector<dim_binding> bound{{B, 2}, {T, 2}};
  session_core s(b.p, one_kernel(b, 903, "reciprocal", B * T), cpu(1), bound, {.check = true});
  s.set("x", std::vector<float>{1, 2, 4, 8});
  s.run();
  CHECK(s.get("y").values() == std::vector<double>{1, 0.5, 0.25, 0.125});
  s.set("x", std::vector<float>{1, 2, 0, 8});
  CHECK(error_of([&] { s.run(); }) ==
        "[program toy] position 0 of the schedule, reciprocal = not finite at element 2 of f32[4] "
        "(%1): the first kernel that made a NaN or an infinity; it reads x");
  s.set("x", std::vector<float>{1, std::numeric_limits<float>::quiet_NaN(), 1, 8});
  CHECK(error_of([&] { s.run(); }) == "[program toy] input x, element 1 = nan: must be finite");
}

TEST_CASE("report and profile") {
  builder b;
  b.output("y", b.tanh(b.input("x", {B, T})));  // stands for any op
  const std::vector<dim_binding> bound{{B, 4}, {T, 8}};
  session_core s(b.p, one_kernel(b, 901, "mul", B), cpu(1), bound, {.profile = true});
  s.set("x", std::vector<float>(32, 1.0f));
  s.run();
  s.run();
  CHECK(contains(s.report(), "0 cpu 128 128 - mul\n"));
  CHECK(contains(s.report(), "generated 1 - 256\nall 1 - 256\n"));
  CHECK(contains(s.report(), "arena 192 bytes, largest live set 192, leaves 128\n"));
  CHECK(contains(s.profile(), "program toy: 2 runs, mean "));
  CHECK(contains(s.profile(), "100.0%"));
  CHECK(s.steps() == 1);
}

TEST_CASE("a report adds up what products and attention compute") {
  builder b;
  const int q = b.input("q", {2, 6, 5, 4}), k = b.input("k", {2, 3, 7, 4}),
            v = b.input("v", {2, 3, 7, 8}), w = b.param("w", {9, 8});
  const auto apply = [&](const op_info& op, const attrs& options, std::vector<int> in) {
    std::vector<tensor_type> types;
    for (const int i : in) types.push_back(b.p.g[i].type);
    const tensor_type t = op.result(options, types.data(), static_cast<int>(in.size()), 0);
    return b.p.g.add({&op, options, t, std::move(in), ""});
  };
  const int out = apply(family_info<op::attention_family>, {}, {q, k, v});
  b.output("y", apply(family_info<op::matmul_family>, {.i = {0, 1}}, {out, w}));
  const std::string r = session_core(b.p, cpu(1), {}).report();
  INFO(r);
  const long attention = 2 * 2 * 6 * 5 * 7 * (4 + 8), product = 2 * 2 * 6 * 5 * 9 * 8;
  CHECK(contains(r, "attention 1 " + std::to_string(attention) + " "));
  CHECK(contains(r, "matmul 1 " + std::to_string(product) + " "));
  CHECK(contains(r, "all 2 " + std::to_string(attention + product) + " "));
}

TEST_CASE("a report counts the keys that rows of attention see") {
  // 5 rows at positions 2 to 6 of 7 keys.
  const auto flops = [](std::int64_t flags, std::int64_t window) {
    builder b;
    const int q = b.input("q", {6, 5, 4}), k = b.input("k", {3, 7, 4}), v = b.input("v", {3, 7, 8});
    const op_info& op = family_info<op::attention_family>;
    const attrs options = {.i = {flags}, .d = {window}};
    std::vector<tensor_type> types;
    for (const int i : {q, k, v}) types.push_back(b.p.g[i].type);
    b.output("y", b.p.g.add({&op, options, op.result(options, types.data(), 3, 0), {q, k, v}, ""}));
    return session_core(b.p, cpu(1), {}).report();
  };
  const auto line = [](long pairs) {
    return " " + std::to_string(2 * 6 * pairs * (4 + 8)) + " attention (own kernel)\n";
  };
  const std::int64_t causal = op::attention_causal, window = op::attention_has_window;
  CHECK(contains(flops(0, 0), line(5 * 7)));
  CHECK(contains(flops(causal, 0), line(3 + 4 + 5 + 6 + 7)));
  CHECK(contains(flops(causal | window, 2), line(5 * 2)));
  CHECK(contains(flops(window, 2), line(4 * 3 + 2)));
}

TEST_CASE("a head with cross entropy is one product forward and three back") {
  tensor_ref x, w;  // [7, 5], [11, 5]
  x.rank = w.rank = 2, x.extent[0] = 7, w.extent[0] = 11, x.extent[1] = w.extent[1] = 5;
  const std::vector<tensor_ref> in{x, w};
  const kernel_call c{{}, in, {}, {}, nullptr, {}};
  CHECK(family_info<op::linear_cross_entropy_family>.flops(c) == 2 * 7 * 11 * 5);
  CHECK(family_info<op::linear_cross_entropy_backward_family>.flops(c) == 3 * 2 * 7 * 11 * 5);
}

TEST_CASE("a session lists its inputs and outputs") {
  builder b;
  b.output("y", b.add(b.input("x", {B, 2}), b.param("w", {2})));
  b.input("unused", {T}, i32);
  const session_core s = open(b, {{B, 3}, {T, 7}});
  const std::vector<tensor_description> in = s.inputs(), out = s.outputs();
  REQUIRE(in.size() == 2);
  CHECK((in[0].name == "x" && in[0].type == f32));
  CHECK(in[0].extent == std::vector<std::int64_t>{3, 2});
  CHECK((in[1].name == "unused" && in[1].type == i32));
  CHECK(in[1].extent == std::vector<std::int64_t>{7});
  REQUIRE(out.size() == 1);
  CHECK((out[0].name == "y" && out[0].type == f32));
  CHECK(out[0].extent == std::vector<std::int64_t>{3, 2});
}

TEST_CASE("the first registration of a kernel stays") {
  CHECK((find_kernel(901, static_cast<isa>(0)) == twice));
  CHECK((find_kernel(12345, static_cast<isa>(0)) == nullptr));
}
