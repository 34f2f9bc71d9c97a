// concat<axis>(a, b, ...): the operands one behind the other along an axis; all other dims equal.
// Gradient: the slices of the cotangent.
#pragma once
#include "ropewalk/ops/slice.hpp"

namespace ropewalk {

namespace op {
struct concat_family {
  using family = concat_family;
  static constexpr const char* name = "concat";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int n, int) {
    tensor_type t = in[0];
    const int axis = static_cast<int>(a.i[0]);
    for (int k = 1; k < n; ++k) t.s[axis] = t.s[axis] + in[k].s[axis];
    return t;
  }
  static scalar lower(lowering& l) {
    const int axis = static_cast<int>(l.options().i[0]);
    std::vector<scalar> at;
    for (int k = 0; k < l.type().s.rank; ++k) at.push_back(l.index(k));
    dim start = 0;
    std::vector<dim> starts;
    for (int j = 0; j < l.inputs(); ++j) starts.push_back(start), start = start + l.type(j).s[axis];
    auto element = [&](int j) {
      at[static_cast<std::size_t>(axis)] = l.index(axis) - l.extent(starts[static_cast<std::size_t>(j)]);
      return l.in(j, at);
    };
    scalar v = element(l.inputs() - 1);
    for (int j = l.inputs() - 1; j-- > 0;)
      v = select(l.index(axis) < l.extent(starts[static_cast<std::size_t>(j) + 1]), element(j), v);
    return v;
  }
  static void reference(const reference_call& c) {
    const std::size_t axis = static_cast<std::size_t>(c.a.i[0]);
    std::int64_t outer = 1, row = 1, start = 0;
    for (std::size_t k = 0; k < c.out[0].extent.size(); ++k)
      (k < axis ? outer : row) *= c.out[0].extent[k];
    for (const dense* x : c.in) {
      const std::int64_t n = static_cast<std::int64_t>(x->v.size()) / outer;
      for (std::int64_t o = 0; o < outer; ++o)
        for (std::int64_t e = 0; e < n; ++e)
          c.out[0].v[static_cast<std::size_t>(o * row + start + e)] =
              x->v[static_cast<std::size_t>(o * n + e)];
      start += n;
    }
  }
};
template <int Axis>
struct concat : concat_family {
  static constexpr attrs attributes{.i = {Axis}};
  template <int J, class S>
  static constexpr dim start_of() {
    if constexpr (J == 0) return 0;
    else return start_of<J - 1, S>() + decltype(S::template in<J - 1>())::type.s[Axis];
  }
  template <int J, class S>
  static constexpr auto grad(S s) {
    auto g = s.cotangent();
    constexpr dim count = decltype(S::template in<J>())::type.s[Axis];
    return node<op::slice<Axis, start_of<J, S>(), count, 1>, decltype(g)>{};
  }
};
}  // namespace op
ROPEWALK_LIBRARY_OP(concat_family);

// Operands of concat that differ in another axis than the one they are joined along.
template <int Axis, class... Shp>
struct concat_shapes_differ : mistake<shp<"[]">> {
  static_assert(never<Shp...>, "concat shapes differ");
};
namespace detail {
constexpr bool concat_pair(const tensor_type& a, const tensor_type& b, int axis) {
  if (a.d != b.d || a.s.rank != b.s.rank || axis < 0 || axis >= a.s.rank) return false;
  for (int k = 0; k < a.s.rank; ++k)
    if (k != axis && !(a.s[k] == b.s[k])) return false;
  return true;
}
}  // namespace detail

template <int Axis, expression X, expression... More>
  requires(detail::concat_pair(X::type, X::type, Axis < 0 ? Axis + X::type.s.rank : Axis) &&
           (detail::concat_pair(X::type, More::type, Axis < 0 ? Axis + X::type.s.rank : Axis) && ...))
constexpr auto concat(const X&, const More&...) {
  return node<op::concat<(Axis < 0 ? Axis + X::type.s.rank : Axis)>, X, More...>{};
}
template <int Axis, expression X, expression... More,
          class Error = concat_shapes_differ<Axis, shp_of<X>, shp_of<More>...>>
  requires(
      !(detail::concat_pair(X::type, X::type, Axis < 0 ? Axis + X::type.s.rank : Axis) &&
        (detail::concat_pair(X::type, More::type, Axis < 0 ? Axis + X::type.s.rank : Axis) && ...)))
Error concat(const X&, const More&...);

}  // namespace ropewalk
