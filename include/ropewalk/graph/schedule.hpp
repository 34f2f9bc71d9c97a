// What the generator makes of a flat graph: buffers, steps in order, and the text of every
// generated kernel. Dims may still be symbolic; a session binds them and places the buffers.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ropewalk/graph/graph.hpp"
#include "ropewalk/runtime/generated.hpp"

namespace ropewalk {

enum class buffer_kind : std::uint8_t { temporary, input, param, state };

struct buffer {
  buffer_kind kind = buffer_kind::temporary;
  dtype type = dtype::f32;
  dim elements;       // dense, row-major in the order the producer writes
  std::string path;   // of a leaf
  int node = -1;      // the graph node whose value it holds
};

// A strided window on a buffer: how a kernel with its own code sees an operand.
struct view {
  int buffer = -1;
  dim offset = 0;     // elements
  dtype type = dtype::f32;
  int rank = 0;
  dim extent[max_rank];
  dim stride[max_rank];  // elements; 0 repeats
};

struct generated_kernel {
  std::string text;         // the C++ body; equal text is the same kernel
  std::uint64_t key = 0;    // hash of the text
  std::string label;        // for reports: the ops it fuses, "layer_norm.mean+sub+..."
};

struct step {
  enum class kind : std::uint8_t { generated, kernel } what = kind::generated;
  std::vector<int> nodes;           // graph nodes whose values it writes, one per output
  // generated:
  int kernel = -1;                  // into schedule::kernels
  std::vector<int> buffers;         // operands, in the order the text expects
  std::vector<int> writes;          // those of `buffers` that are written
  std::vector<dim> dims;            // values that the text reads as dims[k]
  dim parallel = 1, grain = 1;
  std::size_t scratch_bytes = 0;    // per worker; fixed part
  dim scratch_elements = 0;         // plus this many elements of 8 bytes
  // kernel:
  const op_info* op = nullptr;
  attrs a;
  std::vector<view> in, out;
};

struct schedule {
  std::vector<buffer> buffers;
  std::vector<step> steps;
  std::vector<generated_kernel> kernels;
  // Where each output of the program lies when the steps have run.
  struct result {
    std::string name;
    tensor_type type;
    view where;
  };
  std::vector<result> outputs;
};

// simplify -> fuse -> order -> emit. Deterministic: equal graphs give equal schedules and texts.
schedule make_schedule(const program_graph& p);
std::string print(const schedule& s);

// Rewrites with equal values: folds constants, drops x*1, x+0, casts to the same type, merges
// reshapes and permutes, moves a permute of an operand into a matmul's flags, drops dead nodes.
program_graph simplify(const program_graph& p);

// The text of a C++ source file that defines these kernels in the namespace given by the macro
// ROPEWALK_ISA_NAMESPACE and registers them; compiled once per instruction set.
std::string kernel_source(const std::vector<generated_kernel>& kernels);

}  // namespace ropewalk
