// The scalar math of generated kernels. Everything on float is branch-free so that loops over it
// vectorise; double goes to the C library. The file is compiled once per instruction set, in the
// namespace that ROPEWALK_ISA_NAMESPACE names.
//
// Measured over their ranges against double (tests/cpu/vecmath.cpp): exp 1.1 ulp, log 1.5, tanh 2,
// erf 2, sin and cos 1.5. Coefficients are weighted least-squares fits to the functions, pushed
// towards the smallest largest relative error.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

namespace ropewalk::ROPEWALK_ISA_NAMESPACE {
namespace {

template <class T>
inline T larger(T a, T b) { return a > b ? a : b; }
template <class T>
inline T smaller(T a, T b) { return a < b ? a : b; }
inline float absolute(float x) { return __builtin_fabsf(x); }
inline double absolute(double x) { return __builtin_fabs(x); }
inline int absolute(int x) { return x < 0 ? -x : x; }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

inline std::int32_t bits_of(float x) { return __builtin_bit_cast(std::int32_t, x); }
inline float float_of(std::int32_t i) { return __builtin_bit_cast(float, i); }

// e^x: x = n ln 2 + r, |r| <= ln 2 / 2. Results that would be subnormal are 0.
inline float exp(float x) {
  const float t = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the low bits of t hold n
  const float n = t - 12582912.0f;
  const float r = (x - n * 0.693145751953125f) - n * 1.42860682e-6f;
  float q = 1.38145379e-3f;
  q = q * r + 8.36874532e-3f;
  q = q * r + 4.16683908e-2f;
  q = q * r + 1.66665204e-1f;
  q = q * r + 4.99999934e-1f;
  const float e = (q * r) * r + r + 1.0f;
  const std::uint32_t power = (static_cast<std::uint32_t>(bits_of(t)) << 23) + (127u << 23);
  const float y = e * float_of(static_cast<std::int32_t>(power));
  const float high = 2.0f * (e * float_of(static_cast<std::int32_t>(power - (1u << 23))));  // n = 128
  return x < -87.33f ? 0.0f : x > 88.7228394f ? HUGE_VALF : x > 88.0f ? high : y;
}

// log x: x = 2^k m, m in [sqrt(1/2), sqrt(2)); log 0 = -inf, of negatives NaN.
inline float log(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const float scaled = tiny ? x * 8388608.0f : x;
  const std::int32_t i = bits_of(scaled);
  const std::int32_t k = (i - 0x3f3504f3) >> 23;  // 0x3f3504f3: sqrt(1/2)
  const float f = float_of(i - k * 8388608) - 1.0f;
  const float e = static_cast<float>(k) - (tiny ? 23.0f : 0.0f);
  float p = 0.0692600322f;
  p = p * f - 0.1180784f;
  p = p * f + 0.118778376f;
  p = p * f - 0.123818054f;
  p = p * f + 0.142177273f;
  p = p * f - 0.166693571f;
  p = p * f + 0.200022724f;
  p = p * f - 0.249999853f;
  p = p * f + 0.333333098f;
  const float s = f * f;
  const float low = p * f * s + e * 1.42860682e-6f - 0.5f * s;
  const float y = e * 0.693145751953125f + (f + low);
  const float special = x == 0.0f ? -HUGE_VALF : x < 0.0f ? __builtin_nanf("") : x;
  return x > 0.0f && x < HUGE_VALF ? y : special;
}

// tanh x: odd polynomial near 0, else 1 - 2 / (e^2|x| + 1).
inline float tanh(float x) {
  const float a = absolute(x), s = x * x;
  float p = -0.0056039114f;
  p = p * s + 0.020551717f;
  p = p * s - 0.053714108f;
  p = p * s + 0.13331152f;
  p = p * s - 0.33333272f;
  const float near = x + x * (s * p);
  const float far = 1.0f - 2.0f / (exp(2.0f * smaller(a, 10.0f)) + 1.0f);
  const float signed_far = x < 0.0f ? -far : far;
  const float y = a < 0.625f ? near : signed_far;
  return x == x ? y : x;
}

// erf x: odd polynomial to |x| = 1, else 1 - e^-p(|x|).
inline float erf(float x) {
  const float a = absolute(x), s = x * x, b = smaller(a, 4.0f);
  float p = 7.88912185e-05f;
  p = p * s - 0.000802084197f;
  p = p * s + 0.00518953542f;
  p = p * s - 0.0268544446f;
  p = p * s + 0.112836002f;
  p = p * s - 0.376126271f;
  const float near = x + x * (p * s + 0.12837917f);
  float q = 2.24203498e-07f;
  q = q * b + 1.85021869e-05f;
  q = q * b - 0.000421962462f;
  q = q * b + 0.00413861324f;
  q = q * b - 0.02507082f;
  q = q * b + 0.108238938f;
  q = q * b + 0.633363783f;
  q = q * b + 1.12951381f;
  q = q * b - 0.000175577806f;
  const float far = 1.0f - exp(-q);
  const float signed_far = x < 0.0f ? -far : far;
  const float y = a < 0.96f ? near : signed_far;
  return x == x ? y : x;
}

// sin and cos: reduced by pi/2 in double in two parts (33 bits and the rest): full accuracy to |x| = 10^6.
struct quarter {
  float r;
  std::int32_t n;
};
inline quarter reduce_quarter(float x) {
  const double t = static_cast<double>(x) * 0.63661977236758134308 + 6755399441055744.0;
  const double n = t - 6755399441055744.0;
  const double r = (static_cast<double>(x) - n * 1.57079632673412561417) - n * 6.07710050650619e-11;
  return {static_cast<float>(r), static_cast<std::int32_t>(__builtin_bit_cast(std::int64_t, t))};
}
inline float sin_near(float r) {
  const float s = r * r;
  float p = 2.71756819e-06f;
  p = p * s - 0.00019839257f;
  p = p * s + 0.00833332915f;
  p = p * s - 0.166666666f;
  return r + r * (s * p);
}
inline float cos_near(float r) {
  const float s = r * r;
  float p = 2.44312404e-05f;
  p = p * s - 0.00138873063f;
  p = p * s + 0.0416666457f;
  return 1.0f - (0.5f * s - s * s * p);
}
inline float sin(float x) {
  const quarter q = reduce_quarter(x);
  const float y = (q.n & 1) != 0 ? cos_near(q.r) : sin_near(q.r);
  return (q.n & 2) != 0 ? -y : y;
}
inline float cos(float x) {
  const quarter q = reduce_quarter(x);
  const float y = (q.n & 1) != 0 ? sin_near(q.r) : cos_near(q.r);
  return ((q.n + 1) & 2) != 0 ? -y : y;
}

inline float pow(float x, float y) { return std::pow(x, y); }
inline double exp(double x) { return std::exp(x); }
inline double log(double x) { return std::log(x); }
inline double sin(double x) { return std::sin(x); }
inline double cos(double x) { return std::cos(x); }
inline double tanh(double x) { return std::tanh(x); }
inline double erf(double x) { return std::erf(x); }
inline double pow(double x, double y) { return std::pow(x, y); }

}  // namespace
}  // namespace ropewalk::ROPEWALK_ISA_NAMESPACE
