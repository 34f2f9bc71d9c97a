// Random numbers: the published vectors, the laws of each distribution, and exact resumption.
#include "ropewalk/train/rng.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "io/scratch.hpp"
#include "ropewalk/core/error.hpp"

using namespace ropewalk;

// kat_vectors of the Random123 distribution, "philox4x32 10".
static_assert(philox(0, {{0, 0, 0, 0}}) ==
              philox_block{{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}});
static_assert(philox(~0ull, {{~0u, ~0u, ~0u, ~0u}}) ==
              philox_block{{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}});
static_assert(philox(0x299f31d0a4093822, {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}}) ==
              philox_block{{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}});

TEST_CASE("the stream is the blocks of counter 0, 1, ... in order") {
  rng r(42);
  for (std::uint32_t block = 0; block < 50; ++block)
    for (int i = 0; i < 4; ++i) CHECK(r.bits32() == philox(42, {{block, 0, 0, 0}}).word[i]);
  rng far(rng_state{42, (1ull << 40) + 3});  // a position beyond 2^32 blocks of four
  CHECK(far.bits32() == philox(42, {{0, 1u << 6, 0, 0}}).word[3]);
}

TEST_CASE("a generator made from a state goes on exactly, through text too") {
  rng pick(7);
  for (int round = 0; round < 200; ++round) {
    rng a(pick.bits64());
    for (auto n = pick.below(23); n-- > 0;) a.bits32();
    rng b(rng_state_from(to_text(a.state())));
    for (int i = 0; i < 9; ++i) {
      CHECK(a.uniform() == b.uniform());
      CHECK(a.uniform_float() == b.uniform_float());
      CHECK(a.normal() == b.normal());
      CHECK(a.below(1000) == b.below(1000));
    }
    CHECK(a.state() == b.state());
  }
  for (const char* text : {"", "1", "1:", ":1", "1:2:3", "1:2 ", " 1:2", "-1:2", "1:-2", "a:b",
                           "18446744073709551616:0", "1;2"})
    CHECK_THROWS_AS(rng_state_from(text), error);
}

TEST_CASE("uniform numbers fill [0, 1) evenly") {
  rng r(1);
  const int n = 200'000;
  int bins[20] = {}, float_bins[20] = {};
  for (int i = 0; i < n; ++i) {
    const double u = r.uniform();
    const float f = r.uniform_float();
    REQUIRE((u >= 0 && u < 1 && f >= 0 && f < 1));
    ++bins[static_cast<int>(u * 20)];
    ++float_bins[static_cast<int>(f * 20)];
  }
  double chi2 = 0, float_chi2 = 0;
  for (int b = 0; b < 20; ++b) {
    chi2 += std::pow(bins[b] - n / 20.0, 2) / (n / 20.0);
    float_chi2 += std::pow(float_bins[b] - n / 20.0, 2) / (n / 20.0);
  }
  CHECK(chi2 < 43.8);  // 19 degrees of freedom: 0.1 %
  CHECK(float_chi2 < 43.8);
}

TEST_CASE("below(n) is in range, even, and unbiased where n does not divide 2^64") {
  rng r(2);
  for (std::uint64_t n : {1ull, 2ull, 3ull, 7ull, 1000ull, 1ull << 63, ~0ull})
    for (int i = 0; i < 100; ++i) CHECK(r.below(n) < n);
  int bins[7] = {};
  for (int i = 0; i < 70'000; ++i) ++bins[r.below(7)];
  double chi2 = 0;
  for (int b : bins) chi2 += std::pow(b - 10'000, 2) / 10'000;
  CHECK(chi2 < 22.5);  // 6 degrees of freedom: 0.1 %
  // x mod n alone would give the lower half of 3 * 2^62 twice as often: 1/2 against 1/3 + 1/3.
  const std::uint64_t n = 3ull << 62;
  int low = 0;
  for (int i = 0; i < 30'000; ++i) low += r.below(n) < n / 3;
  CHECK(std::abs(low - 10'000) < 350);
  CHECK(has(message_of([&] { r.below(0); }), "n = 0"));
}

TEST_CASE("normal numbers: moments, tails and Box-Muller of the same words") {
  rng r(3);
  const int n = 200'000;
  double sum = 0, sum2 = 0, sum3 = 0, sum4 = 0, worst = 0;
  int beyond1 = 0, beyond2 = 0;
  for (int i = 0; i < n; ++i) {
    rng words(r.state());
    const double u = 1 - words.uniform(), angle = words.uniform(), x = r.normal();
    const double pi = 3.14159265358979323846;
    worst = std::max(worst, std::abs(x - std::sqrt(-2 * std::log(u)) * std::cos(2 * pi * angle)));
    sum += x, sum2 += x * x, sum3 += x * x * x, sum4 += x * x * x * x;
    beyond1 += std::abs(x) > 1, beyond2 += std::abs(x) > 2;
  }
  CHECK(worst < 1e-14);
  CHECK(std::abs(sum / n) < 4 / std::sqrt(n));
  CHECK(std::abs(sum2 / n - 1) < 4 * std::sqrt(2.0 / n));
  CHECK(std::abs(sum3 / n) < 4 * std::sqrt(15.0 / n));
  CHECK(std::abs(sum4 / n - 3) < 4 * std::sqrt(96.0 / n));
  CHECK(std::abs(beyond1 / double(n) - 0.31731) < 0.005);
  CHECK(std::abs(beyond2 / double(n) - 0.04550) < 0.002);
}

TEST_CASE("the bits of normal numbers do not depend on the compiler") {
  rng r(2026);
  std::uint64_t sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double x = r.normal();
    sum = sum * 31 + static_cast<std::uint64_t>(static_cast<std::int64_t>(std::ldexp(x, 59)));
  }
  CHECK(sum == 12903603870730695630u);  // g++ and clang, -O0 and -O3, with FMA and without
}

TEST_CASE("derived seeds differ from each other and from their seed") {
  std::vector<std::uint64_t> seeds;
  for (std::uint64_t seed : {0ull, 1ull, 1ull << 32})
    for (std::uint64_t stream : {0ull, 1ull, 2ull, 1ull << 32})
      seeds.push_back(derive_seed(seed, stream));
  for (std::size_t i = 0; i < seeds.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK(seeds[i] != seeds[j]);
}
