// attention(q, k, v, options...): softmax(scale * q k^T + structure) v, without the score matrix.
//   q [B, H, Tq, Dk]   k [B, Hkv, Tk, Dk]   v [B, Hkv, Tk, Dv]   ->  [B, H, Tq, Dv]
// (the batch axis may be missing in all of them). H mod Hkv = 0: head h reads key head
// h / (H / Hkv). Query row j stands at key position Tk - Tq + j.
//   causal         keeps the keys up to that position
//   scaled<s>      scale, else 1 / sqrt(Dk)
// A row that sees no key gives 0. Saved for backward: the result and the row's log-sum-exp; memory is
// linear in T. Backward: two passes (dk and dv per key block, dq per query block), deterministic.
// Source: Dao et al. 2022 (FlashAttention), spec by the recomputed probabilities.
#pragma once
#include "ropewalk/core/module.hpp"
#include "ropewalk/grad/vjp.hpp"
#include "ropewalk/ops/dim_value.hpp"
#include "ropewalk/ops/exp.hpp"
#include "ropewalk/ops/iota.hpp"
#include "ropewalk/ops/less_equal.hpp"
#include "ropewalk/ops/logsumexp.hpp"
#include "ropewalk/ops/matmul.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/rsqrt.hpp"
#include "ropewalk/ops/sub.hpp"
#include "ropewalk/ops/where.hpp"

namespace ropewalk {

struct attention_options {
  bool is_causal = false;
  number scale = 0;  // 0: 1 / sqrt(Dk)
};
struct causal_t {
  static constexpr void apply(attention_options& o) { o.is_causal = true; }
};
inline constexpr causal_t causal{};
template <number Scale>
struct scaled_t {
  static constexpr void apply(attention_options& o) { o.scale = Scale; }
};
template <number Scale>
inline constexpr scaled_t<Scale> scaled{};

namespace op {

// i[0] causal, f[0] scale (0: by Dk). Results: out, and lse [B, H, Tq].
struct attention_family {
  using family = attention_family;
  static constexpr const char* name = "attention";
  static constexpr op_class kind = op_class::kernel;
  static constexpr int results = 2;
  static constexpr bool strided_inputs = true;
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int k) {
    tensor_type t = in[0];
    if (k == 0) t.s[-1] = in[2].s[-1];
    else --t.s.rank, t.s.d[t.s.rank] = dim();
    return t;
  }
  static void kernel(const kernel_call& c);  // codegen/cpu/ops/attention.cpp
  static std::size_t workspace(const kernel_call& c);
  static void reference(const reference_call& c);
};
// q, k, v, out, lse, d_out -> d_q, d_k, d_v.
struct attention_backward_family {
  using family = attention_backward_family;
  static constexpr const char* name = "attention_backward";
  static constexpr op_class kind = op_class::kernel;
  static constexpr int results = 3;
  static constexpr bool strided_inputs = true;
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int k) {
    return in[k];
  }
  static void kernel(const kernel_call& c);
  static std::size_t workspace(const kernel_call& c);
  static void reference(const reference_call& c);
};

constexpr attrs attention_attrs(const attention_options& o) {
  return {.i = {o.is_causal}, .f = {o.scale.v}};
}

template <attention_options O>
struct attention_backward;

template <attention_options O>
struct attention : attention_family {
  static constexpr attrs attributes = attention_attrs(O);
  template <int J>
  static constexpr auto grad(auto s) {
    auto q = s.template in<0>();
    auto k = s.template in<1>();
    auto v = s.template in<2>();
    auto out = s.template out<0>();
    auto lse = s.template out<1>();
    auto g = s.template cotangent<0>();
    using backward = decltype(make<attention_backward<O>>(q, k, v, out, lse, g));
    return pick<J, backward>{};
  }
};

}  // namespace op

// The same function as a composition of primitive ops, with the score matrix: what a gradient of a
// gradient is derived from, and what tests compare with.
template <attention_options O>
inline constexpr auto attention_composed_module = module<"attention_composed">([](auto q, auto k,
                                                                                  auto v) {
  constexpr shape sq = decltype(q)::type.s, sk = decltype(k)::type.s, sv = decltype(v)::type.s;
  constexpr dtype type = decltype(q)::type.d;
  constexpr dim batch = sq.rank == 4 ? sq[0] : dim(1);
  constexpr dim heads = sq[-3], groups = sk[-3], share = sq[-3] / sk[-3];
  auto q5 = reshape<batch, groups, share, sq[-2], sq[-1]>(q);
  auto k5 = reshape<batch, groups, 1, sk[-2], sk[-1]>(k);
  auto v5 = reshape<batch, groups, 1, sv[-2], sv[-1]>(v);
  auto scale = [&] {
    if constexpr (O.scale.v != 0) return constant<O.scale, type>;
    else return rsqrt(dim_value<sq[-1], type>());
  }();
  auto scores = [&] {
    auto s = matmul<false, true>(q5, k5) * scale;
    if constexpr (O.is_causal) {
      auto last = reshape<sq[-2], 1>(iota<sq[-2]>) + dim_value<sk[-2] - sq[-2], dtype::i32>();
      return where(less_equal(iota<sk[-2]>, last), s, constant<-1e300, type>);
    } else {
      return s;
    }
  }();
  auto p = exp(scores - logsumexp<axes{-1}.keep()>(scores));
  using out_shape = shp_for<detail::expr_shape<pick<0, node<op::attention<O>, decltype(q), decltype(k), decltype(v)>>>>;
  (void)heads;
  return reshape_to<out_shape>(matmul(p, v5));
});

namespace op {

template <attention_options O>
struct attention_backward : attention_backward_family {
  static constexpr attrs attributes = attention_attrs(O);
  // As a function of q, k, v and d_out (out and lse follow from them): the derivative of the
  // composed form's derivative.
  template <int J>
  static constexpr auto grad(auto s) {
    if constexpr (J == 3 || J == 4) {
      return no_gradient{};
    } else {
      constexpr int argument = J == 5 ? 3 : J;
      return term<0, argument>(s) + term<1, argument>(s) + term<2, argument>(s);
    }
  }
  template <int K, int Argument>
  static constexpr auto term(auto s) {
    auto q = s.template in<0>();
    auto k = s.template in<1>();
    auto v = s.template in<2>();
    auto g = s.template in<5>();
    auto c = s.template cotangent<K>();
    using composed = std::remove_cvref_t<decltype(attention_composed_module<O>)>;
    return call_t<vjp<vjp<composed, 3, K>, 4, Argument>, "", decltype(q), decltype(k), decltype(v),
                  decltype(g), decltype(c)>{};
  }
};

}  // namespace op

// Ranks other than 3 or 4, different batch, Dk or Tk, or H not a multiple of Hkv.
template <class Q, class K, class V>
struct attention_shapes_do_not_fit : mistake<Q> {
  static_assert(never<Q>, "attention shapes do not fit");
};
namespace detail {
template <class Q, class K, class V>
constexpr bool attention_fits() {
  constexpr shape q = Q::type.s, k = K::type.s, v = V::type.s;
  if (Q::type.d != K::type.d || Q::type.d != V::type.d || !is_floating(Q::type.d)) return false;
  if ((q.rank != 3 && q.rank != 4) || k.rank != q.rank || v.rank != q.rank) return false;
  if (q.rank == 4 && !(q[0] == k[0] && q[0] == v[0])) return false;
  if (!(q[-1] == k[-1]) || !(k[-2] == v[-2]) || !(k[-3] == v[-3])) return false;
  return !q[-3].fixed() || !k[-3].fixed() || q[-3].n % k[-3].n == 0;
}
template <class... Option>
constexpr attention_options combine_options() {
  attention_options o;
  (Option::apply(o), ...);
  return o;
}
}  // namespace detail

template <expression Q, expression K, expression V, class... Option>
  requires(detail::attention_fits<Q, K, V>())
constexpr auto attention(const Q&, const K&, const V&, const Option&...) {
  return pick<0, node<op::attention<detail::combine_options<Option...>()>, Q, K, V>>{};
}
template <expression Q, expression K, expression V, class... Option,
          class Error = attention_shapes_do_not_fit<shp_of<Q>, shp_of<K>, shp_of<V>>>
  requires(!detail::attention_fits<Q, K, V>())
Error attention(const Q&, const K&, const V&, const Option&...);

}  // namespace ropewalk
