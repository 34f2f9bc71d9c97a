// From q · k to probabilities and back, row by row of a block of scores: soft cap, mask or distance
// bias, dropout; and the rotation of rows (rope).
//
// A row s holds one score for each key of the block; it sees the keys [first, last). What lies
// outside may be anything, NaN included, and is selected away.
#pragma once
#include "attention_seen.hpp"
#include "convert.hpp"
#include "exp.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

constexpr double minus_infinity = -__builtin_huge_val();

// --- the options of one row -------------------------------------------------------------------

template <class T>
struct row_options {
  T cap, uncap;  // the soft cap and 1 / it, or 0
  T slope;
  const T* bias;  // [keys]  mask, or −distance; or null
  const T* keep;  // [keys]  0 where dropped, else 1 / (1 − dropout); or null
};

// to[i] = 0 or `kept`: Philox 4x32-10 with counter (row, key + i, 0, 0). Written per element: the
// compiler makes 32 × 32 bit products of vectors of it.
template <class T>
static void dropout_row(std::uint64_t seed, std::uint32_t row, std::uint32_t key, long count,
                        std::uint32_t limit, T kept, T* to) {
  for (long i = 0; i < count; ++i) {
    std::uint32_t k0 = static_cast<std::uint32_t>(seed);
    std::uint32_t k1 = static_cast<std::uint32_t>(seed >> 32);
    std::uint32_t c0 = row, c1 = key + static_cast<std::uint32_t>(i), c2 = 0, c3 = 0;
#pragma GCC unroll 10
    for (int round = 0; round < 10; ++round) {
      const std::uint64_t a = 0xD2511F53ull * c0, b = 0xCD9E8D57ull * c2;
      c0 = static_cast<std::uint32_t>(b >> 32) ^ c1 ^ k0;
      c1 = static_cast<std::uint32_t>(b);
      c2 = static_cast<std::uint32_t>(a >> 32) ^ c3 ^ k1;
      c3 = static_cast<std::uint32_t>(a);
      k0 += 0x9E3779B9u;
      k1 += 0xBB67AE85u;
    }
    to[i] = (c0 >> 8) < limit ? T(0) : kept;
  }
}

// The options of the rows of one query head. `room` holds 2 · (keys + 64) elements.
template <class T>
struct head_options {
  const attention_args& a;
  T cap, slope, kept;
  std::uint32_t limit;
  long b, h;
  T *bias, *keep;

  head_options(const attention_args& args, long batch, long head, T* room, long keys)
      : a(args), b(batch), h(head), bias(room), keep(room + keys + 64) {
    cap = T(a.soft_cap);
    slope = a.slopes != nullptr ? static_cast<const T*>(a.slopes)[h] : T(1);
    kept = T(1 / (1 - a.dropout));
    const double exact = a.dropout * 0x1p24;
    limit = static_cast<std::uint32_t>(exact);
    limit += limit < exact;
  }

  // Of query row j against the keys [key0 + first, key0 + last); valid until the next call.
  row_options<T> bias_row(long j, long key0, long first, long last) const {
    row_options<T> r{cap, cap > 0 ? T(1) / cap : T(0), slope, nullptr, nullptr};
    if (a.mask.data != nullptr) {
      r.bias = bias;
      const long at =
          b * a.mask.batch + h * a.mask.head + j * a.mask.row + (key0 + first) * a.mask.column;
      with_type(a.mask.data, a.mask.type, [&](auto* mask) __attribute__((always_inline)) {
        read_mask(mask + at, last - first, bias + first);
      });
    } else if (a.distance_bias) {
      r.bias = bias;
      const long apart = start_of(a, b) + j - key0;
      for (long n = first; n < last; ++n) bias[n] = T(apart < n ? apart - n : n - apart);
    }
    return r;
  }
  const T* keep_row(long j, long key0, long first, long last) const {
    if (!(a.dropout > 0)) return nullptr;
    dropout_row(a.dropout_key, static_cast<std::uint32_t>((b * a.heads + h) * a.tq + j),
                static_cast<std::uint32_t>(key0 + first), last - first, limit, kept, keep + first);
    return keep;
  }
  row_options<T> row(long j, long key0, long first, long last) const {
    row_options<T> r = bias_row(j, key0, first, last);
    r.keep = keep_row(j, key0, first, last);
    return r;
  }

 private:
  template <class S>
  void read_mask(const S* from, long n, T* to) const {
    if (a.mask.column == 1) return read_elements(from, n, to);
    if (a.mask.column == 0) {
      const T x = element_as<T>(from);
      for (long i = 0; i < n; ++i) to[i] = x;
    } else {
      for (long i = 0; i < n; ++i) to[i] = element_as<T>(from + i * a.mask.column);
    }
  }
};

// Whether scores are the products alone.
ROPEWALK_INLINE bool plain_scores(const attention_args& a) {
  return !(a.soft_cap > 0) && a.mask.data == nullptr && !a.distance_bias && !(a.dropout > 0);
}

// --- forward ----------------------------------------------------------------------------------

// scale · q · k → final scores; −infinity where the mask hides the key.
template <class T>
static void final_scores(const row_options<T>& r, T* s, long first, long last) {
  for (long j = vector_down<T>(first); j < last; j += lanes<T>) {
    vec<T> x = load(s + j);
    if (r.cap > 0) x = tanh<T>(x * r.uncap) * r.cap;
    if (r.bias != nullptr) {
      const vec<T> m = load(r.bias + j);
      x = choose<T>(m == T(minus_infinity), splat(T(minus_infinity)), x + m * r.slope);
    }
    store(s + j, x);
  }
}

template <class T, bool Whole>
ROPEWALK_INLINE T row_maximum(const T* s, long first, long last, T before) {
  vec<T> top = splat(before);
  for_vectors<T, Whole>(first, last, [&](long j, auto inside) __attribute__((always_inline)) {
    const vec<T> x = where<T>(inside, load(s + j), top);
    top = choose<T>(x > top, x, top);
  });
  return lane_max<T>(top);
}

// Scores → probabilities relative to the running maximum. Returns their sum.
template <class T>
ROPEWALK_INLINE T whole_probabilities(T* s, long last, T maximum) {
  vec<T> sum = {};
  for (long j = 0; j < last; j += lanes<T>) {
    const vec<T> p = exp<T>(load(s + j) - maximum);
    sum += p;
    store(s + j, p);
  }
  return lane_sum<T>(sum);
}
// The same in [first, last); 0 in [from, to) around it, at most a tile's height longer. Dropout
// acts after the sum.
template <class T>
ROPEWALK_INLINE T probabilities(T* s, long first, long last, long from, long to, T maximum,
                                const T* keep) {
  vec<T> sum = {};
  for_lanes<T>(from, to, first, last, [&](long j, auto inside) __attribute__((always_inline)) {
    const vec<T> p = where<T>(inside, exp<T>(load(s + j) - maximum), vec<T>{});
    sum += p;
    store(s + j, p);
  });
  if (keep != nullptr)
    for (long j = vector_down<T>(first); j < last; j += lanes<T>) {
      const vec<T> p = load(s + j);
      store(s + j, choose<T>(p == T(0), vec<T>{}, p * load(keep + j)));
    }
  return lane_sum<T>(sum);
}

// --- backward ---------------------------------------------------------------------------------

// Rows of scores and of d_out · vᵀ → P and dS = P ∘ (dP − D); 0 for keys not seen, to `end`.
template <class T, bool Whole>
ROPEWALK_INLINE void score_gradients(T* s, T* d_s, long first, long last, long end, T lse,
                                     T delta) {
  if constexpr (!Whole) {
    clear_around(s, 0, first, last, end);
    clear_around(d_s, 0, first, last, end);
  }
  for_vectors<T, Whole>(first, last, [&](long j, auto inside) __attribute__((always_inline)) {
    const vec<T> p = exp<T>(load(s + j) - lse);
    store(s + j, where<T>(inside, p, vec<T>{}));
    store(d_s + j, where<T>(inside, p * (load(d_s + j) - delta), vec<T>{}));
  });
}

// The same with options: s becomes P ∘ keep, d_s the gradient of the scores before the soft cap, or
// slope · dS, the gradient of the mask, if `of_mask`. Returns Σ dS · mask.
template <class T>
static T option_gradients(const row_options<T>& r, T* s, T* d_s, long first, long last, long end,
                          T lse, T delta, bool of_mask) {
  vec<T> sum = {};
  clear_around(s, 0, first, last, end);
  clear_around(d_s, 0, first, last, end);
  for_vectors<T, false>(first, last, [&](long j, auto inside) __attribute__((always_inline)) {
    ivec<T> seen = ~ivec<T>{};
    if constexpr (!std::is_same_v<decltype(inside), all_lanes>) seen = inside;
    vec<T> x = load(s + j), factor = splat(T(1)), m = {};
    if (r.cap > 0) {
      const vec<T> t = tanh<T>(x * r.uncap);
      x = t * r.cap;
      factor = (T(1) - t) * (T(1) + t);
    }
    if (r.bias != nullptr) {
      m = load(r.bias + j);
      seen &= m != T(minus_infinity);
      m = choose<T>(seen, m, vec<T>{});
      x += m * r.slope;
    }
    const vec<T> p = exp<T>(x - lse);
    vec<T> g = load(d_s + j), kept = p;
    if (r.keep != nullptr) {
      const vec<T> k = load(r.keep + j);
      g = choose<T>(k == T(0), vec<T>{}, g * k);
      kept = p * k;
    }
    const vec<T> d = choose<T>(seen, p * (g - delta), vec<T>{});
    sum += d * m;
    store(s + j, choose<T>(seen, kept, vec<T>{}));
    store(d_s + j, choose<T>(seen, d * (of_mask ? splat(r.slope) : factor), vec<T>{}));
  });
  return lane_sum<T>(sum);
}

// --- rope -------------------------------------------------------------------------------------

// x [dim] ← rotated by the angles of `position`; backwards by their opposites (the adjoint).
template <class T>
static void rotate(const attention_rope& r, long position, bool backwards, T* __restrict x) {
  const T* __restrict cosine = static_cast<const T*>(r.cosine) + position * r.row;
  const T* __restrict sine = static_cast<const T*>(r.sine) + position * r.row;
  const long half = r.width / 2;
  const T sign = backwards ? T(-1) : T(1);
  x += r.offset;
  const long step = r.interleaved ? 2 : 1, apart = r.interleaved ? 1 : half;
  for (long i = 0; i < half; ++i) {
    T &u = x[i * step], &v = x[i * step + apart];
    const T c = cosine[i], s = sine[i] * sign, turned = u * c - v * s;
    v = v * c + u * s;
    u = turned;
  }
}

}  // namespace ropewalk::ROPEWALK_KERNELS
