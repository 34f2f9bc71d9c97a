// The gradient of attention: two passes, one per key block (d_k, d_v) and one per query block (d_q
// and what is summed over rows), or, where there are key heads enough to keep the threads busy, one
// for both; and one more for the gradient of the mask where that is asked for.
#pragma once
#include "attention_block.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

// What one task of a backward pass works in.
template <class T>
struct backward_room {
  T *q, *d_out, *s, *d_s, *sums_k, *sums_v, *options, *sums_mask;
  double* long_sums;
  backward_room(const attention_plan<T>& p, T* room, int worker) {
    layout at;
    T* const mine = p.worker(room, worker);
    constexpr long rows = query_block > key_block ? query_block : key_block;
    q = mine + at.take(query_block * a_stride);
    d_out = mine + at.take(query_block * a_stride);
    s = mine + at.take(query_block * a_stride);
    d_s = mine + at.take(query_block * a_stride);
    sums_k = mine + at.take(rows * p.dk);
    sums_v = mine + at.take(rows * p.dv);
    options = mine + at.take(2 * (key_block + 64));
    sums_mask = mine + at.take(query_block * key_block);
    long_sums = reinterpret_cast<double*>(mine + at.take(2 * key_block));
  }
};

template <class T>
ROPEWALK_INLINE rows_view<T> view_q(const attention_plan<T>& p, const T* room, long b, long h) {
  return view_of(p.a.q, p.copy_q, b, h, p.a.heads, p.a.tq, p.dk, room + p.q);
}
template <class T>
ROPEWALK_INLINE rows_view<T> view_d_out(const attention_plan<T>& p, const T* room, long b, long h) {
  return view_of(p.a.d_out, p.copy_d_out, b, h, p.a.heads, p.a.tq, p.dv, room + p.d_out);
}

// Loads a query block: q times scale, and d_out.
template <class T>
static void load_queries(const attention_plan<T>& p, const backward_room<T>& r, const T* room,
                         long b, long h, long q_block) {
  const long row0 = q_block * query_block, rows = least(query_block, p.a.tq - row0);
  const rows_view<T> q = view_q(p, room, b, h), d_out = view_d_out(p, room, b, h);
  pack_left(q.at(row0), q.row, rows, p.a.dk, T(p.a.scale), r.q);
  pack_left(d_out.at(row0), d_out.row, rows, p.a.dv, T(1), r.d_out);
}

// P and dS of one block into r.s and r.d_s (of_mask: slope · dS). Returns Σ dS · mask.
template <class T>
static double block_gradients(const attention_plan<T>& p, const block_view& w,
                              const backward_room<T>& r, const T* room, long b, long h,
                              long q_block, long kb, bool of_mask) {
  const attention_args& a = p.a;
  const long index = (b * a.kv_heads + h / p.group) * p.k_blocks + kb;
  visible_product(w, a.dk, r.q, room + p.kt + index * p.k_panels, r.s);
  visible_product(w, a.dv, r.d_out, room + p.vt + index * p.v_panels, r.d_s);
  const long row0 = q_block * query_block;
  const T* lse = reinterpret_cast<const T*>(row_at(a.lse, dtype_of<T>, b, h, row0));
  const T* delta = room + p.delta + (b * a.heads + h) * a.tq + row0;
  if (p.plain) {
    for (long i = 0; i < w.rows; ++i) {
      const T l = lse[i * a.lse.row];
      if (w.whole) {  // constant bounds; lse is finite
        score_gradients<T, true>(r.s + i * a_stride, r.d_s + i * a_stride, 0, key_block, key_block,
                                 l, delta[i]);
        continue;
      }
      const bool none = l == T(minus_infinity);
      score_gradients<T, false>(r.s + i * a_stride, r.d_s + i * a_stride, none ? 0 : w.first[i],
                                none ? 0 : w.last[i], w.keys, l, delta[i]);
    }
    return 0;
  }
  const head_options<T> options(a, b, h, r.options, key_block);
  double sum = 0;
  for (long i = 0; i < w.rows; ++i) {
    const T l = lse[i * a.lse.row];
    const bool none = l == T(minus_infinity) || w.first[i] >= w.last[i];
    const long first = none ? 0 : w.first[i], last = none ? 0 : w.last[i];
    const row_options<T> row =
        none ? row_options<T>{} : options.row(row0 + i, kb * key_block, first, last);
    sum += static_cast<double>(option_gradients(row, r.s + i * a_stride, r.d_s + i * a_stride,
                                                first, last, w.keys, l, delta[i], of_mask));
  }
  return sum;
}

// to [keys, columns] += leftᵀ · right over the rows of a query block. left [rows, a_stride] is 0
// where a row does not see a key; rows at both ends that see nothing of a tile's keys are skipped.
// `exact`: as in product_of_seen.
template <class T>
static void transposed_product(const block_view& w, const T* left, rows_view<T> right, long columns,
                               bool exact, T* to) {
  constexpr long width = tile_columns<T>;
  const row_tiles tiles = tiles_of_rows(w.keys);
  long from = 0;
  for (long t = 0; t < tiles.count; ++t) {
    const long first = tiles.first(t), last = tiles.end(t);
    const auto sees = [&](long i) { return w.first[i] < last && w.last[i] > first; };
    if (!w.ordered) from = 0;  // else the rows that a tile skips are skipped by those after it
    long end = w.rows;
    while (from < end && !(w.ordered ? w.last[from] > first : sees(from))) ++from;
    while (from < end && !sees(end - 1)) --end;
    if (from == end) continue;
    for (long j = 0; j < columns; j += width) {
      const long vectors = columns - j <= lanes<T> ? 1 : tile_vectors;
      if (!exact)
        tile_for<T>(last - first, vectors, true)(end - from, left + from * a_stride + first,
                                                 a_stride, right.at(from) + j, right.row,
                                                 to + first * columns + j, columns, true);
      else
        for (long n = first; n < last; ++n)
          exact_row(vectors, end - from, left + from * a_stride + n, a_stride, right.at(from) + j,
                    right.row, to + n * columns + j);
    }
  }
}

// Rows of a gradient, times `by`, rotated back if `position` (of the first) is not negative.
template <class T>
ROPEWALK_INLINE void put_gradient(const attention_args& a, T* sums, long wide, long rows, long dim,
                                  T by, long position, const head_rows<void*>& to, dtype type,
                                  long b, long h, long row0) {
  if (position >= 0)
    for (long i = 0; i < rows; ++i) rotate(a.rope, position + i, true, sums + i * wide);
  char* const start = row_at(to, type, b, h, row0);
  if (type == dtype_of<T>) {
    T* const rows_to = reinterpret_cast<T*>(start);
    for (long i = 0; i < rows; ++i) scale_row(sums + i * wide, dim, by, rows_to + i * to.row);
  } else {
    for (long i = 0; i < rows; ++i)
      write_row(sums + i * wide, dim, by, start + i * to.row * element_size(type), type);
  }
}

// The end of a query block: d_q from its sums over keys [rows, dk], and their product with q.
template <class T>
static void finish_queries(const attention_plan<T>& p, T* room, T* sums, long b, long h, long qb,
                           double slope) {
  const attention_args& a = p.a;
  const long row0 = qb * query_block, rows = least(query_block, a.tq - row0);
  double scale = 0;
  if (a.d_scale != nullptr) {  // Σ dS' (q · k) = Σ q · (dS' k)
    const rows_view<T> q = view_q(p, room, b, h);
    for (long i = 0; i < rows; ++i)
      for (long d = 0; d < a.dk; ++d) {
        const T sum = sums[i * p.dk + d];  // 0: q of a row that sees nothing may be NaN
        if (sum != T(0)) scale += static_cast<double>(q.at(row0 + i)[d]) * static_cast<double>(sum);
      }
  }
  const long at = (b * a.heads + h) * p.q_blocks + qb;
  reinterpret_cast<double*>(room + p.slope_sums)[at] = slope;
  reinterpret_cast<double*>(room + p.scale_sums)[at] = scale;
  put_gradient(a, sums, p.dk, rows, a.dk, T(a.scale), p.rotated ? start_of(a, b) + row0 : -1, a.d_q,
               p.types.io, b, h, row0);
}

// d_q's sums += dS · k of one block.
template <class T>
ROPEWALK_INLINE void add_queries(const attention_plan<T>& p, const block_view& w, const T* room,
                                 const T* d_s, long b, long kv_head, long kb, T* sums) {
  const rows_view<T> k =
      view_of(p.a.k, p.copy_k, b, kv_head, p.a.kv_heads, p.a.tk, p.dk, room + p.k);
  const long index = (b * p.a.kv_heads + kv_head) * p.k_blocks + kb;
  product_of_seen<T>(w, d_s, {k.at(kb * key_block), k.row}, p.dk, room[p.bad_k + index] != T(0),
                     sums);
}

// d_k and d_v of a key block. `sums_q` [heads of the group, tq, dk], or null: d_q's sums grow
// along.
template <class T>
static void backward_keys(const attention_plan<T>& p, const backward_room<T>& r, T* room, long b,
                          long kv_head, long kb, T* sums_q) {
  const attention_args& a = p.a;
  const long key0 = kb * key_block, keys = least(key_block, a.tk - key0);
  for (long i = 0; i < keys * p.dk; ++i) r.sums_k[i] = 0;
  for (long i = 0; i < keys * p.dv; ++i) r.sums_v[i] = 0;
  for (long qb = 0; qb < p.q_blocks; ++qb) {
    const interval blocks = p.blocks_seen(room, b, qb);
    if (kb < blocks.first || kb >= blocks.last) continue;
    const block_view w = p.view(room, b, qb, kb);
    for (long i = 0; i < p.group; ++i) {
      const long h = kv_head * p.group + i, row0 = qb * query_block;
      const long at = (b * a.heads + h) * p.q_blocks + qb;
      const rows_view<T> q = view_q(p, room, b, h), d_out = view_d_out(p, room, b, h);
      const bool exact = room[p.bad_q + at] != T(0);
      load_queries(p, r, room, b, h, qb);
      const double slope = block_gradients(p, w, r, room, b, h, qb, kb, false);
      transposed_product<T>(w, r.s, {d_out.at(row0), d_out.row}, p.dv, exact, r.sums_v);
      transposed_product<T>(w, r.d_s, {q.at(row0), q.row}, p.dk, exact, r.sums_k);
      if (sums_q == nullptr) continue;
      add_queries(p, w, room, r.d_s, b, kv_head, kb, sums_q + (i * a.tq + row0) * p.dk);
      reinterpret_cast<double*>(room + p.slope_sums)[at] += slope;
    }
  }
  put_gradient(a, r.sums_k, p.dk, keys, a.dk, T(a.scale), p.rotated ? key0 : -1, a.d_k, p.types.kv,
               b, kv_head, key0);
  put_gradient(a, r.sums_v, p.dv, keys, a.dv, T(1), -1, a.d_v, p.types.kv, b, kv_head, key0);
}

template <class T>
static void backward_queries(const attention_plan<T>& p, const backward_room<T>& r, T* room, long b,
                             long h, long qb) {
  const long rows = least(query_block, p.a.tq - qb * query_block);
  for (long i = 0; i < rows * p.dk; ++i) r.sums_k[i] = 0;
  load_queries(p, r, room, b, h, qb);
  double slope = 0;
  const interval blocks = p.blocks_seen(room, b, qb);
  for (long kb = blocks.first; kb < blocks.last; ++kb) {
    const block_view w = p.view(room, b, qb, kb);
    slope += block_gradients(p, w, r, room, b, h, qb, kb, false);
    add_queries(p, w, room, r.d_s, b, h / p.group, kb, r.sums_k);
  }
  finish_queries(p, room, r.sums_k, b, h, qb, slope);
}

// Both for all blocks of a key head: P and dS are computed once. d_q's sums take the key blocks up
// in the same order as above, so the bits are the same.
template <class T>
static void backward_group(const attention_plan<T>& p, const backward_room<T>& r, T* room, long b,
                           long kv_head) {
  const attention_args& a = p.a;
  const long h0 = kv_head * p.group, at = (b * a.heads + h0) * p.q_blocks;
  double* const slopes = reinterpret_cast<double*>(room + p.slope_sums) + at;
  T* const sums = room + p.sums_q + (b * a.heads + h0) * a.tq * p.dk;
  for (long i = 0; i < p.group * a.tq * p.dk; ++i) sums[i] = 0;
  for (long i = 0; i < p.group * p.q_blocks; ++i) slopes[i] = 0;
  for (long kb = 0; kb < p.k_blocks; ++kb) backward_keys(p, r, room, b, kv_head, kb, sums);
  for (long i = 0; i < p.group; ++i)
    for (long qb = 0; qb < p.q_blocks; ++qb)
      finish_queries(p, room, sums + (i * a.tq + qb * query_block) * p.dk, b, h0 + i, qb,
                     slopes[i * p.q_blocks + qb]);
}

// --- the gradient of the mask -----------------------------------------------------------------

// d_mask is cut into tasks by what it keeps: batch items, heads, query blocks, key blocks. A task
// sums everything that was broadcast into its part, in the order of batch, heads, query blocks, key
// blocks, and computes dS again for that: memory stays linear.
struct mask_tasks {
  long batch, heads, q_blocks, k_blocks;
  template <class T>
  explicit mask_tasks(const attention_plan<T>& p)
      : batch(p.a.d_mask.batch != 0 ? p.a.batch : 1),
        heads(p.a.d_mask.head != 0 ? p.a.heads : 1),
        q_blocks(p.a.d_mask.row != 0 ? p.q_blocks : 1),
        k_blocks(p.a.d_mask.column != 0 ? p.k_blocks : 1) {}
  long count() const { return batch * heads * q_blocks * k_blocks; }
};

template <class T>
static void backward_mask(const attention_plan<T>& p, T* room, long task, int worker) {
  const attention_args& a = p.a;
  const backward_room<T> r(p, room, worker);
  const mask_tasks tasks(p);
  const auto& to = a.d_mask;
  const bool by_row = to.row != 0, by_column = to.column != 0, by_both = by_row && by_column;
  const long kb0 = task % tasks.k_blocks, qb0 = task / tasks.k_blocks % tasks.q_blocks;
  const long h0 = task / tasks.k_blocks / tasks.q_blocks % tasks.heads;
  const long b0 = task / tasks.k_blocks / tasks.q_blocks / tasks.heads;
  // [from, from + count) of what the task keeps, or all of it.
  const long b1 = to.batch != 0 ? b0 + 1 : a.batch, h1 = to.head != 0 ? h0 + 1 : a.heads;
  const long qb1 = by_row ? qb0 + 1 : p.q_blocks, kb1 = by_column ? kb0 + 1 : p.k_blocks;
  const long rows = by_row ? least(query_block, a.tq - qb0 * query_block) : 1;
  const long keys = by_column ? least(key_block, a.tk - kb0 * key_block) : 1;
  for (long i = 0; i < (by_both ? query_block * key_block : 0); ++i) r.sums_mask[i] = 0;
  for (long i = 0; i < key_block; ++i) r.long_sums[i] = 0;
  for (long b = b0; b < b1; ++b)
    for (long h = h0; h < h1; ++h)
      for (long qb = qb0; qb < qb1; ++qb) {
        const interval blocks = p.blocks_seen(room, b, qb);
        if (blocks.last <= kb0 || blocks.first >= kb1) continue;
        load_queries(p, r, room, b, h, qb);
        for (long kb = greatest(kb0, blocks.first); kb < least(kb1, blocks.last); ++kb) {
          const block_view w = p.view(room, b, qb, kb);
          block_gradients(p, w, r, room, b, h, qb, kb, true);
          for (long i = 0; i < w.rows; ++i) {
            const T* d_s = r.d_s + i * a_stride;
            if (by_both)
              for (long n = 0; n < w.keys; ++n) r.sums_mask[i * key_block + n] += d_s[n];
            else
              for (long n = 0; n < w.keys; ++n)
                r.long_sums[by_row ? i : by_column ? n : 0] += static_cast<double>(d_s[n]);
          }
        }
      }
  T* const start = static_cast<T*>(to.data) + b0 * to.batch + h0 * to.head +
                   qb0 * query_block * to.row + kb0 * key_block * to.column;
  for (long i = 0; i < rows; ++i)
    for (long n = 0; n < keys; ++n)
      start[i * to.row + n * to.column] =
          by_both ? r.sums_mask[i * key_block + n] : T(r.long_sums[by_row ? i : n]);
}

// --- all of it --------------------------------------------------------------------------------

// delta of a query block, the copies of its q and d_out, and what the sink gets from it.
template <class T>
static void prepare_queries(const attention_plan<T>& p, T* room, long b, long h, long qb,
                            int worker) {
  const attention_args& a = p.a;
  const long row0 = qb * query_block, rows = least(query_block, a.tq - row0);
  const long at = (b * a.heads + h) * a.tq + row0;
  if (p.copy_q)
    copy_rows(a, a.q, p.types.io, b, h, row0, rows, a.dk, p.rotated ? start_of(a, b) + row0 : -1,
              room + p.q + at * p.dk, p.dk);
  if (p.copy_d_out)
    copy_rows(a, a.d_out, p.types.io, b, h, row0, rows, a.dv, -1, room + p.d_out + at * p.dv, p.dv);
  const rows_view<T> q = view_q(p, room, b, h), d_out = view_d_out(p, room, b, h);
  const T bad = not_finite(q.at(row0), q.row, rows, a.dk);
  const long at_block = (b * a.heads + h) * p.q_blocks + qb;
  room[p.bad_q + at_block] = bad != T(0) ? bad : not_finite(d_out.at(row0), d_out.row, rows, a.dv);
  T* const copy = p.worker(room, worker);
  double sink_sum = 0;
  for (long i = 0; i < rows; ++i) {
    const T *x = reinterpret_cast<const T*>(row_at(a.out, p.types.io, b, h, row0 + i)),
            *y = d_out.at(row0 + i);
    if (p.types.io != dtype_of<T>) {
      read_row(x, p.types.io, a.dv, copy);
      x = copy;
    }
    vec<T> sum = {};
    T rest = 0;
    long d = 0;
    for (; d + lanes<T> <= a.dv; d += lanes<T>) sum += load(x + d) * load(y + d);
    for (; d < a.dv; ++d) rest += x[d] * y[d];
    const T lse = *reinterpret_cast<const T*>(row_at(a.lse, dtype_of<T>, b, h, row0 + i));
    const bool none = *p.first_seen(room, b, row0 + i) == *p.last_seen(room, b, row0 + i) ||
                      lse == T(minus_infinity);
    const T delta = none ? T(0) : lane_sum<T>(sum) + rest;
    room[p.delta + at + i] = delta;
    if (a.d_sinks != nullptr && !none) {
      const T sink = static_cast<const T*>(a.sinks)[h];
      if (sink > T(minus_infinity))
        sink_sum -= static_cast<double>(exp<T>(splat(sink - lse))[0]) * static_cast<double>(delta);
    }
  }
  reinterpret_cast<double*>(room + p.sink_sums)[at_block] = sink_sum;
}

template <class T>
static std::size_t backward_room_bytes(int threads, dtype type, const attention_args& a) {
  return attention_plan<T>(threads, type, a, true).bytes();
}

template <class T>
static void backward(pool& threads, dtype type, const attention_args& a, std::byte* workspace) {
  const attention_plan<T> p(threads.threads(), type, a, true);
  T* room = reinterpret_cast<T*>(workspace);
  p.find_rows(room);
  const long key_tasks = a.batch * a.kv_heads * p.k_blocks;
  const long heads = a.batch * a.heads, query_tasks = heads * p.q_blocks;
  threads.run(key_tasks + query_tasks, [&](long i, int worker) {
    if (i < key_tasks) return pack_keys(p, room, i, worker);
    const long bh = (i - key_tasks) / p.q_blocks;
    prepare_queries(p, room, bh / a.heads, bh % a.heads, (i - key_tasks) % p.q_blocks, worker);
  });
  const long kv = a.batch * a.kv_heads;
  if (p.by_group)
    threads.run(kv, [&](long i, int worker) {
      backward_group(p, backward_room<T>(p, room, worker), room, i / a.kv_heads, i % a.kv_heads);
    });
  else  // both passes in one run, the longest tasks first: the first key blocks, the last of q
    threads.run(key_tasks + query_tasks, [&](long i, int worker) {
      const backward_room<T> r(p, room, worker);
      if (i < key_tasks) {
        const long bh = i % kv;
        T* const none = nullptr;
        return backward_keys(p, r, room, bh / a.kv_heads, bh % a.kv_heads, i / kv, none);
      }
      const long bh = (i - key_tasks) % heads;
      backward_queries(p, r, room, bh / a.heads, bh % a.heads,
                       p.q_blocks - 1 - (i - key_tasks) / heads);
    });
  if (a.d_mask.data != nullptr)
    threads.run(mask_tasks(p).count(),
                [&](long i, int worker) { backward_mask(p, room, i, worker); });
  // Sums over batch and blocks, in their order.
  const auto total = [&](long sums, long h, long h_end) {
    double sum = 0;
    for (long b = 0; b < a.batch; ++b)
      for (long i = h * p.q_blocks; i < h_end * p.q_blocks; ++i)
        sum += reinterpret_cast<const double*>(room + sums)[b * a.heads * p.q_blocks + i];
    return T(sum);
  };
  for (long h = 0; h < a.heads; ++h) {
    if (a.d_slopes != nullptr) static_cast<T*>(a.d_slopes)[h] = total(p.slope_sums, h, h + 1);
    if (a.d_sinks != nullptr) static_cast<T*>(a.d_sinks)[h] = total(p.sink_sums, h, h + 1);
  }
  if (a.d_scale != nullptr) *static_cast<T*>(a.d_scale) = total(p.scale_sums, 0, a.heads);
}

}  // namespace ropewalk::ROPEWALK_KERNELS
