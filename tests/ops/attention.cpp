// attention as programs write it: golden values, gradients, the composition of primitive ops,
// dropout, a cache; compiled kernels.
#include <doctest/doctest.h>

#include <cmath>

#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/graph/schedule.hpp>
#include <ropewalk/runtime/session.hpp>

#include "attention_programs.hpp"
#include "check.hpp"

using namespace cases;

namespace {

const dim_binding symbols[] = {{dim("SH"), 6}, {dim("ST"), 7}, {dim("SW"), 3}};
const values scale_given = {{"scale", {{1}, {0.4}}}};
const dense two_lengths{{2}, {7, 4}}, one_length{{1}, {6}};
const values keyed = {{"rng", {{2}, {5, 9}}}};

const values for_everything = {{"lengths", {{1}, {5}}},
                               {"documents", {{3}, {0, 2, 6}}},
                               {"start", {{1}, {1}}},
                               {"rng", {{2}, {5, 9}}}};

struct leaf_set {
  program_table table;
  values more = {};
};
const leaf_set pairs[] = {
    {beside_plain.table()},
    {beside_scores.table(), {{"lengths", two_lengths}}},
    {beside_structure.table(),
     {{"documents", {{4}, {0, 3, 3, 7}}}, {"start", {{2}, {2, 1}}}, {"rng", {{2}, {5, 9}}}}},
    {beside_two_sided.table(), {{"lengths", one_length}}},
    {beside_rope.table(), {{"start", {{2}, {4, 1}}}}}};

values run(const program_table& t, unsigned seed, const values& more,
           std::span<const dim_binding> bindings = {}) {
  const program_graph p = flatten(t, bindings);
  verify(p, "test");
  std::mt19937 r(seed);
  return evaluate_reference(p, bindings, random_leaves(p, {}, more, bindings, r));
}

}  // namespace

TEST_CASE("attention in programs: golden values") {
  check_golden(attention_combined.table(), scale_given);
  check_golden(attention_alibi_12.table());
  check_golden(attention_packed_causal.table());
  check_golden(attention_window_two_sided.table());
}

TEST_CASE("attention equals the composition of primitive ops, and so do all gradients") {
  for (const leaf_set& l : pairs)
    for (unsigned seed = 1; seed <= 10; ++seed) {
      INFO(l.table.name);
      const values got = run(l.table, seed, l.more);
      for (const auto& [name, value] : got)
        if (!name.starts_with("composed_"))
          check_close(name, value, got.at("composed_" + name), 1e-12);
    }
}

TEST_CASE("attention in programs: gradients match central differences") {
  check_gradients(attention_combined.table(), {}, scale_given);
  check_gradients(attention_alibi_12.table());
  check_gradients(attention_dropped.table(), {}, keyed);
  check_gradients(attention_kept.table());
  check_gradients(attention_views.table());
  check_gradients(attention_everything.table(), {}, for_everything);
  check_gradients(attention_cache.table(), {}, {{"start", {{2}, {4, 7}}}});
  check_gradients(attention_symbolic.table(), {}, {{"lengths", one_length}}, symbols);
}

TEST_CASE("alibi slopes of a symbolic number of heads are those of a fixed one") {
  // 2^(-8 (h + 1) / 4) for four of six heads, then every second of the next power.
  const double slopes[] = {0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125};
  const values got =
      run(program<"alibi_slopes">([] {
            constexpr dim h{"SH"};
            return outputs(output<"symbolic">(call_t<composed::alibi_slopes<h, 8.0, f32>, "">{}),
                           output<"fixed">(call_t<composed::alibi_slopes<6, 8.0, f32>, "">{}));
          }).table(),
          1, {}, std::span(symbols).first(1));
  for (std::size_t i = 0; i < 6; ++i) {
    CHECK(got.at("fixed").v[i] == doctest::Approx(slopes[i]).epsilon(1e-14));
    CHECK(got.at("symbolic").v[i] == doctest::Approx(slopes[i]).epsilon(1e-14));
  }
}

TEST_CASE("attention dropout differs by layer, step and seed, and is gone outside of training") {
  const auto with = [](double seed, double step) {
    return run(attention_dropped.table(), 3, {{"rng", {{2}, {seed, step}}}}).at("out").v;
  };
  const auto first = with(5, 9);
  CHECK(first == with(5, 9));
  CHECK(first != with(5, 10));
  CHECK(first != with(6, 9));
  CHECK(first != run(attention_kept.table(), 3, {}).at("out").v);
  // Two layers draw apart: else the keys of both layers would be one node.
  const program_graph p = flatten(attention_dropped.table());
  int keys = 0;
  for (int id = 0; id < p.g.size(); ++id)
    keys += p.g[id].op == &family_info<op::attention_dropout_key>;
  CHECK(keys == 2);
  for (int id = 0; id < flatten(attention_kept.table()).g.size(); ++id)
    CHECK(flatten(attention_kept.table()).g[id].path != "rng");
}

TEST_CASE("gradients of attention's operands that nothing reads are not made") {
  const auto backward_step = [](const program_table& t) {
    const schedule s = make_schedule(flatten(t));
    for (const step& x : s.steps)
      if (x.op == &family_info<op::attention_backward_family>) return x;
    FAIL("no backward step");
    return step{};
  };
  const step only_q = backward_step(attention_only_q.table());
  for (std::size_t k = 3; k < 7; ++k) {
    CHECK(!op::attention_backward_family::wants(only_q.a, static_cast<int>(k)));
    CHECK(only_q.out[k].rank == 1);
    CHECK(only_q.out[k].extent[0] == dim(1));
  }
  const step all = backward_step(attention_combined.table());
  for (int k = 3; k < 7; ++k) CHECK(op::attention_backward_family::wants(all.a, k));
}

TEST_CASE("compiled kernels of attention in programs match the reference") {
  check_kernels(attention_combined.table(), {}, scale_given);
  check_kernels(attention_alibi_12.table());
  check_kernels(attention_packed_causal.table());
  check_kernels(attention_window_two_sided.table());
  check_kernels(attention_only_q.table());
  for (const leaf_set& l : pairs) check_kernels(l.table, {}, l.more);
  check_kernels(attention_dropped.table(), {}, keyed);
  check_kernels(attention_kept.table());
  check_kernels(attention_views.table());
  check_kernels(attention_everything.table(), {}, for_everything);
  check_kernels(attention_symbolic.table(), {}, {{"lengths", one_length}}, symbols);
}

TEST_CASE("a 16-bit cache and mask: the session's gradients are the reference's, rounded") {
  const program_graph p = flatten(attention_cache.table());
  std::mt19937 r(4);
  values leaves = random_leaves(p, {}, {{"start", {{2}, {4, 7}}}}, {}, r);
  for (auto& [name, x] : leaves)
    for (double& v : x.v) v = std::round(8 * v) / 8;  // what bf16 holds
  const values want = evaluate_reference(p, {}, leaves);
  session_core s(p, cpu(2), {});
  for (const auto& [name, x] : leaves) {
    const std::vector<float> floats(x.v.begin(), x.v.end());
    const std::vector<std::int32_t> integers(x.v.begin(), x.v.end());
    s.set(name, name == "start" ? host_data(integers) : host_data(floats));
  }
  s.run();
  for (const auto& [name, value] : want) {
    const dense got{value.extent, s.get(name).values()};
    const bool rounded = name != "out" && name != "d_q";  // half a unit of bf16's 8 bits
    check_close(name, got, value, rounded ? 0x1p-8 : 1e-5);
  }
}
