// Attention of few query rows against many keys (decoding): the keys are split, nothing is packed.
//
// A task takes part_keys keys of one key head and all query rows of its group, so that k and v are
// read once; it leaves (maximum, Σ exp, Σ p v) of its part. A second run combines the parts of each
// row by their log-sum-exp. The parts depend on the shape alone.
#pragma once
#include "attention_block.hpp"
#include "dot.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

constexpr long part_keys = 256;  // at most k_block: a row of scores is a left operand
constexpr long most_rows = 16;   // of the whole group

ROPEWALK_INLINE bool few_rows(const attention_args& a) {
  return a.heads / a.kv_heads * a.tq <= most_rows;
}

template <class T>
struct few_plan {
  const attention_args& a;
  long rows, parts, dv;     // rows of a group; parts of the keys; padded depth
  long sums, tops, totals;  // offsets  [batch, kv_heads, parts, rows (, dv)]
  long workers, worker_room;
  layout shared;

  few_plan(int threads, const attention_args& args) : a(args) {
    rows = a.heads / a.kv_heads * a.tq;
    parts = ceil_div(a.tk, part_keys);
    dv = padded<T>(a.dv);
    const long all = a.batch * a.kv_heads * parts * rows;
    sums = shared.take(all * dv);
    tops = shared.take(all);
    totals = shared.take(all);
    layout one;
    one.take(2 * most_rows * a_stride);
    one.take(dv == a.dv ? 0 : part_keys * dv);
    worker_room = one.used + 64;
    workers = shared.take(threads * worker_room);
  }
  std::size_t bytes() const { return sizeof(T) * static_cast<std::size_t>(shared.used); }
};

template <class T>
static void few_part(const few_plan<T>& p, T* room, long b, long kv_head, long part, int worker) {
  const attention_args& a = p.a;
  layout at;
  T* const mine = room + p.workers + worker * p.worker_room;
  T* const q = mine + at.take(most_rows * a_stride);
  T* const s = mine + at.take(most_rows * a_stride);
  T* const copy = mine + at.take(0);
  const long key0 = part * part_keys, keys = least(part_keys, a.tk - key0);
  const long group = a.heads / a.kv_heads;
  const long index = ((b * a.kv_heads + kv_head) * p.parts + part) * p.rows;
  for (long h = 0; h < group; ++h)
    pack_left(head_at<T>(a.q, b, kv_head * group + h), a.q.row, a.tq, a.dk, T(a.scale),
              q + h * a.tq * a_stride);
  const T* k = head_at<T>(a.k, b, kv_head) + key0 * a.k.row;
  const T* v = head_at<T>(a.v, b, kv_head) + key0 * a.v.row;
  const auto seen = [&](long row) {
    if (!a.causal) return keys;
    return greatest(0l, least(a.tk - a.tq + row % a.tq + 1 - key0, keys));
  };
  const long most = seen(a.tq - 1), fewest = seen(0);
  if (most > 0) dot_rows(p.rows, most, a.dk, q, a_stride, k, a.k.row, s, a_stride, false);
  for (long i = 0; i < p.rows; ++i) {
    const T top = row_maximum(s + i * a_stride, seen(i), T(minus_infinity));
    room[p.tops + index + i] = top;
    room[p.totals + index + i] =
        probabilities(s + i * a_stride, seen(i), most, top == T(minus_infinity) ? T(0) : top);
  }
  rows_view<T> values{v, a.v.row};
  if (p.dv != a.dv) {
    copy_padded(v, a.v.row, most, a.dv, copy);
    values = {copy, p.dv};
  }
  // Rows that see different keys stop at their own last one.
  const long height = fewest == most ? least(p.rows, static_cast<long>(tile_rows)) : 1;
  for (long j = 0; j < p.dv; j += tile_columns<T>) {
    const long vectors = p.dv - j <= lanes<T> ? 1 : tile_vectors;
    for (long i = 0; i < p.rows; i += height) {
      const long count = least(height, p.rows - i);
      tile_for<T>(count, vectors, false)(count == 1 ? seen(i) : most, s + i * a_stride, 0,
                                         values.data + j, values.row,
                                         room + p.sums + (index + i) * p.dv + j, p.dv, false);
    }
  }
}

// One row: its parts, weighted by exp(their maximum − the maximum of all).
template <class T>
static void few_combine(const few_plan<T>& p, T* room, long b, long kv_head, long row) {
  const attention_args& a = p.a;
  const long first = (b * a.kv_heads + kv_head) * p.parts * p.rows + row;
  T top = T(minus_infinity), total = 0;
  for (long c = 0; c < p.parts; ++c) top = greatest(top, room[p.tops + first + c * p.rows]);
  T* const sum = room + p.sums + first * p.dv;  // part 0 takes the others up
  for (long c = 0; c < p.parts; ++c) {
    const long at = first + c * p.rows;
    const T t = room[p.tops + at];
    const T weight = t == T(minus_infinity) ? T(0) : exp<T>(splat(t - top))[0];
    // A part of which nothing is seen has Σ exp = 0 and Σ p v = 0.
    total += weight * room[p.totals + at];
    for (long d = 0; d < p.dv; d += lanes<T>) {
      const vec<T> part = load(room + p.sums + at * p.dv + d) * weight;
      store(sum + d, c == 0 ? part : load(sum + d) + part);
    }
  }
  const long h = kv_head * (a.heads / a.kv_heads) + row / a.tq, j = row % a.tq;
  const bool none = p.parts == 0 || total == T(0);
  T* out = head_at<T>(a.out, b, h) + j * a.out.row;
  if (none)
    for (long d = 0; d < a.dv; ++d) out[d] = 0;
  else
    scale_row(sum, a.dv, T(1) / total, out);
  head_at<T>(a.lse, b, h)[j * a.lse.row] = none ? T(minus_infinity) : top + log_of(total);
}

template <class T>
static void forward_few(pool& threads, const attention_args& a, std::byte* workspace) {
  const few_plan<T> p(threads.threads(), a);
  T* room = reinterpret_cast<T*>(workspace);
  threads.run(a.batch * a.kv_heads * p.parts, [&](long i, int worker) {
    const long head = i / p.parts;
    few_part(p, room, head / a.kv_heads, head % a.kv_heads, i % p.parts, worker);
  });
  threads.run(a.batch * a.kv_heads * p.rows, [&](long i, int) {
    const long head = i / p.rows;
    few_combine(p, room, head / a.kv_heads, head % a.kv_heads, i % p.rows);
  });
}

}  // namespace ropewalk::ROPEWALK_KERNELS
