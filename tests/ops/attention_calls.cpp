// Calls of the attention ops with attrs and tensors made at run time: see attention_calls.hpp.
#include "attention_calls.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#define ROPEWALK_ISA_NAMESPACE attention_test  // to_f16 and the like
#include <ropewalk/runtime/vecmath.hpp>

namespace cases {

using namespace ropewalk;
using namespace ropewalk::attention_test;

namespace {

std::size_t elements(const std::vector<std::int64_t>& e) {
  std::size_t n = 1;
  for (const std::int64_t x : e) n *= static_cast<std::size_t>(x);
  return n;
}

double rounded(dtype d, double v) {
  switch (d) {
    case dtype::f32:
      return static_cast<float>(v);
    case dtype::f16:
      return from_f16(to_f16(static_cast<float>(v)));
    case dtype::bf16:
      return from_bf16(to_bf16(static_cast<float>(v)));
    default:
      return v;
  }
}

// The tensors of a call, in memory.
struct memory {
  std::vector<std::vector<std::byte>> bytes;
  std::vector<tensor_ref> refs;

  void add(const std::vector<std::int64_t>& extent, dtype d) {
    bytes.emplace_back(elements(extent) * dtype_size(d), std::byte{0xff});
    tensor_ref t{.data = bytes.back().data(), .type = d, .rank = static_cast<int>(extent.size())};
    std::int64_t stride = 1;
    for (int i = t.rank; i-- > 0; stride *= extent[static_cast<std::size_t>(i)])
      t.extent[i] = extent[static_cast<std::size_t>(i)], t.stride[i] = stride;
    refs.push_back(t);
  }
  template <class T, class F>
  void fill(const dense& x, F convert) {
    for (std::size_t i = 0; i < x.v.size(); ++i) {
      const T v = convert(x.v[i]);
      std::memcpy(bytes.back().data() + i * sizeof(T), &v, sizeof(T));
    }
  }
  void add(const dense& x, dtype d) {
    add(x.extent, d);
    if (d == dtype::f64)
      fill<double>(x, [](double v) { return v; });
    else if (d == dtype::f32)
      fill<float>(x, [](double v) { return static_cast<float>(v); });
    else if (d == dtype::f16)
      fill<std::uint16_t>(x, [](double v) { return to_f16(static_cast<float>(v)); });
    else if (d == dtype::bf16)
      fill<std::uint16_t>(x, [](double v) { return to_bf16(static_cast<float>(v)); });
    else
      fill<std::int32_t>(x, [](double v) { return static_cast<std::int32_t>(v); });
  }
  dense read(std::size_t k) const {
    const tensor_ref& t = refs[k];
    dense x{{t.extent, t.extent + t.rank}, {}};
    x.v.resize(elements(x.extent));
    for (std::size_t i = 0; i < x.v.size(); ++i) {
      const std::byte* from = bytes[k].data() + i * dtype_size(t.type);
      float v;
      std::uint16_t half;
      std::memcpy(&half, from, 2);
      if (t.type == dtype::f64)
        std::memcpy(&x.v[i], from, 8);
      else if (t.type == dtype::f32)
        std::memcpy(&v, from, 4), x.v[i] = v;
      else
        x.v[i] = t.type == dtype::f16 ? from_f16(half) : from_bf16(half);
    }
    return x;
  }
};

std::vector<tensor_type> result_types(const op_info& op, const attrs& a,
                                      const std::vector<dense>& in,
                                      const std::vector<dtype>& types) {
  std::vector<tensor_type> operands, r;
  for (std::size_t k = 0; k < in.size(); ++k) {
    operands.push_back({types[k], {}});
    for (const std::int64_t e : in[k].extent) operands.back().s.push(dim(e));
  }
  for (int k = 0; k < op.results; ++k)
    r.push_back(op.result(a, operands.data(), static_cast<int>(operands.size()), k));
  return r;
}
std::vector<std::int64_t> extents(const shape& s) {
  std::vector<std::int64_t> e;
  for (int i = 0; i < s.rank; ++i) e.push_back(s[i].n);
  return e;
}

std::vector<dense> run_reference(const op_info& op, const attrs& a, const std::vector<dense>& in) {
  std::vector<const dense*> pointers;
  for (const dense& x : in) pointers.push_back(&x);
  std::vector<dense> out;
  for (const tensor_type& t : result_types(op, a, in, std::vector(in.size(), dtype::f64)))
    out.push_back(filled(extents(t.s), 0));
  op.reference({a, pointers, out});
  return out;
}
std::vector<dense> run_kernel(const op_info& op, const attrs& a, const std::vector<dense>& in,
                              const std::vector<dtype>& types, pool& p, isa set) {
  memory inputs, results;
  for (std::size_t k = 0; k < in.size(); ++k) inputs.add(in[k], types[k]);
  for (const tensor_type& t : result_types(op, a, in, types)) results.add(extents(t.s), t.d);
  // As a session asks for it: before there is any data.
  std::vector<tensor_ref> no_in = inputs.refs, no_out = results.refs;
  for (auto* list : {&no_in, &no_out})
    for (tensor_ref& t : *list) t.data = nullptr;
  std::vector<std::byte> room(op.workspace({a, no_in, no_out, {}, &p, set}), std::byte{0xff});
  op.kernel({a, inputs.refs, results.refs, room, &p, set});
  std::vector<dense> out;
  for (std::size_t k = 0; k < results.refs.size(); ++k) out.push_back(results.read(k));
  return out;
}

attrs backward_attrs(const attention_instance& x) {
  attrs a = x.a;
  a.i[1] = x.wanted;
  return a;
}
template <class Run>  // run(op, attrs, inputs)
void backward(const attention_instance& x, Run run, attention_results& r) {
  std::vector<dense> in = x.inputs();
  for (const dense& d : {r.out, r.lse, x.d_out}) in.push_back(d);
  r.d = run(family_info<op::attention_backward_family>, backward_attrs(x), in);
  for (int k = 3; k < 7; ++k)  // what is not there is left as it was
    if (!op::attention_backward_family::wants(backward_attrs(x), k))
      r.d[static_cast<std::size_t>(k)].v = {0};
}
template <class Run>
attention_results both_ways(const attention_instance& x, Run run) {
  const std::vector<dense> made = run(family_info<op::attention_family>, x.a, x.inputs());
  attention_results r{made[0], made[1], {}};
  backward(x, run, r);
  return r;
}

}  // namespace

attention_instance::attention_instance() : operands(attention_operands) {}

void attention_instance::set(attention_operand o, dense x) {
  operand(o) = std::move(x);
  a.i[0] |= std::int64_t{1} << static_cast<int>(o);
  flag(op::attention_distance_bias,
       has(attention_operand::slopes) && !has(attention_operand::mask));
}
void attention_instance::remove(attention_operand o) {
  operand(o) = {};
  a.i[0] &= ~(std::int64_t{1} << static_cast<int>(o));
  flag(op::attention_distance_bias,
       has(attention_operand::slopes) && !has(attention_operand::mask));
}
void attention_instance::flag(std::int64_t f, bool on) { a.i[0] = on ? a.i[0] | f : a.i[0] & ~f; }
void attention_instance::window(std::int64_t w) {
  flag(op::attention_has_window, w > 0);
  a.d[0] = dim(w);
}

std::vector<dense> attention_instance::inputs() const {
  std::vector<dense> in = {q, k, v};
  for (const dense& x : operands)
    if (!x.v.empty()) in.push_back(x);
  return in;
}
dtype attention_instance::type_of(attention_operand o, dtype d) const {
  if (o >= attention_operand::lengths && o <= attention_operand::dropout) return i32;
  const bool own = o == attention_operand::mask && d != f64 && mask_type != f64;
  return own ? mask_type : attention_compute_type(d);
}
std::vector<dtype> attention_instance::types(dtype d, dtype kv) const {
  std::vector<dtype> t = {d, kv, kv};
  for (int o = 0; o < attention_operands; ++o)
    if (const auto kind = static_cast<attention_operand>(o); has(kind))
      t.push_back(type_of(kind, d));
  return t;
}
void attention_instance::round(dtype d, dtype kv) {
  const auto all = [](dense& x, dtype to) {
    for (double& e : x.v) e = rounded(to, e);
  };
  all(q, d), all(k, kv), all(v, kv), all(d_out, d);
  for (int o = 0; o < attention_operands; ++o)
    if (const auto kind = static_cast<attention_operand>(o); has(kind))
      if (const dtype t = type_of(kind, d); t != i32) all(operand(kind), t);
}

dense attention_instance::forward() const {
  return run_reference(family_info<op::attention_family>, a, inputs())[0];
}
attention_results attention_instance::reference() const { return both_ways(*this, run_reference); }
attention_results attention_instance::backward_from(const attention_results& forward) const {
  attention_results r{forward.out, forward.lse, {}};
  backward(*this, run_reference, r);
  return r;
}
attention_results attention_instance::kernel(pool& p, isa set, dtype d, dtype kv) const {
  return both_ways(*this, [&](const op_info& op, const attrs& with, const std::vector<dense>& in) {
    std::vector<dtype> t = types(d, kv);
    if (in.size() > t.size()) t.insert(t.end(), {d, attention_compute_type(d), d});
    return run_kernel(op, with, in, t, p, set);
  });
}

std::string attention_instance::text() const {
  std::string s;
  const auto sizes = [&](const char* name, const dense& x) {
    s += std::string(name) + " [";
    for (const std::int64_t e : x.extent) s += std::to_string(e) + " ";
    s.back() = ']';
    s += ' ';
  };
  sizes("q", q), sizes("k", k), sizes("v", v);
  if (flag(op::attention_causal)) s += "causal ";
  if (flag(op::attention_interleaved)) s += "interleaved ";
  if (flag(op::attention_has_window)) s += "window " + std::to_string(a.d[0].n) + " ";
  if (a.f[1] > 0) s += "cap " + std::to_string(a.f[1]) + " ";
  for (int o = 0; o < attention_operands; ++o)
    if (const auto kind = static_cast<attention_operand>(o); has(kind))
      sizes(attention_operand_name(kind), operand(kind));
  return s;
}

dense random_dense(std::vector<std::int64_t> extent, std::mt19937& r, double low, double high) {
  dense x = filled(std::move(extent), 0);
  std::uniform_real_distribution<double> u(low, high);
  for (double& v : x.v) v = u(r);
  return x;
}

attention_instance random_attention(std::mt19937& r) {
  const auto any = [&](std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(r);
  };
  const auto coin = [&](int of = 2) { return any(0, of - 1) == 0; };
  using kind = attention_operand;
  attention_instance x;
  const std::int64_t b = any(1, 3), g = any(1, 3), h = g * any(1, 3), tq = any(1, 9),
                     tk = any(1, 12), dk = any(1, 7), dv = any(1, 7);
  x.q = random_dense({b, h, tq, dk}, r), x.k = random_dense({b, g, tk, dk}, r);
  x.v = random_dense({b, g, tk, dv}, r), x.d_out = random_dense({b, h, tq, dv}, r, -1, 1);
  x.flag(op::attention_causal, coin());
  if (coin(3)) x.window(any(1, 8));
  if (coin(3)) x.a.f[1] = coin() ? 2 : 0.7;
  if (coin(3))
    x.a.f[0] = 0.4, x.flag(op::attention_has_scale, true);
  else if (coin(3))
    x.set(kind::scale, random_dense({1}, r, 0.2, 0.9));
  if (coin()) {
    std::vector<std::int64_t> extent = {tq, tk};
    if (coin()) extent.insert(extent.begin(), coin() ? h : 1);
    if (extent.size() == 3 && coin()) extent.insert(extent.begin(), coin() ? b : 1);
    dense m = random_dense(extent, r);
    for (double& v : m.v)
      if (coin(6)) v = -INFINITY;
    if (coin(4))  // a whole row
      for (std::int64_t n = 0; n < tk; ++n) m.v[static_cast<std::size_t>(n)] = -INFINITY;
    x.set(kind::mask, m);
  }
  if (coin(3)) x.set(kind::slopes, random_dense({h}, r, -0.5, 1));
  if (coin(3)) x.set(kind::sinks, random_dense({h}, r));
  if (coin(3)) {
    dense n = filled({coin() ? b : 1}, 0);
    for (double& v : n.v) v = static_cast<double>(any(0, tk));
    x.set(kind::lengths, n);
  }
  if (coin(3)) {
    dense cu = filled({any(2, 5)}, 0);
    for (std::size_t i = 1; i < cu.v.size(); ++i)
      cu.v[i] = static_cast<double>(any(static_cast<std::int64_t>(cu.v[i - 1]), tk));
    if (coin()) cu.v.back() = static_cast<double>(tk);
    x.set(kind::documents, cu);
  }
  if (tk >= tq && coin(3)) {
    dense at = filled({coin() ? b : 1}, 0);
    for (double& v : at.v) v = static_cast<double>(any(0, tk - tq));
    x.set(kind::start, at);
  }
  if (tk >= tq && dk >= 2 && coin(3)) {  // tables of a magnitude of its own
    const std::int64_t pairs = any(1, dk / 2), offset = 2 * any(0, dk / 2 - pairs);
    const dense angle = random_dense({tk, pairs}, r, -3, 3);
    dense cosine = angle, sine = angle;
    for (double& v : cosine.v) v = 1.2 * std::cos(v);
    for (double& v : sine.v) v = 1.2 * std::sin(v);
    x.set(kind::cosine, cosine), x.set(kind::sine, sine);
    x.a.d[1] = dim(offset);
    x.flag(op::attention_interleaved, coin());
  }
  if (coin(4)) {
    x.a.f[2] = 0.3;
    x.set(kind::dropout, {{3}, {static_cast<double>(any(0, 1 << 30)), 77, coin(5) ? 0.0 : 1.0}});
  }
  return x;
}

}  // namespace cases
