// Runs graphs through the generator: schedule, compile with the system's compiler, execute, and
// compare with the reference evaluator.
#pragma once
#include <map>
#include <string>
#include <vector>

#include <ropewalk/graph/bindings.hpp>
#include <ropewalk/graph/builder.hpp>
#include <ropewalk/graph/reference.hpp>
#include <ropewalk/graph/schedule.hpp>

namespace ropewalk::test {

struct graph_case {
  std::string name;
  program_graph p;
  std::vector<dim_binding> bindings;
  std::map<std::string, dense> leaves;  // filled with random values where missing
};

// Compiles the kernels of all cases at once, runs every case with three ways to cut the parallel
// work, and checks that all agree bit by bit and with the reference within tolerance.
void check_cases(std::vector<graph_case>& cases, double tolerance = 2e-5);

// Whether a step of a schedule has a kernel whose text contains `part`.
bool text_contains(const schedule& s, const std::string& part);

}  // namespace ropewalk::test
