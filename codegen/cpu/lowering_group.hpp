// From a group of nodes to the expressions of its kernel.
#pragma once
#include <memory>
#include <vector>

#include "../graph/fuse.hpp"
#include "emit.hpp"

namespace ropewalk {

// A kernel before it is printed: one of `work` and `strips`.
struct lowered_kernel {
  std::unique_ptr<arena> exprs;
  bool by_columns = false;
  kernel_work work;
  column_work strips;
  std::vector<kernel_root>& roots() { return by_columns ? strips.roots : work.roots; }
};

// Where values are: node -> buffer, and a new buffer for partial results.
class buffer_source {
 public:
  virtual ~buffer_source() = default;
  virtual int of(int node) = 0;
  virtual int temporary(dtype type, int elements, int node) = 0;
};

// The kernel of a group, and the second kernels of its blocked reductions (to columns, to scalars).
// `stored[n]`: nodes with buffers.
struct lowered_group {
  lowered_kernel first;
  std::vector<lowered_kernel> second;
};
lowered_group lower_group(const graph& g, const kernel_group& q, const std::vector<char>& stored,
                          buffer_source& buffers, dim_table& dims);

// buffer `to` := buffer `from`, of as many elements.
lowered_kernel lower_copy(dim_table& dims, int elements, int from, int to, dtype from_type,
                          dtype to_type);

}  // namespace ropewalk
