// Nodes that are windows on another node's buffer.
#pragma once
#include <vector>

#include <ropewalk/graph/schedule.hpp>

#include "fuse.hpp"

namespace ropewalk {

struct strided {
  bool ok = false;
  int base = -1;       // the node whose buffer is seen
  bool dense = false;  // row-major without gaps
  bool last_contiguous = false;
  view where{};  // buffer unset
};

// Follows view ops down to a leaf, a stored node or a node that computes something. ok: the element
// address is an affine function of the indices.
strided as_strides(const graph& g, int node, const std::vector<char>& stored, dim_table& dims,
                   node_studies& studies);

}  // namespace ropewalk
