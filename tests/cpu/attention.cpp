// Attention and its gradient against their definitions in double, for every instruction set.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <ropewalk/core/error.hpp>
#include <ropewalk/runtime/cpu_kernels.hpp>
#include <string>
#include <vector>

using namespace ropewalk;

namespace {

std::mt19937 random_bits(11);
long any(long low, long high) {
  return std::uniform_int_distribution<long>(low, high)(random_bits);
}
template <class T>
constexpr dtype type_of = sizeof(T) == 4 ? f32 : f64;

// [batch, heads, rows, dim] laid out as [batch, rows, heads, dim] or as it is, with gaps.
template <class T>
struct tensor {
  long heads = 0, rows = 0, dim = 0, batch_stride = 0, head_stride = 0, row_stride = 0;
  std::vector<T> x;
  tensor(long b, long h, long r, long d) : heads(h), rows(r), dim(d) {
    const long gap = any(0, 3), wide = d + gap;
    const bool rows_outside = any(0, 1);
    row_stride = rows_outside ? h * wide : wide;
    head_stride = rows_outside ? wide : r * wide;
    batch_stride = h * r * wide;
    x.resize(static_cast<std::size_t>(b * batch_stride));
    for (auto& v : x) v = static_cast<T>(std::normal_distribution<float>()(random_bits));
  }
  T& at(long b, long h, long r, long d) {
    return x[static_cast<std::size_t>(b * batch_stride + h * head_stride + r * row_stride + d)];
  }
  template <class P>
  head_rows<P> rows_of() {
    return {x.data(), batch_stride, head_stride, row_stride};
  }
};

template <class T>
struct instance {
  attention_args a;
  tensor<T> q, k, v, out, lse, d_out, d_q, d_k, d_v;

  instance(long b, long h, long kv, long tq, long tk, long dk, long dv, bool causal)
      : q(b, h, tq, dk),
        k(b, kv, tk, dk),
        v(b, kv, tk, dv),
        out(b, h, tq, dv),
        lse(b, h, tq, 1),
        d_out(b, h, tq, dv),
        d_q(b, h, tq, dk),
        d_k(b, kv, tk, dk),
        d_v(b, kv, tk, dv) {
    a.batch = b, a.heads = h, a.kv_heads = kv, a.tq = tq, a.tk = tk, a.dk = dk, a.dv = dv;
    a.scale = 0.7 / std::sqrt(double(dk));
    a.causal = causal;
    bind();
  }
  void bind() {
    a.q = q.template rows_of<const void*>();
    a.k = k.template rows_of<const void*>();
    a.v = v.template rows_of<const void*>();
    a.out = out.template rows_of<void*>();
    a.lse = lse.template rows_of<void*>();
    a.d_out = d_out.template rows_of<const void*>();
    a.d_q = d_q.template rows_of<void*>();
    a.d_k = d_k.template rows_of<void*>();
    a.d_v = d_v.template rows_of<void*>();
  }
  void run(pool& p, isa set) {
    bind();
    for (const bool back : {false, true}) {
      const auto size = back ? attention_backward_workspace : attention_forward_workspace;
      std::vector<std::byte> room(size(p.threads(), set, type_of<T>, a) + 1, std::byte{0xff});
      (back ? attention_backward : attention_forward)(p, set, type_of<T>, a,
                                                      {room.data() + 1, room.size() - 1});
    }
  }
  bool same_results(const instance& o) const {
    const auto same = [](const tensor<T>& x, const tensor<T>& y) {
      return std::memcmp(x.x.data(), y.x.data(), x.x.size() * sizeof(T)) == 0;
    };
    return same(out, o.out) && same(lse, o.lse) && same(d_q, o.d_q) && same(d_k, o.d_k) &&
           same(d_v, o.d_v);
  }

  // The largest error of any result, in units of a tolerance relative to its largest entry.
  double error_of_results() {
    double worst = 0, terms_q = 1e-2, terms_k = 1e-2;  // largest Σ |term| that dP − D may cancel
    const double unit = sizeof(T) == 4 ? 3e-6 : 1e-14;
    tensor<double> r_out(a.batch, a.heads, a.tq, a.dv), r_q(a.batch, a.heads, a.tq, a.dk);
    tensor<double> r_k(a.batch, a.kv_heads, a.tk, a.dk), r_v(a.batch, a.kv_heads, a.tk, a.dv);
    tensor<double> r_lse(a.batch, a.heads, a.tq, 1);
    for (auto* t : {&r_out, &r_q, &r_k, &r_v})
      for (auto& x : t->x) x = 0;
    const auto tk = static_cast<std::size_t>(a.tk);
    for (long b = 0; b < a.batch; ++b)
      for (long h = 0; h < a.heads; ++h)
        for (long j = 0; j < a.tq; ++j) {
          const long g = h / (a.heads / a.kv_heads);
          const long seen = a.causal ? std::max(0l, std::min(a.tk, a.tk - a.tq + j + 1)) : a.tk;
          std::vector<double> p(tk), dp(tk);
          double top = -1e300, sum = 0, delta = 0;
          for (long n = 0; n < seen; ++n) {
            double s = 0;
            for (long d = 0; d < a.dk; ++d)
              s += double(q.at(b, h, j, d)) * double(k.at(b, g, n, d));
            p[std::size_t(n)] = s * a.scale;
            top = std::max(top, s * a.scale);
          }
          for (long n = 0; n < seen; ++n)
            sum += p[std::size_t(n)] = std::exp(p[std::size_t(n)] - top);
          r_lse.at(b, h, j, 0) = seen ? top + std::log(sum) : -INFINITY;
          for (long n = 0; n < seen; ++n) {
            p[std::size_t(n)] /= sum;
            for (long d = 0; d < a.dv; ++d) {
              r_out.at(b, h, j, d) += p[std::size_t(n)] * double(v.at(b, g, n, d));
              dp[std::size_t(n)] += double(d_out.at(b, h, j, d)) * double(v.at(b, g, n, d));
              r_v.at(b, g, n, d) += p[std::size_t(n)] * double(d_out.at(b, h, j, d));
            }
            delta += p[std::size_t(n)] * dp[std::size_t(n)];
          }
          for (long n = 0; n < seen; ++n) {
            const double ds = a.scale * p[std::size_t(n)] * (dp[std::size_t(n)] - delta);
            const double term =
                a.scale * p[std::size_t(n)] * (std::abs(dp[std::size_t(n)]) + std::abs(delta));
            terms_k = std::max(terms_k, term * std::abs(double(q.at(b, h, j, 0))));
            terms_q = std::max(terms_q, term * std::abs(double(k.at(b, g, n, 0))));
            for (long d = 0; d < a.dk; ++d) {
              r_q.at(b, h, j, d) += ds * double(k.at(b, g, n, d));
              r_k.at(b, g, n, d) += ds * double(q.at(b, h, j, d));
            }
          }
        }
    const auto compare = [&](tensor<T>& x, tensor<double>& r, double least) {
      double largest = least, off = 0;
      for (long b = 0; b < a.batch; ++b)
        for (long h = 0; h < x.heads; ++h)
          for (long i = 0; i < x.rows; ++i)
            for (long d = 0; d < x.dim; ++d) {
              const double want = r.at(b, h, i, d), got = double(x.at(b, h, i, d));
              if (std::isinf(want) && got == want) continue;
              const double e = std::abs(got - want);
              off = e <= off ? off : e;
              largest = std::max(largest, std::abs(want));
            }
      off /= unit * largest;
      worst = off <= worst ? worst : off;
    };
    compare(out, r_out, 1e-3);
    compare(lse, r_lse, 1);
    compare(d_q, r_q, terms_q);
    compare(d_k, r_k, terms_k);
    compare(d_v, r_v, 1e-2);
    return worst;
  }
};

template <class T>
void random_instances(int count, long longest) {
  pool p(2);
  for (const isa set : supported_isas())
    for (int i = 0; i < count; ++i) {
      const long kv = any(1, 2), h = kv * any(1, 3);
      instance<T> x(any(1, 2), h, kv, any(1, longest), any(1, longest), any(1, 70), any(1, 70),
                    any(0, 1));
      x.run(p, set);
      CAPTURE(std::string(isa_name(set)));
      CAPTURE(x.a.tq);
      CAPTURE(x.a.tk);
      CAPTURE(x.a.dk);
      CAPTURE(x.a.dv);
      CAPTURE(x.a.causal);
      CHECK(x.error_of_results() <= 1);
    }
}

}  // namespace

TEST_CASE("random shapes and strides, f32") {
  random_instances<float>(25, 40);
  random_instances<float>(4, 300);
}

TEST_CASE("random shapes and strides, f64") {
  random_instances<double>(10, 40);
  random_instances<double>(2, 300);
}

TEST_CASE("depths that are whole vectors, and the largest") {
  pool p(2);
  for (const isa set : supported_isas())
    for (const auto& [dk, dv] : {std::array<long, 2>{64, 64}, {128, 64}, {256, 256}, {16, 32}})
      for (const bool causal : {false, true}) {
        instance<float> x(1, 2, 1, 140, 150, dk, dv, causal);
        x.run(p, set);
        CAPTURE(dk);
        CHECK(x.error_of_results() <= 1);
      }
}

TEST_CASE("few rows against many keys: decoding") {
  pool p(2);
  for (const isa set : supported_isas())
    for (const long tk : {1l, 5l, 256l, 257l, 700l})
      for (const long tq : {1l, 2l, 5l})
        for (const bool causal : {false, true}) {
          instance<float> x(2, 6, 2, tq, tk, any(1, 70), any(1, 70), causal);
          x.run(p, set);
          CAPTURE(std::string(isa_name(set)));
          CAPTURE(tk);
          CAPTURE(tq);
          CHECK(x.error_of_results() <= 1);
        }
}

TEST_CASE("bitwise the same for 1, 2 and 3 threads") {
  pool one(1), two(2), three(3);
  for (const isa set : supported_isas())
    for (const long tq : {250l, 3l}) {
      instance<float> x(2, 4, 2, tq, 270, 64, 40, true);
      auto y = x, z = x;
      x.run(one, set), y.run(two, set), z.run(three, set);
      CHECK(x.same_results(y));
      CHECK(x.same_results(z));
    }
}

TEST_CASE("the last rows alone are the last rows of the whole") {
  pool p(2);
  for (const isa set : supported_isas())
    for (const long last : {1l, 7l, 60l}) {
      instance<float> x(1, 2, 1, 300, 300, 48, 40, true);
      x.run(p, set);
      instance<float> y(1, 2, 1, last, 300, 48, 40, true);
      y.k = x.k, y.v = x.v;
      for (long h = 0; h < 2; ++h)
        for (long j = 0; j < last; ++j)
          for (long d = 0; d < 48; ++d) y.q.at(0, h, j, d) = x.q.at(0, h, 300 - last + j, d);
      y.run(p, set);
      float worst = 0;
      for (long h = 0; h < 2; ++h)
        for (long j = 0; j < last; ++j)
          for (long d = 0; d < 40; ++d)
            worst =
                std::max(worst, std::abs(y.out.at(0, h, j, d) - x.out.at(0, h, 300 - last + j, d)));
      CHECK(worst <= 2e-6f);
    }
}

TEST_CASE("a row that sees no key gives 0, lse −inf and no gradient") {
  pool p(2);
  for (const isa set : supported_isas()) {
    instance<float> x(1, 2, 1, 200, 30, 20, 20, true);  // rows 0 to 169 stand before every key
    x.run(p, set);
    CHECK(x.error_of_results() <= 1);
    for (long j = 0; j < 170; ++j) {
      CHECK(x.lse.at(0, 1, j, 0) == -std::numeric_limits<float>::infinity());
      CHECK(x.out.at(0, 1, j, 7) == 0);
      CHECK(x.d_q.at(0, 1, j, 7) == 0);
    }
    instance<float> none(1, 1, 1, 5, 0, 8, 8, false);
    none.run(p, set);
    CHECK(none.error_of_results() <= 1);
  }
}

TEST_CASE("what a row does not see does not reach it, whatever it holds") {
  pool p(2);
  const float nan = std::numeric_limits<float>::quiet_NaN(),
              inf = std::numeric_limits<float>::infinity();
  for (const isa set : supported_isas())
    for (const auto& [tq, t] : {std::array<long, 2>{40, 40}, {300, 300}, {5, 300}})
      for (const float bad : {nan, inf, -inf}) {
        const long n = t - any(1, std::min(25l, tq - 1));  // seen by the rows from `from` on
        const long from = n - (t - tq);
        instance<float> x(1, 2, 1, tq, t, 48, 33, true);
        auto y = x;
        for (long d = 0; d < 48; ++d) y.k.at(0, 0, n, d) = bad;
        for (long d = 0; d < 33; ++d) y.v.at(0, 0, n, d) = bad;
        x.run(p, set), y.run(p, set);
        const auto differ = [&](tensor<float>& u, tensor<float>& w, long h, long j) {
          int count = 0;
          for (long d = 0; d < u.dim; ++d)
            count += !(std::abs(u.at(0, h, j, d) - w.at(0, h, j, d)) <= 1e-5f);
          return count;
        };
        int wrong = 0;
        for (long h = 0; h < 2; ++h)
          for (long j = 0; j < from; ++j)
            wrong += differ(x.lse, y.lse, h, j) + differ(x.out, y.out, h, j) +
                     differ(x.d_q, y.d_q, h, j);
        CHECK(wrong == 0);
        CHECK(std::isnan(y.out.at(0, 0, tq - 1, 0)));  // the rows that do see it are lost
      }
}

TEST_CASE("keys longer than the queries that nobody sees do not exist") {
  pool p(2);
  for (const isa set : supported_isas()) {
    // Query j stands at key tk − tq + j: with tq = tk nothing after it is seen.
    instance<float> x(1, 1, 1, 130, 130, 32, 32, true);
    x.run(p, set);
    auto y = x;
    for (long d = 0; d < 32; ++d) y.k.at(0, 0, 129, d) += 1, y.v.at(0, 0, 129, d) -= 1;
    y.run(p, set);
    int changed = 0;
    for (long j = 0; j < 129; ++j) changed += x.out.at(0, 0, j, 3) != y.out.at(0, 0, j, 3);
    CHECK(changed == 0);
    CHECK(x.out.at(0, 0, 129, 3) != y.out.at(0, 0, 129, 3));
  }
}

TEST_CASE("large scores neither overflow nor lose the row sums") {
  pool p(2);
  for (const isa set : supported_isas()) {
    instance<float> x(1, 1, 1, 50, 200, 16, 16, false);
    for (auto& q : x.q.x) q *= 300;
    for (auto& v : x.v.x) v = 2;
    x.run(p, set);
    float worst = 0;
    for (long j = 0; j < 50; ++j) worst = std::max(worst, std::abs(x.out.at(0, 0, j, 5) - 2));
    CHECK(worst <= 1e-5f);
  }
}

TEST_CASE("refusals name the field") {
  pool p(1);
  instance<float> x(1, 4, 2, 3, 3, 8, 8, false);
  auto a = x.a;
  a.heads = 3;
  CHECK_THROWS_WITH_AS(attention_forward_workspace(1, isa::portable, f32, a),
                       "[attention] heads = 3: must be a multiple of kv_heads, 2", error);
  a = x.a;
  a.dv = 257;
  CHECK_THROWS_WITH_AS(attention_forward_workspace(1, isa::portable, f32, a),
                       "[attention] dv = 257: must be at most 256", error);
  CHECK_THROWS_AS(attention_forward(p, isa::portable, f32, x.a, {}), error);
  CHECK_THROWS_AS(attention_backward(p, isa::portable, i32, x.a, {}), error);
}
