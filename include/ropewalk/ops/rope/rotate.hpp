// The rotation itself, one for every variant of rope:
//   (u, v) -> (u cos a - v sin a, v cos a + u sin a)
// for every pair of a window of the last axis; the other features are copied. cos and sin are
// tables that hold the magnitude too. Half-precision x is rotated in float32 and rounded once.
#pragma once
#include "ropewalk/ops/add.hpp"
#include "ropewalk/ops/cast.hpp"
#include "ropewalk/ops/mul.hpp"
#include "ropewalk/ops/rope/options.hpp"
#include "ropewalk/ops/slice.hpp"
#include "ropewalk/ops/sub.hpp"

namespace ropewalk::op {

// x [..., T, N], cos and sin broadcastable to [..., T, W/2]. i[0] pairing, i[1] sign of the sine;
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
    const dtype computed = l.type(1).d;
    std::vector<scalar> at;
    for (int k = 0; k < last; ++k) at.push_back(l.index(k));
    at.push_back(l.index(last));
    auto x = [&](scalar d) {
      at.back() = d;
      const scalar v = l.in(0, at);
      return l.type().d == computed ? v : l.cast(v, computed);
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
    if (!(a.d[0] == l.type().s[-1]))
      rotated = select(offset <= d && d < offset + l.extent(a.d[0]), rotated, x(d));
    return l.type().d == computed ? rotated : l.cast(rotated, l.type().d);
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
// Part 0 (u) or 1 (v) of every pair of x.
template <rope_pairing Pairing, dim Width, dim Offset, int Part, dtype D, class X>
constexpr auto rope_part(const X& x) {
  constexpr dim half = Width / dim(2);
  constexpr bool split = Pairing == rope_pairing::half_split;
  constexpr dim start = Offset + (split ? half * dim(Part) : dim(Part));
  return ropewalk::cast<D>(ropewalk::slice<-1, start, half, split ? 1 : 2>(x));
}
template <rope_pairing Pairing, dim Width, dim Offset, int Sign>
struct rotate : rotate_family {
  static constexpr attrs attributes{.i = {static_cast<std::int64_t>(Pairing), Sign},
                                    .d = {Width, Offset}};
  // In x: by minus the angle. In the tables: du u + dv v, and Sign (dv u - du v), summed over what
  // the tables broadcast to.
  template <int J>
  static constexpr auto grad(auto s) {
    auto g = s.cotangent();
    auto table = s.template in<J == 0 ? 1 : J>();
    if constexpr (J == 0) {
      return make<rotate<Pairing, Width, Offset, -Sign>>(g, table, s.template in<2>());
    } else {
      constexpr dtype d = decltype(table)::type.d;
      auto x = s.template in<0>();
      auto u = rope_part<Pairing, Width, Offset, 0, d>(x);
      auto v = rope_part<Pairing, Width, Offset, 1, d>(x);
      auto du = rope_part<Pairing, Width, Offset, 0, d>(g);
      auto dv = rope_part<Pairing, Width, Offset, 1, d>(g);
      if constexpr (J == 1)
        return sum_to(du * u + dv * v, table);
      else if constexpr (Sign == 1)
        return sum_to(dv * u - du * v, table);
      else
        return sum_to(du * v - dv * u, table);
    }
  }
};

}  // namespace ropewalk::op
namespace ropewalk {
ROPEWALK_LIBRARY_OP(rotate_family);
}  // namespace ropewalk
