// attention: laws that hold for every combination of options, drawn at random; in float64 by the
// reference, then kernel = reference.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include <ropewalk/core/error.hpp>

#include "attention_calls.hpp"

using namespace cases;
using namespace ropewalk;
using kind = attention_operand;

namespace {

constexpr int combinations = 400;
const double nan_value = std::nan("");

double dot(const dense& a, const dense& b) {
  double s = 0;
  for (std::size_t i = 0; i < a.v.size(); ++i) s += a.v[i] * b.v[i];
  return s;
}
double largest(const dense& x) {
  double m = 0;
  for (const double v : x.v)
    if (std::isfinite(v)) m = std::max(m, std::fabs(v));
  return m;
}
// The largest difference relative to the largest magnitude (0.1 at least: gradients are sums
// of terms of order 1 that may cancel).
double difference(const dense& a, const dense& b) {
  REQUIRE(a.v.size() == b.v.size());
  double d = 0;
  for (std::size_t i = 0; i < a.v.size(); ++i) {
    if (a.v[i] == b.v[i]) continue;
    const double e = std::fabs(a.v[i] - b.v[i]);
    d = e <= d ? d : e;
  }
  return d / std::max(largest(b), 0.1);
}
double difference(const attention_results& a, const attention_results& b) {
  double d = std::max(difference(a.out, b.out), difference(a.lse, b.lse));
  for (std::size_t k = 0; k < a.d.size(); ++k) d = std::max(d, difference(a.d[k], b.d[k]));
  return d;
}

// Element (i, j, n, d) of a tensor of four axes.
double& at(dense& x, std::int64_t i, std::int64_t j, std::int64_t n, std::int64_t d) {
  const auto& e = x.extent;
  return x.v[static_cast<std::size_t>(((i * e[1] + j) * e[2] + n) * e[3] + d)];
}
std::size_t row_of(const attention_instance& x, std::int64_t b, std::int64_t h, std::int64_t j) {
  return static_cast<std::size_t>((b * x.heads() + h) * x.tq() + j);
}
// Some rows of the queries (axis 2) of [B, H, Tq, ..].
dense rows(const dense& x, std::int64_t first, std::int64_t count) {
  const std::int64_t n = x.extent[2], width = x.extent.size() > 3 ? x.extent[3] : 1;
  dense r{x.extent, {}};
  r.extent[2] = count;
  for (std::int64_t a = 0; a < x.extent[0] * x.extent[1]; ++a)
    for (std::int64_t i = 0; i < count * width; ++i)
      r.v.push_back(x.v[static_cast<std::size_t>((a * n + first) * width + i)]);
  return r;
}

// The learnable tensors and the gradients that belong to them.
std::vector<std::pair<dense*, const dense*>> learnable(attention_instance& x,
                                                       const attention_results& r) {
  std::vector<std::pair<dense*, const dense*>> l = {
      {&x.q, &r.d[0]}, {&x.k, &r.d[1]}, {&x.v, &r.d[2]}};
  for (std::size_t k = 0; k < 4; ++k)
    if (x.has(static_cast<kind>(k))) l.push_back({&x.operands[k], &r.d[3 + k]});
  return l;
}

template <class F>
void for_random(unsigned seed, int count, F f) {
  std::mt19937 r(seed);
  for (int i = 0; i < count; ++i) {
    attention_instance x = random_attention(r);
    CAPTURE(i);
    CAPTURE(x.text());
    f(x, r);
  }
}

}  // namespace

TEST_CASE("attention: every gradient is the derivative, by central differences") {
  int compared[7] = {};
  for_random(1, combinations, [&](attention_instance& x, std::mt19937& r) {
    const attention_results all = x.reference();
    std::size_t k = 0;
    for (auto [value, gradient] : learnable(x, all)) {
      REQUIRE(value->v.size() == gradient->v.size());
      const double scale = std::max(largest(*gradient), 1e-2);
      for (int sample = 0; sample < 4; ++sample) {
        const std::size_t i = r() % value->v.size();
        const double keep = value->v[i], h = 1e-5;
        if (std::isinf(keep)) {  // a masked entry
          CHECK(gradient->v[i] == 0);
          continue;
        }
        value->v[i] = keep + h;
        const double above = dot(x.forward(), x.d_out);
        value->v[i] = keep - h;
        const double below = dot(x.forward(), x.d_out);
        value->v[i] = keep;
        CHECK(std::fabs((above - below) / (2 * h) - gradient->v[i]) <= 1e-6 * scale);
        ++compared[k];
      }
      ++k;
    }
  });
  for (int k = 0; k < 3; ++k) CHECK(compared[k] == 4 * combinations);
  for (int k = 3; k < 7; ++k) CHECK(compared[k] > 0);
}

TEST_CASE("attention: a row's probabilities sum to 1, less the sink's; to 0 where it sees no key") {
  int blind = 0, sunk = 0;
  for_random(2, combinations, [&](attention_instance& x, std::mt19937&) {
    x.remove(kind::dropout);
    for (double& v : x.v.v) v = 1;
    const attention_results r = x.reference();
    for (std::int64_t b = 0; b < x.batch(); ++b)
      for (std::int64_t h = 0; h < x.heads(); ++h)
        for (std::int64_t j = 0; j < x.tq(); ++j) {
          const std::size_t row = row_of(x, b, h, j);
          const double lse = r.lse.v[row];
          const double sink = x.has(kind::sinks)
                                  ? x.operand(kind::sinks).v[static_cast<std::size_t>(h)]
                                  : -INFINITY;
          const bool sees =
              lse != sink;  // a sink alone: lse is the sink; nothing at all: both -inf
          const double sum = r.out.v[row * static_cast<std::size_t>(x.dv())];
          if (!sees) {
            CHECK(sum == 0);
            for (std::int64_t d = 0; d < x.dk(); ++d)
              CHECK(
                  r.d[0].v[row * static_cast<std::size_t>(x.dk()) + static_cast<std::size_t>(d)] ==
                  0);
            ++blind;
          } else {
            CHECK(sum == doctest::Approx(1 - std::exp(sink - lse)).epsilon(1e-12));
            sunk += std::isfinite(sink);
          }
        }
    for (const dense& d : r.d)
      for (const double v : d.v) CHECK(std::isfinite(v));
  });
  CHECK(blind > 20);
  CHECK(sunk > 100);
}

TEST_CASE("attention: a constant on a row's final scores changes nothing but its log-sum-exp") {
  for_random(3, combinations, [&](attention_instance& x, std::mt19937& r) {
    x.remove(kind::sinks), x.remove(kind::slopes);
    if (!x.has(kind::mask)) x.set(kind::mask, filled({x.tq(), x.tk()}, 0));
    const attention_results before = x.reference();
    dense& m = x.operand(kind::mask);
    std::vector<double> shift;
    for (std::size_t i = 0; i < m.v.size() / static_cast<std::size_t>(x.tk()); ++i)
      shift.push_back(static_cast<double>(r() % 1000) / 100 - 5);
    for (std::size_t i = 0; i < m.v.size(); ++i)
      m.v[i] += shift[i / static_cast<std::size_t>(x.tk())];
    attention_results after = x.reference();
    CHECK(difference(after.out, before.out) <= 1e-12);
    for (std::size_t k = 0; k < 4; ++k) CHECK(difference(after.d[k], before.d[k]) <= 1e-11);
    if (m.extent.size() == 2)
      for (std::size_t i = 0; i < after.lse.v.size(); ++i)
        if (std::isfinite(before.lse.v[i]))
          CHECK(after.lse.v[i] - before.lse.v[i] ==
                doctest::Approx(shift[i % shift.size()]).epsilon(1e-10));
  });
}

TEST_CASE("attention: permuting keys with their values and masks changes nothing") {
  for_random(4, combinations, [&](attention_instance& x, std::mt19937& r) {
    x.flag(op::attention_causal, false), x.window(0);
    for (const kind k :
         {kind::lengths, kind::documents, kind::start, kind::dropout, kind::cosine, kind::sine})
      x.remove(k);
    if (!x.has(kind::mask)) x.remove(kind::slopes);
    attention_instance y = x;
    std::vector<std::int64_t> order;
    for (std::int64_t n = 0; n < x.tk(); ++n) order.push_back(n);
    std::shuffle(order.begin(), order.end(), r);
    const auto permute = [&](dense& to, const dense& from, std::int64_t inner) {
      for (std::size_t i = 0; i < from.v.size(); ++i) {
        const auto e = static_cast<std::int64_t>(i);
        const std::int64_t d = e % inner, n = e / inner % x.tk(), a = e / inner / x.tk();
        to.v[i] = from.v[static_cast<std::size_t>(
            (a * x.tk() + order[static_cast<std::size_t>(n)]) * inner + d)];
      }
    };
    permute(y.k, x.k, x.dk()), permute(y.v, x.v, x.dv());
    if (x.has(kind::mask)) permute(y.operand(kind::mask), x.operand(kind::mask), 1);
    attention_results a = x.reference();
    const attention_results b = y.reference();
    dense dk = a.d[1], dv = a.d[2], dm = a.d[3];
    permute(a.d[1], dk, x.dk()), permute(a.d[2], dv, x.dv());
    if (x.has(kind::mask)) permute(a.d[3], dm, 1);
    CHECK(difference(a, b) <= 1e-12);
  });
}

TEST_CASE("attention: what no row sees may hold NaN, and gets no gradient") {
  int hidden = 0;
  for_random(5, combinations, [&](attention_instance& x, std::mt19937&) {
    // Which keys does anything flow to? Those with a gradient; find the others by d_v.
    const attention_results before = x.reference();
    attention_instance y = x;
    for (std::int64_t b = 0; b < x.batch(); ++b)
      for (std::int64_t g = 0; g < x.groups(); ++g)
        for (std::int64_t n = 0; n < x.tk(); ++n) {
          dense dv = before.d[2];
          bool seen = false;
          for (std::int64_t d = 0; d < x.dv(); ++d) seen = seen || at(dv, b, g, n, d) != 0;
          if (seen || x.has(kind::dropout)) continue;  // seen and dropped is seen
          for (std::int64_t d = 0; d < x.dk(); ++d) at(y.k, b, g, n, d) = nan_value;
          for (std::int64_t d = 0; d < x.dv(); ++d) at(y.v, b, g, n, d) = nan_value;
          ++hidden;
        }
    CHECK(difference(y.reference(), before) == 0);
  });
  CHECK(hidden > 200);
}

TEST_CASE("attention: a causal row does not depend on keys behind it, nor on their masks") {
  for_random(6, combinations, [&](attention_instance& x, std::mt19937& r) {
    x.flag(op::attention_causal, true);
    x.remove(kind::start);
    const std::int64_t j = static_cast<std::int64_t>(r() % static_cast<std::uint64_t>(x.tq()));
    const attention_results before = x.reference();
    attention_instance y = x;
    for (std::int64_t n = std::max<std::int64_t>(0, x.tk() - x.tq() + j + 1); n < x.tk(); ++n)
      for (std::int64_t b = 0; b < x.batch(); ++b)
        for (std::int64_t g = 0; g < x.groups(); ++g) {
          for (std::int64_t d = 0; d < x.dk(); ++d) at(y.k, b, g, n, d) += 1;
          for (std::int64_t d = 0; d < x.dv(); ++d) at(y.v, b, g, n, d) = nan_value;
        }
    if (x.has(kind::mask)) {
      dense& m = y.operand(kind::mask);
      for (std::size_t i = 0; i < m.v.size(); ++i) {
        const auto e = static_cast<std::int64_t>(i);
        if (e % x.tk() > x.tk() - x.tq() + e / x.tk() % x.tq()) m.v[i] = nan_value;
      }
    }
    const attention_results after = y.reference();
    for (std::int64_t i = 0; i <= j; ++i)
      CHECK(rows(after.out, i, 1).v == rows(before.out, i, 1).v);
  });
}

TEST_CASE("attention: a window as wide as the keys hides nothing") {
  for_random(7, combinations, [&](attention_instance& x, std::mt19937&) {
    x.window(0);
    const attention_results none = x.reference();
    x.window(x.tq() + x.tk());
    CHECK(difference(x.reference(), none) == 0);
  });
}

TEST_CASE("attention: shared key heads equal repeated ones, their gradients the groups' sums") {
  for_random(8, combinations, [&](attention_instance& x, std::mt19937&) {
    const attention_results shared = x.reference();
    attention_instance y = x;
    y.k = filled({x.batch(), x.heads(), x.tk(), x.dk()}, 0);
    y.v = filled({x.batch(), x.heads(), x.tk(), x.dv()}, 0);
    const std::int64_t share = x.heads() / x.groups();
    for (std::int64_t b = 0; b < x.batch(); ++b)
      for (std::int64_t h = 0; h < x.heads(); ++h)
        for (std::int64_t n = 0; n < x.tk(); ++n) {
          for (std::int64_t d = 0; d < x.dk(); ++d)
            at(y.k, b, h, n, d) = at(x.k, b, h / share, n, d);
          for (std::int64_t d = 0; d < x.dv(); ++d)
            at(y.v, b, h, n, d) = at(x.v, b, h / share, n, d);
        }
    attention_results repeated = y.reference();
    for (const std::size_t k : {1u, 2u}) {
      dense sum = filled(shared.d[k].extent, 0);
      const std::int64_t inner = sum.extent[2] * sum.extent[3];
      for (std::size_t i = 0; i < repeated.d[k].v.size(); ++i) {
        const auto e = static_cast<std::int64_t>(i);
        sum.v[static_cast<std::size_t>(e / inner / share * inner + e % inner)] +=
            repeated.d[k].v[i];
      }
      repeated.d[k] = sum;
    }
    CHECK(difference(repeated, shared) <= 1e-12);
  });
}

TEST_CASE(
    "attention: a prompt in pieces, or token by token, is the prompt; unused slots hold NaN") {
  for_random(9, combinations, [&](attention_instance& x, std::mt19937& r) {
    for (const kind k : {kind::start, kind::dropout, kind::lengths}) x.remove(k);
    if (x.tq() > x.tk()) return;
    x.flag(op::attention_causal, true);
    const dense whole = x.forward();
    for (std::int64_t first = 0; first < x.tq();) {
      const std::int64_t count =
          r() % 2 ? 1
                  : 1 + static_cast<std::int64_t>(r() % static_cast<std::uint64_t>(x.tq() - first));
      attention_instance y = x;
      y.q = rows(x.q, first, count);
      if (x.has(kind::mask)) {
        dense m = x.operand(kind::mask);
        while (m.extent.size() < 4) m.extent.insert(m.extent.begin(), 1);
        y.set(kind::mask, rows(m, first, count));
      }
      const std::int64_t from = x.tk() - x.tq() + first;
      y.set(kind::start, {{1}, {static_cast<double>(from)}});
      for (std::int64_t n = from + count; n < x.tk(); ++n)
        for (std::int64_t a = 0; a < x.batch() * x.groups(); ++a)
          for (std::int64_t d = 0; d < x.dv(); ++d) {
            at(y.v, a / x.groups(), a % x.groups(), n, d) = nan_value;
            at(y.k, a / x.groups(), a % x.groups(), n, d % x.dk()) = nan_value;
          }
      CHECK(difference(y.forward(), rows(whole, first, count)) <= 1e-13);
      first += count;
    }
  });
}

TEST_CASE("attention: packed documents are the documents one by one") {
  for_random(10, combinations, [&](attention_instance& x, std::mt19937&) {
    for (const kind k : {kind::start, kind::dropout, kind::lengths, kind::mask, kind::slopes,
                         kind::cosine, kind::sine})
      x.remove(k);
    if (!x.has(kind::documents) || x.tq() != x.tk()) {
      x.q = x.k;  // as many queries as keys
      x.d_out = x.v;
      if (x.has(kind::sinks)) x.operand(kind::sinks) = filled({x.heads()}, 0.25);
      x.set(kind::documents, {{3}, {0, static_cast<double>(x.tk() / 2), double(x.tk())}});
    }
    const dense cu = x.operand(kind::documents), packed = x.forward();
    for (std::size_t i = 0; i + 1 < cu.v.size(); ++i) {
      const auto first = static_cast<std::int64_t>(cu.v[i]);
      const std::int64_t count = static_cast<std::int64_t>(cu.v[i + 1]) - first;
      if (count == 0) continue;
      attention_instance y = x;
      y.remove(kind::documents);
      y.q = rows(x.q, first, count), y.k = rows(x.k, first, count), y.v = rows(x.v, first, count);
      CHECK(difference(y.forward(), rows(packed, first, count)) <= 1e-13);
    }
  });
}

TEST_CASE("attention: dropout drops its share, keeps the mean, and stands still") {
  attention_instance x;
  std::mt19937 r(11);
  x.q = random_dense({2, 4, 20, 4}, r), x.k = random_dense({2, 2, 50, 4}, r);
  x.v = filled({2, 2, 50, 1}, 1), x.d_out = filled({2, 4, 20, 1}, 1);
  x.a.f[2] = 0.25;
  const attention_results kept = x.reference();
  x.set(kind::dropout, {{3}, {123, 45, 1}});
  const attention_results dropped = x.reference(), again = x.reference();
  CHECK(difference(dropped, again) == 0);
  double mean = 0;
  for (const double v : dropped.out.v) mean += v / static_cast<double>(dropped.out.v.size());
  CHECK(std::fabs(mean - 1) < 0.02);  // 160 rows; each has standard deviation 0.09
  CHECK(difference(dropped.out, kept.out) > 0.01);
  CHECK(difference(dropped.lse, kept.lse) == 0);
  x.operand(kind::dropout).v[2] = 0;  // outside of training
  CHECK(difference(x.reference(), kept) == 0);
  x.operand(kind::dropout) = {{3}, {123, 46, 1}};
  CHECK(difference(x.reference().out, dropped.out) > 0.01);
}

TEST_CASE("attention: fused rope is the rotation of q and k, and turns their gradients back") {
  int rotated = 0;
  for_random(13, combinations, [&](attention_instance& x, std::mt19937&) {
    if (!x.has(kind::cosine)) return;
    const attention_results fused = x.reference();
    const dense c = x.operand(kind::cosine), s = x.operand(kind::sine);
    const std::int64_t pairs = c.extent[1], offset = x.a.d[1].n;
    const bool interleaved = x.flag(op::attention_interleaved);
    // Every pair (u, w) of row j becomes (u cos - sign w sin, w cos + sign u sin).
    const auto turn = [&](dense& t, bool queries, double sign) {
      for (std::int64_t b = 0; b < t.extent[0]; ++b)
        for (std::int64_t h = 0; h < t.extent[1]; ++h)
          for (std::int64_t j = 0; j < t.extent[2]; ++j)
            for (std::int64_t i = 0; i < pairs; ++i) {
              std::int64_t p = j;
              if (queries && x.has(kind::start)) {
                const dense& first = x.operand(kind::start);
                p += static_cast<std::int64_t>(
                    first.v[first.v.size() == 1 ? 0 : static_cast<std::size_t>(b)]);
              } else if (queries) {
                p += x.tk() - x.tq();
              }
              const auto at_table = static_cast<std::size_t>(p * pairs + i);
              double& u = at(t, b, h, j, offset + (interleaved ? 2 * i : i));
              double& w = at(t, b, h, j, offset + (interleaved ? 2 * i + 1 : i + pairs));
              const double u0 = u, w0 = w;
              u = u0 * c.v[at_table] - sign * w0 * s.v[at_table];
              w = w0 * c.v[at_table] + sign * u0 * s.v[at_table];
            }
    };
    attention_instance y = x;
    y.remove(kind::cosine), y.remove(kind::sine);
    turn(y.q, true, 1), turn(y.k, false, 1);
    attention_results plain = y.reference();
    turn(plain.d[0], true, -1), turn(plain.d[1], false, -1);
    CHECK(difference(plain, fused) <= 1e-13);
    ++rotated;
  });
  CHECK(rotated > 50);
}

TEST_CASE("attention: values that break a rule at run time are refused by name") {
  std::mt19937 r(12);
  attention_instance x;
  x.q = random_dense({2, 1, 3, 2}, r), x.k = random_dense({2, 1, 5, 2}, r);
  x.v = random_dense({2, 1, 5, 2}, r), x.d_out = random_dense({2, 1, 3, 2}, r);
  const auto refused = [&](kind k, dense v, const char* message) {
    attention_instance y = x;
    y.set(k, std::move(v));
    pool p(1);
    CHECK_THROWS_WITH_AS(y.reference(), message, error);
    CHECK_THROWS_WITH_AS(y.kernel(p, isa::portable, f32, f32), message, error);
  };
  refused(kind::lengths, {{2}, {5, 6}},
          "[attention] lengths[1] = 6: must be from 0 to the number of keys, 5");
  refused(kind::lengths, {{1}, {-1}},
          "[attention] lengths[0] = -1: must be from 0 to the number of keys, 5");
  refused(kind::start, {{2}, {2, 3}},
          "[attention] start[1] = 3: must be from 0 to keys - queries, 2");
  refused(kind::documents, {{3}, {1, 2, 5}}, "[attention] documents[0] = 1: must be 0");
  refused(kind::documents, {{4}, {0, 3, 2, 5}},
          "[attention] documents[2] = 2: must be from 3 to the number of keys, 5");
  refused(kind::documents, {{2}, {0, 6}},
          "[attention] documents[1] = 6: must be from 0 to the number of keys, 5");
  attention_instance more = x;  // queries than keys
  more.q = random_dense({2, 1, 6, 2}, r), more.d_out = random_dense({2, 1, 6, 2}, r);
  more.set(kind::cosine, filled({5, 1}, 1)), more.set(kind::sine, filled({5, 1}, 0));
  CHECK_THROWS_WITH_AS(
      more.reference(),
      "[attention] queries = 6: fused_rope has tables of the keys' positions, so at most 5", error);
  x.flag(op::attention_has_window, true);  // a symbolic window that came out as 0
  CHECK_THROWS_WITH_AS(x.reference(), "[attention] sliding_window = 0: must be at least 1", error);
}
