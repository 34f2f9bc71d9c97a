// The functions of generated kernels against the C library in double, over floats of every
// exponent, and at the special values.
#define ROPEWALK_ISA_NAMESPACE vecmath_test
#include <ropewalk/runtime/vecmath.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>

#include <ropewalk/train/rng.hpp>

namespace v = ropewalk::vecmath_test;

namespace {

constexpr float inf = std::numeric_limits<float>::infinity();
const float not_a_number = std::numeric_limits<float>::quiet_NaN();

double ulps(float got, double want) {
  const float rounded = static_cast<float>(want);
  if (std::isnan(want)) return std::isnan(got) ? 0 : 1e9;
  if (got == rounded) return 0;
  if (std::isinf(rounded) || std::isinf(got)) return got == rounded ? 0 : 1;  // at the very edge
  int e = 0;
  std::frexp(rounded, &e);
  return std::fabs(static_cast<double>(got) - want) / std::ldexp(1.0, std::max(e - 24, -149));
}

// The largest error over floats with |x| < bound.
template <class F, class G>
double worst(F f, G g, float bound = inf) {
  double w = 0;
  for (std::uint64_t b = 0; b < (std::uint64_t{1} << 32); b += 20011) {
    const float x = v::float_of(static_cast<int>(static_cast<std::uint32_t>(b)));
    if (std::isnan(x) || std::fabs(x) >= bound) continue;
    w = std::max(w, ulps(f(x), g(static_cast<double>(x))));
  }
  return w;
}

}  // namespace

TEST_CASE("functions of float are within 2 units of the last place") {
  CHECK(worst([](float x) { return v::exp(x); }, [](double x) { return std::exp(x); }) < 1.1);
  CHECK(worst([](float x) { return v::log(x); }, [](double x) { return std::log(x); }) < 1.1);
  CHECK(worst([](float x) { return v::tanh(x); }, [](double x) { return std::tanh(x); }) < 2);
  CHECK(worst([](float x) { return v::erf(x); }, [](double x) { return std::erf(x); }) < 1.6);
  CHECK(worst([](float x) { return v::sin(x); }, [](double x) { return std::sin(x); }, 1.6e6f) < 2);
  CHECK(worst([](float x) { return v::cos(x); }, [](double x) { return std::cos(x); }, 1.6e6f) < 2);
  for (const float y : {0.5f, 2.0f, 3.0f, -1.5f, 0.333f, -7.0f, 0.0f, 1e-3f, 40.0f})
    CHECK(worst([=](float x) { return v::pow(x, y); },
                [=](double x) { return std::pow(x, static_cast<double>(y)); }) < 0.6);
}

TEST_CASE("special values") {
  CHECK(v::exp(-inf) == 0);
  CHECK(v::exp(inf) == inf);
  CHECK(v::exp(0.0f) == 1);
  CHECK(v::log(0.0f) == -inf);
  CHECK(v::log(inf) == inf);
  CHECK(v::log(1.0f) == 0);
  CHECK(std::isnan(v::log(-1.0f)));
  CHECK(v::tanh(inf) == 1);
  CHECK(v::tanh(-inf) == -1);
  CHECK(v::erf(inf) == 1);
  CHECK(v::erf(-inf) == -1);
  CHECK(v::pow(-8.0f, 3.0f) == -512);
  CHECK(std::isnan(v::pow(-8.0f, 0.5f)));
  CHECK(v::pow(0.0f, -1.0f) == inf);
  for (float (*f)(float) :
       {static_cast<float (*)(float)>(v::exp), static_cast<float (*)(float)>(v::log),
        static_cast<float (*)(float)>(v::tanh), static_cast<float (*)(float)>(v::erf),
        static_cast<float (*)(float)>(v::sin), static_cast<float (*)(float)>(v::cos)})
    CHECK(std::isnan(f(not_a_number)));
}

TEST_CASE("random numbers are Philox's") {
  for (int k = 0; k < 100; ++k) {
    const std::uint64_t key = 12345u + (std::uint64_t{678} << 32);
    const ropewalk::philox_block b =
        ropewalk::philox(key, {{static_cast<std::uint32_t>(k * 7919), 0, 0, 0}});
    CHECK(v::random(12345, 678, k * 7919) == static_cast<float>(b.word[0] >> 8) * 0x1p-24f);
  }
}

TEST_CASE("every f16 and bf16 survives the way through f32; rounding is to nearest even") {
  for (int k = 0; k < 65536; ++k) {
    const auto h = static_cast<std::uint16_t>(k);
    const float f = v::from_f16(h), b = v::from_bf16(h);
    const bool same16 = std::isnan(f) ? std::isnan(v::from_f16(v::to_f16(f))) : v::to_f16(f) == h;
    const bool same_b =
        std::isnan(b) ? std::isnan(v::from_bf16(v::to_bf16(b))) : v::to_bf16(b) == h;
    REQUIRE(same16);
    REQUIRE(same_b);
    // Half way between h and its neighbour goes to the even one, a little more goes up.
    const auto next = static_cast<std::uint16_t>(k + 1);
    const float g = v::from_f16(next);
    if (std::isfinite(f) && std::isfinite(g) && (k & 0x7FFF) != 0x7FFF) {
      const float middle = f + (g - f) * 0.5f;
      REQUIRE(v::to_f16(middle) == ((k & 1) != 0 ? next : h));
      REQUIRE(v::to_f16(std::nextafter(middle, g)) == next);
    }
  }
  CHECK(v::to_f16(65519.0f) == 0x7BFF);
  CHECK(v::to_f16(65520.0f) == 0x7C00);
  CHECK(v::to_f16(-inf) == 0xFC00);
  CHECK(v::to_bf16(1.00390625f) == 0x3F80);
}
