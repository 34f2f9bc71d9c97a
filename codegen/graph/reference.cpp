// The reference evaluator.
#include <ropewalk/graph/bindings.hpp>
#include <ropewalk/graph/reference.hpp>

namespace ropewalk {
namespace {

std::string printed(const std::vector<std::int64_t>& extent) {
  std::string r = "[";
  for (std::size_t k = 0; k < extent.size(); ++k)
    r += (k > 0 ? ", " : "") + std::to_string(extent[k]);
  return r + "]";
}

std::size_t elements(const std::vector<std::int64_t>& extent) {
  std::size_t n = 1;
  for (const std::int64_t e : extent) n *= static_cast<std::size_t>(e);
  return n;
}

dense zeros(std::vector<std::int64_t> extent) {
  const std::size_t n = elements(extent);
  return {std::move(extent), std::vector<double>(n)};
}

class evaluator {
 public:
  evaluator(const program_graph& p, std::span<const dim_binding> bindings,
            const std::map<std::string, dense>& leaves)
      : g_(p.g), bindings_(bindings), leaves_(leaves), where_("reference of " + p.name) {
    const std::size_t n = static_cast<std::size_t>(g_.size());
    values_.resize(n);
    needed_.assign(n, false);
    picks_.resize(n);
    for (const program_output& o : p.outputs) needed_[static_cast<std::size_t>(o.node)] = true;
    for (const program_update& u : p.updates) needed_[static_cast<std::size_t>(u.node)] = true;
    for (std::size_t id = n; id-- > 0;) {
      const graph_node& x = g_[static_cast<int>(id)];
      if (!needed_[id]) continue;
      for (const int in : x.in) needed_[static_cast<std::size_t>(in)] = true;
      if (x.op == &pick_info) picks_[static_cast<std::size_t>(x.in[0])].push_back(id);
    }
  }

  std::vector<dense> run() {
    for (std::size_t id = 0; id < values_.size(); ++id)
      if (needed_[id]) node(id);
    return std::move(values_);
  }

 private:
  void node(std::size_t id) {
    const graph_node& n = g_[static_cast<int>(id)];
    if (n.op == &pick_info) {
      if (n.a.i[0] == 0) values_[id] = values_[static_cast<std::size_t>(n.in[0])];
      return;  // the others are put here by the node itself
    }
    std::vector<std::int64_t> extent = evaluate(n.type.s, bindings_);
    if (n.op == &constant_info) {
      const std::size_t count = elements(extent);
      values_[id] = {std::move(extent), std::vector<double>(count, n.a.f[0])};
    } else if (n.op->kind == op_class::leaf) {
      leaf(id, n, extent);
    } else {
      apply(id, n, std::move(extent));
    }
  }

  void leaf(std::size_t id, const graph_node& n, const std::vector<std::int64_t>& extent) {
    const auto at = leaves_.find(n.path);
    if (at == leaves_.end())
      throw error(where_, std::string(n.op->name) + " " + n.path, "missing",
                  "needs a value of shape " + printed(extent));
    const dense& x = at->second;
    if (x.extent != extent || x.v.size() != elements(extent))
      throw error(where_, std::string(n.op->name) + " " + n.path,
                  printed(x.extent) + " (" + std::to_string(x.v.size()) + " elements)",
                  "must be " + printed(extent));
    values_[id] = x;
  }

  void apply(std::size_t id, const graph_node& n, std::vector<std::int64_t> extent) {
    const std::string op = "%" + std::to_string(id) + " " + n.op->name;
    if (n.op->reference == nullptr) throw error(where_, op + ": the op has no reference");
    std::vector<dense> out(static_cast<std::size_t>(n.op->results));
    out[0] = zeros(std::move(extent));
    if (n.op->result != nullptr) {
      std::vector<tensor_type> types;
      for (const int k : n.in) types.push_back(g_[k].type);
      for (int k = 1; k < n.op->results; ++k)
        out[static_cast<std::size_t>(k)] = zeros(evaluate(
            n.op->result(n.a, types.data(), static_cast<int>(types.size()), k).s, bindings_));
    }
    for (const std::size_t p : picks_[id]) {
      const graph_node& pick = g_[static_cast<int>(p)];
      out[static_cast<std::size_t>(pick.a.i[0])] = zeros(evaluate(pick.type.s, bindings_));
    }
    std::vector<const dense*> in;
    for (const int k : n.in) in.push_back(&values_[static_cast<std::size_t>(k)]);
    const attrs a = evaluate(n.a, bindings_);
    n.op->reference({a, in, out});
    for (const dense& x : out)
      if (x.v.size() != elements(x.extent) && !x.v.empty())
        throw error(where_, op, std::to_string(x.v.size()) + " elements",
                    "its reference must leave " + printed(x.extent));
    for (const std::size_t p : picks_[id])
      if (const auto k = static_cast<std::size_t>(g_[static_cast<int>(p)].a.i[0]); k != 0)
        values_[p] = out[k];
    values_[id] = std::move(out[0]);
  }

  const graph& g_;
  std::span<const dim_binding> bindings_;
  const std::map<std::string, dense>& leaves_;
  std::string where_;
  std::vector<dense> values_;
  std::vector<bool> needed_;
  std::vector<std::vector<std::size_t>> picks_;  // of each node
};

}  // namespace

std::vector<dense> evaluate_nodes(const program_graph& p, std::span<const dim_binding> bindings,
                                  const std::map<std::string, dense>& leaves) {
  check_bindings(p, bindings);
  for (const auto& [path, value] : leaves) {
    bool known = false;
    for (int id = 0; id < p.g.size() && !known; ++id) known = p.g[id].path == path;
    if (!known) throw error("reference of " + p.name, "leaf " + path + " is not in the program");
  }
  return evaluator(p, bindings, leaves).run();
}

std::map<std::string, dense> evaluate_reference(const program_graph& p,
                                                std::span<const dim_binding> bindings,
                                                const std::map<std::string, dense>& leaves) {
  const std::vector<dense> values = evaluate_nodes(p, bindings, leaves);
  std::map<std::string, dense> r;
  const auto put = [&](const std::string& name, int node) {
    if (!r.emplace(name, values[static_cast<std::size_t>(node)]).second)
      throw error("reference of " + p.name, "result", name, "is an output and an updated leaf");
  };
  for (const program_output& o : p.outputs) put(o.name, o.node);
  for (const program_update& u : p.updates) put(p.g[u.leaf].path, u.node);
  return r;
}

}  // namespace ropewalk
