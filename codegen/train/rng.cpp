// The normal distribution and integers below n: see include/ropewalk/train/rng.hpp.
// Compiled with -ffp-contract=off: a fused multiply-add would give other bits where it exists.
#include "ropewalk/train/rng.hpp"

#include <bit>
#include <charconv>
#include <cmath>

#include "ropewalk/core/error.hpp"

namespace ropewalk {
namespace {

// Natural logarithm of a normal x > 0: x = m 2^e with m in [1/sqrt 2, sqrt 2), and
// log m = 2 atanh s = 2 (s + s^3/3 + s^5/5 + ...), s = (m - 1) / (m + 1), |s| < 0.172.
double log_of(double x) {
  auto bits = std::bit_cast<std::uint64_t>(x);
  int exponent = static_cast<int>(bits >> 52) - 1023;
  double m = std::bit_cast<double>((bits & 0xFFFFFFFFFFFFFull) | 0x3FF0000000000000ull);
  if (m > 1.4142135623730951) {
    m *= 0.5;
    ++exponent;
  }
  const double s = (m - 1) / (m + 1), s2 = s * s;
  double series = 0;
  for (int k = 21; k >= 1; k -= 2) series = series * s2 + 1.0 / k;  // next term < 2^-58
  return exponent * 0.6931471805599453 + 2 * s * series;
}

// cos(2 pi t) for t in [0, 1): an angle of at most pi / 4 by symmetry, then Taylor's series.
double cos_turn(double t) {
  const int octant = static_cast<int>(t * 8);
  const double quarter = ((octant + 1) / 2) * 0.25;                // the nearest quarter turn
  const double x = (t - quarter) * 6.283185307179586, x2 = x * x;  // t - quarter is exact
  double sine = 0, cosine = 0;
  for (int k = 17; k >= 1; k -= 2) sine = 1 - sine * x2 / ((k + 1) * (k + 2));
  for (int k = 16; k >= 0; k -= 2) cosine = 1 - cosine * x2 / ((k + 1) * (k + 2));
  sine *= x;
  switch ((octant + 1) / 2 % 4) {
    case 0:
      return cosine;
    case 1:
      return -sine;
    case 2:
      return -cosine;
    default:
      return sine;
  }
}

}  // namespace

std::uint64_t rng::below(std::uint64_t n) {
  if (n == 0) throw error("rng", "n", "0", "below(n) needs n >= 1");
  const std::uint64_t surplus = (0 - n) % n;  // 2^64 mod n
  for (;;) {
    const std::uint64_t x = bits64();
    if (x >= surplus) return x % n;
  }
}

double rng::normal() {
  const double u = 1 - uniform();  // (0, 1]: its logarithm is finite
  const double angle = uniform();
  return std::sqrt(-2 * log_of(u)) * cos_turn(angle);
}

std::string to_text(const rng_state& state) {
  return std::to_string(state.seed) + ":" + std::to_string(state.position);
}

rng_state rng_state_from(const std::string& text) {
  rng_state state;
  const char* end = text.data() + text.size();
  auto seed = std::from_chars(text.data(), end, state.seed);
  if (seed.ec == std::errc() && seed.ptr != end && *seed.ptr == ':') {
    auto position = std::from_chars(seed.ptr + 1, end, state.position);
    if (position.ec == std::errc() && position.ptr == end) return state;
  }
  throw error("rng", "state", text.substr(0, 80), "must be seed:position");
}

}  // namespace ropewalk
