// The scalar math of generated kernels. The functions of float are branch-free, so that loops over
// them vectorise; the file is compiled once per instruction set, in the namespace that
// ROPEWALK_ISA_NAMESPACE names. Errors are in units of the last place, measured over all floats
// (tests/graph/vecmath.cpp). The functions of double call the C library.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>

namespace ropewalk::ROPEWALK_ISA_NAMESPACE {
namespace {

template <class T>
inline T larger(T a, T b) {
  return a > b ? a : b;
}
template <class T>
inline T smaller(T a, T b) {
  return a < b ? a : b;
}

inline int bits_of(float x) { return __builtin_bit_cast(int, x); }
inline float float_of(int x) { return __builtin_bit_cast(float, x); }
inline std::int64_t bits_of(double x) { return __builtin_bit_cast(std::int64_t, x); }
inline double double_of(std::int64_t x) { return __builtin_bit_cast(double, x); }

inline float absolute(float x) { return __builtin_fabsf(x); }
inline double absolute(double x) { return __builtin_fabs(x); }
inline int absolute(int x) { return x < 0 ? -x : x; }
inline float sqrt(float x) { return __builtin_sqrtf(x); }
inline double sqrt(double x) { return __builtin_sqrt(x); }
inline float rsqrt(float x) { return 1.0f / __builtin_sqrtf(x); }
inline double rsqrt(double x) { return 1.0 / __builtin_sqrt(x); }

// e^x = 2^n e^r, |r| <= ln 2 / 2; e^r = 1 + r + r^2 q(r), q fitted to 3.3e-9. 2^n is multiplied in
// two halves: subnormal results are right, large ones become infinite. NaN passes the bounds.
inline float exp(float x) {
  const float low = x < -104.0f ? -104.0f : x;
  const float y = low > 89.0f ? 89.0f : low;
  const float t = y * 1.44269504f + 12582912.0f;  // the low bits of t hold n
  const int n = bits_of(t) - 0x4B400000;
  const float m = t - 12582912.0f;
  const float r = (y - m * 0.693145751953125f) - m * 1.42860677e-6f;
  float q = 1.381314508e-3f;
  q = q * r + 8.369418836e-3f;
  q = q * r + 4.166845678e-2f;
  q = q * r + 1.666651479e-1f;
  q = q * r + 4.999999305e-1f;
  const float e = (q * r) * r + r + 1.0f;
  const int half = n >> 1;
  return e * float_of((half + 127) << 23) * float_of((n - half + 127) << 23);
}

// x = 2^e (1 + f), sqrt(1/2) <= 1 + f < sqrt(2); log(1 + f) = f - f^2 / 2 + f^3 q(f).
inline float log(float x) {
  const bool tiny = x < 1.17549435e-38f;  // subnormals are scaled; zero and below are set below
  const float s = tiny ? x * 8388608.0f : x;
  const int i = bits_of(s) - 0x3F3504F3;
  const float e = static_cast<float>((i >> 23) - (tiny ? 23 : 0));
  const float f = float_of((i & 0x007FFFFF) + 0x3F3504F3) - 1.0f;
  float q = 6.746651523e-2f;
  q = q * f - 1.167565457e-1f;
  q = q * f + 1.188815885e-1f;
  q = q * f - 1.240558824e-1f;
  q = q * f + 1.421955273e-1f;
  q = q * f - 1.666799590e-1f;
  q = q * f + 2.000211864e-1f;
  q = q * f - 2.500000960e-1f;
  q = q * f + 3.333331260e-1f;
  const float z = f * f;
  const float y = (q * f) * z + (e * 1.42860677e-6f - 0.5f * z);
  const float r = (y + f) + e * 0.693145751953125f;
  const float inf = std::numeric_limits<float>::infinity();
  const float zero = x == 0.0f ? -inf : r;
  const float nan = x < 0.0f ? std::numeric_limits<float>::quiet_NaN() : zero;
  return x < inf ? nan : x;  // inf and NaN give themselves
}

// |x| < 0.625: odd polynomial; beyond: 1 - 2 / (e^(2|x|) + 1), with the sign of x. 1.3 ulp. (One
// polynomial for e^r - 1 over the whole range: 1.7 times as fast, but 2.4 ulp.)
inline float tanh(float x) {
  const float a = absolute(x), z = x * x, b = a > 10.0f ? 10.0f : a;
  float p = -0.0056039114f;
  p = p * z + 0.020551717f;
  p = p * z - 0.053714108f;
  p = p * z + 0.13331152f;
  p = p * z - 0.33333272f;
  const float near = x + x * (z * p);
  const float far = 1.0f - 2.0f / (exp(b + b) + 1.0f);
  const float signed_far = float_of((bits_of(far) & 0x7FFFFFFF) | (bits_of(x) & ~0x7FFFFFFF));
  return a < 0.625f ? near : x == x ? signed_far : x;
}

// |x| < 1: x p(x^2); beyond: 1 - e^-q(|x|), q = -log erfc.
inline float erf(float x) {
  const float a = absolute(x), z = x * x;
  float p = -9.644997951e-6f;
  p = p * z + 1.125826352e-4f;
  p = p * z - 8.483027939e-4f;
  p = p * z + 5.220960801e-3f;
  p = p * z - 2.686540641e-2f;
  p = p * z + 1.128378211e-1f;
  p = p * z - 3.761263845e-1f;
  const float near = x + x * (p * z + 0.128379167f);
  const float b = a > 4.0f ? 4.0f : a;
  float q = 2.165222766e-5f;
  q = q * b - 4.409418169e-4f;
  q = q * b + 4.202675833e-3f;
  q = q * b - 2.520335282e-2f;
  q = q * b + 1.084110830e-1f;
  q = q * b + 6.332266290e-1f;
  q = q * b + 1.129575125f;
  q = q * b - 1.873603506e-4f;
  const float far = 1.0f - exp(-q);
  const float signed_far = float_of((bits_of(far) & 0x7FFFFFFF) | (bits_of(x) & ~0x7FFFFFFF));
  return a < 1.0f ? near : signed_far;
}

// Sine of x + quarter * pi / 2. The reduction by pi / 2 is in double: exact products for |x| up to
// 1.6e6 (positions times frequencies stay far below), growing errors beyond.
inline float sine_from(float x, double quarter) {
  const double d = static_cast<double>(x);
  const double n = (d * 0.63661977236758134 + 6755399441055744.0) - 6755399441055744.0;
  const double r = (d - n * 1.57079632673412561) - n * 6.07710050650619225e-11;
  const double turn = n + quarter;
  const int k = static_cast<int>(turn - 4.0 * __builtin_floor(turn * 0.25));
  const float f = static_cast<float>(r), z = f * f;
  float s = 2.717366699e-6f;
  s = s * z - 1.983923266e-4f;
  s = s * z + 8.333329056e-3f;
  s = s * z - 1.666666664e-1f;
  const float sine = (s * z) * f + f;
  float c = -2.719862825e-7f;
  c = c * z + 2.479937273e-5f;
  c = c * z - 1.388888316e-3f;
  c = c * z + 4.166666662e-2f;
  const float cosine = (c * z) * z + (1.0f - 0.5f * z);
  const float v = (k & 1) != 0 ? cosine : sine;
  return float_of(bits_of(v) ^ ((k & 2) << 30));
}
inline float sin(float x) { return sine_from(x, 0.0); }
inline float cos(float x) { return sine_from(x, 1.0); }

// |x|^y = 2^(y log2 |x|) in double; the sign is that of x for odd whole y.
inline float pow(float x, float y) {
  const double a = static_cast<double>(absolute(x)), w = static_cast<double>(y);
  const std::int64_t i =
      bits_of(a) - 0x3FE6A09E667F3BCD;  // of sqrt(1/2); a float is never subnormal
  const double e = static_cast<double>(static_cast<int>(i >> 52));
  const double m = double_of((i & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD);
  const double s = (m - 1.0) / (m + 1.0), z = s * s;
  double p = 1.0 / 13;
  p = p * z + 1.0 / 11;
  p = p * z + 1.0 / 9;
  p = p * z + 1.0 / 7;
  p = p * z + 1.0 / 5;
  p = p * z + 1.0 / 3;
  p = p * z + 1.0;
  double l = e + s * p * 2.8853900817779268;  // log2 |x|
  l = a == 0.0 ? -std::numeric_limits<double>::infinity() : l;
  l = a <= 3.5e38 ? l : a;  // inf and NaN
  double t = w * l;
  t = t < -300.0 ? -300.0 : t;
  t = t > 300.0 ? 300.0 : t;
  const double u = t + 6755399441055744.0, f = (t - (u - 6755399441055744.0)) * 0.69314718055994531;
  double q = 1.0 / 362880;
  q = q * f + 1.0 / 40320;
  q = q * f + 1.0 / 5040;
  q = q * f + 1.0 / 720;
  q = q * f + 1.0 / 120;
  q = q * f + 1.0 / 24;
  q = q * f + 1.0 / 6;
  q = q * f + 0.5;
  q = q * f + 1.0;
  q = q * f + 1.0;
  const float r = static_cast<float>(q * double_of(bits_of(1.0) + (bits_of(u) << 52)));
  const bool whole = __builtin_floorf(y) == y;
  const bool odd = whole && __builtin_floorf(y * 0.5f) * 2.0f != y;
  const float negative = whole ? (odd ? -r : r) : std::numeric_limits<float>::quiet_NaN();
  const float v = x < 0.0f ? negative : r;
  return y == 0.0f || x == 1.0f ? 1.0f : v;
}

inline double exp(double x) { return __builtin_exp(x); }
inline double log(double x) { return __builtin_log(x); }
inline double sin(double x) { return __builtin_sin(x); }
inline double cos(double x) { return __builtin_cos(x); }
inline double tanh(double x) { return __builtin_tanh(x); }
inline double erf(double x) { return __builtin_erf(x); }
inline double pow(double x, double y) { return __builtin_pow(x, y); }

// Philox 4x32-10 (train/rng.hpp) with key (low, high) and counter (at, 0, 0, 0): the first word as
// a float in [0, 1).
inline float random(int low, int high, int at) {
  std::uint32_t k0 = static_cast<std::uint32_t>(low), k1 = static_cast<std::uint32_t>(high);
  std::uint32_t c0 = static_cast<std::uint32_t>(at), c1 = 0, c2 = 0, c3 = 0;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
    c0 = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ k0;
    c1 = static_cast<std::uint32_t>(b);
    c2 = static_cast<std::uint32_t>(a >> 32) ^ c3 ^ k1;
    c3 = static_cast<std::uint32_t>(a);
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return static_cast<float>(static_cast<int>(c0 >> 8)) * 0x1p-24f;
}

// f16 and bf16 are stored as 16 bits and computed in f32; rounding is to nearest, ties to even.
inline float from_bf16(std::uint16_t h) { return float_of(static_cast<int>(h) << 16); }
inline std::uint16_t to_bf16(float x) {
  const std::uint32_t b = __builtin_bit_cast(std::uint32_t, x);
  const std::uint32_t r = (b + 0x7FFFu + ((b >> 16) & 1u)) >> 16;
  return static_cast<std::uint16_t>(x == x ? r : (b >> 16) | 0x40u);
}
inline float from_f16(std::uint16_t h) {
  const std::uint32_t sign = static_cast<std::uint32_t>(h & 0x8000u) << 16;
  const std::uint32_t body = static_cast<std::uint32_t>(h & 0x7FFFu) << 13;
  // Rebiasing by a product is exact, also for subnormals; inf and NaN keep their exponent.
  const float scaled = __builtin_bit_cast(float, body) * 0x1p112f;
  const std::uint32_t finite = __builtin_bit_cast(std::uint32_t, scaled);
  const std::uint32_t r = body >= 0x0F800000u ? body | 0x7F800000u : finite;
  return __builtin_bit_cast(float, r | sign);
}
inline std::uint16_t to_f16(float x) {
  const std::uint32_t b = __builtin_bit_cast(std::uint32_t, x), sign = (b >> 16) & 0x8000u;
  const std::uint32_t m = b & 0x7FFFFFFFu;
  // Normal results: rebias and round the 13 bits that go. Subnormal ones: adding 0.5 rounds.
  const std::uint32_t normal = (m - 0x38000000u + 0xFFFu + ((m >> 13) & 1u)) >> 13;
  const float shifted = __builtin_bit_cast(float, m) + 0.5f;
  const std::uint32_t small = __builtin_bit_cast(std::uint32_t, shifted) - 0x3F000000u;
  const std::uint32_t finite = m < 0x38800000u ? small : normal;
  const std::uint32_t large = m > 0x7F800000u ? 0x7E00u : 0x7C00u;  // NaN, or too large
  return static_cast<std::uint16_t>((m >= 0x477FF000u ? large : finite) | sign);
}

}  // namespace
}  // namespace ropewalk::ROPEWALK_ISA_NAMESPACE
