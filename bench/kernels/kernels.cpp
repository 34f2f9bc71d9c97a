// Speeds of the hand-written CPU kernels, each measured in turn with the multiply-add peak.
//
//   kernels [threads] [rounds] [gemm|attention]     ROPEWALK_ISA chooses the instruction set
//
// A round is 10 ms of multiply-adds on registers, then at least 10 ms of the kernel. Printed: the
// best and the median round of each, and best over best, the share of the peak. The machine may be
// shared: compare shares, not GFLOP/s.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "peak.hpp"

using namespace ropewalk;

namespace {

using clock_type = std::chrono::steady_clock;
double since(clock_type::time_point t) {
  return std::chrono::duration<double>(clock_type::now() - t).count();
}

struct setting {
  pool& threads;
  isa set;
  int rounds;
};

double peak_now(const setting& s) {
  constexpr long rounds = 50000;  // 6 to 10 ms
  std::vector<double> done(static_cast<std::size_t>(s.threads.threads()));
  const auto start = clock_type::now();
  s.threads.run(s.threads.threads(), [&](long i, int) {
    done[static_cast<std::size_t>(i)] = bench::multiply_adds(s.set, rounds);
  });
  const double time = since(start);
  double all = 0;
  for (const double d : done) all += d;
  return all / time / 1e9;
}

// Measures f, of `operations` floating-point operations a call.
template <class F>
void measure(const setting& s, const std::string& name, double operations, F f) {
  f();
  auto start = clock_type::now();
  f();
  const int repeat = std::max(1, static_cast<int>(0.01 / (since(start) + 1e-9)));
  std::vector<double> speed, peak, time;
  for (int r = 0; r < s.rounds; ++r) {
    peak.push_back(peak_now(s));
    start = clock_type::now();
    for (int i = 0; i < repeat; ++i) f();
    time.push_back(since(start) / repeat);
    speed.push_back(operations / time.back() / 1e9);
  }
  for (auto* v : {&speed, &peak, &time}) std::sort(v->begin(), v->end());
  const auto middle = speed.size() / 2;
  std::printf("%-52s %9.3f ms  best %6.1f  median %6.1f  peak %6.1f GFLOP/s", name.c_str(),
              1e3 * time.front(), speed.back(), speed[middle], peak.back());
  if (peak.back() > 0)
    std::printf("  share %5.1f %%  median %5.1f %%", 100 * speed.back() / peak.back(),
                100 * speed[middle] / peak[middle]);
  std::printf("\n");
  std::fflush(stdout);
}

std::vector<float> filled(long n) {
  std::vector<float> x(static_cast<std::size_t>(n));
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::sin(0.37f * static_cast<float>(i % 9973));
  return x;
}

// forward  y [m, n] = x [m, k] · w [n, k]ᵀ    input  dx = dy · w, both as they lie in memory
// weight   dw = dyᵀ · x, the first operand transposed
enum class form { forward, input, weight };

void gemm_bench(const setting& s, long m, long n, long k, form f) {
  const auto a = filled(m * k), b = filled(k * n);
  std::vector<float> c(static_cast<std::size_t>(m * n));
  gemm_args g;
  g.m = m, g.n = n, g.k = k;
  g.a = a.data(), g.b = b.data(), g.c = c.data(), g.c_row = n;
  g.a_row = f == form::weight ? 1 : k, g.a_col = f == form::weight ? m : 1;
  g.b_row = f == form::forward ? 1 : n, g.b_col = f == form::forward ? k : 1;
  std::vector<std::byte> room(gemm_workspace(s.threads.threads(), s.set, f32, g));
  const char* names[] = {"x wT", "dy w", "dyT x"};
  char name[80];
  std::snprintf(name, sizeof name, "gemm %-5s %5ld x %5ld, k %5ld", names[static_cast<int>(f)], m,
                n, k);
  measure(s, name, 2.0 * double(m) * double(n) * double(k),
          [&] { gemm(s.threads, s.set, f32, g, room); });
}

enum class option { none, window, mask, soft_cap, dropout, f16_cache };
const char* const option_names[] = {"", " window 256", " mask", " soft cap", " dropout", " f16"};

// The window's operations are counted as what it sees; the others as without the option.
void attention_bench(const setting& s, long batch, long heads, long kv_heads, long tq, long tk,
                     long d, bool causal, option with = option::none) {
  attention_args a;
  a.batch = batch, a.heads = heads, a.kv_heads = kv_heads;
  a.tq = tq, a.tk = tk, a.dk = a.dv = d;
  a.scale = 1 / std::sqrt(double(d));
  a.causal = causal;
  const long wide = batch * heads * tq * d, narrow = batch * kv_heads * tk * d;
  const auto q = filled(wide), k = filled(narrow), v = filled(narrow), d_out = filled(wide);
  std::vector<float> out(q), lse(static_cast<std::size_t>(batch * heads * tq)), d_q(q), d_k(k),
      d_v(v);
  const auto bind = [&](auto& to, auto* data, long h, long t, long dim) {
    to = {data, h * t * dim, t * dim, dim};
  };
  bind(a.q, q.data(), heads, tq, d), bind(a.k, k.data(), kv_heads, tk, d);
  bind(a.v, v.data(), kv_heads, tk, d), bind(a.out, out.data(), heads, tq, d);
  bind(a.lse, lse.data(), heads, tq, 1), bind(a.d_out, d_out.data(), heads, tq, d);
  bind(a.d_q, d_q.data(), heads, tq, d), bind(a.d_k, d_k.data(), kv_heads, tk, d);
  bind(a.d_v, d_v.data(), kv_heads, tk, d);
  std::vector<float> mask;
  if (with == option::window) a.window = 256;
  if (with == option::soft_cap) a.soft_cap = 30;
  if (with == option::dropout) a.dropout = 0.1;
  if (with == option::f16_cache) a.kv_type = f16;  // of half the bytes: what they hold is no matter
  if (with == option::mask) {
    mask = filled(tq * tk);
    a.mask = {mask.data(), f32, 0, 0, tk, 1};
  }
  std::vector<std::byte> room(
      std::max(attention_forward_workspace(s.threads.threads(), s.set, f32, a),
               attention_backward_workspace(s.threads.threads(), s.set, f32, a)));
  // Useful operations: two products forward, five backward; causal: half of them.
  const double seen = with == option::window ? 256 : causal ? 0.5 * double(tk) : double(tk);
  const double one = 2.0 * double(batch * heads) * double(tq) * seen * double(d);
  char name[80];
  std::snprintf(name, sizeof name, "%ld x %ld/%ld heads T %ld/%ld D %ld%s%s", batch, heads,
                kv_heads, tq, tk, d, causal ? " causal" : "", option_names[static_cast<int>(with)]);
  measure(s, std::string("attention ") + name, 2 * one,
          [&] { attention_forward(s.threads, s.set, f32, a, room); });
  if (tq == tk)
    measure(s, std::string(" backward ") + name, 5 * one,
            [&] { attention_backward(s.threads, s.set, f32, a, room); });
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 0;
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 20;
  const std::string only = argc > 3 ? argv[3] : "";
  if (threads < 0 || rounds < 1 || (only != "" && only != "gemm" && only != "attention")) {
    std::fprintf(stderr, "usage: kernels [threads] [rounds] [gemm|attention]\n");
    return 2;
  }
  try {
    pool p(threads);
    const setting s{p, best_isa(), rounds};
    std::printf("%s, %d threads\n", isa_name(s.set), p.threads());
    if (only != "attention") {
      const long shapes[][3] = {
          {1024, 1152, 384}, {1024, 384, 384}, {1024, 1536, 384}, {1024, 384, 1536}};
      for (const auto& [m, n, k] : shapes) {
        gemm_bench(s, m, n, k, form::forward);
        gemm_bench(s, m, k, n, form::input);
        gemm_bench(s, n, k, m, form::weight);
      }
      gemm_bench(s, 2048, 3072, 768, form::forward);
      gemm_bench(s, 1024, 65, 384, form::forward);
      for (const long m : {1, 4, 16, 32}) gemm_bench(s, m, 3072, 768, form::forward);
      for (const long m : {1, 4, 16, 32}) gemm_bench(s, m, 768, 3072, form::input);
    }
    if (only != "gemm") {
      attention_bench(s, 4, 6, 6, 256, 256, 64, true);
      attention_bench(s, 1, 8, 2, 2048, 2048, 64, true);
      attention_bench(s, 1, 8, 8, 2048, 2048, 64, false);
      attention_bench(s, 1, 8, 8, 1024, 1024, 128, true);
      attention_bench(s, 1, 8, 2, 1, 2048, 64, false);
      attention_bench(s, 1, 9, 3, 1, 512, 64, false);
      attention_bench(s, 1, 8, 2, 1, 32768, 64, false);
      attention_bench(s, 1, 8, 2, 1, 32768, 64, false, option::f16_cache);
      for (const option o : {option::window, option::soft_cap, option::dropout})
        attention_bench(s, 1, 8, 2, 2048, 2048, 64, true, o);
      attention_bench(s, 1, 8, 8, 1024, 1024, 64, false, option::mask);
    }
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 2;
  }
}
