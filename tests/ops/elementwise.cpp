// Elementwise ops: golden values, gradients, adjoints, compiled kernels.
#include <doctest/doctest.h>

#include "check.hpp"
#include "elementwise_programs.hpp"

using namespace cases;

namespace {

const program_table smooth[] = {
    maximum_same.table(),   maximum_scalar.table(),    maximum_scalar_left.table(),
    maximum_last.table(),   maximum_both.table(),      maximum_ties.table(),
    minimum_same.table(),   minimum_scalar.table(),    minimum_scalar_left.table(),
    minimum_last.table(),   minimum_both.table(),      minimum_ties.table(),
    exp_basic.table(),      tanh_basic.table(),        tanh_extreme.table(),
    sigmoid_basic.table(),  sigmoid_extreme.table(),   relu_basic.table(),
    relu_zero.table(),      silu_basic.table(),        silu_extreme.table(),
    softplus_basic.table(), softplus_extreme.table(),  neg_basic.table(),
    abs_basic.table(),      abs_zero.table(),          sin_basic.table(),
    cos_basic.table(),      square_basic.table(),      gelu_tanh_form.table(),
    gelu_erf.table(),       gelu_extreme_tanh.table(), clamp_both.table(),
    clamp_min_only.table(), clamp_edges.table(),       where_same.table(),
    where_broadcast.table()};
// Of positive numbers only.
const program_table positive[] = {pow_square.table(),       pow_cube.table(),   pow_half.table(),
                                  pow_tensor.table(),       log_basic.table(),  sqrt_basic.table(),
                                  reciprocal_basic.table(), rsqrt_basic.table()};
const program_table linear[] = {neg_basic.table()};

}  // namespace

TEST_CASE("elementwise ops match the golden values") {
  for (const program_table& t : smooth) check_golden(t);
  for (const program_table& t : positive) check_golden(t);
}

TEST_CASE("gradients of elementwise ops match central differences") {
  for (const program_table& t : smooth) check_gradients(t);
  for (const program_table& t : positive) check_gradients(t, {0.4, 2});
}

TEST_CASE("elementwise ops: linear ops and their gradients are adjoint") {
  for (const program_table& t : linear) check_adjoint(t);
}

TEST_CASE("compiled kernels of elementwise ops match the reference") {
  for (const program_table& t : smooth) check_kernels(t);
  for (const program_table& t : positive) check_kernels(t, {0.4, 2});
}
