// From a program's constexpr tables to its flat graph.
#pragma once
#include <span>

#include "ropewalk/graph/graph.hpp"

namespace ropewalk {

struct program_table;

// Inlines calls and repeats, names parameters by path, derives the gradients' nodes, adds the
// optimizer's updates. Symbolic repeat counts must be bound (error names the dim); other dims stay
// symbolic.
program_graph flatten(const program_table& table, std::span<const dim_binding> bindings = {});

}  // namespace ropewalk
