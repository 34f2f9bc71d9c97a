// Which nodes get buffers, and which of them are computed by one kernel.
#pragma once
#include <string>
#include <unordered_map>
#include <vector>

#include <ropewalk/graph/graph.hpp>

#include "../cpu/lowering_dims.hpp"

namespace ropewalk {

// What a node is within the rows x columns of its kernel.
enum class kernel_role : std::uint8_t {
  full,    // one element per row and column
  row,     // one per row: reduced over columns
  column,  // one per column: reduced over rows
  scalar,  // one: reduced over both, or over rows of row values
};

enum class kernel_form : std::uint8_t {
  rows,     // every row on its own: elementwise work and reductions over columns
  blocks,   // rows in a fixed number of blocks: also reductions over rows, in two stages
  columns,  // out[a, c] = reduction over b of a [outer, reduced, columns] space
};

struct kernel_group {
  kernel_form form = kernel_form::rows;
  std::vector<int> nodes;  // that it stores, in topological order
  std::vector<kernel_role> roles;
  // The space; rows = elements and columns = 1 while every node is elementwise (`flat`).
  int rows = -1, columns = -1, outer = -1;
  bool flat = true;
};

struct fusion {
  std::vector<char> stored;  // nodes with a buffer of their own
  std::vector<int> group;    // node -> group, -1
  std::vector<kernel_group> groups;
};

// What an op does with an input, found by lowering it.
enum class access : std::uint8_t { pointwise, reshape, reduced, other };
struct node_facts {
  std::vector<access> input;  // by position; the least tame where an input is read twice
  std::vector<int> loads;     // how many elements of the input one element of the result reads
  bool reduces = false, view = false, transcendental = false;
  int flops = 0;
  // A reduction's space, [outer, reduced or rows, columns]; role full: of no known pattern.
  kernel_role role = kernel_role::full;
  int outer = -1, rows = -1, columns = -1;
  bool split = false;     // reduces between kept axes
  bool partial = false;   // may be computed in two stages: one sum, max or min
  int same_as = -1;       // the position of an input that has the same type and elements
  bool constant = false;  // every element is the number `value`
  double value = 0;
};
node_facts study(const graph& g, int node, dim_table& dims);

// The facts of every kind of node, studied once.
class node_studies {
 public:
  node_studies(const graph& g, dim_table& dims) : g_(g), dims_(dims) {}
  const node_facts& of(int node);
  bool is_view(int node) {
    return g_[node].op->kind == op_class::pull && g_[node].in.size() == 1 && of(node).view;
  }

 private:
  const graph& g_;
  dim_table& dims_;
  std::unordered_map<std::string, node_facts> known_;
};

fusion fuse(const program_graph& p, dim_table& dims, node_studies& studies);

}  // namespace ropewalk
