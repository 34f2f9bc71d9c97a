// Numbers of twice float64's precision (an unevaluated sum of two doubles), for frequencies that
// are right to the last bit: at position 2^20 an error of 2 ulp in a frequency moves the angle by
// 2e-10. Relative errors stay below 2^-90. Plain arithmetic only, so that every machine gives the
// same bits. Sources of the error-free sums and products: Dekker 1971, Knuth (TAOCP 2, 4.2.2).
#pragma once
#include <cmath>

namespace ropewalk {

struct wide {
  double hi = 0, lo = 0;
  constexpr wide() = default;
  constexpr wide(double h) : hi(h) {}  // NOLINT: implicit, numbers stand beside wide ones
  constexpr wide(double h, double l) : hi(h), lo(l) {}
  double rounded() const { return hi + lo; }
};

inline constexpr wide wide_ln2{0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56};
inline constexpr wide wide_two_pi{0x1.921fb54442d18p+2, 0x1.1a62633145c07p-52};

// a + b exactly, |a| >= |b|.
inline wide ordered_sum(double a, double b) {
  const double s = a + b;
  return {s, b - (s - a)};
}
inline wide exact_sum(double a, double b) {
  const double s = a + b, t = s - a;
  return {s, (a - (s - t)) + (b - t)};
}
inline wide exact_product(double a, double b) {
  const double p = a * b;
  return {p, std::fma(a, b, -p)};
}

inline wide operator-(const wide& a) { return {-a.hi, -a.lo}; }
inline wide operator+(const wide& a, const wide& b) {
  const wide s = exact_sum(a.hi, b.hi), t = exact_sum(a.lo, b.lo);
  const wide u = ordered_sum(s.hi, s.lo + t.hi);
  return ordered_sum(u.hi, u.lo + t.lo);
}
inline wide operator-(const wide& a, const wide& b) { return a + -b; }
inline wide operator*(const wide& a, const wide& b) {
  const wide p = exact_product(a.hi, b.hi);
  return ordered_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}
inline wide operator/(const wide& a, const wide& b) {
  const double q = a.hi / b.hi;
  const wide r = a - b * q;
  const double s = r.hi / b.hi;
  const wide t = r - b * s;
  const wide u = ordered_sum(q, s);
  return ordered_sum(u.hi, u.lo + t.hi / b.hi);
}
inline bool operator<(const wide& a, const wide& b) {
  return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo);
}
inline wide floor(const wide& a) {
  const double h = std::floor(a.hi);
  return h == a.hi ? ordered_sum(h, std::floor(a.lo)) : wide(h);
}
inline wide ceil(const wide& a) { return -floor(-a); }
inline wide clamp(const wide& a, const wide& low, const wide& high) {
  return a < low ? low : high < a ? high : a;
}

// e^x = 2^k (e^(r / 256))^256, r = x - k ln 2; a Taylor series of 11 terms for |r / 256| < 0.0014.
inline wide exp(const wide& x) {
  const double k = std::floor(x.hi / wide_ln2.hi + 0.5);
  const wide d = x - wide_ln2 * k;
  const wide r{d.hi / 256, d.lo / 256};
  wide e = 1;
  for (int n = 11; n > 0; --n) e = e * r / static_cast<double>(n) + 1;
  // (1 + t)^2 - 1 = 2 t + t^2 keeps the small part's digits.
  wide t = e - 1;
  for (int n = 0; n < 8; ++n) t = t + t + t * t;
  e = t + 1;
  return {std::ldexp(e.hi, static_cast<int>(k)), std::ldexp(e.lo, static_cast<int>(k))};
}
// Newton on e^y = x, from a double.
inline wide log(const wide& x) {
  wide y = std::log(x.hi);
  for (int n = 0; n < 2; ++n) y = y + x * exp(-y) - 1;
  return y;
}

}  // namespace ropewalk
