// The float math of generated kernels, dense over the ranges where models use it; every exponent:
// tests/graph/vecmath.cpp.
#define ROPEWALK_ISA_NAMESPACE portable
#include "ropewalk/runtime/vecmath.hpp"

#include <doctest/doctest.h>

#include <algorithm>

namespace {

namespace k = ropewalk::portable;

// The largest error over [low, high], in ulp of the exact value.
template <class F, class Exact>
double worst_ulp(F f, Exact exact, double low, double high) {
  double worst = 0;
  constexpr int n = 200000;
  for (int i = 0; i <= n; ++i) {
    const auto x = static_cast<float>(low + (high - low) * i / n);
    const double y = exact(static_cast<double>(x));
    if (std::abs(y) < 1.2e-38) continue;
    int exponent = 0;
    std::frexp(y, &exponent);
    worst = std::max(worst, std::abs(static_cast<double>(f(x)) - y) / std::ldexp(1.0, exponent - 24));
  }
  return worst;
}

constexpr float inf = HUGE_VALF;

}  // namespace

TEST_CASE("float functions are within 2 ulp") {
  auto in = [](auto f, auto exact, double low, double high) {
    CAPTURE(low);
    CAPTURE(high);
    CHECK(worst_ulp(f, exact, low, high) < 2);
  };
  auto exp = [](float x) { return k::exp(x); };
  auto log = [](float x) { return k::log(x); };
  auto tanh = [](float x) { return k::tanh(x); };
  auto erf = [](float x) { return k::erf(x); };
  auto sin = [](float x) { return k::sin(x); };
  auto cos = [](float x) { return k::cos(x); };
  for (double r : {1e-4, 1.0, 10.0, 86.9}) {
    in(exp, [](double x) { return std::exp(x); }, -r, r);
    in(tanh, [](double x) { return std::tanh(x); }, -r, r);
    in(erf, [](double x) { return std::erf(x); }, -r, r);
    in(sin, [](double x) { return std::sin(x); }, -r, r);
    in(cos, [](double x) { return std::cos(x); }, -r, r);
  }
  in(exp, [](double x) { return std::exp(x); }, 86, 88.722);
  in(sin, [](double x) { return std::sin(x); }, -1e6, 1e6);
  in(cos, [](double x) { return std::cos(x); }, -1e6, 1e6);
  for (double high : {1e-44, 1e-38, 1e-30, 2.0, 1e10, 3e38})
    in(log, [](double x) { return std::log(x); }, high / 1e5, high);
}

TEST_CASE("special values") {
  const float nan = __builtin_nanf("");
  CHECK(k::exp(-inf) == 0);
  CHECK(k::exp(inf) == inf);
  CHECK(k::exp(89.0f) == inf);
  CHECK(k::exp(-200.0f) == 0);
  CHECK(k::exp(0.0f) == 1);
  CHECK(std::isnan(k::exp(nan)));
  CHECK(k::log(0.0f) == -inf);
  CHECK(k::log(inf) == inf);
  CHECK(k::log(1.0f) == 0);
  CHECK(std::isnan(k::log(-1.0f)));
  CHECK(std::isnan(k::log(nan)));
  CHECK(k::tanh(inf) == 1);
  CHECK(k::tanh(-inf) == -1);
  CHECK(std::isnan(k::tanh(nan)));
  CHECK(k::erf(inf) == 1);
  CHECK(k::erf(-inf) == -1);
  CHECK(std::isnan(k::erf(nan)));
  CHECK(std::isnan(k::sin(inf)));
  CHECK(k::sin(0.0f) == 0);
  CHECK(k::cos(0.0f) == 1);
}
