// A schedule without the generator: every node a step with a kernel of its own, run by the op's
// reference.
#pragma once
#include <ropewalk/graph/schedule.hpp>
#include <ropewalk/runtime/session.hpp>

#include "build.hpp"

namespace testing {

struct fill_family {
  static constexpr const char* name = "fill";
  static void reference(const reference_call& c) {
    for (double& v : c.out[0].v) v = c.a.f[0];
  }
};
struct copy_family {
  static constexpr const char* name = "copy";
  static void reference(const reference_call& c) { c.out[0].v = c.in[0]->v; }
};

inline view whole(const graph_node& n, int buffer) {
  view v;
  v.buffer = buffer;
  v.type = n.type.d;
  v.rank = n.type.s.rank;
  dim next = 1;
  for (int a = v.rank; a-- > 0;) {
    v.extent[a] = n.type.s[a];
    v.stride[a] = next;
    next = next * n.type.s[a];
  }
  return v;
}

inline schedule naive_schedule(const builder& b) {
  const graph& g = b.p.g;
  schedule s;
  const auto at = [&](int id) { return whole(g[id], id); };
  const auto put = [&](const op_info* op, const attrs& a, std::vector<view> in, view out, int id) {
    step x;
    x.what = step::kind::kernel;
    x.nodes = {id};
    x.op = op;
    x.a = a;
    x.in = std::move(in);
    x.out = {out};
    s.steps.push_back(x);
  };
  for (int id = 0; id < g.size(); ++id) {
    const graph_node& n = g[id];
    buffer_kind kind = buffer_kind::temporary;
    if (n.op == &input_info) kind = buffer_kind::input;
    if (n.op == &param_info) kind = buffer_kind::param;
    if (n.op == &state_info) kind = buffer_kind::state;
    s.buffers.push_back({kind, n.type.d, n.type.s.elements(), n.path, id});
    if (kind != buffer_kind::temporary) continue;
    std::vector<view> in;
    for (const int i : n.in) in.push_back(at(i));
    if (n.op == &constant_info)
      put(&reference_kernel<fill_family>, n.a, {}, at(id), id);
    else
      put(b.kernels.at(n.op), n.a, in, at(id), id);
  }
  for (const program_update& u : b.p.updates)
    put(&reference_kernel<copy_family>, {}, {at(u.node)}, at(u.leaf), u.node);
  for (const program_output& o : b.p.outputs)
    s.outputs.push_back({o.name, g[o.node].type, at(o.node)});
  return s;
}

}  // namespace testing
