// From constexpr records to the flat graph: calls inlined, repeats unrolled, parameters named by
// path, the gradients of all parameters gathered. Equal nodes meet in the graph's hash-consing; so
// a forward value that a gradient mentions IS the forward node.
#include "ropewalk/graph/flatten.hpp"

#include <algorithm>
#include <map>
#include <string>

#include "ropewalk/core/program.hpp"
#include "ropewalk/graph/builder.hpp"

namespace ropewalk {
namespace {

using ids = std::vector<int>;

std::string join(const std::string& scope, const std::string& name) {
  if (scope.empty()) return name;
  return name.empty() ? scope : scope + "." + name;
}

// FNV-1a, for ops whose identity includes where they stand.
std::int64_t hash_of(const std::string& s) {
  std::uint64_t h = 1469598103934665603ull;
  for (unsigned char c : s) h = (h ^ c) * 1099511628211ull;
  return static_cast<std::int64_t>(h >> 1);
}

// One activation of a body: its scope and the nodes that stand for its formals.
struct frame {
  std::string scope;
  ids args;
  friend auto operator<=>(const frame&, const frame&) = default;
};

class flattener {
 public:
  flattener(program_graph& out, std::span<const dim_binding> bindings, bool train_mode)
      : out_(out), bindings_(bindings), train_mode_(train_mode) {}

  int enter(frame f) {
    const auto [it, fresh] = frame_index_.try_emplace(f, static_cast<int>(frames_.size()));
    if (fresh) frames_.push_back(std::move(f));
    return it->second;
  }

  // The nodes of all results of a record in a frame.
  const ids& results(const record* r, int f) {
    const std::pair key{r, f};
    if (const auto it = memo_.find(key); it != memo_.end()) return it->second;
    ids v = compute(r, f);
    return memo_.emplace(key, std::move(v)).first->second;
  }
  int value(const record* r, int f) { return results(r, f).front(); }

  // Adds to `total` the gradients of every parameter below a body.
  void gather(const gradient_table& t, int f, std::map<int, ids>& total) {
    for (int i = 0; i < t.n_leaves; ++i)
      total[value(t.leaves[i].param, f)].push_back(value(t.leaves[i].gradient, f));
    for (int i = 0; i < t.n_calls; ++i) gather_call(t.calls[i], f, total);
  }

 private:
  ids compute(const record* r, int f) {
    if (r->op == &formal_info) return {frames_[at(f)].args[at(r->i[0])]};
    if (r->op == &mode_info) return results(r->in[train_mode_ ? 0 : 1], f);
    if (r->op == &effect_info) return effect(r, f);
    if (r->op == &result_info) return {results(r->in[0], f)[at(r->i[0])]};
    if (r->op == &call_info)
      return run_body(*r->bodies[0], enter({join(frames_[at(f)].scope, r->name), inputs(r, f)}));
    if (r->op == &repeat_info) return repeat(r, f);
    if (r->op == &repeat_vjp_info) return {repeat_vjp(r, f)};
    return plain(r, f);
  }

  ids plain(const record* r, int f) {
    graph_node n{.op = r->op, .a = {}, .type = {}, .in = inputs(r, f), .path = {}};
    if (r->a != nullptr) n.a = *r->a;
    std::vector<tensor_type> types;
    for (int i : n.in) types.push_back(out_.g[i].type);
    const auto result = [&](int k) {
      return r->op->result(n.a, types.data(), static_cast<int>(types.size()), k);
    };
    n.type = r->type != nullptr ? *r->type : result(0);
    if (r->op->kind == op_class::leaf && r->op != &constant_info)
      n.path = r->op == &input_info ? r->name : join(frames_[at(f)].scope, r->name);
    if (r->op->wants_scope) n.a.i[5] = hash_of(frames_[at(f)].scope);
    const int id = out_.g.add(n);
    if (r->op->results == 1) return {id};
    ids picks;
    for (int k = 0; k < r->op->results; ++k)
      picks.push_back(out_.g.add(
          {.op = &pick_info, .a = {.i = {k}}, .type = result(k), .in = {id}, .path = {}}));
    return picks;
  }

  ids inputs(const record* r, int f) {
    ids v;
    for (int i = 0; i < r->n_in; ++i) v.push_back(value(r->in[i], f));
    return v;
  }
  ids values(const record* const* r, int n, int f) {
    ids v;
    for (int i = 0; i < n; ++i) v.push_back(value(r[i], f));
    return v;
  }
  ids run_body(const body_record& b, int f) { return values(b.results, b.n_results, f); }

  ids effect(const record* r, int f) {
    const ids v = results(r->in[0], f);
    const int leaf = value(r->in[1], f), next = value(r->in[2], f);
    for (const program_update& u : out_.updates) {
      if (u.leaf != leaf) continue;
      if (u.node != next)
        throw error("flatten", "state " + out_.g[leaf].path, "two different values",
                    "a state is updated once in a program");
      return v;
    }
    out_.updates.push_back({leaf, next});
    return v;
  }

  // The scopes and operands of every layer of a repeat: carried values in front, the rest fixed.
  struct layers {
    long count = 0;
    int blocks = 1;
    std::vector<int> frames;  // of the layers
    ids last;                 // the carried values after the last layer
  };
  layers unroll(const record* r, int f, int blocks, int carried, const ids& operands) {
    layers l{.count = evaluate(*r->count, bindings_) * blocks,
             .blocks = blocks,
             .frames = {},
             .last = {}};
    if (!r->count->fixed() && std::ranges::find(out_.counts, *r->count) == out_.counts.end())
      out_.counts.push_back(*r->count);
    ids args = operands;
    for (long i = 0; i < l.count; ++i) {
      l.frames.push_back(
          enter({join(frames_[at(f)].scope, join(r->name, std::to_string(i))), args}));
      const ids next = run_body(*r->bodies[i % blocks], l.frames.back());
      for (int k = 0; k < carried; ++k) args[at(k)] = next[at(k)];
    }
    l.last.assign(args.begin(), args.begin() + carried);
    return l;
  }

  ids repeat(const record* r, int f) {
    return unroll(r, f, r->n_bodies, r->i[0], inputs(r, f)).last;
  }

  // The frame of a derived body: the layer's operands, then the cotangents of its results.
  int derived_frame(int layer, const ids& cotangents) {
    frame f = frames_[at(layer)];
    f.args.insert(f.args.end(), cotangents.begin(), cotangents.end());
    return enter(std::move(f));
  }

  int repeat_vjp(const record* r, int f) {
    const int n_args = r->i[0], wanted = r->i[1], blocks = r->i[2], carried = r->n_in - n_args;
    const ids all = inputs(r, f);
    const layers l = unroll(r, f, blocks, carried, {all.begin(), all.begin() + n_args});
    ids g(all.begin() + n_args, all.end());
    int total = -1;
    for (long i = l.count; i-- > 0;) {
      const int df = derived_frame(l.frames[static_cast<std::size_t>(i)], g);
      auto vjp = [&](int j) {
        return value(r->bodies[blocks + (i % blocks) * n_args + j]->results[0], df);
      };
      if (wanted >= carried) total = sum(total, vjp(wanted));
      for (int k = 0; k < carried; ++k) g[at(k)] = vjp(k);
    }
    if (wanted < carried) return g[at(wanted)];
    return total;
  }

  int sum(int a, int b);

  void gather_call(const gradient_table::call& c, int f, std::map<int, ids>& total) {
    const record* r = c.site;
    const ids operands = inputs(r, f);
    const int n_cots = r->op == &repeat_vjp_info ? 1 : r->i[0];
    ids g = values(c.cotangents, n_cots, f);
    if (r->op != &repeat_info) {  // a call, or the gradient of a repeat as one call
      const std::string scope = r->op == &call_info ? r->name : "";
      const int inner = enter({join(frames_[at(f)].scope, scope), operands});
      gather(*c.inner[0], derived_frame(inner, g), total);
      return;
    }
    const layers l = unroll(r, f, r->n_bodies, n_cots, operands);
    for (long i = l.count; i-- > 0;) {
      const int df = derived_frame(l.frames[static_cast<std::size_t>(i)], g);
      gather(*c.inner[i % l.blocks], df, total);
      if (i > 0) g = carried_cotangents(c, i % l.blocks, df, n_cots);
    }
  }
  ids carried_cotangents(const gradient_table::call& c, long block, int df, int carried) {
    return values(c.carried[block], carried, df);
  }

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  program_graph& out_;
  std::span<const dim_binding> bindings_;
  bool train_mode_;
  std::vector<frame> frames_;
  std::map<frame, int> frame_index_;
  std::map<std::pair<const record*, int>, ids> memo_;
};

int flattener::sum(int a, int b) {
  if (a < 0) return b;
  return apply<op::add>(out_.g, {{&out_.g, a}, {&out_.g, b}}).id;
}

}  // namespace

program_graph flatten(const program_table& table, std::span<const dim_binding> bindings) {
  program_graph p;
  p.name = table.name;
  flattener fl(p, bindings, table.train_mode);
  const int root = fl.enter({"", {}});
  for (int e = 0; e < table.n_entries; ++e) {
    const program_entry& entry = table.entries[e];
    p.outputs.push_back({entry.name, fl.value(entry.value, root)});
    if (entry.kind == program_entry::kind_t::output) continue;
    std::map<int, ids> gradients;  // parameter -> contributions, in a fixed order
    fl.gather(*entry.gradients, root, gradients);
    std::vector<parameter_gradient> sums;
    for (const auto& [param, parts] : gradients) {
      value g{&p.g, parts.front()};
      for (std::size_t k = 1; k < parts.size(); ++k) g = apply<op::add>(p.g, {g, {&p.g, parts[k]}});
      sums.push_back({{&p.g, param}, g});
    }
    if (entry.kind == program_entry::kind_t::gradients) {
      for (const parameter_gradient& s : sums)
        p.outputs.push_back({"grad." + p.g[s.parameter.id].path, s.gradient.id});
    } else {
      build_updates(p, *table.rule, sums);
    }
  }
  return p;
}

}  // namespace ropewalk
