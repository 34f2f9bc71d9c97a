// Records: the graph that types leave behind. Each expression type has one constexpr record with
// pointers to the records of its inputs; the generator walks them (codegen/graph/flatten.cpp).
#pragma once
#include "ropewalk/graph/op.hpp"

namespace ropewalk {

struct record;

// What a call runs: the records of a module's results in terms of its formals. The formals of
// argument i are records of op `formal` with a.i[0] = i.
struct body_record {
  const char* name;             // of the module, for reports
  const record* const* results;
  int n_results;
};

// Gradients of the parameters below one body, from the cotangents of its results.
struct gradient_table {
  struct leaf {  // a parameter of this body itself
    const record* param;
    const record* gradient;
  };
  struct call {  // a call or repeat that has parameters inside
    const record* site;                  // the call node
    const record* const* cotangents;     // of its results, in this body's terms
    const gradient_table* const* inner;  // one table per block of the pattern
    // repeat: per block, the cotangents of the carried operands, in the derived body's terms
    const record* const* const* carried;
  };
  const leaf* leaves;
  int n_leaves;
  const call* calls;
  int n_calls;
};

// Pointers to the records of a node's inputs: inside the record where they are few, so that most
// nodes are one symbol in the object file.
struct record_inputs {
  static constexpr int most_inside = 6;
  const record* few[most_inside] = {};
  const record* const* many = nullptr;
  constexpr const record* operator[](int i) const { return many != nullptr ? many[i] : few[i]; }
};

struct record {
  const op_info* op = nullptr;
  const attrs* a = nullptr;           // of an op or a leaf; nullptr: all zero
  const tensor_type* type = nullptr;  // of a leaf; an op's follows from its operands' by its rule
  record_inputs in = {};
  int n_in = 0;
  const char* name = "";                       // a leaf's name, a call's scope
  const body_record* const* bodies = nullptr;  // call: 1; repeat: one per block of the pattern;
  int n_bodies = 0;              // adjoint of a repeat: the blocks, then their vjps for each argument
  int i[3] = {};                 // of the ops below
  const dim* count = nullptr;    // repeat: how often the pattern is repeated
};

// Ops that exist in records only.
// formal: i[0] = which argument; call, repeat: i[0] = number of results; result: i[0] = which;
// repeat_vjp: i = number of arguments, the wanted one, number of blocks.
inline constexpr op_info formal_info{.name = "formal", .kind = op_class::structural};
inline constexpr op_info call_info{.name = "call", .kind = op_class::structural};
inline constexpr op_info repeat_info{.name = "repeat", .kind = op_class::structural};
inline constexpr op_info repeat_vjp_info{.name = "repeat_vjp", .kind = op_class::structural};
inline constexpr op_info result_info{.name = "result", .kind = op_class::structural};
inline constexpr op_info effect_info{.name = "effect", .kind = op_class::structural};
inline constexpr op_info mode_info{.name = "mode", .kind = op_class::structural};

}  // namespace ropewalk
