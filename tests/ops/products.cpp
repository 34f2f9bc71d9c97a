// Products and gated units: golden values, gradients, adjoints, compiled kernels.
#include <doctest/doctest.h>

#include "check.hpp"
#include "products_programs.hpp"

using namespace cases;

namespace {

const program_table smooth[] = {matmul_2d.table(),
                                matmul_batched.table(),
                                matmul_broadcast_right.table(),
                                matmul_broadcast_left.table(),
                                matmul_broadcast_batch.table(),
                                matmul_outer.table(),
                                matmul_inner.table(),
                                matmul_row.table(),
                                matmul_k17.table(),
                                matmul_transposed_b.table(),
                                matmul_transposed_a.table(),
                                matmul_transposed_both.table(),
                                linear_bias.table(),
                                swiglu_pair.table(),
                                geglu_pair_tanh.table(),
                                geglu_pair_erf.table(),
                                swiglu_packed.table(),
                                swiglu_mlp.table()};

}  // namespace

TEST_CASE("products and gated units match the golden values") {
  for (const program_table& t : smooth) check_golden(t);
}

TEST_CASE("gradients of products and gated units match central differences") {
  for (const program_table& t : smooth) check_gradients(t);
}

TEST_CASE("compiled kernels of products and gated units match the reference") {
  for (const program_table& t : smooth) check_kernels(t);
}
