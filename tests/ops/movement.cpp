// Movement of elements: golden values, gradients, adjoints, compiled kernels.
#include <doctest/doctest.h>

#include "check.hpp"
#include "movement_programs.hpp"

using namespace cases;

namespace {

const program_table smooth[] = {
    reshape_flatten.table(),  reshape_split.table(), transpose_2d.table(),
    permute_021.table(),      permute_201.table(),   permute_102.table(),
    concat_axis0.table(),     concat_axis1.table(),  concat_axis2.table(),
    slice_step.table(),       slice_plain.table(),   pad_constant.table(),
    repeat_axis1.table(),     expand_ones.table(),   gather_rows_embedding.table(),
    scatter_add_rows.table(), cumsum_last.table(),   cumsum_first.table()};
const program_table without_gradients[] = {split_axis1.table()};
const program_table linear[] = {
    reshape_flatten.table(), reshape_split.table(),         transpose_2d.table(),
    permute_021.table(),     permute_201.table(),           permute_102.table(),
    concat_axis0.table(),    concat_axis1.table(),          concat_axis2.table(),
    slice_step.table(),      slice_plain.table(),           repeat_axis1.table(),
    expand_ones.table(),     gather_rows_embedding.table(), scatter_add_rows.table(),
    cumsum_last.table(),     cumsum_first.table()};

}  // namespace

TEST_CASE("movement of elements match the golden values") {
  for (const program_table& t : smooth) check_golden(t);
  for (const program_table& t : without_gradients) check_golden(t);
}

TEST_CASE("gradients of movement of elements match central differences") {
  for (const program_table& t : smooth) check_gradients(t);
}

TEST_CASE("movement of elements: linear ops and their gradients are adjoint") {
  for (const program_table& t : linear) check_adjoint(t);
}

TEST_CASE("compiled kernels of movement of elements match the reference") {
  for (const program_table& t : smooth) check_kernels(t);
  for (const program_table& t : without_gradients) check_kernels(t);
}
