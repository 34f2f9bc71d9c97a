// Norms: golden values, gradients, adjoints, compiled kernels.
#include <doctest/doctest.h>

#include "check.hpp"
#include "norms_programs.hpp"

using namespace cases;

namespace {

const program_table smooth[] = {layer_norm_eps1e_05.table(),
                                layer_norm_eps0_01.table(),
                                layer_norm_no_affine.table(),
                                rms_norm_plain_eps1e_05.table(),
                                rms_norm_one_plus_w_eps1e_05.table(),
                                rms_norm_plain_eps0_01.table(),
                                rms_norm_one_plus_w_eps0_01.table(),
                                rms_norm_no_weight.table(),
                                l2_norm_eps1e_05.table(),
                                l2_norm_max_eps1e_05.table(),
                                l2_norm_eps0_01.table(),
                                l2_norm_max_eps0_01.table(),
                                group_norm_g3.table()};

}  // namespace

TEST_CASE("norms match the golden values") {
  for (const program_table& t : smooth) check_golden(t);
}

TEST_CASE("gradients of norms match central differences") {
  for (const program_table& t : smooth) check_gradients(t);
}

TEST_CASE("compiled kernels of norms match the reference") {
  for (const program_table& t : smooth) check_kernels(t);
}
