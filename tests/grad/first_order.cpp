// Gradients through calls, repeats, patterns, several results and shared weights, against central
// differences.
#include "grad/derivatives.hpp"
#include "grad/first_order_programs.hpp"

using namespace ropewalk;
using namespace ropewalk::testing;

TEST_CASE("gradients pass through calls and nested calls") {
  CHECK(check_derivatives(first_order::p_calls.table()) == 9);
}
TEST_CASE("gradients pass through repeats and patterns") {
  CHECK(check_derivatives(first_order::p_repeated.table()) == 13);
  CHECK(check_derivatives(first_order::p_pattern.table()) == 13);
}
TEST_CASE("operands that are the same for all layers get the sum of the layers' gradients") {
  CHECK(check_derivatives(first_order::p_invariant.table()) == 10);
}
TEST_CASE("a scope called twice shares its weights, and their gradients add") {
  CHECK(check_derivatives(first_order::p_tied.table()) == 5);
}
TEST_CASE("several results, all used or some, carried or not") {
  CHECK(check_derivatives(first_order::p_both.table()) == 5);
  CHECK(check_derivatives(first_order::p_second.table()) == 5);
  CHECK(check_derivatives(first_order::p_carried.table()) == 7);
}
TEST_CASE("stop_gradient lets the value through and no gradient") {
  const program_graph p = flatten(first_order::p_stopped.table());
  const values leaves = random_leaves(p), got = evaluate_reference(p, {}, leaves);
  for (const auto& [name, gradient] : got) {
    if (!name.starts_with("grad.h1.")) continue;
    for (const double g : gradient.v) CHECK(g == 0);
  }
  // d/dh0 with the stopped factor as it stands: central differences move h0 only.
  values moved = leaves;
  const double h = 1e-5;
  double side[2];
  for (int s = 0; s < 2; ++s) {
    moved.at("h0.inner.w.bias").v[1] = leaves.at("h0.inner.w.bias").v[1] + (s == 0 ? h : -h);
    side[s] = evaluate_reference(p, {}, moved).at("loss").v[0];
  }
  CHECK((side[0] - side[1]) / (2 * h) ==
        doctest::Approx(got.at("grad.h0.inner.w.bias").v[1]).epsilon(1e-6));
}
