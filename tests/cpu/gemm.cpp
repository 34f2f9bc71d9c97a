// The matrix product against its definition in double, for every instruction set.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
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

std::mt19937 random_bits(7);
long any(long low, long high) {
  return std::uniform_int_distribution<long>(low, high)(random_bits);
}
template <class T>
std::vector<T> values(long n) {
  std::vector<T> x(static_cast<std::size_t>(n));
  for (auto& v : x) v = static_cast<T>(std::uniform_real_distribution<float>(-1, 1)(random_bits));
  return x;
}
template <class T>
constexpr dtype type_of = sizeof(T) == 4 ? f32 : f64;

// A product with its operands; strides in any order, with gaps.
template <class T>
struct instance {
  gemm_args g;
  std::vector<T> a, b, c;
  long row_step = 1;  // compares every so many rows only

  instance(long m, long n, long k, int a_form, int b_form, std::vector<long> batch = {}) {
    g.m = m, g.n = n, g.k = k;
    const auto strides = [](int form, long rows, long columns, long& row, long& col) {
      const long gap = any(0, 3);
      row = form == 0 ? columns + gap : form == 1 ? 1 : 2 * columns + gap;
      col = form == 0 ? 1 : form == 1 ? rows + gap : 2;
      return rows * (form == 1 ? 1 : row) + columns * (form == 1 ? col : 0);
    };
    long a_size = strides(a_form, m, k, g.a_row, g.a_col);
    long b_size = strides(b_form, k, n, g.b_row, g.b_col);
    g.c_row = n + any(0, 3);
    long c_size = m * g.c_row;
    g.batch_dims = static_cast<long>(batch.size());
    for (std::size_t d = batch.size(); d-- > 0;) {
      g.batch_extent[d] = batch[d];
      const auto next = [&](long& size) {
        const long stride = size;
        size *= batch[d];
        return stride;
      };
      g.a_batch[d] = any(0, 2) ? next(a_size) : 0;
      g.b_batch[d] = any(0, 2) ? next(b_size) : 0;
      g.c_batch[d] = next(c_size);
    }
    a = values<T>(a_size), b = values<T>(b_size), c = values<T>(c_size);
    g.a = a.data(), g.b = b.data(), g.c = c.data();
  }

  template <class F>
  void each_item(F f) const {
    long items = 1;
    for (long d = 0; d < g.batch_dims; ++d) items *= g.batch_extent[d];
    for (long i = 0; i < items; ++i) {
      long at_a = 0, at_b = 0, at_c = 0;
      for (long d = g.batch_dims - 1, rest = i; d >= 0; --d) {
        const long at = rest % g.batch_extent[d];
        rest /= g.batch_extent[d];
        at_a += at * g.a_batch[d], at_b += at * g.b_batch[d], at_c += at * g.c_batch[d];
      }
      f(at_a, at_b, at_c);
    }
  }

  std::vector<T> run(pool& p, isa set) {
    std::vector<T> out = c;
    g.c = out.data();
    std::vector<std::byte> room(gemm_workspace(p.threads(), set, type_of<T>, g) + 1,
                                std::byte{0xff});  // NaN everywhere: nothing stale may be used
    gemm(p, set, type_of<T>, g, {room.data() + 1, room.size() - 1});
    return out;
  }

  // The largest error, in units of the tolerance 1e-6 √k (f64: 1e-14 √k) of the largest entry.
  double error_of(const std::vector<T>& out) const {
    std::vector<T> rest = out;  // what lies between the rows must stay
    double worst = 0, largest = 1e-30;
    each_item([&](long at_a, long at_b, long at_c) {
      for (long i = 0; i < g.m; ++i)
        for (long j = 0; j < g.n; ++j) {
          const auto at = static_cast<std::size_t>(at_c + i * g.c_row + j);
          rest[at] = c[at];
          if (i % row_step != 0) continue;
          double sum = g.accumulate ? double(c[at]) : 0.0;
          for (long q = 0; q < g.k; ++q)
            sum += double(a[static_cast<std::size_t>(at_a + i * g.a_row + q * g.a_col)]) *
                   double(b[static_cast<std::size_t>(at_b + q * g.b_row + j * g.b_col)]);
          const double d = std::abs(double(out[at]) - sum);
          worst = d <= worst ? worst : d;  // NaN wins
          largest = std::max(largest, std::abs(sum));
        }
    });
    if (std::memcmp(rest.data(), c.data(), c.size() * sizeof(T)) != 0) return 1e30;
    const double unit = sizeof(T) == 4 ? 1e-6 : 1e-14;
    return worst / (unit * std::sqrt(double(std::max(g.k, 1l))) * largest);
  }
};

template <class T>
void random_products(int count, long largest) {
  pool p(2);
  for (const isa set : supported_isas())
    for (int i = 0; i < count; ++i) {
      instance<T> x(any(1, largest), any(1, largest), any(0, largest), int(any(0, 2)),
                    int(any(0, 2)));
      x.g.accumulate = any(0, 1);
      CAPTURE(std::string(isa_name(set)));
      CAPTURE(x.g.m);
      CAPTURE(x.g.n);
      CAPTURE(x.g.k);
      CAPTURE(x.g.a_col);
      CAPTURE(x.g.b_col);
      CHECK(x.error_of(x.run(p, set)) <= 1);
    }
}

}  // namespace

TEST_CASE("random shapes, strides and transposes, f32") {
  random_products<float>(150, 40);
  random_products<float>(40, 150);
}

TEST_CASE("random shapes, strides and transposes, f64") {
  random_products<double>(60, 40);
  random_products<double>(15, 150);
}

TEST_CASE("k longer than a block and than a chunk, few rows, many columns") {
  pool p(2);
  for (const isa set : supported_isas())
    for (const auto& [m, n, k] : {std::array<long, 3>{30, 33, 5000},
                                  {3, 40, 700},
                                  {1, 300, 130},
                                  {17, 1000, 20},
                                  {40, 1200, 300},
                                  {130, 70, 600}})
      for (const int form : {0, 1}) {
        instance<float> x(m, n, k, form, 1 - form);
        CAPTURE(std::string(isa_name(set)));
        CAPTURE(m);
        CAPTURE(form);
        CHECK(x.error_of(x.run(p, set)) <= 1);
        instance<float> y(m, n, k, form, form);
        CHECK(y.error_of(y.run(p, set)) <= 1);
      }
}

TEST_CASE("several chunks of columns and of k") {
  pool p(2);
  for (const isa set : supported_isas())
    for (const int form : {0, 1}) {
      instance<float> x(100, 1100, 4200, form, 1 - form);
      x.row_step = 33;
      CHECK(x.error_of(x.run(p, set)) <= 1);
    }
}

TEST_CASE("batches of up to four dims, operands broadcast along some") {
  pool p(2);
  for (const isa set : supported_isas())
    for (int i = 0; i < 30; ++i) {
      std::vector<long> batch;
      for (long d = any(1, 4); d > 0; --d) batch.push_back(any(1, 3));
      instance<float> x(any(1, 50), any(1, 50), any(1, 50), int(any(0, 1)), int(any(0, 1)), batch);
      x.g.accumulate = any(0, 1);
      CAPTURE(std::string(isa_name(set)));
      CHECK(x.error_of(x.run(p, set)) <= 1);
    }
  // Large items: b is packed once when it is the same for all.
  instance<float> x(250, 260, 250, 0, 1, {2});
  CHECK(x.error_of(x.run(p, best_isa())) <= 1);
}

TEST_CASE("k = 0 gives zeros, or leaves what is accumulated into") {
  pool p(2);
  for (const isa set : supported_isas())
    for (const long m : {1l, 20l, 100l}) {
      instance<float> x(m, 70, 0, 0, 0);
      CHECK(x.error_of(x.run(p, set)) == 0);
      x.g.accumulate = true;
      CHECK(x.error_of(x.run(p, set)) == 0);
    }
}

TEST_CASE("bitwise the same for 1, 2 and 3 threads") {
  pool one(1), two(2), three(3);
  for (const isa set : supported_isas())
    for (const auto& [m, n, k] : {std::array<long, 3>{200, 300, 300}, {5, 500, 300}, {20, 90, 77}})
      for (const int form : {0, 1}) {
        instance<float> x(m, n, k, form, 1 - form);
        const auto first = x.run(one, set), second = x.run(two, set), third = x.run(three, set);
        CHECK(std::memcmp(first.data(), second.data(), first.size() * sizeof(float)) == 0);
        CHECK(std::memcmp(first.data(), third.data(), first.size() * sizeof(float)) == 0);
      }
}

TEST_CASE("the epilogue sees every finished element exactly once") {
  pool p(3);
  for (const isa set : supported_isas())
    for (const auto& [m, n, k] : {std::array<long, 3>{200, 300, 500},
                                  {5, 500, 30},
                                  {20, 90, 77},
                                  {30, 33, 5000},
                                  {7, 9, 0}})
      for (const int form : {0, 1})
        for (const bool batched : {false, true}) {
          instance<float> x(m, n, k, 0, form,
                            batched ? std::vector<long>{2, 2} : std::vector<long>{});
          const auto plain = x.run(p, set);
          struct seen {
            std::vector<std::atomic<int>> count;
            long m, n;
            std::atomic<int> misplaced{0};
            const instance<float>* x;
          } s{std::vector<std::atomic<int>>(static_cast<std::size_t>(m * n * (batched ? 4 : 1))), m,
              n, 0, &x};
          x.g.epilogue_context = &s;
          x.g.epilogue = [](void* context, long batch, long row, long rows, long column,
                            long columns, void* c, long c_row) {
            auto& t = *static_cast<seen*>(context);
            const gemm_args& g = t.x->g;
            const float* want = static_cast<const float*>(g.c) + row * g.c_row + column;
            if (g.batch_dims) want += batch / 2 * g.c_batch[0] + batch % 2 * g.c_batch[1];
            if (want != c || c_row != g.c_row) t.misplaced++;
            for (long i = 0; i < rows; ++i)
              for (long j = 0; j < columns; ++j) {
                t.count[static_cast<std::size_t>((batch * t.m + row + i) * t.n + column + j)]++;
                float& at = static_cast<float*>(c)[i * c_row + j];
                at = -at;
              }
          };
          auto out = x.run(p, set);
          int wrong = 0;
          for (auto& c : s.count) wrong += c != 1;
          CHECK(wrong == 0);
          CHECK(s.misplaced == 0);
          x.each_item([&](long, long, long at_c) {
            for (long i = 0; i < m; ++i)
              for (long j = 0; j < n; ++j) {
                auto& at = out[static_cast<std::size_t>(at_c + i * x.g.c_row + j)];
                at = -at;
              }
          });
          CHECK(std::memcmp(out.data(), plain.data(), plain.size() * sizeof(float)) == 0);
        }
}

TEST_CASE("empty products and refusals") {
  pool p(1);
  gemm_args g;
  gemm(p, isa::portable, f32, g, {});
  g.m = g.n = g.k = 4;
  CHECK_THROWS_AS(gemm(p, isa::portable, bf16, g, {}), error);
  CHECK_THROWS_WITH_AS(gemm(p, isa::portable, f16, g, {}),
                       "[gemm] dtype = f16: the kernels compute in f32 or f64", error);
  CHECK_THROWS_AS(gemm(p, isa::portable, f32, g, {}), error);  // no workspace
  g.k = -1;
  CHECK_THROWS_WITH_AS(gemm_workspace(1, isa::portable, f32, g),
                       "[gemm] k = -1: must be at least 0", error);
  g.k = 4, g.batch_dims = 1, g.batch_extent[0] = 2;
  CHECK_THROWS_AS(gemm_workspace(1, isa::portable, f32, g), error);  // both items write one c
  g.batch_dims = 5;
  CHECK_THROWS_AS(gemm_workspace(1, isa::portable, f32, g), error);
}
