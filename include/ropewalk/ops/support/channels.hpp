// What norms of images share: x [N, C, ...], one weight and bias per channel.
#pragma once
#include "ropewalk/ops/reshape.hpp"
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk::detail {

template <class X>
inline constexpr bool has_channels = floating_expr<X> && X::type.s.rank >= 2;

template <class X>
struct channel_shape {
  static constexpr shape value = [] {
    shape s;
    for (int i = 0; i < X::type.s.rank; ++i) s.push(i == 1 ? X::type.s[1] : dim(1));
    return s;
  }();
};
// v [C] as [1, C, 1, ...], for work beside X.
template <class X, class V>
constexpr auto per_channel(const V& v) {
  return reshape_to<shp_for<channel_shape<X>>>(v);
}
// Whether V has one number per channel of X.
template <class V, class X>
inline constexpr bool is_per_channel =
    V::type.d == X::type.d && V::type.s.rank == 1 && V::type.s[0] == X::type.s[1];

}  // namespace ropewalk::detail

namespace ropewalk {

// x is not floating [N, C, ...].
template <text Op, dtype D, class X>
struct needs_channels : mistake<X> {
  static_assert(never<X>, "needs channels");
};
// A weight, bias or statistic that is not [C] beside x [N, C, ...].
template <text Op, class X, class V>
struct not_one_number_per_channel : mistake<X> {
  static_assert(never<X>, "not one number per channel");
};

}  // namespace ropewalk
