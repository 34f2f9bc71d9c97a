// A session in use: inputs, runs, outputs.
#include <algorithm>
#include <chrono>
#include <cstring>

#include <ropewalk/graph/schedule.hpp>

#include "../graph/stages.hpp"
#include "session_state.hpp"

namespace ropewalk {
namespace {

using steady = std::chrono::steady_clock;

void run_step(ready_step& s, pool& threads, isa level) {
  if (s.op != nullptr) return s.op->kernel({s.a, s.in, s.out, s.workspace, &threads, level});
  const std::int64_t tasks = (s.parallel + s.grain - 1) / s.grain;
  threads.run(static_cast<long>(tasks), [&](long task, int worker) {
    const std::int64_t begin = task * s.grain;
    s.run({s.buffers.data(), s.dims.data(), begin, std::min(begin + s.grain, s.parallel),
           s.scratch + static_cast<std::size_t>(worker) * s.scratch_bytes});
  });
}

void move_to(session_input& x, void* data) {
  x.t.data = data;
  x.given = true;
  for (const session_input::place& p : x.places) *p.at = static_cast<std::byte*>(data) + p.offset;
}

}  // namespace

session_input& session_core::state::input(std::string_view wanted) {
  std::string known;
  for (session_input& x : inputs) {
    if (x.name == wanted) return x;
    known += (known.empty() ? "" : ", ") + x.name;
  }
  throw error(where(), "input", std::string(wanted),
              known.empty() ? "the program has none" : "the program's inputs are " + known);
}

session_core::session_core(const program_graph& program, const device& on,
                           std::span<const dim_binding> bindings, const session_options& options)
    : session_core(program, schedule_stages(program), on, bindings, options) {}

session_core::session_core(const program_graph& program, const schedule& ready, const device& on,
                           std::span<const dim_binding> bindings, const session_options& options)
    : state_(std::make_unique<state>(program.name, on, options)) {
  check_bindings(program, bindings);
  state_->bindings.assign(bindings.begin(), bindings.end());
  state_->parameters = options.parameters != nullptr
                           ? options.parameters
                           : std::make_shared<parameter_store>(options.seed);
  state_->open(program, ready);
}

session_core::session_core(session_core&&) noexcept = default;
session_core& session_core::operator=(session_core&&) noexcept = default;
session_core::~session_core() = default;

void session_core::set(std::string_view name, const host_data& h) {
  session_input& x = state_->input(name);
  tensor_view t(x.name, x.t);
  if (x.own == nullptr)
    x.own = allocate(dense_bytes(x.t), "input " + x.name + ", " + type_text(x.t));
  tensor_ref own = x.t;
  own.data = x.own.get();
  tensor_view(x.name, own).assign(h);
  move_to(x, own.data);
}

void session_core::bind(std::string_view name, const host_data& h) {
  session_input& x = state_->input(name);
  const std::size_t n = tensor_view(x.name, x.t).elements();
  if (h.type != x.t.type)
    throw error(x.name, "element type", dtype_name(h.type), "is " + type_text(x.t));
  if (h.count != n)
    throw error(x.name, "elements", std::to_string(h.count),
                "must be " + std::to_string(n) + ", of " + type_text(x.t));
  move_to(x, const_cast<void*>(h.data));  // inputs are only read: the planner refuses writes
}

void session_core::run() {
  state& s = *state_;
  for (const session_input& x : s.inputs) {
    if (x.used && !x.given)
      throw error(s.where(), "input " + x.name, "missing",
                  "set or bind it before run(): " + type_text(x.t));
    if (x.given) s.check_indices(x);
    if (x.given && s.options.check) s.check_input(x);
  }
  if (s.options.check) std::memset(s.arena.get(), 0xff, s.memory_plan.arena_bytes);
  pool& threads = s.on.threads();
  const isa level = s.on.level();
  s.parameters->draw(threads);
  s.has_run = true;
  for (std::size_t k = 0; k < s.steps.size(); ++k) {
    ready_step& x = s.steps[k];
    const steady::time_point begin = s.options.profile ? steady::now() : steady::time_point();
    run_step(x, threads, level);
    if (s.options.profile) {
      x.nanoseconds +=
          std::chrono::duration_cast<std::chrono::nanoseconds>(steady::now() - begin).count();
      ++x.runs;
    }
    if (s.options.check) s.check_step(k);
  }
}

tensor_view session_core::get(std::string_view output) const {
  const state& s = *state_;
  std::string known;
  for (std::size_t k = 0; k < s.outputs.size(); ++k) {
    const auto& [name, where] = s.outputs[k];
    known += (known.empty() ? "" : ", ") + name;
    if (name != output) continue;
    if (!s.has_run) throw error(s.where(), "output " + name, "missing", "run() comes first");
    tensor_ref t = where;
    if (const int from = s.output_input[k]; from >= 0)
      t.data = static_cast<std::byte*>(s.inputs[static_cast<std::size_t>(from)].t.data) +
               s.output_offset[k];
    return {name, t};
  }
  throw error(s.where(), "output", std::string(output),
              known.empty() ? "the program has none" : "the program's outputs are " + known);
}

const std::shared_ptr<parameter_store>& session_core::parameters() const {
  return state_->parameters;
}
std::vector<tensor_description> session_core::inputs() const {
  std::vector<tensor_description> r;
  for (const session_input& x : state_->inputs)
    r.push_back({x.name, x.t.type, {x.t.extent, x.t.extent + x.t.rank}});
  return r;
}
std::vector<tensor_description> session_core::outputs() const {
  std::vector<tensor_description> r;
  for (const auto& [name, t] : state_->outputs)
    r.push_back({name, t.type, {t.extent, t.extent + t.rank}});
  return r;
}

const std::string& session_core::program_name() const { return state_->name; }
std::int64_t session_core::value_of(const dim& d) const { return evaluate(d, state_->bindings); }
std::size_t session_core::arena_bytes() const { return state_->memory_plan.arena_bytes; }
std::size_t session_core::steps() const { return state_->steps.size(); }

}  // namespace ropewalk
