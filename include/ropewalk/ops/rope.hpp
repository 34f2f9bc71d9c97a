// rope(x, pairing, ...): rotary position embedding of x [..., T, D].
//   (u, v) -> (u cos a - v sin a, v cos a + u sin a),   a = position * base^(-2 i / W)
// for every pair i = 0 .. W/2 - 1 of the rotary window of width W (default D, even) that starts at
// an even offset; features outside it are copied.
//   half_split     pairs (i, i + W/2)      (GPT-NeoX, Llama)
//   interleaved    pairs (2 i, 2 i + 1)    (GPT-J, the original paper)
//   positions      0 .. T-1, or an expression i32 [T] or [B, T]
// Angles are float64, rounded once. Backward is the same op with the sign of the sine flipped.
// Source: Su et al. 2021.
#pragma once
#include "ropewalk/ops/cast.hpp"
#include "ropewalk/ops/cos.hpp"
#include "ropewalk/ops/dim_value.hpp"
#include "ropewalk/ops/div.hpp"
#include "ropewalk/ops/exp.hpp"
#include "ropewalk/ops/iota.hpp"
#include "ropewalk/ops/log.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/reshape.hpp"
#include "ropewalk/ops/sin.hpp"

namespace ropewalk {

enum class rope_pairing : std::int64_t { interleaved, half_split };
struct rope_options {
  rope_pairing pairing = rope_pairing::half_split;
  dim width = 0;  // 0: the whole last axis
  dim offset = 0;
  number base = 10000;
};
struct half_split_t {
  static constexpr void apply(rope_options& o) { o.pairing = rope_pairing::half_split; }
};
struct interleaved_t {
  static constexpr void apply(rope_options& o) { o.pairing = rope_pairing::interleaved; }
};
inline constexpr half_split_t half_split{};
inline constexpr interleaved_t interleaved{};
template <dim Width, dim Offset = 0>
struct rotary_window_t {
  static constexpr void apply(rope_options& o) { o.width = Width, o.offset = Offset; }
};
// Only `Width` features from `Offset` on are rotated.
template <dim Width, dim Offset = 0>
inline constexpr rotary_window_t<Width, Offset> rotary_window{};
template <number Base>
struct rope_base_t {
  static constexpr void apply(rope_options& o) { o.base = Base; }
};
template <number Base>
inline constexpr rope_base_t<Base> rope_base{};

namespace op {

// x [..., T, D], cos and sin broadcastable to [..., T, W/2]. i[0] pairing, i[1] sign of the sine;
// d[0] width, d[1] offset.
struct rotate_family {
  using family = rotate_family;
  static constexpr const char* name = "rope";
  static constexpr op_class kind = op_class::pull;
  static constexpr tensor_type result(const attrs&, const tensor_type* in, int, int) {
    return in[0];
  }
  // cos (input 1) or sin (input 2) of the pair for this element's leading indices.
  static scalar table(lowering& l, int input, scalar pair) {
    const shape& s = l.type(input).s;
    const int shift = l.type().s.rank - s.rank;
    std::vector<scalar> at;
    for (int k = 0; k + 1 < s.rank; ++k)
      at.push_back(s[k] == dim(1) ? l.number(0, dtype::i32) : l.index(k + shift));
    at.push_back(pair);
    return l.in(input, at);
  }
  static scalar lower(lowering& l) {
    const attrs& a = l.options();
    const int last = l.type().s.rank - 1;
    std::vector<scalar> at;
    for (int k = 0; k < last; ++k) at.push_back(l.index(k));
    at.push_back(l.index(last));
    auto x = [&](scalar d) {
      at.back() = d;
      return l.in(0, at);
    };
    const scalar d = l.index(last), offset = l.extent(a.d[1]), i = d - offset;
    const double sign = static_cast<double>(a.i[1]);
    scalar rotated;
    if (a.i[0] == static_cast<std::int64_t>(rope_pairing::half_split)) {
      const scalar half = l.extent(a.d[0] / dim(2));
      const scalar first = x(d) * table(l, 1, i) - x(d + half) * (table(l, 2, i) * sign);
      const scalar j = i - half;
      const scalar second = x(d) * table(l, 1, j) + x(d - half) * (table(l, 2, j) * sign);
      rotated = select(i < half, first, second);
    } else {
      const scalar two = l.number(2, dtype::i32), zero = l.number(0, dtype::i32);
      const scalar pair = l.apply(scalar_op::floor_div, {i, two});
      const scalar even = l.apply(scalar_op::mod, {i, two}) == zero;
      const scalar c = table(l, 1, pair), s = table(l, 2, pair) * sign;
      rotated = x(d) * c + select(even, -x(d + 1.0), x(d - 1.0)) * s;
    }
    if (a.d[0] == l.type().s[-1]) return rotated;
    return select(offset <= d && d < offset + l.extent(a.d[0]), rotated, x(d));
  }
  static void reference(const reference_call& c) {
    const dense& x = *c.in[0];
    const std::int64_t n = x.extent.back(), w = c.a.d[0].n, offset = c.a.d[1].n, half = w / 2;
    const bool split = c.a.i[0] == static_cast<std::int64_t>(rope_pairing::half_split);
    c.out[0].v = x.v;
    std::vector<std::int64_t> lead(x.extent.begin(), x.extent.end() - 1);
    lead.push_back(half);
    for (std::int64_t r = 0; r < static_cast<std::int64_t>(x.v.size()) / n; ++r)
      for (std::int64_t i = 0; i < half; ++i) {
        const std::size_t t = broadcast_position(lead, c.in[1]->extent, r * half + i);
        const double cs = c.in[1]->v[t], sn = c.in[2]->v[t] * static_cast<double>(c.a.i[1]);
        const auto u = static_cast<std::size_t>(r * n + offset + (split ? i : 2 * i));
        const auto v = static_cast<std::size_t>(r * n + offset + (split ? i + half : 2 * i + 1));
        c.out[0].v[u] = x.v[u] * cs - x.v[v] * sn;
        c.out[0].v[v] = x.v[v] * cs + x.v[u] * sn;
      }
  }
};
template <rope_options O, int Sign>
struct rotate : rotate_family {
  static constexpr attrs attributes{.i = {static_cast<std::int64_t>(O.pairing), Sign},
                                    .d = {O.width, O.offset}};
  // Rope by minus the angle; the tables (positions, frequencies) have no gradient here.
  template <int J>
  static constexpr auto grad(auto s) {
    if constexpr (J == 0)
      return make<rotate<O, -Sign>>(s.cotangent(), s.template in<1>(), s.template in<2>());
    else
      return no_gradient{};
  }
};

}  // namespace op

// An odd or too wide rotary window, or an odd offset.
template <dim Width, dim Offset, class X>
struct rope_window_does_not_fit : mistake<X> {
  static_assert(never<X>, "rope window does not fit");
};
// Positions are i32 [T], [1, T] or [B, T] of x [..., T, D].
template <class Positions, class X>
struct rope_positions_do_not_fit : mistake<X> {
  static_assert(never<X>, "rope positions do not fit");
};

namespace detail {
template <class X, class... Option>
constexpr rope_options combine_rope() {
  rope_options o;
  if constexpr (!(expression<Option> || ...)) (Option::apply(o), ...);
  if (o.width == dim(0)) o.width = X::type.s[-1];
  return o;
}
constexpr bool rope_fits(const shape& s, const rope_options& o) {
  if (s.rank < 2) return false;
  const dim& n = s[-1];
  if (o.offset.fixed() && (o.offset.n < 0 || o.offset.n % 2 != 0)) return false;
  if (!o.width.fixed() || !n.fixed() || !o.offset.fixed()) return true;
  return o.width.n > 0 && o.width.n % 2 == 0 && o.offset.n + o.width.n <= n.n;
}
template <class P>
inline constexpr bool is_positions = expression<P>;
template <class P, class X>
constexpr bool positions_fit() {
  if constexpr (!expression<P>) {
    return false;
  } else {
    constexpr shape p = P::type.s, x = X::type.s;
    if (P::type.d != dtype::i32 || x.rank < 2) return false;
    if (p.rank == 1) return p[0] == x[-2];
    return p.rank == 2 && x.rank == 4 && p[1] == x[-2] && (p[0] == x[0] || p[0] == dim(1));
  }
}
// Angles in float64: positions [T] -> [T, W/2]; [B, T] -> [B, 1, T, W/2].
template <rope_options O, class P>
constexpr auto rope_angles(const P& p) {
  constexpr dim half = O.width / dim(2);
  auto rate = dim_value<O.width, dtype::f64>();
  auto log_base = log(constant<O.base, dtype::f64>) * constant<-2.0>;
  auto f = exp(iota<half, dtype::f64> * (log_base / rate));
  constexpr shape s = P::type.s;
  if constexpr (s.rank == 1) return cast<dtype::f64>(reshape<s[0], 1>(p)) * f;
  else return cast<dtype::f64>(reshape<s[0], 1, s[1], 1>(p)) * f;
}
template <rope_options O, class X, class P>
constexpr auto rope_with(const X&, const P& p) {
  auto angles = let([=] { return rope_angles<O>(P{}); });
  (void)p;
  auto c = cast<X::type.d>(cos(angles));
  auto s = cast<X::type.d>(sin(angles));
  return node<op::rotate<O, 1>, X, decltype(c), decltype(s)>{};
}
}  // namespace detail

template <expression X, class... Option>
  requires(!(expression<Option> || ...) &&
           detail::rope_fits(X::type.s, detail::combine_rope<X, Option...>()))
constexpr auto rope(const X& x, const Option&...) {
  return detail::rope_with<detail::combine_rope<X, Option...>()>(x, iota<X::type.s[-2]>);
}
template <expression X, expression P, class... Option>
  requires(!(expression<Option> || ...) && detail::positions_fit<P, X>() &&
           detail::rope_fits(X::type.s, detail::combine_rope<X, Option...>()))
constexpr auto rope(const X& x, const P& positions, const Option&...) {
  return detail::rope_with<detail::combine_rope<X, Option...>()>(x, positions);
}
template <expression X, class... Option, rope_options O = detail::combine_rope<X, Option...>(),
          class Error = rope_window_does_not_fit<O.width, O.offset, shp_of<X>>>
  requires(!(expression<Option> || ...) && !detail::rope_fits(X::type.s, O))
Error rope(const X&, const Option&...);
template <expression X, expression P, class... Option,
          rope_options O = detail::combine_rope<X, Option...>(),
          class Error = std::conditional_t<detail::positions_fit<P, X>(),
                                           rope_window_does_not_fit<O.width, O.offset, shp_of<X>>,
                                           rope_positions_do_not_fit<shp_of<P>, shp_of<X>>>>
  requires(!(expression<Option> || ...) &&
           !(detail::positions_fit<P, X>() && detail::rope_fits(X::type.s, O)))
Error rope(const X&, const P&, const Option&...);

}  // namespace ropewalk
