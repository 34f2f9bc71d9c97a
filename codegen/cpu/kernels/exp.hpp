// exp of a vector: within 1.02 ulp (measured over the whole range, f32 and f64, every set).
#pragma once
#include "vec.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

// exp(r) = 1 + r + r² q(r) on |r| ≤ ln 2 / 2. f32: q fitted to the smallest relative error of exp,
// 3e-9; f64: the series, whose rest is 4e-18. `round` + x puts round(x) into the last bits.
template <class T>
struct exp_constants;
template <>
struct exp_constants<float> {
  static constexpr float round = 12582912.0f, log2e = 1.44269504f, ln2_high = 0.693145751953125f,
                         ln2_low = 1.42860682e-6f, lowest = -87.33f, highest = 88.37f;
  using unsigned_bits = std::uint32_t;
  static constexpr int mantissa = 23, bias = 127, terms = 5;
  static constexpr float q[terms] = {1.38145379e-3f, 8.36874532e-3f, 4.16683908e-2f, 1.66665204e-1f,
                                     4.99999934e-1f};
};
template <>
struct exp_constants<double> {
  static constexpr double round = 6755399441055744.0, log2e = 1.4426950408889634,
                          ln2_high = 0.6931471805592082, ln2_low = 7.371002565167799e-13,
                          lowest = -708.3, highest = 709.4;
  using unsigned_bits = std::uint64_t;
  static constexpr int mantissa = 52, bias = 1023, terms = 12;
  static constexpr double q[terms] = {
      1.6059043836821613e-10, 2.08767569878681e-9,   2.505210838544172e-8,  2.755731922398589e-7,
      2.7557319223985893e-6,  2.48015873015873e-5,   1.984126984126984e-4,  1.388888888888889e-3,
      8.333333333333333e-3,   4.1666666666666664e-2, 1.6666666666666666e-1, 0.5};
};

// 0 below `lowest` (results that would be subnormal), +inf above `highest`; NaN stays NaN.
template <class T>
ROPEWALK_INLINE vec<T> exp(vec<T> x) {
  using C = exp_constants<T>;
  const vec<T> t = x * C::log2e + C::round;
  const vec<T> n = t - C::round;
  const vec<T> r = (x - n * C::ln2_high) - n * C::ln2_low;
  vec<T> q = splat(C::q[0]);
#pragma GCC unroll 16
  for (int i = 1; i < C::terms; ++i) q = q * r + C::q[i];
  const vec<T> e = (q * r) * r + r + T(1);
  // The low bits of t hold n: shifted into the exponent field they make 2ⁿ. Unsigned: what NaN and
  // far values make of it wraps, and is not chosen.
  using U = typename C::unsigned_bits;
  using bit_vec = vec<U>;
  const bit_vec bits =
      (reinterpret_cast<bit_vec>(t) << C::mantissa) + (static_cast<U>(C::bias) << C::mantissa);
  const vec<T> y = e * reinterpret_cast<vec<T>>(bits);
  return choose<T>(x < C::lowest, vec<T>{},
                   choose<T>(x > C::highest, splat(T(__builtin_huge_val())), y));
}

}  // namespace ropewalk::ROPEWALK_KERNELS
