// Opening a session: numbers for dims, kernels for steps, memory for buffers.
#include <algorithm>
#include <cstdio>

#include <ropewalk/runtime/registry.hpp>

#include "../graph/stages.hpp"
#include "session_state.hpp"

namespace ropewalk {
namespace {

tensor_ref bound_view(const view& v, std::span<const dim_binding> bindings) {
  tensor_ref t;
  t.type = v.type;
  t.rank = v.rank;
  for (int a = 0; a < v.rank; ++a) {
    t.extent[a] = evaluate(v.extent[a], bindings);
    t.stride[a] = evaluate(v.stride[a], bindings);
  }
  return t;
}

std::size_t bytes_of(const tensor_ref& t) {
  std::size_t n = dtype_size(t.type);
  for (int a = 0; a < t.rank; ++a)
    if (t.stride[a] != 0) n *= static_cast<std::size_t>(t.extent[a]);
  return n;
}

std::size_t offset_bytes(const view& v, std::span<const dim_binding> bindings) {
  return static_cast<std::size_t>(evaluate(v.offset, bindings)) * dtype_size(v.type);
}

std::size_t rounded(std::size_t bytes) {
  return (bytes + arena_alignment - 1) / arena_alignment * arena_alignment;
}

}  // namespace

std::string session_core::state::dims_text() const {
  std::string r;
  for (const dim_binding& b : bindings)
    r += (r.empty() ? "" : ", ") + std::string(b.name.sym) + " = " + std::to_string(b.value);
  return r.empty() ? "no dims" : r;
}

// The plan adds up bytes: all buffers together must be a number of 63 bits.
void session_core::state::check_size(const schedule& s) const {
  std::int64_t total = 0;
  for (const buffer& b : s.buffers) {
    std::int64_t bytes = 0;
    if (__builtin_mul_overflow(evaluate_size(b.elements, bindings),
                               static_cast<std::int64_t>(dtype_size(b.type)), &bytes) ||
        __builtin_add_overflow(total, bytes, &total))
      throw error(where(), "memory", "more than 2^63 bytes", "of dims " + dims_text());
  }
}

void session_core::state::open(const program_graph& p, const schedule& s) {
  pool& threads = on.threads();
  check_size(s);
  // Steps first: their workspaces are part of the plan.
  std::vector<std::size_t> workspace;
  for (const step& x : s.steps) {
    ready_step& r = steps.emplace_back();
    if (x.what == step::kind::generated) {
      r.scratch_bytes = rounded(
          x.scratch_bytes + 8 * static_cast<std::size_t>(evaluate(x.scratch_elements, bindings)));
      workspace.push_back(r.scratch_bytes * static_cast<std::size_t>(threads.threads()));
      continue;
    }
    r.a = evaluate(x.a, bindings);
    for (const view& v : x.in) r.in.push_back(bound_view(v, bindings));
    for (const view& v : x.out) r.out.push_back(bound_view(v, bindings));
    workspace.push_back(x.op->workspace == nullptr
                            ? 0
                            : x.op->workspace({r.a, r.in, r.out, {}, &threads, on.level()}));
  }
  memory_plan = make_plan(s, bindings, workspace);
  if (print_wanted("plan")) std::fputs(print(memory_plan, s).c_str(), stderr);
  arena = allocate(memory_plan.arena_bytes, "arena of program " + name + ", " + dims_text());
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const int b = memory_plan.workspace_block[k];
    if (b < 0) continue;
    std::byte* at = arena.get() + memory_plan.blocks[static_cast<std::size_t>(b)].offset;
    steps[k].scratch = at;
    steps[k].workspace = {at, workspace[k]};
  }
  open_leaves(p, s);
  open_steps(s);
  for (const schedule::result& r : s.outputs) {
    tensor_ref t = bound_view(r.where, bindings);
    const std::size_t offset = offset_bytes(r.where, bindings);
    const auto b = static_cast<std::size_t>(r.where.buffer);
    int from = -1;
    if (base[b] != nullptr)
      t.data = static_cast<std::byte*>(base[b]) + offset;
    else
      from = static_cast<int>(&input(s.buffers[b].path) - inputs.data());
    outputs.emplace_back(r.name, t);
    output_input.push_back(from);
    output_offset.push_back(offset);
  }
}

void session_core::state::open_leaves(const program_graph& p, const schedule& s) {
  std::map<std::string, tensor_ref> leaves;  // params and states; run() draws their values
  for (int id = 0; id < p.g.size(); ++id) {
    const graph_node& n = p.g[id];
    if (n.op->kind != op_class::leaf || n.op == &constant_info) continue;
    const std::vector<std::int64_t> extent = evaluate(n.type.s, bindings);
    if (n.op == &input_info) {
      session_input& x = inputs.emplace_back();
      x.name = n.path;
      x.t = dense_ref(nullptr, n.type.d, extent);
    } else {
      leaves.emplace(n.path, parameters->reserve(n, extent).ref());
    }
  }
  for (const index_bound& b : index_bounds(p)) {
    session_input& x = input(b.input);
    const std::int64_t below = evaluate(b.bound, bindings);
    if (x.below >= 0 && x.below <= below) continue;
    x.below = below;
    x.reader = b.reader;
  }
  for (std::size_t b = 0; b < s.buffers.size(); ++b) {
    const buffer& x = s.buffers[b];
    void* at = nullptr;
    if (x.kind == buffer_kind::input) {
      input(x.path).used = true;
    } else if (x.kind == buffer_kind::temporary) {
      if (const int k = memory_plan.buffer_block[b]; k >= 0)
        at = arena.get() + memory_plan.blocks[static_cast<std::size_t>(k)].offset;
    } else {
      const auto leaf = leaves.find(x.path);
      if (leaf == leaves.end())
        throw error(where(), "buffer of " + x.path, "no leaf", "the program has none of that path");
      const tensor_view t(x.path, leaf->second);
      if (t.type() != x.type || static_cast<std::int64_t>(t.elements()) != memory_plan.elements[b])
        throw error(where(), "buffer of " + x.path, std::to_string(memory_plan.elements[b]),
                    "the leaf is " + type_text(t.ref()));
      at = t.ref().data;
    }
    base.push_back(at);
  }
}

void session_core::state::open_steps(const schedule& s) {
  std::vector<std::string> missing;
  const auto is_input = [&](int b) {
    return s.buffers[static_cast<std::size_t>(b)].kind == buffer_kind::input;
  };
  const auto note_read = [&](ready_step& r, int b) {
    const buffer& x = s.buffers[static_cast<std::size_t>(b)];
    if (!x.path.empty()) r.reads_paths.push_back(x.path);
  };
  std::vector<std::size_t> last_write(s.buffers.size(), 0);
  for (std::size_t k = 0; k < steps.size(); ++k) {
    for (const int b : s.steps[k].writes) last_write[static_cast<std::size_t>(b)] = k;
    for (const view& v : s.steps[k].out)
      if (v.buffer >= 0) last_write[static_cast<std::size_t>(v.buffer)] = k;
  }
  for (std::size_t k = 0; k < steps.size(); ++k) {
    const step& x = s.steps[k];
    ready_step& r = steps[k];
    r.written_nodes = x.nodes;
    if (x.what == step::kind::generated) {
      const generated_kernel& g = s.kernels[static_cast<std::size_t>(x.kernel)];
      r.label = g.label;
      r.run = find_kernel(g.key, on.level());
      if (r.run == nullptr) missing.push_back(g.label);
      for (const dim& d : x.dims) r.dims.push_back(evaluate(d, bindings));
      r.parallel = evaluate(x.parallel, bindings);
      r.grain = evaluate_size(x.grain, bindings);
      r.buffers.resize(x.buffers.size());
      for (std::size_t i = 0; i < x.buffers.size(); ++i) {
        const int b = x.buffers[i];
        const auto at = static_cast<std::size_t>(b);
        r.buffers[i] = base[at];
        if (is_input(b)) input(s.buffers[at].path).places.push_back({&r.buffers[i], 0});
        const std::int64_t extent[] = {memory_plan.elements[at]};
        const tensor_ref t = dense_ref(base[at], s.buffers[at].type, extent);
        if (std::find(x.writes.begin(), x.writes.end(), b) != x.writes.end()) {
          r.bytes_written += bytes_of(t);
          if (s.buffers[at].kind != buffer_kind::temporary || last_write[at] == k)
            r.written.push_back(t);
        } else {
          note_read(r, b);
          r.bytes_read += bytes_of(t);
        }
      }
      continue;
    }
    r.label = x.op->name;
    r.op = x.op;
    const auto address = [&](const view& v, tensor_ref& t) {
      const std::size_t offset = offset_bytes(v, bindings);
      const buffer& b = s.buffers[static_cast<std::size_t>(v.buffer)];
      if (is_input(v.buffer))
        input(b.path).places.push_back({&t.data, offset});
      else
        t.data = static_cast<std::byte*>(base[static_cast<std::size_t>(v.buffer)]) + offset;
    };
    for (std::size_t i = 0; i < x.in.size(); ++i) {
      address(x.in[i], r.in[i]);
      note_read(r, x.in[i].buffer);
      r.bytes_read += bytes_of(r.in[i]);
    }
    for (std::size_t i = 0; i < x.out.size(); ++i) {
      if (x.out[i].buffer < 0) continue;
      address(x.out[i], r.out[i]);
      r.written.push_back(r.out[i]);
      r.bytes_written += bytes_of(r.out[i]);
    }
  }
  if (!missing.empty())
    throw error(
        where(), "kernel", missing[0],
        "is not compiled into this binary for " + std::string(isa_name(on.level())) +
            (missing.size() > 1 ? " (and " + std::to_string(missing.size() - 1) + " more)" : "") +
            ": list the program under PROGRAMS of ropewalk_add_model, bind repeat counts " +
            "that it was built for, and rebuild the model's target");
}

}  // namespace ropewalk
