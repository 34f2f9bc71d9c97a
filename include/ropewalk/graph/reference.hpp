// The reference evaluator: every op in float64, one after the other, nothing fused. The oracle that
// sessions are tested against.
#pragma once
#include <map>
#include <span>
#include <string>

#include "ropewalk/graph/graph.hpp"

namespace ropewalk {

// The outputs of the program by name, and the new values of updated leaves by path. `leaves` gives
// every input, param and state that these need, by path, in their shapes under the bindings.
// A result that no node picks, of an op without shape rule, has no extents and no elements.
// Errors: check_bindings(); a leaf that is missing, of another shape, or not part of the program;
// an output and an updated leaf of one name; an op without reference.
std::map<std::string, dense> evaluate_reference(const program_graph& p,
                                                std::span<const dim_binding> bindings,
                                                const std::map<std::string, dense>& leaves);

// The values of every node, for tests that look inside; empty where nothing above needs them.
std::vector<dense> evaluate_nodes(const program_graph& p, std::span<const dim_binding> bindings,
                                  const std::map<std::string, dense>& leaves);

}  // namespace ropewalk
