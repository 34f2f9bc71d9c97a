// Rope: golden values of every schedule and pairing, gradients, adjoints, compiled kernels.
#include <doctest/doctest.h>

#include "check.hpp"
#include "rope_programs.hpp"

using namespace cases;

namespace {

// Without rope_grad_factors, which is not linear in the factors.
const program_table linear[] = {
    standard_rope.table(),
    rope_interleaved.table(),
    rope_explicit.table(),
    linear_rope.table(),
    ntk_rope.table(),
    rope_dynamic_ntk_above.table(),
    rope_dynamic_ntk_below.table(),
    rope_llama3_3_1.table(),
    rope_yarn_truncated.table(),
    rope_yarn_untruncated.table(),
    rope_yarn_attention_factor.table(),
    rope_yarn_mscale.table(),
    rope_longrope_short.table(),
    rope_longrope_long.table(),
    rope_proportional_0_25.table(),
    rope_ggml_normal_yarn.table(),
    rope_ggml_neox_yarn.table(),
    rope_ggml_partial_neox.table(),
    rope_ggml_partial_normal.table(),
    rope_mrope.table(),
    rope_mrope_interleaved.table(),
    rope_vision.table(),
    rope_window_offset.table(),
    rope_window_offset_interleaved.table(),
    rope_batch_positions.table(),
    rope_positions_shared.table(),
    rope_large_positions.table(),
    rope_large_positions_500000.table(),
    rope_large_positions_yarn.table(),
    rope_magnitude_0_75.table(),
};
const program_table with_factors[] = {rope_ggml_neox_factors.table(),
                                      rope_ggml_normal_yarn_factors.table()};
// ggml's factors of the golden cases.
const values ggml_factors{{"c", {{8}, {1.0, 1.0, 1.25, 1.5, 2.0, 3.0, 5.5, 8.0}}}};

}  // namespace

TEST_CASE("rope matches the golden values") {
  for (const program_table& t : linear) check_golden(t);
  for (const program_table& t : with_factors) check_golden(t, ggml_factors);
  check_golden(rope_grad_factors.table());
}

TEST_CASE("rope and its gradient are adjoint") {
  for (const program_table& t : linear) check_adjoint(t);
  for (const program_table& t : with_factors) check_adjoint(t, ggml_factors);
}

TEST_CASE("rope: the gradient of frequency factors matches central differences") {
  check_gradients(rope_grad_factors.table(), {0.5, 2});
}

TEST_CASE("compiled kernels of rope match the reference") {
  for (const program_table& t : linear) check_kernels(t);
  for (const program_table& t : with_factors) check_kernels(t, {0.5, 2}, ggml_factors);
  check_kernels(rope_grad_factors.table(), {0.5, 2});
}
