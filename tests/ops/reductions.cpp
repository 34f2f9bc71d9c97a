// Reductions: golden values, gradients, adjoints, compiled kernels.
#include <doctest/doctest.h>

#include "check.hpp"
#include "reductions_programs.hpp"

using namespace cases;

namespace {

const program_table smooth[] = {
    sum_last.table(),          sum_first.table(),        sum_middle.table(),
    sum_two.table(),           sum_all.table(),          mean_last.table(),
    mean_first.table(),        mean_middle.table(),      mean_two.table(),
    mean_all.table(),          max_last.table(),         max_first.table(),
    max_middle.table(),        max_two.table(),          max_all.table(),
    max_ties.table(),          max_ties_all.table(),     min_last.table(),
    min_first.table(),         min_middle.table(),       min_two.table(),
    min_all.table(),           variance_last.table(),    variance_first.table(),
    variance_middle.table(),   variance_two.table(),     variance_all.table(),
    variance_unbiased.table(), logsumexp_last.table(),   logsumexp_first.table(),
    logsumexp_middle.table(),  logsumexp_two.table(),    logsumexp_all.table(),
    logsumexp_large.table(),   softmax_last.table(),     softmax_middle.table(),
    softmax_large.table(),     log_softmax_last.table(), log_softmax_middle.table(),
    log_softmax_large.table()};
const program_table without_gradients[] = {argmax_axis1.table(), argmax_axis0.table()};
const program_table linear[] = {
    sum_last.table(),  sum_first.table(),  sum_middle.table(),  sum_two.table(),  sum_all.table(),
    mean_last.table(), mean_first.table(), mean_middle.table(), mean_two.table(), mean_all.table()};

}  // namespace

TEST_CASE("reductions match the golden values") {
  for (const program_table& t : smooth) check_golden(t);
  for (const program_table& t : without_gradients) check_golden(t);
}

TEST_CASE("gradients of reductions match central differences") {
  for (const program_table& t : smooth) check_gradients(t);
}

TEST_CASE("reductions: linear ops and their gradients are adjoint") {
  for (const program_table& t : linear) check_adjoint(t);
}

TEST_CASE("compiled kernels of reductions match the reference") {
  for (const program_table& t : smooth) check_kernels(t);
  for (const program_table& t : without_gradients) check_kernels(t);
}
