// softsign: its formula, gradients, kernels, mistake.
#include <doctest/doctest.h>

#include <cmath>
#include <type_traits>

#include <ropewalk/graph/flatten.hpp>

#include "check.hpp"
#include "softsign_programs.hpp"

using namespace cases;

static_assert(std::is_same_v<dtype_not_supported<"softsign", i32, shp<"[4]">>,
                             decltype(softsign(input<"ids", i32, 4>))>);

TEST_CASE("softsign is x / (1 + |x|)") {
  std::mt19937 r(1);
  const program_graph p = flatten(softsign_once.table());
  const values leaves = random_leaves(p, {-3, 3}, {}, {}, r);
  dense want = leaves.at("x");
  for (double& v : want.v) v = v / (1 + std::abs(v));
  check_close("softsign", evaluate_reference(p, {}, leaves).at("out"), want, 1e-14);
}

TEST_CASE("softsign: gradients match central differences, kernels match the reference") {
  check_gradients(softsign_once.table(), {-3, 3});
  check_gradients(softsign_twice.table(), {0.1, 3});
  check_kernels(softsign_once.table(), {-3, 3});
  check_kernels(softsign_twice.table(), {0.1, 3});
}
