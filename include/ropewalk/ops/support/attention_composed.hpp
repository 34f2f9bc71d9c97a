// attention as a composition of other ops, with the score matrix: what a gradient of a gradient is
// derived from, and what tests compare with. Its arguments are those of the op, all floats in one
// type.
#pragma once
#include "ropewalk/grad/vjp.hpp"
#include "ropewalk/ops/abs.hpp"
#include "ropewalk/ops/gather_rows.hpp"
#include "ropewalk/ops/greater.hpp"
#include "ropewalk/ops/less_equal.hpp"
#include "ropewalk/ops/logical_and.hpp"
#include "ropewalk/ops/matmul.hpp"
#include "ropewalk/ops/neg.hpp"
#include "ropewalk/ops/rope/rotate.hpp"
#include "ropewalk/ops/rsqrt.hpp"
#include "ropewalk/ops/slice.hpp"
#include "ropewalk/ops/support/attention_options.hpp"
#include "ropewalk/ops/support/shifted_exp.hpp"
#include "ropewalk/ops/tanh.hpp"

namespace ropewalk {

namespace op {

// key i32 [3] -> [B, H, Tq, Tk]: 0 where attention drops, 1 / (1 - p) where it keeps; 1 where
// key[2] is 0. i[1] type; d: the shape; f[2] p.
struct attention_keep_family {
  using family = attention_keep_family;
  static constexpr const char* name = "attention_keep";
  static constexpr op_class kind = op_class::kernel;
  static constexpr tensor_type result(const attrs& a, const tensor_type*, int, int) {
    return {static_cast<dtype>(a.i[1]), shape{a.d[0], a.d[1], a.d[2], a.d[3]}};
  }
  static void kernel(const kernel_call& c);        // codegen/cpu/ops/attention.cpp
  static void reference(const reference_call& c);  // codegen/cpu/ops/attention_reference.cpp
};
template <dim B, dim H, dim Tq, dim Tk, number P, dtype D>
struct attention_keep : attention_keep_family {
  static constexpr attrs attributes{
      .i = {0, static_cast<std::int64_t>(D)}, .f = {0, 0, P.v}, .d = {B, H, Tq, Tk}};
  template <int J>
  static constexpr auto grad(auto) {
    return no_gradient{};
  }
};

}  // namespace op
ROPEWALK_LIBRARY_OP(attention_keep_family);

namespace composed {

// Scores are [B, Hkv, H / Hkv, Tq, Tk].
template <attention_options O>
struct attention {
  static constexpr const char* name = "attention_composed";

  // Nothing, as a condition or a bias; and what is added to it.
  struct none {};
  template <class A>
  static constexpr auto both(none, A a) {
    return a;
  }
  template <class A, class B>
  static constexpr auto both(A a, B b) {
    return a && b;
  }
  template <attention_operand K>
  static constexpr bool has = O.has(K);
  // Argument K among those behind q, k and v.
  template <attention_operand K, class... In>
  static constexpr auto at(list<In...>) {
    constexpr int before = [] {
      int n = 0;
      for (int i = 0; i < static_cast<int>(K); ++i) n += O.has(static_cast<attention_operand>(i));
      return n;
    }();
    return boost::mp11::mp_at_c<list<In...>, before>{};
  }

  template <class Q, class K, class V, class... In>
  static constexpr auto apply(Q q, K k, V v, In...) {
    using kind = attention_operand;
    constexpr shape sq = Q::type.s, sk = K::type.s, sv = V::type.s;
    constexpr dtype type = Q::type.d;
    constexpr dim batch = detail::batch_of(sq), heads = sq[-3], groups = sk[-3];
    constexpr dim share = heads / groups, tq = sq[-2], tk = sk[-2];
    constexpr list<In...> more{};
    auto q5 = reshape<batch, groups, share, tq, sq[-1]>(rotated_rows<tk>(q, more));
    auto k5 = reshape<batch, groups, 1, tk, sk[-1]>(rotated(k, more));
    auto v5 = reshape<batch, groups, 1, tk, sv[-1]>(v);
    auto scale = [&] {
      if constexpr (has<kind::scale>)
        return reshape<>(at<kind::scale>(more));
      else if constexpr (O.has_scale)
        return constant<O.scale, type>;
      else
        return rsqrt(dim_value<sq[-1], type>());
    }();
    auto capped = [&] {
      auto s = matmul<false, true>(q5, k5) * scale;
      if constexpr (O.soft_cap.v > 0)
        return tanh(s * constant<1 / O.soft_cap.v>) * constant<O.soft_cap>;
      else
        return s;
    }();
    auto row = reshape<tq, 1>(iota<tq>);  // positions of the query rows
    auto p = [&] {
      if constexpr (has<kind::start>)
        return per_item(at<kind::start>(more)) + row;
      else
        return row + dim_value<tk - tq, dtype::i32>();
    }();
    auto biased = [&] {
      if constexpr (has<kind::mask> && has<kind::slopes>)
        return capped + finite(mask5<groups, share>(at<kind::mask>(more))) *
                            reshape<groups, share, 1, 1>(at<kind::slopes>(more));
      else if constexpr (has<kind::mask>)
        return capped + finite(mask5<groups, share>(at<kind::mask>(more)));
      else if constexpr (has<kind::slopes>)
        return capped -
               abs(cast<type>(p - iota<tk>)) * reshape<groups, share, 1, 1>(at<kind::slopes>(more));
      else
        return capped;
    }();
    auto condition = conditions<groups, share, tk>(p, more);
    constexpr bool all = std::is_same_v<decltype(condition), none>;  // rows see every key
    auto seen = [&] {
      if constexpr (all)
        return condition;
      else
        return let([=] { return condition; });
    }();
    auto s = let([=] {
      if constexpr (all)
        return biased;
      else
        return where(seen, biased, constant<-3e38, type>);
    });
    auto largest = ropewalk::max<axes{-1}.keep()>(s);
    auto top = let([=] {
      if constexpr (has<kind::sinks>)
        return stop_gradient(maximum(largest, reshape<groups, share, 1, 1>(at<kind::sinks>(more))));
      else
        return stop_gradient(largest);
    });
    auto e = let([=] {
      if constexpr (all)
        return exp(s - top);
      else
        return where(seen, exp(s - top), constant<0.0, type>);
    });
    auto total = [&] {
      auto t = sum<axes{-1}.keep()>(e);
      if constexpr (has<kind::sinks>)
        return t + exp(reshape<groups, share, 1, 1>(at<kind::sinks>(more)) - top);
      else
        return t;
    }();
    auto probabilities = [&] {
      auto y = e / detail::nonzero(total);
      if constexpr (has<kind::dropout>)
        return y * reshape<batch, groups, share, tq, tk>(
                       make<op::attention_keep<batch, heads, tq, tk, O.dropout, type>>(
                           at<kind::dropout>(more)));
      else
        return y;
    }();
    return reshape_to<shp_for<out_shape<Q, V>>>(matmul(probabilities, v5));
  }

  template <class Q, class V>
  struct out_shape {
    static constexpr shape value = [] {
      shape s = Q::type.s;
      s[-1] = V::type.s[-1];
      return s;
    }();
  };
  // i32 [B] or [1] beside the scores.
  template <class X>
  static constexpr auto per_item(X x) {
    return reshape<X::type.s[0], 1, 1, 1, 1>(x);
  }
  // [.., Tq, Tk] beside the scores.
  template <dim Groups, dim Share, class M>
  static constexpr auto mask5(M m) {
    constexpr shape s = M::type.s;
    constexpr dim b = s.rank == 4 ? s[0] : dim(1);
    constexpr bool per_head = s.rank >= 3 && s[-3] == Groups * Share;
    if constexpr (per_head)
      return reshape<b, Groups, Share, s[-2], s[-1]>(m);
    else
      return reshape<b, 1, 1, s[-2], s[-1]>(m);
  }
  template <class M>
  static constexpr auto unmasked(M m) {
    return constant<-__builtin_inf(), M::type.d> < m;
  }
  template <class M>
  static constexpr auto finite(M m) {
    return where(unmasked(m), m, constant<0.0, M::type.d>);
  }
  // x turned by tables that broadcast to its rows.
  template <class X, class C, class S>
  static constexpr auto rotate(X x, C c, S s) {
    constexpr dim width = dim(2) * C::type.s[-1];
    constexpr rope_pairing pairing =
        O.interleaved ? rope_pairing::interleaved : rope_pairing::half_split;
    return make<op::rotate<pairing, width, O.rope_offset, 1>>(x, c, s);
  }
  template <class X, class More>
  static constexpr auto rotated(X x, More more) {
    using kind = attention_operand;
    if constexpr (has<kind::cosine>)
      return rotate(x, at<kind::cosine>(more), at<kind::sine>(more));
    else
      return x;
  }
  // The same for q, whose rows stand among the keys.
  template <dim Tk, class X, class More>
  static constexpr auto rotated_rows(X x, More more) {
    using kind = attention_operand;
    constexpr dim tq = X::type.s[-2];
    if constexpr (!has<kind::cosine>) {
      return x;
    } else if constexpr (has<kind::start>) {
      auto first = at<kind::start>(more);
      constexpr dim b = decltype(first)::type.s[0];
      auto ids = reshape<b, 1>(first) + iota<tq>;
      const auto rows = [&](auto table) {
        constexpr dim half = decltype(table)::type.s[-1];
        auto t = gather_rows(table, ids);
        if constexpr (X::type.s.rank == 4)
          return reshape<b, 1, tq, half>(t);
        else
          return t;
      };
      return rotate(x, rows(at<kind::cosine>(more)), rows(at<kind::sine>(more)));
    } else {
      return rotate(x, slice<0, Tk - tq, tq>(at<kind::cosine>(more)),
                    slice<0, Tk - tq, tq>(at<kind::sine>(more)));
    }
  }
  // How many documents start at or before each position; 0 or more than there are: in none.
  template <class Cu, class P>
  static constexpr auto document(Cu cu, P p) {
    return sum<axes{-1}.keep()>(cast<dtype::f32>(less_equal(cu, p)));
  }

  // Which keys the rows see, as a bool that broadcasts to the scores; none where it is all.
  template <dim Groups, dim Share, dim Tk, class P, class More>
  static constexpr auto conditions(P p, More more) {
    using kind = attention_operand;
    constexpr auto n = iota<Tk>;
    auto a = [&] {
      if constexpr (O.is_causal)
        return less_equal(n, p);
      else
        return none{};
    }();
    auto b = [&] {
      constexpr auto w = [] { return dim_value<O.window, dtype::i32>(); };
      if constexpr (O.window == dim(0))
        return a;
      else if constexpr (O.is_causal)
        return both(a, p - n < w());
      else
        return p - n < w() && n - p < w();
    }();
    auto c = [&] {
      if constexpr (has<kind::lengths>)
        return both(b, n < per_item(at<kind::lengths>(more)));
      else
        return b;
    }();
    auto d = [&] {
      if constexpr (has<kind::mask>)
        return both(c, unmasked(mask5<Groups, Share>(at<kind::mask>(more))));
      else
        return c;
    }();
    if constexpr (has<kind::documents>) {
      auto cu = at<kind::documents>(more);
      auto of_row = document(cu, p);
      auto of_key = reshape<Tk>(document(cu, reshape<Tk, 1>(n)));
      constexpr dim starts = decltype(cu)::type.s[0];
      return both(d, equal(of_row, of_key) && constant<0.0> < of_row &&
                         of_row < dim_value<starts, dtype::f32>());
    } else {
      return d;
    }
  }
};
}  // namespace composed

}  // namespace ropewalk
