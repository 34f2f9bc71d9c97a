// The generator as a program: what ropewalk_add_model builds from a model header and runs.
#pragma once
#include <span>
#include <type_traits>
#include <vector>

#include "ropewalk/graph/flatten.hpp"

namespace ropewalk {

struct build_options {
  std::vector<dim_binding> bindings;  // of symbolic repeat counts
};

// A program to generate kernels for.
struct model_program {
  const char* name;
  program_graph (*build)(const build_options&);
};

// Of a program of a model header, or of a function that makes its graph.
template <auto Program>
model_program model_program_of(const char* name) {
  if constexpr (std::is_pointer_v<decltype(Program)>) {
    return {name, Program};
  } else {
    return {name, [](const build_options& o) { return flatten(Program.table(), o.bindings); }};
  }
}

// Writes the sources of every kernel that the programs need, each kernel once:
//   generator --out DIR --files N [--count L=4,M=2]...
// DIR/kernels_0.cpp ... DIR/kernels_{N-1}.cpp, touched only where their text changes; every program
// is built once for every --count. Returns 0; on any error prints it to stderr and returns 2.
int generate_main(int argc, char** argv, std::span<const model_program> programs);

}  // namespace ropewalk
