// What the library knows of an op once types are left behind: the record that an op's header fills
// in, shared by the graph, the generator, the reference evaluator and the runtime.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ropewalk/core/shape.hpp"

namespace ropewalk {

// The options of one node: what they mean is said in the op's own header.
struct attrs {
  std::int64_t i[6] = {};
  double f[3] = {};
  dim d[6] = {};
  friend constexpr bool operator==(const attrs&, const attrs&) = default;
};

enum class op_class : std::uint8_t {
  leaf,        // input, param, state, constant
  pull,        // out[i] is a scalar expression of elements of the inputs: `lower` says which
  kernel,      // has a kernel of its own: `kernel` runs it
  pick,        // result a.i[0] of a node with several results
  structural,  // call, repeat, alias, ...: gone once the graph is flat
};

class lowering;
struct scalar;

// A tensor of the reference evaluator: row-major doubles (integers and bools exactly).
struct dense {
  std::vector<std::int64_t> extent;
  std::vector<double> v;
};

struct reference_call {
  const attrs& a;
  std::span<const dense* const> in;
  std::span<dense> out;  // extents set, values zero
};

// A tensor in memory as a kernel sees it. Strides count elements; 0 repeats.
struct tensor_ref {
  void* data = nullptr;
  dtype type = dtype::f32;
  int rank = 0;
  std::int64_t extent[max_rank] = {};
  std::int64_t stride[max_rank] = {};
};

class pool;
enum class isa : int;

struct kernel_call {
  const attrs& a;
  std::span<const tensor_ref> in;
  std::span<const tensor_ref> out;
  std::span<std::byte> workspace;
  pool* threads;
  isa level;
};

struct op_info {
  const char* name;
  op_class kind;
  int results = 1;
  // pull: the scalar expression of one element of the result.
  scalar (*lower)(lowering&) = nullptr;
  // The oracle: float64, scalar, obvious.
  void (*reference)(const reference_call&) = nullptr;
  // kernel: runs it on the CPU; `workspace` gives the scratch bytes it needs (data pointers unset).
  void (*kernel)(const kernel_call&) = nullptr;
  std::size_t (*workspace)(const kernel_call&) = nullptr;
  // kernel: the floating point operations of a run, from extents. A product and a sum are two; what
  // is computed twice to save memory counts once. nullptr: not counted.
  double (*flops)(const kernel_call&) = nullptr;
  // kernel: whether inputs may have any strides with a contiguous last axis (else: dense row-major).
  bool strided_inputs = false;
  // The type of result k from the operands' types: the shape rule.
  tensor_type (*result)(const attrs&, const tensor_type* in, int n, int k) = nullptr;
  // kernel: a.i[wanted_results] has bit k where result k is wanted. The pass `simplify` clears the
  // bits of results that nothing reads; `result` then gives them one element. -1: all are made.
  int wanted_results = -1;
  // Whether the node's identity includes where it stands (dropout): i[5] is a hash of its scope.
  bool wants_scope = false;
};

}  // namespace ropewalk
