// Second derivatives: the gradients of gradients, by central differences of the first.
#include <doctest/doctest.h>

#include "check.hpp"
#include "second_programs.hpp"

using namespace cases;

namespace {
const program_table programs[] = {
    twice_mul.table(),      twice_div.table(),         twice_pow.table(),
    twice_erf.table(),      twice_sigmoid.table(),     twice_softplus.table(),
    twice_silu.table(),     twice_gelu.table(),        twice_elu.table(),
    twice_softmax.table(),  twice_log_softmax.table(), twice_logsumexp.table(),
    twice_variance.table(), twice_rms_norm.table(),    twice_l2_norm.table(),
    twice_cumsum.table(),   twice_matmul.table(),      twice_swiglu.table()};
}

TEST_CASE("second derivatives match central differences of the first") {
  for (const program_table& t : programs) check_gradients(t);
}

TEST_CASE("compiled kernels of second derivatives match the reference") {
  for (const program_table& t : programs) check_kernels(t);
}
