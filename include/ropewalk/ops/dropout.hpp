// dropout<"name", p>(x): in training, each element is 0 with probability p, else x / (1 - p);
// otherwise x.
//
// Whether an element is dropped is a function of (seed, step, where the dropout stands, the
// element's row-major index): Philox with key (seed, step), which the session gives in the input
// "rng", and counter (index, hash of the path). So it differs per step, per layer and per element,
// it is the same in forward and backward and wherever it is recomputed, and the same on every
// backend. Source: Srivastava et al. 2014.
#pragma once
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/support/composed.hpp"
#include "ropewalk/ops/support/shape_attrs.hpp"
#include "ropewalk/train/rng.hpp"

namespace ropewalk {

// (seed, step) of a program that draws random numbers.
inline constexpr auto random_key = input<"rng", dtype::i32, 2>;

namespace op {

// The factor of every element: 0 or 1 / (1 - p). Operand: the key. shape_attrs.hpp, i[1] type, i[5]
// hash of the scope (graph/flatten.cpp), f[0] p.
struct dropout_mask_family {
  using family = dropout_mask_family;
  static constexpr const char* name = "dropout_mask";
  static constexpr op_class kind = op_class::pull;
  static constexpr bool wants_scope = true;
  static constexpr tensor_type result(const attrs& a, const tensor_type*, int, int) {
    return {static_cast<dtype>(a.i[1]), shape_in(a)};
  }
  static constexpr std::uint32_t low(std::int64_t site) { return static_cast<std::uint32_t>(site); }
  static constexpr std::uint32_t high(std::int64_t site) {
    return static_cast<std::uint32_t>(static_cast<std::uint64_t>(site) >> 32);
  }
  static scalar word(lowering& l, std::uint32_t w) {
    return l.number(static_cast<std::int32_t>(w), dtype::i32);
  }
  static scalar lower(lowering& l) {
    const attrs& a = l.options();
    scalar at = l.number(0, dtype::i32);
    for (int k = 0; k < l.type().s.rank; ++k)
      at = k == 0 ? l.index(0) : at * l.extent(l.type().s[k]) + l.index(k);
    const scalar u = l.apply(
        scalar_op::random, {l.in(0, {l.number(0, dtype::i32)}), l.in(0, {l.number(1, dtype::i32)}),
                            at, word(l, low(a.i[5])), word(l, high(a.i[5]))});
    const dtype d = l.type().d;
    return select(u < number_like(u, a.f[0]), l.number(0, d), l.number(1 / (1 - a.f[0]), d));
  }
  static void reference(const reference_call& c) {
    const std::vector<double>& key = c.in[0]->v;
    const auto word = [](double v) {
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(v));
    };
    const std::uint64_t k = word(key[0]) | static_cast<std::uint64_t>(word(key[1])) << 32;
    const float p = static_cast<float>(c.a.f[0]);
    for (std::size_t e = 0; e < c.out[0].v.size(); ++e) {
      const philox_block b =
          philox(k, {{static_cast<std::uint32_t>(e), low(c.a.i[5]), high(c.a.i[5]), 0}});
      const float u = static_cast<float>(b.word[0] >> 8) * 0x1p-24f;
      c.out[0].v[e] = u < p ? 0 : 1 / (1 - c.a.f[0]);
    }
  }
};
template <class Shp, dtype D, number P>
struct dropout_mask : dropout_mask_family {
  static constexpr attrs attributes = [] {
    attrs a = attrs_of(Shp::value);
    a.i[1] = static_cast<std::int64_t>(D);
    a.f[0] = P.v;
    return a;
  }();
  template <int J>
  static constexpr auto grad(auto) {
    return no_gradient{};
  }
};

}  // namespace op

namespace composed {
template <number P>
struct dropout {
  static constexpr const char* name = "dropout";
  template <class X>
  static constexpr auto apply(X x) {
    return in_training(x * make<op::dropout_mask<shp_of<X>, X::type.d, P>>(random_key), x);
  }
};
}  // namespace composed

// A probability below 0, or 1 and above.
template <number P, class X>
class dropout_needs_a_probability_below_one : public mistake<X> {
  ~dropout_needs_a_probability_below_one() = default;
};
namespace detail {
template <number P, class X>
inline constexpr bool drops = floating_expr<X> && P.v >= 0 && P.v < 1;
template <number P, class X>
using dropout_mistake =
    std::conditional_t<floating_expr<X>, dropout_needs_a_probability_below_one<P, shp_of<X>>,
                       dtype_not_supported<"dropout", X::type.d, shp_of<X>>>;
}  // namespace detail

// Dropouts of one scope need different names: the path is what tells them apart.
template <text Name, number P, expression X>
  requires detail::drops<P, X>
constexpr auto dropout(const X& x) {
  if constexpr (P.v == 0)
    return x;
  else
    return detail::call_body<composed::dropout<P>, Name>(x);
}
template <text Name, number P, expression X, class Error = detail::dropout_mistake<P, X>>
  requires(!detail::drops<P, X>)
Error dropout(const X&);

}  // namespace ropewalk
