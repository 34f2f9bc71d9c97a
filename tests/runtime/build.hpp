// Small programs written as graphs, for tests below the front end.
#pragma once
#include <map>
#include <random>
#include <string>
#include <vector>

#include <ropewalk/graph/graph.hpp>
#include <ropewalk/ops/add.hpp>
#include <ropewalk/ops/expand.hpp>
#include <ropewalk/ops/mul.hpp>
#include <ropewalk/ops/sub.hpp>
#include <ropewalk/ops/sum.hpp>
#include <ropewalk/ops/tanh.hpp>
#include <ropewalk/runtime/tensor.hpp>

namespace testing {

using namespace ropewalk;

inline dense load(const tensor_ref& t) {
  return {{t.extent, t.extent + t.rank}, tensor_view("operand", t).values()};
}

// An op as a kernel of its own: its reference on what lies in memory.
template <class Family>
void run_reference(const kernel_call& c) {
  std::vector<dense> in, out;
  std::vector<const dense*> pointers;
  for (const tensor_ref& t : c.in) in.push_back(load(t));
  for (const dense& d : in) pointers.push_back(&d);
  for (const tensor_ref& t : c.out) {
    out.push_back(load(t));
    std::fill(out.back().v.begin(), out.back().v.end(), 0.0);
  }
  Family::reference({c.a, pointers, out});
  for (std::size_t k = 0; k < out.size(); ++k)
    for (std::size_t e = 0; e < out[k].v.size(); ++e)
      store_number(c.out[k].type, c.out[k].data, e, out[k].v[e]);
}
template <class Family>
inline const op_info reference_kernel{
    .name = Family::name, .kind = op_class::kernel, .kernel = run_reference<Family>};

struct builder {
  program_graph p;
  std::map<const op_info*, const op_info*> kernels;  // what runs an op where nothing is generated

  explicit builder(std::string name = "toy") { p.name = std::move(name); }
  int input(const std::string& path, shape s, dtype d = f32) {
    return p.g.add({&input_info, {}, {d, s}, {}, path});
  }
  int param(const std::string& path, shape s, initializer i = init_zeros(), dtype d = f32) {
    return p.g.add({&param_info, detail::leaf_attrs(i), {d, s}, {}, path});
  }
  int state(const std::string& path, shape s, initializer i = init_zeros(), dtype d = f32) {
    return p.g.add({&state_info, detail::leaf_attrs(i), {d, s}, {}, path});
  }
  int constant(double v, dtype d = f32) {
    return p.g.add({&constant_info, {.f = {v}}, {d, shape{}}, {}, ""});
  }
  // A node of an op's family, its type by the op's own rule.
  template <class Family>
  int apply(std::vector<int> in, const attrs& a = Family::attributes) {
    std::vector<tensor_type> types;
    for (const int i : in) types.push_back(p.g[i].type);
    kernels[&family_info<Family>] = &reference_kernel<Family>;
    const tensor_type t = Family::result(a, types.data(), static_cast<int>(in.size()), 0);
    return p.g.add({&family_info<Family>, a, t, std::move(in), ""});
  }
  int add(int a, int b) { return apply<op::add>({a, b}); }
  int sub(int a, int b) { return apply<op::sub>({a, b}); }
  int mul(int a, int b) { return apply<op::mul>({a, b}); }
  int tanh(int a) { return apply<op::tanh>({a}); }
  int sum(int a, std::int64_t mask, bool keep = false) {
    return apply<op::sum_family>({a}, op::reduction_attrs(mask, keep));
  }
  void output(const std::string& name, int node) { p.outputs.push_back({name, node}); }
  void update(int leaf, int node) { p.updates.push_back({leaf, node}); }
};

// The text of the error that f throws; empty when it throws none.
template <class F>
std::string error_of(F f) {
  try {
    f();
  } catch (const ropewalk::error& e) {
    return e.what();
  }
  return "";
}

inline bool contains(const std::string& s, const std::string& part) {
  return s.find(part) != std::string::npos;
}

inline dense random_dense(std::vector<std::int64_t> extent, std::mt19937& r) {
  std::size_t n = 1;
  for (const std::int64_t e : extent) n *= static_cast<std::size_t>(e);
  dense d{std::move(extent), std::vector<double>(n)};
  std::uniform_real_distribution<double> u(-1, 1);
  for (double& x : d.v) x = u(r);
  return d;
}

}  // namespace testing
