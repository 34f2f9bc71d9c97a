// Attention of few query rows against many keys (decoding): the keys are split, nothing is packed.
//
// A task takes part_keys keys of one key head and all query rows of its group, so that k and v are
// read once, in whatever type they are stored; it leaves (maximum, Σ exp, Σ p v) of its part. A
// second run combines the parts of each row by their log-sum-exp. The parts depend on the shape
// alone.
#pragma once
#include "attention_block.hpp"
#include "dot.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

constexpr long part_keys = 256;  // at most k_block: a row of scores is a left operand
constexpr long most_rows = 16;   // of the whole group
constexpr long key_rows = 32;    // keys that are converted or rotated at a time: they stay in cache

ROPEWALK_INLINE bool few_rows(const attention_args& a) {
  return a.heads / a.kv_heads * a.tq <= most_rows;
}

template <class T>
struct few_plan {
  const attention_args& a;
  stored_types types;
  bool plain, copy_k, copy_v;
  long rows, parts, dk, dv;    // rows of a group; parts of the keys; padded depths
  long sums, tops, totals;     // offsets  [batch, kv_heads, parts, rows (, dv)]
  long seen_first, seen_last;  // [batch, tq]  32-bit integers
  long workers, worker_room;
  layout shared;

  few_plan(int threads, dtype type, const attention_args& args)
      : a(args), types(type, args), plain(plain_scores(args)) {
    rows = a.heads / a.kv_heads * a.tq;
    parts = ceil_div(a.tk, part_keys);
    dk = padded<T>(a.dk);
    dv = padded<T>(a.dv);
    copy_k = types.kv != dtype_of<T> || a.rope.width > 0;
    copy_v = types.kv != dtype_of<T> || dv != a.dv;
    const long all = a.batch * a.kv_heads * parts * rows;
    sums = shared.take(all * dv);
    tops = shared.take(all);
    totals = shared.take(all);
    seen_first = shared.take(a.batch * a.tq);
    seen_last = shared.take(a.batch * a.tq);
    layout one;
    one.take(2 * most_rows * a_stride);
    one.take(2 * (part_keys + 64));
    one.take(copy_k ? key_rows * dk : 0);
    one.take(copy_v ? part_keys * dv : 0);
    worker_room = one.used + 4 * 64;
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
  T* const option_room = mine + at.take(2 * (part_keys + 64));
  T* const copy_k = mine + at.take(p.copy_k ? key_rows * p.dk : 0);
  T* const copy_v = mine + at.take(0);
  const long key0 = part * part_keys, keys = least(part_keys, a.tk - key0);
  const long group = a.heads / a.kv_heads;
  const long index = ((b * a.kv_heads + kv_head) * p.parts + part) * p.rows;

  // What the rows see of this part: row i of the group is row i % tq of its head.
  const long rows_at = same_for_batch(a) ? 0 : b * a.tq;
  const auto* from = reinterpret_cast<const std::int32_t*>(room + p.seen_first) + rows_at;
  const auto* to = reinterpret_cast<const std::int32_t*>(room + p.seen_last) + rows_at;
  long first[most_rows], last[most_rows], least_first = keys, most_last = 0;
  bool alike = p.plain;  // whether all rows see the same
  for (long i = 0; i < p.rows; ++i) {
    first[i] = greatest(long(from[i % a.tq]) - key0, 0l);
    last[i] = least(long(to[i % a.tq]) - key0, keys);
    if (last[i] <= first[i]) first[i] = last[i] = 0;
    alike = alike && first[i] == first[0] && last[i] == last[0];
    if (first[i] < last[i]) least_first = least(least_first, first[i]);
    most_last = greatest(most_last, last[i]);
  }
  if (most_last <= least_first) {
    for (long i = 0; i < p.rows; ++i) {
      room[p.tops + index + i] = T(minus_infinity);
      room[p.totals + index + i] = 0;
    }
    return;
  }
  for (long h = 0; h < group; ++h)
    pack_queries(a, p.types.io, b, kv_head * group + h, 0, a.tq, q + h * a.tq * a_stride);
  if (!p.copy_k) {
    const T* k =
        reinterpret_cast<const T*>(row_at(a.k, dtype_of<T>, b, kv_head, key0 + least_first));
    dot_rows(p.rows, most_last - least_first, a.dk, q, a_stride, k, a.k.row, s + least_first,
             a_stride, false);
  } else {
    for (long n = least_first; n < most_last; n += key_rows) {
      const long count = least(key_rows, most_last - n);
      copy_rows(a, a.k, p.types.kv, b, kv_head, key0 + n, count, a.dk,
                a.rope.width > 0 ? key0 + n : -1, copy_k, p.dk);
      dot_rows(p.rows, count, a.dk, q, a_stride, copy_k, p.dk, s + n, a_stride, false);
    }
  }
  for (long i = 0; i < p.rows; ++i) {
    T* const row = s + i * a_stride;
    const T* keep = nullptr;
    if (!p.plain && first[i] < last[i]) {
      const head_options<T> options(a, b, kv_head * group + i / a.tq, option_room, part_keys);
      const row_options<T> o = options.row(i % a.tq, key0, first[i], last[i]);
      final_scores(o, row, first[i], last[i]);
      keep = o.keep;
    }
    const T top = row_maximum<T, false>(row, first[i], last[i], T(minus_infinity));
    room[p.tops + index + i] = top;
    room[p.totals + index + i] = probabilities(row, first[i], last[i], least_first, most_last,
                                               top == T(minus_infinity) ? T(0) : top, keep);
  }

  const long count = most_last - least_first;
  rows_view<T> values{nullptr, p.dv};
  if (p.copy_v) {
    copy_rows(a, a.v, p.types.kv, b, kv_head, key0 + least_first, count, a.dv, -1, copy_v, p.dv);
    values.data = copy_v;
  } else {
    values.data =
        reinterpret_cast<const T*>(row_at(a.v, dtype_of<T>, b, kv_head, key0 + least_first));
    values.row = a.v.row;
  }
  // Rows that see different keys must not read what they do not see where it is not finite.
  const bool exact = !alike && not_finite(values.data, values.row, count, a.dv) != T(0);
  const long height = exact ? 1 : least(p.rows, static_cast<long>(tile_rows));
  for (long j = 0; j < p.dv; j += tile_columns<T>) {
    const long vectors = p.dv - j <= lanes<T> ? 1 : tile_vectors;
    for (long i = 0; i < p.rows; i += height) {
      T* const sum = room + p.sums + (index + i) * p.dv + j;
      const T* const left = s + i * a_stride + least_first;
      if (exact)
        for (long d = 0; d < vectors * lanes<T>; ++d) sum[d] = 0;
      // By pieces that end at whole key blocks, as the sums of many rows: a long sum loses more.
      for (long n = 0, end; n < count; n = end) {
        end = least(count, (least_first + n) / key_block * key_block + key_block - least_first);
        const T* const right = values.at(n) + j;
        if (exact)
          exact_row(vectors, end - n, left + n, 1, right, values.row, sum);
        else
          tile_for<T>(least(height, p.rows - i), vectors, false)(end - n, left + n, 0, right,
                                                                 values.row, sum, p.dv, n > 0);
      }
    }
  }
}

// One row: its parts, weighted by exp(their maximum − the maximum of all).
template <class T>
static void few_combine(const few_plan<T>& p, T* room, long b, long kv_head, long row) {
  const attention_args& a = p.a;
  const long start = (b * a.kv_heads + kv_head) * p.parts * p.rows + row;
  T top = T(minus_infinity), total = 0;
  for (long c = 0; c < p.parts; ++c) top = greatest(top, room[p.tops + start + c * p.rows]);
  T* sum = nullptr;  // the first part that saw something takes the others up
  for (long c = 0; c < p.parts; ++c) {
    const long at = start + c * p.rows;
    const T t = room[p.tops + at];
    if (room[p.totals + at] == T(0)) continue;  // saw nothing, and may have left no sum
    const T weight = t == T(minus_infinity) ? T(0) : exp<T>(splat(t - top))[0];
    total += weight * room[p.totals + at];
    T* const part = room + p.sums + at * p.dv;
    if (sum == nullptr) sum = part;
    for (long d = 0; d < p.dv; d += lanes<T>) {
      const vec<T> x = load(part + d) * weight;
      store(sum + d, sum == part ? x : load(sum + d) + x);
    }
  }
  const long h = kv_head * (a.heads / a.kv_heads) + row / a.tq, j = row % a.tq;
  const row_end<T> end = finish_row(a, h, top, total);
  char* const out = row_at(a.out, p.types.io, b, h, j);
  *reinterpret_cast<T*>(row_at(a.lse, dtype_of<T>, b, h, j)) = end.lse;
  if (sum != nullptr) return put_row(sum, a.dv, end.by, out, p.types.io);
  __builtin_memset(out, 0, static_cast<std::size_t>(a.dv * element_size(p.types.io)));
}

template <class T>
static void forward_few(pool& threads, dtype type, const attention_args& a, std::byte* workspace) {
  const few_plan<T> p(threads.threads(), type, a);
  T* room = reinterpret_cast<T*>(workspace);
  auto* const first = reinterpret_cast<std::int32_t*>(room + p.seen_first);
  auto* const last = reinterpret_cast<std::int32_t*>(room + p.seen_last);
  for (long b = 0; b < (same_for_batch(a) ? 1 : a.batch); ++b)
    find_seen(a, b, first + b * a.tq, last + b * a.tq);
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
