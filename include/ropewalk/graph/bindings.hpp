// The values of symbolic dims: which a program needs, and whether bindings give them.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ropewalk/graph/graph.hpp"

namespace ropewalk {

// The symbols of a dim, each once, in order of appearance.
std::vector<std::string> symbols(const dim& d);

// The symbols of every shape and option of the program, each once, sorted.
std::vector<std::string> symbols(const program_graph& p);

// evaluate() for what must be a size. Errors: as evaluate(); a value below 1.
std::int64_t evaluate_size(const dim& d, std::span<const dim_binding> bindings);

// The extents of a shape. Errors: as evaluate_size().
std::vector<std::int64_t> evaluate(const shape& s, std::span<const dim_binding> bindings);

// The options with every dim a number.
attrs evaluate(const attrs& a, std::span<const dim_binding> bindings);

// Checks that every symbol of the program has exactly one value, at least 1, that no other name is
// bound, and that every shape comes out in whole numbers of at least 1.
void check_bindings(const program_graph& p, std::span<const dim_binding> bindings);

}  // namespace ropewalk
