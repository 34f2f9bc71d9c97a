// group_norm<"gn", groups>(x): x [N, C, ...] normalised over each of `groups` groups of C / groups
// channels and all that follows, * weight + bias per channel; parameters gn.weight (ones), gn.bias
// (zeros) [C]. group_norm<groups>(x, w, b): with those given. The variance divides by n.
// Source: Wu and He 2018.
#pragma once
#include "ropewalk/ops/layer_norm.hpp"
#include "ropewalk/ops/support/channels.hpp"
#include "ropewalk/ops/support/composed.hpp"

namespace ropewalk {

namespace composed {
template <dim Groups, number Eps>
struct group_norm {
  static constexpr const char* name = "group_norm";
  template <class X, class W, class B>
  static constexpr auto apply(X x, W w, B b) {
    constexpr shape s = X::type.s;
    auto rows = reshape<s[0], Groups, s.elements() / s[0] / Groups>(x);
    auto y = reshape_to<shp_of<X>>(normalize<Eps>(rows));
    return y * detail::per_channel<X>(w) + detail::per_channel<X>(b);
  }
};
template <dim Groups, number Eps>
struct named_group_norm {
  static constexpr const char* name = "group_norm";
  template <class X>
  static constexpr auto apply(X x) {
    constexpr dim c = X::type.s[1];
    return group_norm<Groups, Eps>::apply(x, cast<X::type.d>(param<"weight", init_ones(), c>),
                                          cast<X::type.d>(param<"bias", init_zeros(), c>));
  }
};
}  // namespace composed

// The channels cannot be divided into the groups.
template <dim Groups, class X>
struct groups_do_not_divide_channels : mistake<X> {
  static_assert(never<X>, "groups do not divide channels");
};
namespace detail {
template <dim Groups, class X>
inline constexpr bool groups_fit = [] {
  if constexpr (!has_channels<X>)
    return false;
  else
    return !Groups.fixed() || !X::type.s[1].fixed() ||
           (Groups.n > 0 && X::type.s[1].n % Groups.n == 0);
}();
template <dim Groups, class X>
using group_norm_mistake =
    std::conditional_t<has_channels<X>, groups_do_not_divide_channels<Groups, shp_of<X>>,
                       needs_channels<"group_norm", X::type.d, shp_of<X>>>;
}  // namespace detail

template <dim Groups, number Eps = 1e-5, expression X, expression W, expression B>
  requires(detail::groups_fit<Groups, X> && detail::is_per_channel<W, X> &&
           detail::is_per_channel<B, X>)
constexpr auto group_norm(const X& x, const W& w, const B& b) {
  return detail::call_body<composed::group_norm<Groups, Eps>>(x, w, b);
}
template <
    dim Groups, number Eps = 1e-5, expression X, expression W, expression B,
    class Error = std::conditional_t<detail::groups_fit<Groups, X>,
                                     not_one_number_per_channel<"group_norm", shp_of<X>, shp_of<W>>,
                                     detail::group_norm_mistake<Groups, X>>>
  requires(!(detail::groups_fit<Groups, X> && detail::is_per_channel<W, X> &&
             detail::is_per_channel<B, X>))
Error group_norm(const X&, const W&, const B&);

template <text Scope, dim Groups, number Eps = 1e-5, expression X>
  requires detail::groups_fit<Groups, X>
constexpr auto group_norm(const X& x) {
  return detail::call_body<composed::named_group_norm<Groups, Eps>, Scope>(x);
}
template <text Scope, dim Groups, number Eps = 1e-5, expression X,
          class Error = detail::group_norm_mistake<Groups, X>>
  requires(!detail::groups_fit<Groups, X>)
Error group_norm(const X&);

}  // namespace ropewalk
