// Losses: golden values, gradients, adjoints, compiled kernels.
#include <doctest/doctest.h>

#include "check.hpp"
#include "losses_programs.hpp"

using namespace cases;

namespace {

const program_table smooth[] = {mse_mean.table(),
                                mae_mean.table(),
                                huber_mean.table(),
                                bce_with_logits_mean.table(),
                                bce_with_logits_extreme.table(),
                                kl_batchmean.table(),
                                kl_log_inputs.table(),
                                cross_entropy_plain.table(),
                                cross_entropy_ignore.table(),
                                cross_entropy_smoothing.table(),
                                cross_entropy_sum.table(),
                                cross_entropy_none.table(),
                                cross_entropy_3d.table(),
                                cross_entropy_all_ignored.table(),
                                cross_entropy_large_logits.table()};

}  // namespace

TEST_CASE("losses match the golden values") {
  for (const program_table& t : smooth) check_golden(t);
}

TEST_CASE("gradients of losses match central differences") {
  for (const program_table& t : smooth) check_gradients(t);
}

TEST_CASE("compiled kernels of losses match the reference") {
  for (const program_table& t : smooth) check_kernels(t);
}
