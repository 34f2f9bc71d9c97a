// batch_norm: both modes against golden values, running statistics, and the form with a name; other
// ops with parameters of their own.
#include <doctest/doctest.h>

#include <ropewalk/graph/flatten.hpp>
#include <ropewalk/ops/batch_norm.hpp>
#include <ropewalk/ops/rms_norm.hpp>

#include "check.hpp"
#include "norms_programs.hpp"

using namespace cases;

namespace {

constexpr auto named_batch = program<"named_batch">([] {
  auto y = batch_norm<"bn">(x<4, 3, 2, 2>);
  return outputs(output<"out">(y), parameter_gradients(sum(y * input<"d_out", f32, 4, 3, 2, 2>)))
      .in_training_mode();
});
constexpr auto named_groups = program<"named_groups">([] {
  auto y = group_norm<"gn", 3>(x<2, 6, 3, 2>);
  return outputs(output<"out">(y), parameter_gradients(sum(y * input<"d_out", f32, 2, 6, 3, 2>)));
});
constexpr auto named_rms = program<"named_rms">([] {
  auto y = rms_norm_plus_one<"last">(rms_norm<"first">(x<2, 3, 6>));
  return outputs(output<"out">(y), parameter_gradients(sum(y * input<"d_out", f32, 2, 3, 6>)));
});

values run(const program_table& t, const values& leaves) {
  return evaluate_reference(flatten(t), {}, leaves);
}

}  // namespace

TEST_CASE("batch_norm in training: values, gradients, running statistics") {
  const program_table t = batch_norm_training.table();
  check_golden(t);
  const std::string statistics = "data/goldens/ops/batch_norm-running-statistics.safetensors";
  CHECK(check_golden(
            t, statistics,
            {{"w", filled({3}, 1)}, {"b", filled({3}, 0)}, {"d_out", filled({4, 3, 2, 2}, 1)}}) ==
        2);
  const values states{{"mean", filled({3}, 0)}, {"var", filled({3}, 1)}};
  check_gradients(t, {}, states);
  check_kernels(t, {}, states);
}

TEST_CASE("batch_norm outside of training uses the running statistics and leaves them alone") {
  const program_table t = batch_norm_inference.table();
  const values more{{"mean", filled({3}, 0.5)}, {"var", filled({3}, 2)}};
  check_golden(t, more);
  check_gradients(t, {}, more);
  check_kernels(t, {}, more);
  CHECK(flatten(t).updates.empty());
}

TEST_CASE("norms with a name have their parameters and states under it") {
  const program_graph p = flatten(batch_norm_training.table());
  values leaves = golden_leaves(p);
  const values want = run(batch_norm_training.table(), leaves);
  const values got = run(named_batch.table(), {{"x", leaves.at("x")},
                                               {"d_out", leaves.at("d_out")},
                                               {"bn.weight", leaves.at("w")},
                                               {"bn.bias", leaves.at("b")},
                                               {"bn.mean", filled({3}, 0)},
                                               {"bn.var", filled({3}, 1)}});
  CHECK(got.at("out").v == want.at("out").v);
  check_close("weight", got.at("grad.bn.weight"), want.at("d_w"), 1e-13);
  check_close("bias", got.at("grad.bn.bias"), want.at("d_b"), 1e-13);
  CHECK(got.at("bn.mean").v == want.at("mean").v);
  CHECK(got.at("bn.var").v == want.at("var").v);

  leaves = golden_leaves(flatten(group_norm_g3.table()));
  const values groups = run(group_norm_g3.table(), leaves);
  const values named_g = run(named_groups.table(), {{"x", leaves.at("x")},
                                                    {"d_out", leaves.at("d_out")},
                                                    {"gn.weight", leaves.at("w")},
                                                    {"gn.bias", leaves.at("b")}});
  CHECK(named_g.at("out").v == groups.at("out").v);
  check_close("weight", named_g.at("grad.gn.weight"), groups.at("d_w"), 1e-13);
  check_close("bias", named_g.at("grad.gn.bias"), groups.at("d_b"), 1e-13);
}

TEST_CASE("rms_norm and rms_norm_plus_one start as the plain norm") {
  const program_graph p = flatten(named_rms.table());
  for (int id = 0; id < p.g.size(); ++id)
    if (p.g[id].op == &param_info)
      CHECK(p.g[id].a.i[0] ==
            (p.g[id].path == "first.weight" ? initializer::ones : initializer::zeros));
  values leaves = golden_leaves(flatten(rms_norm_no_weight.table()));
  std::mt19937 r(2);
  leaves = random_leaves(p, {}, {{"first.weight", filled({6}, 1)}, {"last.weight", filled({6}, 0)}},
                         {}, r);
  const values got = run(named_rms.table(), leaves);
  for (std::size_t row = 0; row < 6; ++row) {
    double squares = 0;
    for (std::size_t c = 0; c < 6; ++c)
      squares += got.at("out").v[row * 6 + c] * got.at("out").v[row * 6 + c];
    CHECK(squares == doctest::Approx(6).epsilon(1e-3));
  }
  CHECK(got.at("grad.first.weight").v.size() == 6);
  CHECK(got.at("grad.last.weight").v.size() == 6);
}
