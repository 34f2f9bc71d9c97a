// Attention for one instruction set: one pass over key blocks with a running maximum, and two
// passes back, one per key block (d_k, d_v) and one per query block (d_q). No pass writes what
// another task reads or writes, so the result does not depend on the number of threads.
#include "attention_block.hpp"
#include "attention_few.hpp"

namespace ropewalk::ROPEWALK_KERNELS {
namespace {

// --- forward ----------------------------------------------------------------------------------

template <class T>
void forward_block(const attention_plan<T>& p, T* room, long b, long h, long q_block, int worker) {
  const attention_args& a = p.a;
  const long row0 = q_block * query_block, rows = least(query_block, a.tq - row0);
  const long kv_head = b * a.kv_heads + h / p.group;
  layout at;
  T* const mine = room + p.workers + worker * p.worker_room;
  T* const q = mine + at.take(query_block * a_stride);
  T* const s = mine + at.take(query_block * a_stride);
  T* const o = mine + at.take(query_block * p.dv);
  constexpr long padded_rows = (query_block + 15) / 16 * 16;
  T* const top = mine + at.take(padded_rows);     // running maximum
  T* const sum = mine + at.take(padded_rows);     // running Σ exp
  T* const shrink = mine + at.take(padded_rows);  // exp(maximum before − now)

  pack_left(head_at<T>(a.q, b, h) + row0 * a.q.row, a.q.row, rows, a.dk, T(a.scale), q);
  for (long i = 0; i < rows * p.dv; ++i) o[i] = 0;
  for (long i = 0; i < padded_rows; ++i) {
    top[i] = T(minus_infinity);
    sum[i] = 0;
    shrink[i] = 0;
  }
  const rows_view<T> v = view_of<T>(a.v, b, h / p.group, a.kv_heads, a.tk, a.dv, room + p.v);
  const long keys = p.seen(row0 + rows - 1);
  for (long kb = 0; kb * key_block < keys; ++kb) {
    const long index = kv_head * p.k_blocks + kb;
    const block_view w = view_block(p, q_block, kb);
    visible_product(w, a.dk, q, room + p.kt + index * p.k_panels, s);
    for (long i = 0; i < rows; ++i) {
      const T now = row_maximum(s + i * a_stride, w.seen(i), top[i]);
      shrink[i] = now == T(minus_infinity) ? T(0) : top[i] - now;
      top[i] = now;
    }
    for (long i = 0; i < padded_rows; i += lanes<T>) store(shrink + i, exp<T>(load(shrink + i)));
    const row_tiles tiles = tiles_of_rows(w.rows);
    for (long t = 0; t < tiles.count; ++t) {
      const long last = tiles.end(t), end = w.seen(last - 1);
      for (long i = tiles.first(t); i < last; ++i) {
        const T maximum = top[i] == T(minus_infinity) ? T(0) : top[i];
        sum[i] = sum[i] * shrink[i] + probabilities(s + i * a_stride, w.seen(i), end, maximum);
        if (shrink[i] != T(1) && kb > 0) scale_row(o + i * p.dv, p.dv, shrink[i], o + i * p.dv);
      }
    }
    product_of_seen<T>(w, s, {v.at(kb * key_block), v.row}, p.dv, room[p.bad_v + index] != T(0), o);
  }
  T* out = head_at<T>(a.out, b, h) + row0 * a.out.row;
  T* lse = head_at<T>(a.lse, b, h) + row0 * a.lse.row;
  for (long i = 0; i < rows; ++i) {
    const bool none = sum[i] == T(0);
    scale_row(o + i * p.dv, a.dv, none ? T(0) : T(1) / sum[i], out + i * a.out.row);
    lse[i * a.lse.row] = none ? T(minus_infinity)
                              : top[i] + (sizeof(T) == 4 ? T(__builtin_logf(float(sum[i])))
                                                         : T(__builtin_log(double(sum[i]))));
  }
}

template <class T>
std::size_t forward_room(int threads, const attention_args& a) {
  if (few_rows(a)) return few_plan<T>(threads, a).bytes();
  return attention_plan<T>(threads, a, false).bytes();
}

template <class T>
void forward(pool& threads, const attention_args& a, std::byte* workspace) {
  if (few_rows(a)) return forward_few<T>(threads, a, workspace);
  const attention_plan<T> p(threads.threads(), a, false);
  T* room = reinterpret_cast<T*>(workspace);
  threads.run(a.batch * a.kv_heads * p.k_blocks, [&](long i, int) { pack_keys(p, room, i); });
  // The last blocks of causal heads are the longest: first.
  const long heads = a.batch * a.heads;
  threads.run(heads * p.q_blocks, [&](long i, int worker) {
    const long bh = i % heads;
    forward_block(p, room, bh / a.heads, bh % a.heads, p.q_blocks - 1 - i / heads, worker);
  });
}

// --- backward ---------------------------------------------------------------------------------

// What one task of a backward pass works in.
template <class T>
struct backward_room {
  T *q, *d_out, *s, *d_s, *sums_k, *sums_v;
  backward_room(const attention_plan<T>& p, T* room, int worker) {
    layout at;
    T* const mine = room + p.workers + worker * p.worker_room;
    constexpr long rows = query_block > key_block ? query_block : key_block;
    q = mine + at.take(query_block * a_stride);
    d_out = mine + at.take(query_block * a_stride);
    s = mine + at.take(query_block * a_stride);
    d_s = mine + at.take(query_block * a_stride);
    sums_k = mine + at.take(rows * p.dk);
    sums_v = mine + at.take(rows * p.dv);
  }
};

// One row of scores and of d_out · vᵀ → P and dS = P ∘ (dP − D); 0 for keys not seen.
template <class T>
ROPEWALK_INLINE void score_gradients(T* s, T* d_s, long seen, long end, T lse, T delta) {
  long j = 0;
  for (; j + lanes<T> <= seen; j += lanes<T>) {
    const vec<T> p = exp<T>(load(s + j) - lse);
    store(s + j, p);
    store(d_s + j, p * (load(d_s + j) - delta));
  }
  if (j < seen) {
    const ivec<T> mask = first_lanes<T>(seen - j);
    const vec<T> p = exp<T>(load(s + j) - lse);
    store(s + j, choose<T>(mask, p, vec<T>{}));
    store(d_s + j, choose<T>(mask, p * (load(d_s + j) - delta), vec<T>{}));
    j += lanes<T>;
  }
  for (; j < end; j += lanes<T>) {
    store(s + j, vec<T>{});
    store(d_s + j, vec<T>{});
  }
}

// Loads a query block: q times scale, and d_out.
template <class T>
void load_queries(const attention_plan<T>& p, const backward_room<T>& r, long b, long h,
                  long q_block) {
  const attention_args& a = p.a;
  const long row0 = q_block * query_block, rows = least(query_block, a.tq - row0);
  pack_left(head_at<T>(a.q, b, h) + row0 * a.q.row, a.q.row, rows, a.dk, T(a.scale), r.q);
  pack_left(head_at<T>(a.d_out, b, h) + row0 * a.d_out.row, a.d_out.row, rows, a.dv, T(1), r.d_out);
}

// P and dS of one block into r.s and r.d_s.
template <class T>
void block_gradients(const attention_plan<T>& p, const backward_room<T>& r, const T* room, long b,
                     long h, long q_block, long kb) {
  const attention_args& a = p.a;
  const long index = (b * a.kv_heads + h / p.group) * p.k_blocks + kb;
  const block_view w = view_block(p, q_block, kb);
  visible_product(w, a.dk, r.q, room + p.kt + index * p.k_panels, r.s);
  visible_product(w, a.dv, r.d_out, room + p.vt + index * p.v_panels, r.d_s);
  const long row0 = q_block * query_block;
  const T* lse = head_at<T>(a.lse, b, h) + row0 * a.lse.row;
  const T* delta = room + p.delta + (b * a.heads + h) * a.tq + row0;
  for (long i = 0; i < w.rows; ++i) {
    const T l = lse[i * a.lse.row];
    score_gradients(r.s + i * a_stride, r.d_s + i * a_stride,
                    l == T(minus_infinity) ? 0 : w.seen(i), w.keys, l, delta[i]);
  }
}

// to [keys, columns] += leftᵀ · right over the rows of a query block. left [rows, a_stride] is 0
// where a row does not see a key; rows before the first that sees a tile's first key are skipped.
template <class T>
void transposed_product(const block_view& w, const T* left, rows_view<T> right, long columns,
                        T* to) {
  constexpr long width = tile_columns<T>;
  const row_tiles tiles = tiles_of_rows(w.keys);
  for (long j = 0; j < columns; j += width) {
    const long vectors = columns - j <= lanes<T> ? 1 : tile_vectors;
    for (long t = 0; t < tiles.count; ++t) {
      const long first = tiles.first(t), last = tiles.end(t);
      const long from = w.causal ? greatest(0l, first + 1 - w.seen_first) : 0;
      if (from >= w.rows) continue;
      tile_for<T>(last - first, vectors, true)(w.rows - from, left + from * a_stride + first,
                                               a_stride, right.at(from) + j, right.row,
                                               to + first * columns + j, columns, true);
    }
  }
}

template <class T>
void backward_keys(const attention_plan<T>& p, T* room, long b, long kv_head, long kb, int worker) {
  const attention_args& a = p.a;
  const backward_room<T> r(p, room, worker);
  const long key0 = kb * key_block, keys = least(key_block, a.tk - key0);
  for (long i = 0; i < keys * p.dk; ++i) r.sums_k[i] = 0;
  for (long i = 0; i < keys * p.dv; ++i) r.sums_v[i] = 0;
  for (long h = kv_head * p.group; h < (kv_head + 1) * p.group; ++h) {
    const rows_view<T> q = view_of<T>(a.q, b, h, a.heads, a.tq, a.dk, room + p.q);
    const rows_view<T> d_out = view_of<T>(a.d_out, b, h, a.heads, a.tq, a.dv, room + p.d_out);
    for (long qb = 0; qb < p.q_blocks; ++qb) {
      const long row0 = qb * query_block;
      if (p.seen(least(row0 + query_block, a.tq) - 1) <= key0) continue;
      const block_view w = view_block(p, qb, kb);
      load_queries(p, r, b, h, qb);
      block_gradients(p, r, room, b, h, qb, kb);
      transposed_product<T>(w, r.s, {d_out.at(row0), d_out.row}, p.dv, r.sums_v);
      transposed_product<T>(w, r.d_s, {q.at(row0), q.row}, p.dk, r.sums_k);
    }
  }
  T* d_k = head_at<T>(a.d_k, b, kv_head) + key0 * a.d_k.row;
  T* d_v = head_at<T>(a.d_v, b, kv_head) + key0 * a.d_v.row;
  for (long i = 0; i < keys; ++i) {
    scale_row(r.sums_k + i * p.dk, a.dk, T(a.scale), d_k + i * a.d_k.row);
    scale_row(r.sums_v + i * p.dv, a.dv, T(1), d_v + i * a.d_v.row);
  }
}

template <class T>
void backward_queries(const attention_plan<T>& p, T* room, long b, long h, long qb, int worker) {
  const attention_args& a = p.a;
  const backward_room<T> r(p, room, worker);
  const long row0 = qb * query_block, rows = least(query_block, a.tq - row0);
  const rows_view<T> k = view_of<T>(a.k, b, h / p.group, a.kv_heads, a.tk, a.dk, room + p.k);
  for (long i = 0; i < rows * p.dk; ++i) r.sums_k[i] = 0;
  load_queries(p, r, b, h, qb);
  const long keys = p.seen(row0 + rows - 1);
  for (long kb = 0; kb * key_block < keys; ++kb) {
    const long index = (b * a.kv_heads + h / p.group) * p.k_blocks + kb;
    block_gradients(p, r, room, b, h, qb, kb);
    product_of_seen<T>(view_block(p, qb, kb), r.d_s, {k.at(kb * key_block), k.row}, p.dk,
                       room[p.bad_k + index] != T(0), r.sums_k);
  }
  T* d_q = head_at<T>(a.d_q, b, h) + row0 * a.d_q.row;
  for (long i = 0; i < rows; ++i)
    scale_row(r.sums_k + i * p.dk, a.dk, T(a.scale), d_q + i * a.d_q.row);
}

// delta of a query block, and the padded copies of its q and d_out.
template <class T>
void prepare_queries(const attention_plan<T>& p, T* room, long b, long h, long qb) {
  const attention_args& a = p.a;
  const long row0 = qb * query_block, rows = least(query_block, a.tq - row0);
  const long at = (b * a.heads + h) * a.tq + row0;
  const T* q = head_at<T>(a.q, b, h) + row0 * a.q.row;
  const T* out = head_at<T>(a.out, b, h) + row0 * a.out.row;
  const T* d_out = head_at<T>(a.d_out, b, h) + row0 * a.d_out.row;
  for (long i = 0; i < rows; ++i) {
    const T *x = out + i * a.out.row, *y = d_out + i * a.d_out.row;
    vec<T> sum = {};
    T rest = 0;
    long d = 0;
    for (; d + lanes<T> <= a.dv; d += lanes<T>) sum += load(x + d) * load(y + d);
    for (; d < a.dv; ++d) rest += x[d] * y[d];
    room[p.delta + at + i] = lane_sum<T>(sum) + rest;
  }
  if (p.dk != a.dk) copy_padded(q, a.q.row, rows, a.dk, room + p.q + at * p.dk);
  if (p.dv != a.dv) copy_padded(d_out, a.d_out.row, rows, a.dv, room + p.d_out + at * p.dv);
}

template <class T>
std::size_t backward_room_bytes(int threads, const attention_args& a) {
  return attention_plan<T>(threads, a, true).bytes();
}

template <class T>
void backward(pool& threads, const attention_args& a, std::byte* workspace) {
  const attention_plan<T> p(threads.threads(), a, true);
  T* room = reinterpret_cast<T*>(workspace);
  const long key_tasks = a.batch * a.kv_heads * p.k_blocks;
  const long heads = a.batch * a.heads, query_tasks = heads * p.q_blocks;
  threads.run(key_tasks + query_tasks, [&](long i, int) {
    if (i < key_tasks) return pack_keys(p, room, i);
    const long bh = (i - key_tasks) / p.q_blocks;
    prepare_queries(p, room, bh / a.heads, bh % a.heads, (i - key_tasks) % p.q_blocks);
  });
  // Both passes in one run, the longest tasks first: the first key blocks, the last query blocks.
  const long kv = a.batch * a.kv_heads;
  threads.run(key_tasks + query_tasks, [&](long i, int worker) {
    if (i < key_tasks) {
      const long bh = i % kv;
      return backward_keys(p, room, bh / a.kv_heads, bh % a.kv_heads, i / kv, worker);
    }
    const long bh = (i - key_tasks) % heads;
    backward_queries(p, room, bh / a.heads, bh % a.heads, p.q_blocks - 1 - (i - key_tasks) / heads,
                     worker);
  });
}

}  // namespace

extern const attention_entry attention_f32 = {forward_room<float>, backward_room_bytes<float>,
                                              forward<float>, backward<float>};
extern const attention_entry attention_f64 = {forward_room<double>, backward_room_bytes<double>,
                                              forward<double>, backward<double>};

}  // namespace ropewalk::ROPEWALK_KERNELS
