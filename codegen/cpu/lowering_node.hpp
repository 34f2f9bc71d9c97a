// Graph nodes as expressions of an arena: every input is either loaded from a buffer or lowered in
// its place.
#pragma once
#include <array>
#include <map>
#include <vector>

#include <ropewalk/graph/graph.hpp>

#include "lowering_arena.hpp"

namespace ropewalk {

// The two loops of a kernel: rows and columns. A reduction over as many elements as a kernel has
// columns (rows) runs over the kernel's own column (row) variable, so that reductions and
// elementwise work share their passes.
struct iteration_space {
  int rows = -1, columns = -1;  // dims
  int row = -1, column = -1;    // index expressions (of variables, perhaps split)
  std::vector<int> row_vars, column_vars, outer_vars;
  bool reduce_rows = false;  // reductions over rows may be bound to the row variable
};

// Which nodes are loaded: their operand numbers; -1 for those that are lowered in place.
class operand_source {
 public:
  virtual ~operand_source() = default;
  virtual int operand(int node) = 0;
};
// A few nodes, in order.
class listed_operands final : public operand_source {
 public:
  explicit listed_operands(std::vector<int> nodes) : nodes_(std::move(nodes)) {}
  int operand(int node) override {
    for (std::size_t k = 0; k < nodes_.size(); ++k)
      if (nodes_[k] == node) return static_cast<int>(k);
    return -1;
  }

 private:
  std::vector<int> nodes_;
};

// Lowers nodes at given index expressions.
class node_lowerer {
 public:
  node_lowerer(const graph& g, arena& a, operand_source& operands)
      : g_(g), a_(a), operands_(operands) {}
  void set_space(const iteration_space* s) { space_ = s; }

  // Element `at` of node n. lower_root lowers n itself even where it has an operand.
  int value(int n, const std::vector<int>& at);
  int lower_root(int n, const std::vector<int>& at);

  // Row-major position of an element of a shape, and an element taken apart again.
  int linear(const shape& s, const std::vector<int>& at);
  std::vector<int> element(const shape& s, int position) { return element(s, 0, s.rank, position); }
  std::vector<int> element(const shape& s, int from, int to, int position);

  const graph& nodes() const { return g_; }
  arena& exprs() { return a_; }
  const iteration_space* space() const { return space_; }

 private:
  const graph& g_;
  arena& a_;
  operand_source& operands_;
  const iteration_space* space_ = nullptr;
  std::map<std::pair<int, std::vector<int>>, int> done_;
};

}  // namespace ropewalk
