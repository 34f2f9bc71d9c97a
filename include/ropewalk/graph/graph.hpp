// The flat graph of a program: one record per distinct node, in topological order.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "ropewalk/graph/op.hpp"

namespace ropewalk {

// The leaves. attrs of a param: see core/init.hpp (how it is initialised); of a constant: f[0].
inline constexpr op_info input_info{.name = "input", .kind = op_class::leaf};
inline constexpr op_info param_info{.name = "param", .kind = op_class::leaf};
inline constexpr op_info state_info{.name = "state", .kind = op_class::leaf};
inline constexpr op_info constant_info{.name = "constant", .kind = op_class::leaf};
inline constexpr op_info pick_info{.name = "pick", .kind = op_class::pick};

struct graph_node {
  const op_info* op = nullptr;
  attrs a;
  tensor_type type;        // of result 0 where there are several; picks carry the others' types
  std::vector<int> in;     // earlier nodes
  std::string path;        // leaves: "h.3.attn.qkv.weight"; empty for constants
};

class graph {
 public:
  // Adds a node, or finds the equal one. Leaves of one path must agree in type (else error).
  int add(const graph_node& n);
  const graph_node& operator[](int id) const { return nodes_[static_cast<std::size_t>(id)]; }
  int size() const { return static_cast<int>(nodes_.size()); }

 private:
  struct less {
    bool operator()(const graph_node& a, const graph_node& b) const;
  };
  std::vector<graph_node> nodes_;
  std::map<graph_node, int, less> index_;
};

// A named result of a program.
struct program_output {
  std::string name;
  int node = -1;
};

// After a run, the leaf (param or state) takes the value of the node.
struct program_update {
  int leaf = -1;
  int node = -1;
};

// What a program lowers to: the graph and what is wanted of it.
struct program_graph {
  std::string name;
  graph g;
  std::vector<program_output> outputs;
  std::vector<program_update> updates;
  std::vector<dim> counts;  // of repeats, symbolic: used by flattening, so bindings may name them
};

// The whole table as text, one node a line: %id = op(%in, ...) : dtype[shape] {options}.
std::string print(const program_graph& p);
// The same for Graphviz.
std::string print_dot(const program_graph& p);
// Checks every invariant (order, arity, types, leaves); throws an error naming stage and node.
void verify(const program_graph& p, const char* stage);

}  // namespace ropewalk
