// What a session holds: shared by the parts of its implementation.
#pragma once
#include <map>
#include <string>
#include <vector>

#include <ropewalk/graph/bindings.hpp>
#include <ropewalk/graph/bounds.hpp>
#include <ropewalk/graph/plan.hpp>
#include <ropewalk/runtime/cpu_kernels.hpp>
#include <ropewalk/runtime/session.hpp>

#include "memory.hpp"

namespace ropewalk {

// A step with every number and address filled in.
struct ready_step {
  std::string label;
  // generated
  generated_fn run = nullptr;
  std::vector<void*> buffers;
  std::vector<std::int64_t> dims;
  std::int64_t parallel = 0, grain = 1;
  std::byte* scratch = nullptr;
  std::size_t scratch_bytes = 0;  // per worker
  // kernel
  const op_info* op = nullptr;
  attrs a;
  std::vector<tensor_ref> in, out;
  std::span<std::byte> workspace;

  // For check: what it finishes (a temporary that a later step writes too may have gaps).
  std::vector<tensor_ref> written;
  std::vector<int> written_nodes;
  std::vector<std::string> reads_paths;  // leaves it reads, for messages
  std::size_t bytes_read = 0, bytes_written = 0;
  std::int64_t nanoseconds = 0, runs = 0;
};

struct session_input {
  std::string name;
  tensor_ref t;
  memory own;  // made by the first set()
  bool given = false, used = false;
  // The operands that read it; their addresses follow bind().
  struct place {
    void** at;
    std::size_t offset;  // bytes
  };
  std::vector<place> places;
  std::int64_t below = -1;  // index inputs: exclusive bound; -1: none
  std::string reader;
};

struct session_core::state {
  state(std::string program, const device& d, const session_options& o)
      : name(std::move(program)), on(d), options(o) {}

  std::string name;  // of the program
  device on;
  std::vector<dim_binding> bindings;
  session_options options;
  std::shared_ptr<parameter_store> parameters;
  plan memory_plan;
  memory arena;
  std::vector<void*> base;  // of every buffer; null for inputs
  std::vector<session_input> inputs;
  std::vector<ready_step> steps;
  std::vector<std::pair<std::string, tensor_ref>> outputs;
  // Of an output that lies in an input's memory: the input; -1: in the session's own.
  std::vector<int> output_input;
  std::vector<std::size_t> output_offset;
  bool has_run = false;

  std::string where() const { return "program " + name; }
  std::string dims_text() const;  // "B = 8, T = 128", for messages about memory
  session_input& input(std::string_view name);
  // codegen/runtime/session_open.cpp
  void open(const program_graph& p, const schedule& s);
  void check_size(const schedule& s) const;
  void open_leaves(const program_graph& p, const schedule& s);
  void open_steps(const schedule& s);
  // codegen/runtime/session_check.cpp
  void check_indices(const session_input& x) const;
  void check_input(const session_input& x) const;
  void check_step(std::size_t k) const;
};

}  // namespace ropewalk
