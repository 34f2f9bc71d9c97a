// tile<axis, n>(x): n whole copies of x, one behind the other along an axis (a b c a b c);
// repeat_each<axis, n>(x): every element n times in place (a a b b c c), as keys are for the query
// heads of a group. Views: reshape and expand. Gradient: the sum over the copies.
#pragma once
#include "ropewalk/ops/expand.hpp"
#include "ropewalk/ops/reshape.hpp"

namespace ropewalk {

namespace detail {
// x as [before, axis, after].
struct axis_view {
  dim before = 1, axis = 1, after = 1;
};
constexpr axis_view view_axis(const shape& s, int at) {
  axis_view v;
  for (int i = 0; i < s.rank; ++i) {
    if (i < at)
      v.before = v.before * s[i];
    else if (i == at)
      v.axis = s[i];
    else
      v.after = v.after * s[i];
  }
  return v;
}
template <class X, int Axis, dim N>
struct times_axis {
  static constexpr shape value = [] {
    shape s = X::type.s;
    s[Axis] = s[Axis] * N;
    return s;
  }();
};
template <int Axis, dim N, class X>
inline constexpr bool tiles =
    Axis >= -X::type.s.rank && Axis < X::type.s.rank && !(N.fixed() && N.n < 1);
}  // namespace detail

template <int Axis, dim N, expression X>
  requires detail::tiles<Axis, N, X>
constexpr auto tile(const X& x) {
  constexpr int axis = Axis < 0 ? Axis + X::type.s.rank : Axis;
  constexpr detail::axis_view v = detail::view_axis(X::type.s, axis);
  return reshape_to<shp_for<detail::times_axis<X, axis, N>>>(
      expand<v.before, N, v.axis * v.after>(reshape<v.before, dim(1), v.axis * v.after>(x)));
}
template <int Axis, dim N, expression X, class Error = axis_out_of_range<"tile", Axis, shp_of<X>>>
  requires(!detail::tiles<Axis, N, X>)
Error tile(const X&);

template <int Axis, dim N, expression X>
  requires detail::tiles<Axis, N, X>
constexpr auto repeat_each(const X& x) {
  constexpr int axis = Axis < 0 ? Axis + X::type.s.rank : Axis;
  constexpr detail::axis_view v = detail::view_axis(X::type.s, axis);
  return reshape_to<shp_for<detail::times_axis<X, axis, N>>>(
      expand<v.before * v.axis, N, v.after>(reshape<v.before * v.axis, dim(1), v.after>(x)));
}
template <int Axis, dim N, expression X,
          class Error = axis_out_of_range<"repeat_each", Axis, shp_of<X>>>
  requires(!detail::tiles<Axis, N, X>)
Error repeat_each(const X&);

}  // namespace ropewalk
