// Gradients of attention's gradients: they come from the composition of primitive ops.
#include <doctest/doctest.h>

#include "attention_second_programs.hpp"
#include "check.hpp"

using namespace cases;

namespace {

const values for_structure = {
    {"documents", {{3}, {0, 3, 5}}}, {"start", {{1}, {1}}}, {"rng", {{2}, {5, 9}}}};
const values for_everything = {{"lengths", {{1}, {5}}},
                               {"documents", {{3}, {0, 2, 6}}},
                               {"start", {{1}, {1}}},
                               {"rng", {{2}, {5, 9}}}};

}  // namespace

TEST_CASE("gradients of attention's gradients match central differences") {
  check_gradients(attention_second.table());
  check_gradients(attention_second_structure.table(), {}, for_structure);
  check_gradients(attention_everything_twice.table(), {}, for_everything);
}

TEST_CASE("compiled kernels of attention's second gradients match the reference") {
  check_kernels(attention_second.table());
  check_kernels(attention_second_structure.table(), {}, for_structure);
  check_kernels(attention_everything_twice.table(), {}, for_everything);
}
