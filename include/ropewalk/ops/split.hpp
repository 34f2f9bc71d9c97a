// split<3, H>(x): x [B, T, 3 * H * D] as 3 tensors [B, H, T, D] (query, key, value of every head);
// split_axis<axis, sizes...>(x): x cut along an axis; merge_heads(y): [B, H, T, D] back to
// [B, T, H * D]. Views and slices: nothing is computed.
#pragma once
#include "ropewalk/core/module.hpp"
#include "ropewalk/ops/permute.hpp"
#include "ropewalk/ops/reshape.hpp"
#include "ropewalk/ops/slice.hpp"

namespace ropewalk {

namespace detail {
template <int Axis, dim Start, dim Size, dim... More, class X>
constexpr auto split_from(const X& x) {
  if constexpr (sizeof...(More) == 0) {
    return list<decltype(ropewalk::slice<Axis, Start, Size>(x))>{};
  } else {
    using rest = decltype(split_from<Axis, Start + Size, More...>(x));
    return boost::mp11::mp_push_front<rest, decltype(ropewalk::slice<Axis, Start, Size>(x))>{};
  }
}
constexpr dim sum_of(std::initializer_list<dim> d) {
  dim s = 0;
  for (const dim& x : d) s = s + x;
  return s;
}
// x [..., T, H * D] as [..., H, T, D].
template <dim H, class X>
constexpr auto heads(const X& x) {
  constexpr shape s = X::type.s;
  if constexpr (s.rank == 2)
    return permute<1, 0, 2>(reshape<s[0], H, s[1] / H>(x));
  else
    return permute<0, 2, 1, 3>(reshape<s[0], s[1], H, s[2] / H>(x));
}
template <int N, dim H, int K, class X>
constexpr auto head_part(const X& x) {
  constexpr dim width = X::type.s[-1] / dim(N);
  return heads<H>(ropewalk::slice<-1, width * dim(K), width>(x));
}
template <int N, dim H, class X, std::size_t... K>
constexpr auto head_parts(const X& x, std::index_sequence<K...>) {
  return results{head_part<N, H, static_cast<int>(K)>(x)...};
}
template <int N, dim H, class X>
constexpr bool splits_into_heads() {
  constexpr shape s = X::type.s;
  if (s.rank != 2 && s.rank != 3) return false;
  return !s[-1].fixed() || !H.fixed() || s[-1].n % (N * H.n) == 0;
}
}  // namespace detail

// x is not [T, N * H * D] or [B, T, N * H * D].
template <int N, dim H, class X>
struct cannot_split_into_heads : mistake<X> {
  static_assert(never<X>, "cannot split into heads");
};

// The sizes do not add up to the axis.
template <int Axis, class X>
struct split_sizes_do_not_add_up : mistake<X> {
  static_assert(never<X>, "split sizes do not add up");
};

template <int Axis, dim... Size, expression X>
  requires(Axis >= -X::type.s.rank && Axis < X::type.s.rank &&
           X::type.s[Axis] == detail::sum_of({Size...}))
constexpr auto split_axis(const X& x) {
  return boost::mp11::mp_rename<decltype(detail::split_from<Axis, dim(0), Size...>(x)), results>{};
}
template <int Axis, dim... Size, expression X,
          class Error = split_sizes_do_not_add_up<Axis, shp_of<X>>>
  requires(!(Axis >= -X::type.s.rank && Axis < X::type.s.rank &&
             X::type.s[Axis] == detail::sum_of({Size...})))
Error split_axis(const X&);

template <int N, dim H, expression X>
  requires(detail::splits_into_heads<N, H, X>())
constexpr auto split(const X& x) {
  return detail::head_parts<N, H>(x, std::make_index_sequence<static_cast<std::size_t>(N)>());
}
template <int N, dim H, expression X, class Error = cannot_split_into_heads<N, H, shp_of<X>>>
  requires(!detail::splits_into_heads<N, H, X>())
Error split(const X&);

// One tensor of heads: [B, T, H * D] -> [B, H, T, D].
template <dim H, expression X>
  requires(detail::splits_into_heads<1, H, X>())
constexpr auto split_heads(const X& x) {
  return detail::heads<H>(x);
}
template <dim H, expression X, class Error = cannot_split_into_heads<1, H, shp_of<X>>>
  requires(!detail::splits_into_heads<1, H, X>())
Error split_heads(const X&);

template <class X>
struct merge_heads_needs_rank_3_or_4 : mistake<X> {
  static_assert(never<X>, "merge heads needs rank 3 or 4");
};
template <expression X>
  requires(X::type.s.rank == 3 || X::type.s.rank == 4)
constexpr auto merge_heads(const X& x) {
  constexpr shape s = X::type.s;
  if constexpr (s.rank == 3) return reshape<s[1], s[0] * s[2]>(permute<1, 0, 2>(x));
  else return reshape<s[0], s[2], s[1] * s[3]>(permute<0, 2, 1, 3>(x));
}
template <expression X, class Error = merge_heads_needs_rank_3_or_4<shp_of<X>>>
  requires(X::type.s.rank != 3 && X::type.s.rank != 4)
Error merge_heads(const X&);

}  // namespace ropewalk
