// + - * /: golden values, gradients, adjoints, compiled kernels.
#include <doctest/doctest.h>

#include "arithmetic_programs.hpp"
#include "check.hpp"

using namespace cases;

namespace {

const program_table smooth[] = {
    add_same.table(),      add_scalar.table(), add_scalar_left.table(), add_lead.table(),
    add_lead_ones.table(), add_middle.table(), add_last.table(),        add_both.table(),
    sub_same.table(),      sub_scalar.table(), sub_scalar_left.table(), sub_lead.table(),
    sub_lead_ones.table(), sub_middle.table(), sub_last.table(),        sub_both.table(),
    mul_same.table(),      mul_scalar.table(), mul_scalar_left.table(), mul_lead.table(),
    mul_lead_ones.table(), mul_middle.table(), mul_last.table(),        mul_both.table()};
// Of positive numbers only.
const program_table positive[] = {div_same.table(), div_scalar.table(),    div_scalar_left.table(),
                                  div_lead.table(), div_lead_ones.table(), div_middle.table(),
                                  div_last.table(), div_both.table()};
const program_table linear[] = {
    add_same.table(),      add_scalar.table(), add_scalar_left.table(), add_lead.table(),
    add_lead_ones.table(), add_middle.table(), add_last.table(),        add_both.table(),
    sub_same.table(),      sub_scalar.table(), sub_scalar_left.table(), sub_lead.table(),
    sub_lead_ones.table(), sub_middle.table(), sub_last.table(),        sub_both.table()};

}  // namespace

TEST_CASE("+ - * / match the golden values") {
  for (const program_table& t : smooth) check_golden(t);
  for (const program_table& t : positive) check_golden(t);
}

TEST_CASE("gradients of + - * / match central differences") {
  for (const program_table& t : smooth) check_gradients(t);
  for (const program_table& t : positive) check_gradients(t, {0.4, 2});
}

TEST_CASE("+ - * /: linear ops and their gradients are adjoint") {
  for (const program_table& t : linear) check_adjoint(t);
}

TEST_CASE("compiled kernels of + - * / match the reference") {
  for (const program_table& t : smooth) check_kernels(t);
  for (const program_table& t : positive) check_kernels(t, {0.4, 2});
}
