// exp and tanh of a vector. exp: within 1.02 ulp (measured over the whole range, f32 and f64, every
// set).
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
                         ln2_low = 1.42860682e-6f, lowest = -87.33f, highest = 88.37f,
                         tanh_one = 10;
  using unsigned_bits = std::uint32_t;
  static constexpr int mantissa = 23, bias = 127, terms = 5;
  static constexpr float q[terms] = {1.38145379e-3f, 8.36874532e-3f, 4.16683908e-2f, 1.66665204e-1f,
                                     4.99999934e-1f};
};
template <>
struct exp_constants<double> {
  static constexpr double round = 6755399441055744.0, log2e = 1.4426950408889634,
                          ln2_high = 0.6931471805592082, ln2_low = 7.371002565167799e-13,
                          lowest = -708.3, highest = 709.4, tanh_one = 20;
  using unsigned_bits = std::uint64_t;
  static constexpr int mantissa = 52, bias = 1023, terms = 12;
  static constexpr double q[terms] = {
      1.6059043836821613e-10, 2.08767569878681e-9,   2.505210838544172e-8,  2.755731922398589e-7,
      2.7557319223985893e-6,  2.48015873015873e-5,   1.984126984126984e-4,  1.388888888888889e-3,
      8.333333333333333e-3,   4.1666666666666664e-2, 1.6666666666666666e-1, 0.5};
};

// e^x = (1 + less_one) · power, power = 2ⁿ.
template <class T>
struct exp_parts {
  vec<T> less_one, power;
};
template <class T>
ROPEWALK_INLINE exp_parts<T> split_exp(vec<T> x) {
  using C = exp_constants<T>;
  const vec<T> t = x * C::log2e + C::round;
  const vec<T> n = t - C::round;
  const vec<T> r = (x - n * C::ln2_high) - n * C::ln2_low;
  vec<T> q = splat(C::q[0]);
#pragma GCC unroll 16
  for (int i = 1; i < C::terms; ++i) q = q * r + C::q[i];
  // The low bits of t hold n: shifted into the exponent field they make 2ⁿ. Unsigned: what NaN and
  // far values make of it wraps, and is not chosen.
  using U = typename C::unsigned_bits;
  using bit_vec = vec<U>;
  const bit_vec bits =
      (reinterpret_cast<bit_vec>(t) << C::mantissa) + (static_cast<U>(C::bias) << C::mantissa);
  return {(q * r) * r + r, reinterpret_cast<vec<T>>(bits)};
}

// 0 below `lowest` (results that would be subnormal), +inf above `highest`; NaN stays NaN.
template <class T>
ROPEWALK_INLINE vec<T> exp(vec<T> x) {
  using C = exp_constants<T>;
  const exp_parts<T> e = split_exp<T>(x);
  const vec<T> y = (e.less_one + T(1)) * e.power;
  return choose<T>(x < C::lowest, vec<T>{},
                   choose<T>(x > C::highest, splat(T(__builtin_huge_val())), y));
}

// tanh(|x|) = m / (m + 2) with m = e^(2|x|) - 1, which the parts give without cancellation; 1 where
// that is what it rounds to.
template <class T>
ROPEWALK_INLINE vec<T> tanh(vec<T> x) {
  using C = exp_constants<T>;
  using I = typename bits_of<T>::type;
  constexpr I sign = static_cast<I>(typename C::unsigned_bits(1) << (8 * sizeof(T) - 1));
  const ivec<T> bits = reinterpret_cast<ivec<T>>(x);
  const vec<T> size = reinterpret_cast<vec<T>>(bits & ~sign);
  const vec<T> a = choose<T>(size > C::tanh_one, splat(C::tanh_one), size);
  const exp_parts<T> e = split_exp<T>(a + a);
  const vec<T> m = e.less_one * e.power + (e.power - T(1));
  const vec<T> y = m / (m + T(2));
  return reinterpret_cast<vec<T>>(reinterpret_cast<ivec<T>>(y) | (bits & sign));
}

}  // namespace ropewalk::ROPEWALK_KERNELS
