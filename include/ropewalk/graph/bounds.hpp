// Which integer inputs of a program are used as indices as they are, and below what they must stay.
#pragma once
#include <string>
#include <vector>

#include "ropewalk/graph/graph.hpp"

namespace ropewalk {

struct index_bound {
  std::string input;   // path of the input
  dim bound;           // 0 <= every element < bound
  std::string reader;  // the op that reads there, for messages
};

// Found by following the lowerings of pull ops: a load at an index that is an element of an integer
// input, perhaps moved or cast on the way, also where the op itself reads only below the bound
// (others are a mistake then, but safe). A load under another condition (a label that is not the
// ignored one, say), or at an index that an op computes (clamps, say), is the op's own business.
std::vector<index_bound> index_bounds(const program_graph& p);

}  // namespace ropewalk
