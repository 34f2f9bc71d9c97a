// attention: the CPU kernels equal the reference for random combinations of options, in every
// instruction set and element type, for any number of threads.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "attention_calls.hpp"

using namespace cases;
using namespace ropewalk;

namespace {

constexpr int combinations = 240;

// Half a unit in the last place of a value between 1 and 2: what storing a result adds.
double rounding(dtype d) { return d == f16 ? 0x1p-11 : d == bf16 ? 0x1p-8 : 0; }

// Each result within the tolerance of its largest magnitude, and of `least` at least: gradients are
// sums of terms of order 1 (those of mask, slopes, sinks and scale of more and larger ones) that
// may cancel; a log-sum-exp is as exact as the scores are.
void compare(const attention_results& got, const attention_results& want, double computed, dtype d,
             dtype kv) {
  double tolerance = computed, least = 1;
  const auto check = [&](const char* name, const dense& a, const dense& b) {
    INFO(std::string(name));
    REQUIRE(a.v.size() == b.v.size());
    double largest = least, error = 0;
    for (std::size_t i = 0; i < a.v.size(); ++i) {
      if (std::isfinite(b.v[i])) largest = std::max(largest, std::fabs(b.v[i]));
      if (a.v[i] == b.v[i]) continue;
      const double e = std::fabs(a.v[i] - b.v[i]);
      error = e <= error ? error : e;
    }
    CHECK(error <= tolerance * largest);
  };
  check("lse", got.lse, want.lse);
  const char* names[] = {"d_q", "d_k", "d_v", "d_mask", "d_slopes", "d_sinks", "d_scale"};
  for (std::size_t k = 3; k < 7; ++k) check(names[k], got.d[k], want.d[k]);
  least = 0.1, tolerance = computed + rounding(d);
  check("out", got.out, want.out), check("d_q", got.d[0], want.d[0]);
  tolerance = computed + rounding(kv);
  check("d_k", got.d[1], want.d[1]), check("d_v", got.d[2], want.d[2]);
}

bool same(const attention_results& a, const attention_results& b) {
  bool r = a.out.v == b.out.v && a.lse.v == b.lse.v;
  for (std::size_t k = 0; k < 7; ++k) r = r && a.d[k].v == b.d[k].v;
  return r;
}

// The keys that no row sees hold NaN; all are seen, for all we know, where something is dropped.
attention_instance poisoned(const attention_instance& x, const attention_results& r) {
  attention_instance y = x;
  if (x.has(attention_operand::dropout)) return y;
  const auto dk = static_cast<std::size_t>(x.dk()), dv = static_cast<std::size_t>(x.dv());
  for (std::size_t key = 0; key < x.v.v.size() / dv; ++key) {
    bool seen = false;
    for (std::size_t d = 0; d < dv; ++d) seen = seen || r.d[2].v[key * dv + d] != 0;
    if (seen) continue;
    std::fill_n(y.k.v.begin() + static_cast<long>(key * dk), dk, std::nan(""));
    std::fill_n(y.v.v.begin() + static_cast<long>(key * dv), dv, std::nan(""));
  }
  return y;
}

void agree(unsigned seed, dtype d, dtype kv, double tolerance) {
  pool one(1), three(3);
  std::mt19937 r(seed);
  const dtype mask_types[] = {f32, f16, bf16};
  for (int i = 0; i < combinations; ++i) {
    attention_instance x = random_attention(r);
    x.mask_type = mask_types[r() % 3];
    x.round(d, kv);
    CAPTURE(i);
    CAPTURE(x.text());
    const attention_results want = x.reference();
    attention_instance some = x, hidden = poisoned(x, want);
    some.wanted = 7 | static_cast<std::int64_t>(r() % 16) << 3;
    for (const isa set : supported_isas()) {
      CAPTURE(std::string(isa_name(set)));
      const attention_results a = x.kernel(one, set, d, kv);
      if (rounding(d) == 0) {
        compare(a, want, tolerance, d, kv);
      } else {  // backward reads a result that was rounded
        attention_results from = x.backward_from(a);
        from.out = want.out, from.lse = want.lse;
        compare(a, from, tolerance, d, kv);
      }
      CHECK(same(a, x.kernel(three, set, d, kv)));
      CHECK(same(a, hidden.kernel(one, set, d, kv)));
      const attention_results part = some.kernel(one, set, d, kv);
      for (int k = 0; k < 7; ++k)
        if (const auto at = static_cast<std::size_t>(k); some.wanted >> k & 1)
          CHECK(part.d[at].v == a.d[at].v);
        else
          CHECK(part.d[at].v == std::vector<double>{0});
    }
  }
}

}  // namespace

TEST_CASE("attention kernels in f64 are the reference") { agree(21, f64, f64, 1e-12); }
TEST_CASE("attention kernels in f32 agree with the reference") { agree(22, f32, f32, 1e-5); }
TEST_CASE("attention kernels with keys and values of f16") { agree(23, f32, f16, 1e-5); }
TEST_CASE("attention kernels in f64 with keys and values of f32") { agree(25, f64, f32, 1e-7); }
TEST_CASE("attention kernels with everything of bf16") { agree(26, bf16, bf16, 1e-5); }
TEST_CASE("attention kernels with everything of f16") { agree(27, f16, f16, 1e-5); }
TEST_CASE("attention kernels with keys and values of bf16") { agree(24, f32, bf16, 1e-5); }

TEST_CASE("attention kernels: the lowest float is a number; a row of it alone is even") {
  pool p(2);
  std::mt19937 r(28);
  attention_instance x;
  x.q = random_dense({1, 2, 3, 8}, r), x.k = random_dense({1, 2, 40, 8}, r);
  x.v = random_dense({1, 2, 40, 5}, r), x.d_out = random_dense({1, 2, 3, 5}, r);
  const double lowest = std::numeric_limits<float>::lowest();
  dense m = filled({3, 40}, 0);
  std::fill_n(m.v.begin(), 40, lowest);       // row 0: all of it
  std::fill_n(m.v.begin() + 40, 20, lowest);  // row 1: half
  m.v[79] = -INFINITY;
  x.set(attention_operand::mask, m);
  x.round(f32, f32);
  const attention_results want = x.reference();
  for (const isa set : supported_isas()) {
    const attention_results got = x.kernel(p, set, f32, f32);
    CAPTURE(std::string(isa_name(set)));
    check_close("out", got.out, want.out, 1e-5);
    // No log-sum-exp of such a row is exact enough for its gradients (docs/attention.md), but they
    // are numbers.
    for (const dense& d : got.d)
      for (const double g : d.v) CHECK(std::isfinite(g));
    double mean = 0;
    for (std::size_t n = 0; n < 40; ++n) mean += x.v.v[5 * n] / 40;
    CHECK(got.out.v[0] == doctest::Approx(mean).epsilon(1e-5));
  }
}
