// slice<axis, start, count, step>(x): count elements along an axis, from start, every step-th.
// Gradient: the cotangent at those places, zero elsewhere (embed).
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

namespace op {
// i[0] axis, i[1] step, d[0] start, d[1] extent of the result along the axis. `embed` is the
// adjoint: its operand has d[1] elements, its result d[2].
struct slice_family {
  using family = slice_family;
  static constexpr const char* name = "slice";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    tensor_type t = in[0];
    t.s[static_cast<int>(a.i[0])] = a.d[1];
    return t;
  }
  static scalar lower(lowering& l) {
    const attrs& a = l.options();
    std::vector<scalar> at;
    for (int k = 0; k < l.type().s.rank; ++k)
      at.push_back(k == a.i[0] ? l.index(k) * static_cast<double>(a.i[1]) + l.extent(a.d[0])
                               : l.index(k));
    return l.in(0, at);
  }
  static void reference(const reference_call& c);
};
struct embed_family {
  using family = embed_family;
  static constexpr const char* name = "embed";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    tensor_type t = in[0];
    t.s[static_cast<int>(a.i[0])] = a.d[2];
    return t;
  }
  static scalar lower(lowering& l) {
    const attrs& a = l.options();
    const int axis = static_cast<int>(a.i[0]);
    const scalar i = l.index(axis), start = l.extent(a.d[0]);
    const scalar step = l.number(static_cast<double>(a.i[1]), dtype::i32);
    const scalar end = start + l.extent(a.d[1]) * step;
    scalar inside = start <= i && i < end;
    scalar from = i - start;
    if (a.i[1] != 1) {
      inside = inside && l.apply(scalar_op::mod, {from, step}) == l.number(0, dtype::i32);
      from = l.apply(scalar_op::floor_div, {from, step});
    }
    std::vector<scalar> at;
    for (int k = 0; k < l.type().s.rank; ++k) at.push_back(k == axis ? from : l.index(k));
    return select(inside, l.in(0, at), l.number(0, l.type().d));
  }
  static void reference(const reference_call& c);
};

// Calls f(index in the small tensor, index in the large one) for every element of the small one.
// The start is what is left of the large extent when symbolic: the reference gets numbers only.
template <class F>
void for_each_slice(const reference_call& c, const dense& small, const dense& large, F f) {
  const std::size_t axis = static_cast<std::size_t>(c.a.i[0]);
  std::int64_t inner = 1, outer = 1;
  for (std::size_t k = axis + 1; k < small.extent.size(); ++k) inner *= small.extent[k];
  for (std::size_t k = 0; k < axis; ++k) outer *= small.extent[k];
  for (std::int64_t o = 0; o < outer; ++o)
    for (std::int64_t i = 0; i < small.extent[axis]; ++i)
      for (std::int64_t e = 0; e < inner; ++e)
        f(static_cast<std::size_t>((o * small.extent[axis] + i) * inner + e),
          static_cast<std::size_t>((o * large.extent[axis] + c.a.d[0].n + i * c.a.i[1]) * inner + e));
}
inline void slice_family::reference(const reference_call& c) {
  for_each_slice(c, c.out[0], *c.in[0],
                 [&](std::size_t s, std::size_t l) { c.out[0].v[s] = c.in[0]->v[l]; });
}
inline void embed_family::reference(const reference_call& c) {
  for_each_slice(c, *c.in[0], c.out[0],
                 [&](std::size_t s, std::size_t l) { c.out[0].v[l] = c.in[0]->v[s]; });
}

template <int Axis, dim Start, dim Count, int Step>
struct slice : slice_family {
  static constexpr attrs attributes{.i = {Axis, Step}, .d = {Start, Count}};
  template <int J>
  static constexpr auto grad(auto s);
};
template <int Axis, dim Start, dim Count, int Step, dim Full>
struct embed : embed_family {
  static constexpr attrs attributes{.i = {Axis, Step}, .d = {Start, Count, Full}};
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    return node<op::slice<Axis, Start, Count, Step>, decltype(g)>{};
  }
};
template <int Axis, dim Start, dim Count, int Step>
template <int J>
constexpr auto slice<Axis, Start, Count, Step>::grad(auto s) {
  auto g = s.cotangent();
  constexpr dim full = decltype(s.template in<0>())::type.s[Axis];
  return node<op::embed<Axis, Start, Count, Step, full>, decltype(g)>{};
}
}  // namespace op
ROPEWALK_LIBRARY_OP(slice_family);
ROPEWALK_LIBRARY_OP(embed_family);

// start + (count - 1) * step is beyond the axis (checked where the dims are fixed).
template <int Axis, dim Start, dim Count, class X>
struct slice_out_of_range : mistake<X> {
  static_assert(never<X>, "slice out of range");
};
namespace detail {
constexpr bool slice_fits(const shape& s, int axis, dim start, dim count, int step) {
  if (axis < -s.rank || axis >= s.rank || step < 1) return false;
  const dim& full = s[axis];
  if (start.fixed() && start.n < 0) return false;
  if (count.fixed() && count.n < 1) return false;
  if (!full.fixed() || !start.fixed() || !count.fixed()) return true;
  return start.n + (count.n - 1) * step < full.n;
}
}  // namespace detail

template <int Axis, dim Start, dim Count, int Step = 1, expression X>
  requires(detail::slice_fits(X::type.s, Axis, Start, Count, Step))
constexpr auto slice(const X&) {
  return node<op::slice<(Axis < 0 ? Axis + X::type.s.rank : Axis), Start, Count, Step>, X>{};
}
template <int Axis, dim Start, dim Count, int Step = 1, expression X,
          class Error = slice_out_of_range<Axis, Start, Count, shp_of<X>>>
  requires(!detail::slice_fits(X::type.s, Axis, Start, Count, Step))
Error slice(const X&);

}  // namespace ropewalk
