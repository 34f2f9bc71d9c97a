// A session: a program bound to a device, to values of its dims, and to memory; then it runs.
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "ropewalk/graph/graph.hpp"
#include "ropewalk/runtime/device.hpp"
#include "ropewalk/runtime/parameters.hpp"
#include "ropewalk/runtime/tensor.hpp"

namespace ropewalk {

struct schedule;

struct session_options {
  // Parameters and states to share with other sessions; null: a new store with `seed`.
  std::shared_ptr<parameter_store> parameters{};
  std::uint64_t seed = 0;
  // Look for NaN and infinity in the inputs and after every step, and stop at the first one. Memory
  // that no step has written yet holds NaN. Slow.
  bool check = false;
  // Measure the time of every step.
  bool profile = false;
};

// An input or output of a program, its dims numbers.
struct tensor_description {
  std::string name;
  dtype type = dtype::f32;
  std::vector<std::int64_t> extent{};
};

// The part of a session that needs no types: inputs by name, parameters by path. Not for use from
// several threads at once; several sessions may run side by side (see parameter_store).
//
// The environment variable ROPEWALK_PRINT (a list of graph, dot, simplify, schedule, cpp, plan)
// prints these stages to stderr when a session opens.
class session_core {
 public:
  // Binds dims, finds the compiled kernels, allocates; parameters that are new get their values
  // when they are first read (parameter_store). Errors: check_bindings(); verify(); a kernel that
  // this binary lacks (its label, and the remedy); parameters of other sessions that do not fit.
  session_core(const program_graph& program, const device& on,
               std::span<const dim_binding> bindings, const session_options& options = {});
  // The same with a schedule made elsewhere, for tests and tools.
  session_core(const program_graph& program, const schedule& ready, const device& on,
               std::span<const dim_binding> bindings, const session_options& options = {});
  session_core(session_core&&) noexcept;
  session_core& operator=(session_core&&) noexcept;
  ~session_core();

  // What the program reads, in the order in which the model mentions it.
  std::vector<tensor_description> inputs() const;
  // What it gives, in the program's order.
  std::vector<tensor_description> outputs() const;
  // Gives an input its elements: set() copies them, bind() reads the caller's memory at every run
  // until the next set() or bind(). Errors: no such input; another element type or count.
  void set(std::string_view input, const host_data& h);
  void bind(std::string_view input, const host_data& h);

  // Runs every step once. Allocates nothing. Errors: an input without a value; an input that an op
  // uses as indices with one out of range (input, element, value, op, range); with `check`, the
  // first step that made a NaN or an infinity. After an error, outputs, states and parameters may
  // hold values of the broken run.
  void run();

  // An output of the last run. Errors: no such output; no run yet.
  tensor_view get(std::string_view output) const;
  // A parameter or state.
  tensor_view param(std::string_view path) const { return parameters()->at(path); }
  const std::shared_ptr<parameter_store>& parameters() const;

  const std::string& program_name() const;
  std::int64_t value_of(const dim& d) const;  // under the session's bindings
  std::size_t arena_bytes() const;
  std::size_t steps() const;

  // A line per step: device, bytes read and written, floating point operations, what it does; then
  // for each class of kernels the steps, operations and bytes; then the memory.
  //
  // Operations of products and attention only; "-": not counted. A multiplication and an addition
  // are two: a product [M, K] x [K, N] has 2 M N K, attention 2 (Dk + Dv) for each query head, row
  // and key that `causal` and `sliding_window` let it see (its backward 6 Dk + 4 Dv), whatever the
  // values of lengths, documents, masks and `start` (counted as a full cache).
  std::string report() const;
  // A line per step, slowest first: share, mean time, runs, what it does. Error: opened without
  // `profile`.
  std::string profile() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace ropewalk
