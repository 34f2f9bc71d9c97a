// cross_entropy(logits, labels): the mean over counted tokens of -log softmax(logits)[label].
//   logits [..., V], labels i32 [...]; a label equal to `ignore` (-100) is not counted.
//   smoothing e: (1 - e) * nll + e * mean over classes of -log p.
// A label outside [0, V) that is not the ignored one makes the loss infinite (training then stops
// with an error) and has no gradient.
// token_cross_entropy gives the loss of every token ([...], 0 where ignored); no counted token gives
// loss 0 and gradient 0. Gradient in logits: (softmax - target) * scale; the probabilities are
// recomputed from the row's log-sum-exp, never stored.
#pragma once
#include "ropewalk/core/module.hpp"
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/cast.hpp"
#include "ropewalk/ops/dim_value.hpp"
#include "ropewalk/ops/equal.hpp"
#include "ropewalk/ops/iota.hpp"
#include "ropewalk/ops/less.hpp"
#include "ropewalk/ops/less_equal.hpp"
#include "ropewalk/ops/logical_and.hpp"
#include "ropewalk/ops/logsumexp.hpp"
#include "ropewalk/ops/maximum.hpp"
#include "ropewalk/ops/mean.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk {

namespace detail {
// labels [...] as [..., 1].
template <class L>
struct with_last_one {
  static constexpr shape value = [] {
    shape s = L::type.s;
    s.push(1);
    return s;
  }();
};
}  // namespace detail

// Per token, with the smoothing.
template <int Ignore, number Smoothing>
inline constexpr auto token_cross_entropy_module =
    module<"cross_entropy">([](auto logits, auto labels) {
      using X = decltype(logits);
      constexpr dim v = X::type.s[-1];
      auto label = reshape_to<shp_for<detail::with_last_one<decltype(labels)>>>(labels);
      auto chosen = sum<axes{-1}>(where(equal(iota<v>, label), logits, constant<0.0>));
      auto lse = logsumexp<axes{-1}>(logits);
      auto nll = [&] {
        if constexpr (Smoothing.v == 0) return lse - chosen;
        else
          return lse - chosen * constant<1 - Smoothing.v> -
                 mean<axes{-1}>(logits) * constant<Smoothing.v>;
      }();
      auto known = logical_and(less_equal(constant<0.0>, labels), less(labels, dim_value<v, dtype::i32>()));
      auto checked = where(known, nll, constant<__builtin_huge_val()>);
      return where(equal(labels, constant<double(Ignore)>), constant<0.0>, checked);
    });
template <int Ignore, number Smoothing>
inline constexpr auto cross_entropy_module =
    module<"mean_cross_entropy">([](auto logits, auto labels) {
      constexpr dtype d = decltype(logits)::type.d;
      auto counted = where(equal(labels, constant<double(Ignore)>), constant<0.0, d>, constant<1.0, d>);
      return sum(token_cross_entropy_module<Ignore, Smoothing>(logits, labels)) /
             maximum(sum(counted), constant<1.0>);
    });

// logits are not labels' shape with the classes behind, or labels are not i32.
template <class Logits, class Labels>
struct cross_entropy_shapes_differ : mistake<shp<"[]">> {
  static_assert(never<Logits>, "cross entropy shapes differ");
};
namespace detail {
template <class X, class L>
constexpr bool labels_fit() {
  constexpr shape x = X::type.s, l = L::type.s;
  if (!is_floating(X::type.d) || L::type.d != dtype::i32 || x.rank != l.rank + 1) return false;
  for (int i = 0; i < l.rank; ++i)
    if (!(x[i] == l[i])) return false;
  return true;
}
}  // namespace detail

template <class X, class L>
using cross_entropy_mistake = std::conditional_t<
    !is_floating(X::type.d), dtype_not_supported<"cross_entropy", X::type.d, shp_of<X>>,
    std::conditional_t<L::type.d != dtype::i32,
                       dtype_not_supported<"cross_entropy", L::type.d, shp_of<L>>,
                       cross_entropy_shapes_differ<shp_of<X>, shp_of<L>>>>;

template <int Ignore = -100, number Smoothing = 0.0, expression X, expression L>
  requires(detail::labels_fit<X, L>())
constexpr auto cross_entropy(const X& x, const L& labels) {
  return cross_entropy_module<Ignore, Smoothing>(x, labels);
}
template <int Ignore = -100, number Smoothing = 0.0, expression X, expression L,
          class Error = cross_entropy_mistake<X, L>>
  requires(!detail::labels_fit<X, L>())
Error cross_entropy(const X&, const L&);
template <int Ignore = -100, number Smoothing = 0.0, expression X, expression L>
  requires(detail::labels_fit<X, L>())
constexpr auto token_cross_entropy(const X& x, const L& labels) {
  return token_cross_entropy_module<Ignore, Smoothing>(x, labels);
}
template <int Ignore = -100, number Smoothing = 0.0, expression X, expression L,
          class Error = cross_entropy_mistake<X, L>>
  requires(!detail::labels_fit<X, L>())
Error token_cross_entropy(const X&, const L&);

}  // namespace ropewalk
