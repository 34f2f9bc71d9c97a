// permute<1, 0, 2>(x): axis k of the result is axis order[k] of x; transpose(x) swaps the last two.
// Gradient: the inverse permutation.
#pragma once
#include "ropewalk/ops/support/elementwise.hpp"

namespace ropewalk {

namespace op {
// i[k]: the axis of x that becomes axis k.
struct permute_family {
  using family = permute_family;
  static constexpr const char* name = "permute";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs& a, const tensor_type* in, int, int) {
    tensor_type t{in[0].d, shape{}};
    for (int k = 0; k < in[0].s.rank; ++k) t.s.push(in[0].s[static_cast<int>(a.i[k])]);
    return t;
  }
  static scalar lower(lowering& l) {
    std::vector<scalar> at(static_cast<std::size_t>(l.type().s.rank));
    for (int k = 0; k < l.type().s.rank; ++k)
      at[static_cast<std::size_t>(l.options().i[k])] = l.index(k);
    return l.in(0, at);
  }
  static void reference(const reference_call& c) {
    const std::size_t rank = c.out[0].extent.size();
    std::vector<std::int64_t> stride(rank, 1), i(rank, 0);
    for (std::size_t k = rank; k-- > 1;) stride[k - 1] = stride[k] * c.in[0]->extent[k];
    for (double& v : c.out[0].v) {
      std::int64_t at = 0;
      for (std::size_t k = 0; k < rank; ++k) at += i[k] * stride[static_cast<std::size_t>(c.a.i[k])];
      v = c.in[0]->v[static_cast<std::size_t>(at)];
      for (std::size_t k = rank; k-- > 0;) {
        if (++i[k] < c.out[0].extent[k]) break;
        i[k] = 0;
      }
    }
  }
};
template <int... Order>
struct permute : permute_family {
  static constexpr attrs attributes{.i = {Order...}};
  template <int J>
  static constexpr auto grad(auto s);
};
}  // namespace op
ROPEWALK_LIBRARY_OP(permute_family);

// The order does not name every axis of x once.
template <class Order, class X>
struct not_a_permutation : mistake<X> {
  static_assert(never<X>, "not a permutation");
};
template <int... Order>
struct axis_order {};

namespace detail {
template <int... Order>
constexpr bool is_permutation(int rank) {
  int seen = 0;
  ((seen |= Order >= 0 && Order < rank ? 1 << Order : 0), ...);
  return static_cast<int>(sizeof...(Order)) == rank && seen == (1 << rank) - 1;
}
constexpr int inverse_axis(int k, std::initializer_list<int> order) {
  int i = 0;
  for (int o : order) {
    if (o == k) return i;
    ++i;
  }
  return -1;
}
template <int... Order, class G, std::size_t... K>
constexpr auto permute_back(const G&, std::index_sequence<K...>) {
  return node<op::permute<inverse_axis(static_cast<int>(K), {Order...})...>, G>{};
}
template <class X, std::size_t... K>
constexpr auto swap_last(const X&, std::index_sequence<K...>) {
  constexpr std::size_t n = sizeof...(K);
  return node<op::permute<static_cast<int>(K + 2 == n   ? n - 1
                                           : K + 1 == n ? n - 2
                                                        : K)...>,
              X>{};
}
}  // namespace detail

template <int... Order, expression X>
  requires(detail::is_permutation<Order...>(X::type.s.rank))
constexpr auto permute(const X&) {
  return node<op::permute<Order...>, X>{};
}
template <int... Order, expression X, class Error = not_a_permutation<axis_order<Order...>, shp_of<X>>>
  requires(!detail::is_permutation<Order...>(X::type.s.rank))
Error permute(const X&);

template <expression X>
  requires(X::type.s.rank >= 2)
constexpr auto transpose(const X& x) {
  return detail::swap_last(x, std::make_index_sequence<static_cast<std::size_t>(X::type.s.rank)>());
}
template <expression X, class Error = axis_out_of_range<"transpose", -2, shp_of<X>>>
  requires(X::type.s.rank < 2)
Error transpose(const X&);

}  // namespace ropewalk

template <int... Order>
template <int J>
constexpr auto ropewalk::op::permute<Order...>::grad(auto s) {
  return detail::permute_back<Order...>(s.cotangent(),
                                        std::make_index_sequence<sizeof...(Order)>());
}
