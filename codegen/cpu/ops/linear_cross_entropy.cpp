// Head and cross entropy together, the vocabulary in chunks; forward, backward and the reference.
#include "ropewalk/ops/linear_cross_entropy.hpp"

#include <algorithm>
#include <cmath>

#include "ropewalk/runtime/cpu_kernels.hpp"

namespace ropewalk::op {
namespace {

constexpr long chunk = 2048;  // classes at a time: 8 MB of logits for 1024 tokens, in the last cache
constexpr long piece = 16;    // rows of a task

struct sizes {
  long n, c, v;
  explicit sizes(const kernel_call& k)
      : n(static_cast<long>(k.in[0].extent[0])), c(static_cast<long>(k.in[0].extent[1])),
        v(static_cast<long>(k.in[1].extent[0])) {}
  long width(long first) const { return std::min(chunk, v - first); }
  bool known(std::int32_t label) const { return label >= 0 && label < v; }
  // Operations of x w^T.
  double product() const {
    return 2 * static_cast<double>(n) * static_cast<double>(c) * static_cast<double>(v);
  }
};

// logits [n, width] = x w[first ...]^T
template <class T>
gemm_args logits_of(const kernel_call& k, const sizes& s, long first, T* out) {
  gemm_args g;
  g.m = s.n, g.n = s.width(first), g.k = s.c;
  g.a = k.in[0].data, g.a_row = s.c;
  g.b = static_cast<const T*>(k.in[1].data) + first * s.c, g.b_row = 1, g.b_col = s.c;
  g.c = out, g.c_row = s.width(first);
  return g;
}
// d_x (+)= d_logits w, d_w = d_logits^T x
template <class T>
gemm_args d_x_of(const kernel_call& k, const sizes& s, long first, const T* d) {
  gemm_args g;
  g.m = s.n, g.n = s.c, g.k = s.width(first);
  g.a = d, g.a_row = s.width(first);
  g.b = static_cast<const T*>(k.in[1].data) + first * s.c, g.b_row = s.c;
  g.c = k.out[0].data, g.c_row = s.c, g.accumulate = first > 0;
  return g;
}
template <class T>
gemm_args d_w_of(const kernel_call& k, const sizes& s, long first, const T* d) {
  gemm_args g;
  g.m = s.width(first), g.n = s.c, g.k = s.n;
  g.a = d, g.a_row = 1, g.a_col = s.width(first);
  g.b = k.in[0].data, g.b_row = s.c;
  g.c = static_cast<T*>(k.out[1].data) + first * s.c, g.c_row = s.c;
  return g;
}

// Scratch: the chunk's logits, four numbers per row, then the products' own.
template <class T>
struct room {
  T *logits, *a, *b, *chosen, *mean;
  std::span<std::byte> product;
  room(const kernel_call& k, const sizes& s) {
    T* p = reinterpret_cast<T*>(k.workspace.data());
    const long widest = std::min(chunk, s.v);
    logits = p, a = p + s.n * widest, b = a + s.n, chosen = b + s.n, mean = chosen + s.n;
    product = k.workspace.subspan(bytes(s));
  }
  static std::size_t bytes(const sizes& s) {
    const auto n = static_cast<std::size_t>(s.n * (std::min(chunk, s.v) + 4));
    return (n * sizeof(T) + 63) / 64 * 64;
  }
};

template <class F>
void for_rows(const kernel_call& k, long n, F f) {  // f(first row, rows)
  k.threads->run((n + piece - 1) / piece, [&](long task, int) {
    f(task * piece, std::min(piece, n - task * piece));
  });
}

template <class T>
void forward(const kernel_call& k) {
  const sizes s(k);
  const room<T> w(k, s);
  const dtype type = k.in[0].type;
  const auto* label = static_cast<const std::int32_t*>(k.in[2].data);
  const double smoothing = k.a.f[0];
  std::fill_n(w.a, s.n, T(-INFINITY));
  std::fill_n(w.b, s.n, T(0));
  std::fill_n(w.chosen, s.n, T(0));
  std::fill_n(w.mean, s.n, T(0));
  for (long first = 0; first < s.v; first += chunk) {
    gemm(*k.threads, k.level, type, logits_of(k, s, first, w.logits), w.product);
    const long width = s.width(first);
    for_rows(k, s.n, [&](long r0, long rows) {
      softmax_accumulate(k.level, type, {rows, width, w.logits + r0 * width, width}, w.a + r0,
                         w.b + r0);
      for (long r = r0; r < r0 + rows; ++r) {
        const T* x = w.logits + r * width;
        if (label[r] >= first && label[r] < first + width) w.chosen[r] = x[label[r] - first];
        if (smoothing == 0) continue;
        double total = 0;
        for (long j = 0; j < width; ++j) total += static_cast<double>(x[j]);
        w.mean[r] += static_cast<T>(total / static_cast<double>(s.v));
      }
    });
  }
  auto* loss = static_cast<T*>(k.out[0].data);
  auto* lse = static_cast<T*>(k.out[1].data);
  for (long r = 0; r < s.n; ++r) {
    lse[r] = w.a[r] + std::log(w.b[r]);
    const T nll = lse[r] - static_cast<T>(1 - smoothing) * w.chosen[r] -
                  static_cast<T>(smoothing) * w.mean[r];
    loss[r] = label[r] == k.a.i[0] ? T(0) : s.known(label[r]) ? nll : T(INFINITY);
  }
}

template <class T>
void backward(const kernel_call& k) {
  const sizes s(k);
  const room<T> w(k, s);
  const dtype type = k.in[0].type;
  const auto* label = static_cast<const std::int32_t*>(k.in[2].data);
  const auto* lse = static_cast<const T*>(k.in[3].data);
  const auto* g = static_cast<const T*>(k.in[4].data);
  const T smoothing = static_cast<T>(k.a.f[0]), even = smoothing / static_cast<T>(s.v);
  for (long r = 0; r < s.n; ++r)
    w.a[r] = label[r] == k.a.i[0] || !s.known(label[r]) ? T(0) : g[r];
  for (long first = 0; first < s.v; first += chunk) {
    gemm(*k.threads, k.level, type, logits_of(k, s, first, w.logits), w.product);
    const long width = s.width(first);
    for_rows(k, s.n, [&](long r0, long rows) {
      softmax_gradient(k.level, type, {rows, width, w.logits + r0 * width, width}, lse + r0,
                       w.a + r0);
      for (long r = r0; r < r0 + rows; ++r) {
        T* d = w.logits + r * width;
        if (label[r] >= first && label[r] < first + width)
          d[label[r] - first] -= (1 - smoothing) * w.a[r];
        if (smoothing != 0)
          for (long j = 0; j < width; ++j) d[j] -= even * w.a[r];
      }
    });
    gemm(*k.threads, k.level, type, d_x_of<T>(k, s, first, w.logits), w.product);
    gemm(*k.threads, k.level, type, d_w_of<T>(k, s, first, w.logits), w.product);
  }
}

// The largest need of the products of a full chunk and of the last one.
template <class T>
std::size_t scratch(const kernel_call& k, bool with_gradients) {
  const sizes s(k);
  std::size_t most = 0;
  auto need = [&](const gemm_args& g) {
    most = std::max(most, gemm_workspace(k.threads->threads(), k.level, k.in[0].type, g));
  };
  for (const long first : {0L, (s.v - 1) / chunk * chunk}) {
    T* none = nullptr;
    need(logits_of(k, s, first, none));
    if (!with_gradients) continue;
    gemm_args dx = d_x_of<T>(k, s, first, none), dw = d_w_of<T>(k, s, first, none);
    need(dx);
    need(dw);
  }
  return room<T>::bytes(s) + most;
}

void check(const kernel_call& k) {
  if (k.in[0].type != dtype::f32 && k.in[0].type != dtype::f64)
    throw error("linear_cross_entropy", "dtype", dtype_name(k.in[0].type), "must be f32 or f64");
}

// Softmax target of class j for a row with this label.
double target(const attrs& a, double label, std::size_t j, std::size_t v) {
  return (static_cast<double>(j) == label ? 1 - a.f[0] : 0) + a.f[0] / static_cast<double>(v);
}
struct dense_rows {
  const reference_call& c;
  std::size_t n, width, v;
  explicit dense_rows(const reference_call& call)
      : c(call), n(static_cast<std::size_t>(call.in[0]->extent[0])),
        width(static_cast<std::size_t>(call.in[0]->extent[1])),
        v(static_cast<std::size_t>(call.in[1]->extent[0])) {}
  double logit(std::size_t r, std::size_t j) const {
    double s = 0;
    for (std::size_t k = 0; k < width; ++k)
      s += c.in[0]->v[r * width + k] * c.in[1]->v[j * width + k];
    return s;
  }
  bool ignored(std::size_t r) const {
    return c.in[2]->v[r] == static_cast<double>(c.a.i[0]);
  }
  bool known(std::size_t r) const {
    return c.in[2]->v[r] >= 0 && c.in[2]->v[r] < static_cast<double>(v);
  }
};

}  // namespace

void linear_cross_entropy_family::kernel(const kernel_call& c) {
  check(c);
  c.in[0].type == dtype::f32 ? forward<float>(c) : forward<double>(c);
}
std::size_t linear_cross_entropy_family::workspace(const kernel_call& c) {
  check(c);
  return c.in[0].type == dtype::f32 ? scratch<float>(c, false) : scratch<double>(c, false);
}
void linear_cross_entropy_backward_family::kernel(const kernel_call& c) {
  check(c);
  c.in[0].type == dtype::f32 ? backward<float>(c) : backward<double>(c);
}
std::size_t linear_cross_entropy_backward_family::workspace(const kernel_call& c) {
  check(c);
  return c.in[0].type == dtype::f32 ? scratch<float>(c, true) : scratch<double>(c, true);
}

double linear_cross_entropy_family::flops(const kernel_call& c) { return sizes(c).product(); }
double linear_cross_entropy_backward_family::flops(const kernel_call& c) {
  return 3 * sizes(c).product();  // logits, d_x, d_w
}

void linear_cross_entropy_family::reference(const reference_call& c) {
  const dense_rows d(c);
  for (std::size_t r = 0; r < d.n; ++r) {
    double top = -INFINITY, total = 0, expected = 0;
    for (std::size_t j = 0; j < d.v; ++j) top = std::max(top, d.logit(r, j));
    for (std::size_t j = 0; j < d.v; ++j) {
      total += std::exp(d.logit(r, j) - top);
      expected += target(c.a, c.in[2]->v[r], j, d.v) * d.logit(r, j);
    }
    c.out[1].v[r] = top + std::log(total);
    c.out[0].v[r] = d.ignored(r) ? 0 : d.known(r) ? c.out[1].v[r] - expected : INFINITY;
  }
}

void linear_cross_entropy_backward_family::reference(const reference_call& c) {
  const dense_rows d(c);
  for (std::size_t r = 0; r < d.n; ++r) {
    if (d.ignored(r) || !d.known(r)) continue;
    for (std::size_t j = 0; j < d.v; ++j) {
      const double p = std::exp(d.logit(r, j) - c.in[3]->v[r]);
      const double g = c.in[4]->v[r] * (p - target(c.a, c.in[2]->v[r], j, d.v));
      for (std::size_t k = 0; k < d.width; ++k) {
        c.out[0].v[r * d.width + k] += g * c.in[1]->v[j * d.width + k];
        c.out[1].v[j * d.width + k] += g * c.in[0]->v[r * d.width + k];
      }
    }
  }
}

}  // namespace ropewalk::op
