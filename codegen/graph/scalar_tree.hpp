// One op's scalar expression as plain data, for the passes that only look at it (the verifier, the
// bounds of gathers). Nodes refer to earlier nodes.
#pragma once
#include <string>
#include <vector>

#include <ropewalk/graph/graph.hpp>
#include <ropewalk/graph/lowering.hpp>

namespace ropewalk {

struct scalar_node {
  scalar_op op = scalar_op::constant;
  dtype type = dtype::f32;
  int input = -1;                   // load
  dim extent{};                     // extent: its value; index: counts up to it
  reduction kind = reduction::sum;  // reduce: args = {body}, over `extents`
  std::vector<dim> extents{};
  std::vector<int> args{};  // load: the indices
};

// Runs `lower` of a pull node. Errors, under `where`: an input or axis that is not there, a wrong
// number of indices.
class scalar_tree final : public lowering {
 public:
  scalar_tree(const graph& g, int id, std::string where)
      : g_(g), n_(g[id]), where_(std::move(where)) {
    root_ = n_.op->lower(*this).id;
  }
  int root() const { return root_; }
  int size() const { return static_cast<int>(nodes_.size()); }
  const scalar_node& operator[](int i) const { return nodes_[static_cast<std::size_t>(i)]; }

  const attrs& options() const override { return n_.a; }
  const tensor_type& type() const override { return n_.type; }
  const tensor_type& type(int input) const override {
    check_input(input);
    return g_[n_.in[static_cast<std::size_t>(input)]].type;
  }
  int inputs() const override { return static_cast<int>(n_.in.size()); }

  scalar index(int axis) override {
    if (axis < 0 || axis >= n_.type.s.rank) fail("axis", axis, n_.type.s.rank, "the result's rank");
    return put({.op = scalar_op::index, .type = dtype::i32, .extent = n_.type.s[axis]});
  }
  scalar extent(const dim& d) override {
    return put({.op = scalar_op::extent, .type = dtype::i32, .extent = d});
  }
  scalar number(double, dtype d) override { return put({.type = d}); }
  scalar in(int input, std::span<const scalar> at) override {
    const tensor_type& t = type(input);
    if (static_cast<int>(at.size()) != t.s.rank)
      throw error(where_, "indices of input " + std::to_string(input), std::to_string(at.size()),
                  "must be its rank, " + std::to_string(t.s.rank));
    return put({.op = scalar_op::load, .type = t.d, .input = input, .args = ids(at)});
  }
  scalar reduce(reduction kind, std::span<const dim> extents, const body& f) override {
    std::vector<scalar> at;
    for (const dim& d : extents)
      at.push_back(put({.op = scalar_op::index, .type = dtype::i32, .extent = d}));
    const scalar x = f(at);
    return put({.op = scalar_op::reduce,
                .type = kind == reduction::argmax ? dtype::i32 : type_of(x),
                .kind = kind,
                .extents = {extents.begin(), extents.end()},
                .args = {x.id}});
  }
  scalar apply(scalar_op op, std::span<const scalar> args) override {
    dtype d = args.empty() ? dtype::f32 : type_of(args[0]);
    if (op == scalar_op::select) d = type_of(args[1]);
    if (op >= scalar_op::eq && op <= scalar_op::logical_not) d = dtype::boolean;
    if (op == scalar_op::random) d = dtype::f32;
    return put({.op = op, .type = d, .args = ids(args)});
  }
  scalar cast(scalar x, dtype d) override {
    return put({.op = scalar_op::cast, .type = d, .args = {x.id}});
  }
  dtype type_of(scalar x) const override { return (*this)[x.id].type; }

 private:
  scalar put(scalar_node n) {
    nodes_.push_back(std::move(n));
    return {this, static_cast<int>(nodes_.size()) - 1};
  }
  static std::vector<int> ids(std::span<const scalar> s) {
    std::vector<int> r;
    for (const scalar& x : s) r.push_back(x.id);
    return r;
  }
  void check_input(int input) const {
    if (input < 0 || input >= inputs()) fail("input", input, inputs(), "its inputs");
  }
  [[noreturn]] void fail(const char* field, int value, int bound, const char* of) const {
    throw error(where_, field, std::to_string(value),
                std::string("is not one of ") + of + " (" + std::to_string(bound) + ")");
  }

  const graph& g_;
  const graph_node& n_;
  std::string where_;
  std::vector<scalar_node> nodes_;
  int root_ = -1;
};

// Calls f(node) for every load that happens whatever the data: not those in branches of a select.
template <class F>
void for_each_certain_load(const scalar_tree& t, F f) {
  std::vector<int> open{t.root()};
  std::vector<bool> seen(static_cast<std::size_t>(t.size()), false);
  while (!open.empty()) {
    const int id = open.back();
    open.pop_back();
    if (seen[static_cast<std::size_t>(id)]) continue;
    seen[static_cast<std::size_t>(id)] = true;
    const scalar_node& n = t[id];
    if (n.op == scalar_op::load) f(n);
    if (n.op == scalar_op::select)
      open.push_back(n.args[0]);
    else
      open.insert(open.end(), n.args.begin(), n.args.end());
  }
}

}  // namespace ropewalk
