// dropout<"name", p>(x): in training, each element is 0 with probability p, else x / (1 - p);
// otherwise x.
//
// Whether an element is dropped is a function of (seed, step, where the dropout stands, the
// element's row-major index): Philox with key (seed + low, step + high) and counter (index, 0, 0,
// 0); low and high are words of a hash of the path, seed and step what the session gives in the
// input "rng". So it differs per step, per layer and per element, it is the same in forward and
// backward and wherever it is recomputed, and the same on every backend. Source: Srivastava et al.
// 2014.
#pragma once
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/expand.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/support/composed.hpp"
#include "ropewalk/ops/support/shape_attrs.hpp"
#include "ropewalk/train/rng.hpp"

namespace ropewalk {

// (seed, step) of a program that draws random numbers, both in [0, 2^30).
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
  // 30 bits each: their sums with seed and step stay below 2^31.
  static constexpr std::int32_t low(std::int64_t site) { return site & 0x3FFFFFFF; }
  static constexpr std::int32_t high(std::int64_t site) { return site >> 30 & 0x3FFFFFFF; }
  static scalar lower(lowering& l) {
    const attrs& a = l.options();
    scalar at = l.number(0, dtype::i32);
    for (int k = 0; k < l.type().s.rank; ++k)
      at = k == 0 ? l.index(0) : at * l.extent(l.type().s[k]) + l.index(k);
    const scalar seed = l.in(0, {l.number(0, dtype::i32)}),
                 step = l.in(0, {l.number(1, dtype::i32)});
    const scalar u = l.apply(scalar_op::random, {seed + static_cast<double>(low(a.i[5])),
                                                 step + static_cast<double>(high(a.i[5])), at});
    const dtype d = l.type().d;
    return select(u < number_like(u, a.f[0]), l.number(0, d), l.number(1 / (1 - a.f[0]), d));
  }
  static void reference(const reference_call& c) {
    const auto word = [&](std::size_t k, std::int32_t site) {
      return static_cast<std::uint32_t>(static_cast<std::int64_t>(c.in[0]->v[k]) + site);
    };
    const std::uint64_t key =
        word(0, low(c.a.i[5])) | static_cast<std::uint64_t>(word(1, high(c.a.i[5]))) << 32;
    const float p = static_cast<float>(c.a.f[0]);
    for (std::size_t e = 0; e < c.out[0].v.size(); ++e) {
      const philox_block b = philox(key, {{static_cast<std::uint32_t>(e), 0, 0, 0}});
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
ROPEWALK_LIBRARY_OP(dropout_mask_family);

namespace composed {
template <number P>
struct dropout {
  static constexpr const char* name = "dropout";
  // Both modes inside, too: the gradient outside of training must not ask for a key.
  template <class X>
  static constexpr auto apply(X x) {
    using mask = op::dropout_mask<shp_of<X>, X::type.d, P>;
    auto ones = expand_to<shp_of<X>>(constant_t<1.0, X::type.d>{});
    return in_training(x * in_training(make<mask>(random_key), ones), x);
  }
};
}  // namespace composed

// A probability below 0, or 1 and above.
template <number P, class X>
struct dropout_needs_a_probability_below_one : mistake<X> {
  static_assert(never<X>, "dropout needs a probability below one");
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
