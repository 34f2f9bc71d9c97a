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
  // Look for NaN and infinity in the inputs and after every step, and stop at the first one; refuse
  // indices that an op would ignore as out of range. Memory that no step has written yet holds NaN.
  // Slow.
  bool check = false;
  // Measure the time of every step.
  bool profile = false;
};

// The part of a session that needs no types: inputs by name, parameters by path. Not for use from
// several threads at once; several sessions may run side by side (see parameter_store).
//
// The environment variable ROPEWALK_PRINT (a list of graph, dot, simplify, schedule, cpp, plan)
// prints these stages to stderr when a session opens.
class session_core {
 public:
  // Binds dims, finds the compiled kernels, allocates, and initialises parameters that are new.
  // Errors: check_bindings(); verify(); a kernel that this binary lacks (its label, and the
  // remedy); parameters of other sessions that do not fit.
  session_core(const program_graph& program, const device& on,
               std::span<const dim_binding> bindings, const session_options& options = {});
  // The same with a schedule made elsewhere, for tests and tools.
  session_core(const program_graph& program, const schedule& ready, const device& on,
               std::span<const dim_binding> bindings, const session_options& options = {});
  session_core(session_core&&) noexcept;
  session_core& operator=(session_core&&) noexcept;
  ~session_core();

  // Gives an input its elements: set() copies them, bind() reads the caller's memory at every run
  // until the next set() or bind(). Errors: no such input; another element type or count.
  void set(std::string_view input, const host_data& h);
  void bind(std::string_view input, const host_data& h);

  // Runs every step once. Allocates nothing. Errors: an input without a value; an index input out
  // of range (input, position, value); with `check`, the first step that made a NaN or an infinity.
  // After an error, outputs, states and parameters may hold values of the broken run.
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

  // A line per step: device, what it does, bytes read and written; then the memory.
  std::string report() const;
  // A line per step, slowest first: share, mean time, runs, what it does. Error: opened without
  // `profile`.
  std::string profile() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace ropewalk
