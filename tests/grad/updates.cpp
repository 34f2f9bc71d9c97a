// Gradients through with_update and in_training: of the value alone, in the program's own mode.
#include "grad/derivatives.hpp"
#include "grad/updates_programs.hpp"

using namespace ropewalk;
using namespace ropewalk::testing;

namespace {

const program_table all[] = {
    updating::effect_training.table(),  updating::effect_evaluating.table(),
    updating::mode_training.table(),    updating::mode_evaluating.table(),
    updating::stacked_training.table(), updating::stacked_evaluating.table(),
    updating::layers_training.table(),  updating::layers_evaluating.table()};

std::size_t updates(const program_table& t) { return flatten(t).updates.size(); }

}  // namespace

TEST_CASE("gradients through effects and modes match central differences, in both modes") {
  for (const program_table& t : all)
    for (unsigned seed = 1; seed <= 5; ++seed) CHECK(check_derivatives(t, {}, seed) >= 2);
}

TEST_CASE("the two modes have gradients of their own") {
  for (std::size_t k = 2; k < std::size(all); k += 2) {
    const values leaves = random_leaves(flatten(all[k]), 3);
    const values a = run(all[k], leaves), b = run(all[k + 1], leaves);
    INFO(all[k].name);
    CHECK(difference(a.at("grad.w"), b.at("grad.w")) > 1e-3);
    CHECK(difference(a.at("grad.x"), b.at("grad.x")) > 1e-3);
  }
}

TEST_CASE("a gradient neither drops nor repeats an update, nor sees what it will be") {
  CHECK(updates(all[0]) == 1);
  CHECK(updates(all[4]) == 2);  // a.mu, b.mu
  CHECK(updates(all[6]) == 2);  // h.0.mu, h.1.mu
  for (const std::size_t evaluating : {3, 5, 7}) CHECK(updates(all[evaluating]) == 0);
  for (const program_table& t : {all[0], all[4], all[6]}) {
    INFO(t.name);
    program_graph p = flatten(t);
    const values leaves = random_leaves(p, 4);
    const values with = evaluate_reference(p, {}, leaves);
    p.updates.clear();
    for (const auto& [name, value] : evaluate_reference(p, {}, leaves))
      CHECK(difference(value, with.at(name)) == 0);
  }
  // The update of effect_training: the mean of x w over the rows, whatever the gradient does.
  const values leaves = random_leaves(flatten(all[0]), 5), got = run(all[0], leaves);
  for (std::size_t j = 0; j < 4; ++j) {
    double mean = 0;
    for (std::size_t i = 0; i < 3; ++i)
      mean += leaves.at("x").v[4 * i + j] * leaves.at("w").v[j] / 3;
    CHECK(got.at("s").v[j] == doctest::Approx(mean));
  }
}
