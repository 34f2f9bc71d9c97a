// What reductions share: axes as a bit mask (i[0]), kept axes of size 1 or dropped (i[1]), the
// lowering and the float64 reference loop.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

// The axes of a reduction; negative ones count from the end. keepdim leaves them with size 1.
//   sum<axes{-1}>(x)   mean<axes{0, 2}.keep()>(x)   sum(x): over all axes, a scalar
struct axes {
  int n = 0;
  int axis[max_rank] = {};
  bool keepdim = false;
  constexpr axes() {}  // g++ 12 takes a defaulted one for undefined in a default argument
  template <class... I>
    requires(std::is_convertible_v<I, int> && ...)
  constexpr explicit axes(I... i) : n(sizeof...(I)), axis{static_cast<int>(i)...} {}
  constexpr axes keep() const {
    axes a = *this;
    a.keepdim = true;
    return a;
  }
  // As a mask over `rank` axes; no axes mean all. -1 where one is out of range.
  constexpr std::int64_t mask(int rank) const {
    if (n == 0) return (std::int64_t{1} << rank) - 1;
    std::int64_t m = 0;
    for (int k = 0; k < n; ++k) {
      const int a = axis[k] < 0 ? axis[k] + rank : axis[k];
      if (a < 0 || a >= rank) return -1;
      m |= std::int64_t{1} << a;
    }
    return m;
  }
  // The first axis that is out of range, for messages.
  constexpr int bad(int rank) const {
    for (int k = 0; k < n; ++k)
      if (axis[k] < -rank || axis[k] >= rank) return axis[k];
    return 0;
  }
};

namespace op {

constexpr shape reduced_shape(const shape& s, const attrs& a) {
  shape r;
  for (int i = 0; i < s.rank; ++i) {
    if ((a.i[0] >> i & 1) == 0) r.push(s[i]);
    else if (a.i[1] != 0) r.push(1);
  }
  return r;
}

inline scalar lower_reduction(lowering& l, reduction kind) {
  const attrs& a = l.options();
  const shape& s = l.type(0).s;
  std::vector<dim> extents;
  for (int i = 0; i < s.rank; ++i)
    if (a.i[0] >> i & 1) extents.push_back(s[i]);
  return l.reduce(kind, extents, [&](std::span<const scalar> r) {
    std::vector<scalar> at;
    int out = 0, next = 0;
    for (int i = 0; i < s.rank; ++i) {
      if (a.i[0] >> i & 1) at.push_back(r[static_cast<std::size_t>(next++)]), out += a.i[1] != 0;
      else at.push_back(l.index(out++));
    }
    return l.in(0, at);
  });
}

// Calls f(result element, input element, value) for every element of the input, row-major.
template <class F>
void for_each_reduced(const reference_call& c, F f) {
  const dense& x = *c.in[0];
  for (std::size_t e = 0; e < x.v.size(); ++e) {
    std::int64_t at = static_cast<std::int64_t>(e), position = 0, stride = 1;
    for (std::size_t k = x.extent.size(); k-- > 0;) {
      const std::int64_t i = at % x.extent[k];
      at /= x.extent[k];
      if ((c.a.i[0] >> k & 1) == 0) position += i * stride, stride *= x.extent[k];
    }
    f(static_cast<std::size_t>(position), e, x.v[e]);
  }
}

struct reduction_base {
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    return {in[0].d, reduced_shape(in[0].s, a)};
  }
};

constexpr attrs reduction_attrs(std::int64_t mask, bool keepdim) {
  return {.i = {mask, keepdim ? 1 : 0}};
}

}  // namespace op

namespace detail {
template <class X, std::int64_t Mask>
struct kept {
  static constexpr shape value = op::reduced_shape(X::type.s, op::reduction_attrs(Mask, true));
};
// The shape of X with the axes of Mask kept at size 1.
template <class X, std::int64_t Mask>
using kept_shape = shp_for<kept<X, Mask>>;
}  // namespace detail

}  // namespace ropewalk
