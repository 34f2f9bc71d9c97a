// The whole way, from a model header to compiled kernels: values, threads, allocations, sharing.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <limits>

#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/graph/reference.hpp>
#include <ropewalk/runtime/cpu_kernels.hpp>
#include <ropewalk/runtime/session.hpp>

#include "allocations.hpp"
#include "build.hpp"
#include "mlp.hpp"

using namespace testing;

namespace {

using bindings = std::vector<dim_binding>;
const bindings sizes{{mlp::N, 13}, {mlp::V, 11}};

template <class Program>
program_graph graph_of(const Program& p, std::int64_t layers) {
  return flatten(p.table(), bindings{{mlp::L, layers}});
}

struct batch {
  std::vector<std::int32_t> tokens, targets;
};
batch random_batch(std::mt19937& r) {
  batch b;
  for (int k = 0; k < 13; ++k) {
    b.tokens.push_back(static_cast<std::int32_t>(r() % 11));
    b.targets.push_back((b.tokens.back() * 3 + 1) % 11);
  }
  return b;
}
void give(session_core& s, const batch& b) {
  s.set("tokens", b.tokens);
  s.set("targets", b.targets);
}
void give_rate(session_core& s, float rate) { s.set("learning_rate", std::vector<float>{rate}); }

dense as_dense(const std::vector<std::int32_t>& v) {
  return {{static_cast<std::int64_t>(v.size())}, {v.begin(), v.end()}};
}

// Everything that `s` and the reference say of one run agree: outputs, parameters, states.
void compare_run(session_core& s, const program_graph& p, const batch& b) {
  std::map<std::string, dense> leaves;
  for (int id = 0; id < p.g.size(); ++id) {
    const graph_node& n = p.g[id];
    if (n.op == &param_info || n.op == &state_info) leaves[n.path] = load(s.param(n.path).ref());
    if (n.op == &input_info && n.path == "learning_rate") leaves[n.path] = {{}, {0.01f}};
  }
  leaves["tokens"] = as_dense(b.tokens);
  leaves["targets"] = as_dense(b.targets);
  give(s, b);
  if (leaves.count("learning_rate") > 0) give_rate(s, 0.01f);
  s.run();
  for (const auto& [name, want] : evaluate_reference(p, sizes, leaves)) {
    const dense got = load(leaves.count(name) > 0 ? s.param(name).ref() : s.get(name).ref());
    REQUIRE(got.extent == want.extent);
    for (std::size_t e = 0; e < want.v.size(); ++e) {
      INFO(name, " element ", e);
      REQUIRE(std::fabs(got.v[e] - want.v[e]) <= 2e-4 * (1 + std::fabs(want.v[e])));
    }
  }
}

}  // namespace

TEST_CASE("compiled kernels agree with the reference, for every instruction set") {
  std::mt19937 r(8);
  const char* const chosen = std::getenv("ROPEWALK_ISA");
  const std::string before = chosen != nullptr ? chosen : "";
  for (const isa level : supported_isas()) {
    setenv("ROPEWALK_ISA", isa_name(level), 1);
    for (const std::int64_t layers : {1, 3}) {
      const program_graph train = graph_of(mlp::train, layers),
                          evaluate = graph_of(mlp::evaluate, layers);
      session_core a(train, cpu(2), sizes, {.seed = 3, .check = true});
      session_core b(evaluate, cpu(1), sizes, {.parameters = a.parameters()});
      for (int turn = 0; turn < 3; ++turn) {
        const batch data = random_batch(r);
        compare_run(b, evaluate, data);
        compare_run(a, train, data);
      }
    }
  }
  if (chosen != nullptr)
    setenv("ROPEWALK_ISA", before.c_str(), 1);
  else
    unsetenv("ROPEWALK_ISA");
}

TEST_CASE("training learns, evaluation sees it, and 1, 2 and 3 threads give the same bits") {
  const program_graph train = graph_of(mlp::train, 3), evaluate = graph_of(mlp::evaluate, 3);
  std::vector<std::vector<double>> ends;
  for (const int threads : {1, 2, 3}) {
    std::mt19937 r(9);
    session_core a(train, cpu(threads), sizes, {.seed = 4});
    session_core b(evaluate, cpu(threads), sizes, {.parameters = a.parameters()});
    give_rate(a, 0.01f);
    const batch test = random_batch(r);
    give(b, test);
    b.run();
    const double start = b.get("loss").item();
    for (int turn = 0; turn < 60; ++turn) {
      give(a, random_batch(r));
      const long before = allocations();
      a.run();
      if (turn > 0) CHECK(allocations() == before);
    }
    b.run();
    CHECK(start == doctest::Approx(std::log(11)).epsilon(0.05));
    CHECK(b.get("loss").item() < 0.3 * start);
    std::vector<double> end;
    for (const parameter_store::entry& e : a.parameters()->entries())
      for (const double v : a.param(e.path).values()) end.push_back(v);
    ends.push_back(std::move(end));
  }
  CHECK(ends[0] == ends[1]);
  CHECK(ends[0] == ends[2]);
}

TEST_CASE("a token beyond the vocabulary is refused, and the next run is as if it had not been") {
  std::mt19937 r(10);
  batch b = random_batch(r);
  session_core s(graph_of(mlp::evaluate, 1), cpu(1), sizes);
  give(s, b);
  s.run();
  const double loss = s.get("loss").item();
  const std::int32_t good = b.tokens[5];
  for (const std::int32_t bad : {11, -1, 1000000, std::numeric_limits<std::int32_t>::min()}) {
    b.tokens[5] = bad;
    give(s, b);
    CHECK(error_of([&] { s.run(); }) ==
          "[program evaluate] input tokens, element 5 = " + std::to_string(bad) +
              ": an index of gather_rows is at least 0 and below 11");
  }
  b.tokens[5] = good;
  give(s, b);
  s.run();
  CHECK(s.get("loss").item() == loss);
}
