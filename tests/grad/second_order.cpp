// Gradients of gradients against central differences of the gradient, and rules of one's own.
#include "grad/derivatives.hpp"
#include "grad/second_order_programs.hpp"

using namespace ropewalk;
using namespace ropewalk::testing;

TEST_CASE("Hessian-vector products equal central differences of the gradient") {
  CHECK(check_derivatives(second_order::plain.table()) == 1);
  CHECK(check_derivatives(second_order::called.table()) == 1);
  CHECK(check_derivatives(second_order::repeated.table()) == 1);
  CHECK(check_derivatives(second_order::attended.table()) == 1);
}
TEST_CASE("parameters get the gradient of a loss that contains a gradient") {
  CHECK(check_derivatives(second_order::penalty.table()) == 2);
  CHECK(check_derivatives(second_order::repeated_penalty.table()) == 4);
}
TEST_CASE("a rule of one's own replaces the derivative, and is differentiated again") {
  const program_graph p = flatten(second_order::custom.table());
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const values in = random_leaves(p, seed), got = evaluate_reference(p, {}, in);
    for (std::size_t i = 0; i < 8; ++i) {
      const double x = in.at("x").v[i], v = in.at("v").v[i];
      CHECK(got.at("one").v[i] == doctest::Approx(v));
      CHECK(got.at("a").v[i] == doctest::Approx(v));
      CHECK(got.at("b").v[i] == doctest::Approx(3 * x));
      CHECK(got.at("again").v[i] == doctest::Approx(2 * v));
    }
  }
}
TEST_CASE("a pullback is linear in its cotangent, and zero where nothing depends") {
  const program_graph p = flatten(second_order::linear_laws.table());
  for (unsigned seed = 1; seed <= 5; ++seed) {
    const values got = evaluate_reference(p, {}, random_leaves(p, seed));
    for (std::size_t i = 0; i < 8; ++i) {
      CHECK(got.at("both").v[i] ==
            doctest::Approx(2 * got.at("a").v[i] - got.at("b").v[i]).epsilon(1e-12));
      CHECK(got.at("none").v[i] == 0);
    }
  }
}
