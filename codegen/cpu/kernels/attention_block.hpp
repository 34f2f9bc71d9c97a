// What the forward and backward passes of attention share: the cut into blocks, the packed keys and
// values, and the product of a query block with a key block where something is visible.
//
// Work goes by blocks of query_block rows × key_block keys. Scores of a block live in a buffer
// [query_block, a_stride]. A key block has its keys (for backward also its values) transposed into
// panels, k → [panel][dk][tile_columns], once for all query blocks and heads of the group. Whatever
// is stored in another type, rotated, or not a whole number of vectors wide, is read through a copy
// of the type computed in.
#pragma once
#include "attention_scores.hpp"
#include "pack.hpp"
#include "table.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

// Rows of a tensor of one head, each readable up to a whole number of vectors.
template <class T>
struct rows_view {
  const T* data;
  long row;
  const T* at(long i) const { return data + i * row; }
};

// Hands out offsets of a workspace, in elements.
struct layout {
  long used = 0;
  long take(long n) {
    const long at = used;
    used += round_up(n, 64l) + 64;  // 64 more: whole vectors may be read past the end
    return at;
  }
};

template <class T>
ROPEWALK_INLINE long padded(long dim) {
  return round_up(dim, static_cast<long>(lanes<T>));
}

// Address of row j; `type`: what is stored.
template <class P>
ROPEWALK_INLINE char* row_at(const head_rows<P>& t, dtype type, long b, long h, long j) {
  char* const start = static_cast<char*>(const_cast<void*>(static_cast<const void*>(t.data)));
  return start + (b * t.batch + h * t.head + j * t.row) * element_size(type);
}

// The stored types: of q, out, d_out and d_q; of k, v, d_k and d_v.
struct stored_types {
  dtype io, kv;
  stored_types(dtype type, const attention_args& a)
      : io(type), kv(a.kv_type == dtype::boolean ? type : a.kv_type) {}
};

// Sizes and offsets. Nothing here depends on a pointer: a plan is made before there is any.
template <class T>
struct attention_plan {
  const attention_args& a;
  stored_types types;
  bool backward, plain, rotated;
  bool by_group;                            // backward: one pass, a task per key head
  long group, dk, dv;                       // query heads of a key head; padded depths
  long q_blocks, k_blocks;                  // of one head
  long k_panels, v_panels;                  // room of one transposed key block
  bool copy_q, copy_k, copy_v, copy_d_out;  // whether it is read through a copy
  long kt, vt, k, v, q, d_out;              // offsets: transposed blocks; copies
  long bad_k, bad_v, bad_q;                 // flags of blocks that hold a value that is not finite
  long delta;                               // backward: rowsum(d_out ∘ out)  [batch, heads, tq]
  // What the rows see [batch, tq], 32-bit integers, and the query blocks [batch, q_blocks],
  // block_seen; batch 1 where it is the same for all.
  long seen_first, seen_last, seen_blocks;
  long sink_sums, slope_sums, scale_sums;  // backward  [batch, heads, q_blocks], doubles
  long sums_q;                             // backward by group  [batch, heads, tq, dk]
  long workers, worker_room;
  layout shared;

  attention_plan(int threads, dtype type, const attention_args& args, bool back)
      : a(args), types(type, args), backward(back), plain(plain_scores(args)) {
    rotated = a.rope.width > 0;
    group = a.heads / a.kv_heads;
    dk = padded<T>(a.dk);
    dv = padded<T>(a.dv);
    q_blocks = ceil_div(a.tq, query_block);
    k_blocks = ceil_div(a.tk, key_block);
    k_panels = key_block * a.dk;
    v_panels = key_block * a.dv;
    copy_q = back && (dk != a.dk || types.io != dtype_of<T> || rotated);
    copy_k = back && (dk != a.dk || types.kv != dtype_of<T> || rotated);
    copy_v = !back && (dv != a.dv || types.kv != dtype_of<T>);
    copy_d_out = back && (dv != a.dv || types.io != dtype_of<T>);
    const long kv = a.batch * a.kv_heads, blocks = kv * k_blocks, heads = a.batch * a.heads;
    // 5 products of a block in one pass, 7 in two: worth it unless too many threads wait.
    by_group = back && ceil_div(kv, threads) * threads * 5 <= kv * 7;
    kt = shared.take(blocks * k_panels);
    vt = shared.take(back ? blocks * v_panels : 0);
    k = shared.take(copy_k ? kv * a.tk * dk : 0);
    v = shared.take(copy_v ? kv * a.tk * dv : 0);
    q = shared.take(copy_q ? heads * a.tq * dk : 0);
    d_out = shared.take(copy_d_out ? heads * a.tq * dv : 0);
    bad_k = shared.take(blocks);
    bad_v = shared.take(blocks);
    bad_q = shared.take(back ? heads * q_blocks : 0);
    sums_q = shared.take(by_group ? heads * a.tq * dk : 0);
    delta = shared.take(back ? heads * a.tq : 0);
    for (long* seen : {&seen_first, &seen_last})
      *seen = shared.take((a.batch * a.tq + query_block) * 4 / long(sizeof(T)));
    seen_blocks = shared.take(a.batch * q_blocks * long(sizeof(block_seen) / 4));
    const long doubles = static_cast<long>(sizeof(double) / sizeof(T));
    for (long* sums : {&sink_sums, &slope_sums, &scale_sums})
      *sums = shared.take(back ? heads * q_blocks * doubles : 0);
    // Rows of q, d_out and their scores; sums of query_block or key_block rows; row statistics;
    // mask and dropout of a row; in backward sums of the mask's gradient, in double where they are
    // long.
    layout one;
    one.take(query_block * a_stride * (back ? 4 : 2));
    one.take(greatest(query_block, key_block) * (dk + dv));
    one.take(4 * round_up(query_block, 16l));
    one.take(2 * (key_block + 64));
    one.take(back ? query_block * key_block : 0);
    one.take(back ? 2 * key_block : 0);
    worker_room = one.used + 8 * 64;
    workers = shared.take(threads * worker_room);
  }
  std::size_t bytes() const { return sizeof(T) * static_cast<std::size_t>(shared.used); }

  T* worker(T* room, int i) const { return room + workers + i * worker_room; }

  // What the rows of batch item b see, from row j.
  const std::int32_t* first_seen(const T* room, long b, long j) const {
    return reinterpret_cast<const std::int32_t*>(room + seen_first) +
           (same_for_batch(a) ? 0 : b * a.tq) + j;
  }
  const std::int32_t* last_seen(const T* room, long b, long j) const {
    return reinterpret_cast<const std::int32_t*>(room + seen_last) +
           (same_for_batch(a) ? 0 : b * a.tq) + j;
  }
  void find_rows(T* room) const {
    for (long b = 0; b < (same_for_batch(a) ? 1 : a.batch); ++b) {
      std::int32_t* const first = const_cast<std::int32_t*>(first_seen(room, b, 0));
      std::int32_t* const last = const_cast<std::int32_t*>(last_seen(room, b, 0));
      find_seen(a, b, first, last);
      for (long row0 = 0; row0 < a.tq; row0 += query_block)
        const_cast<block_seen&>(seen_by(room, b, row0 / query_block)) =
            find_block(first + row0, last + row0, least(query_block, a.tq - row0), a.tk);
    }
  }
  const block_seen& seen_by(const T* room, long b, long q_block) const {
    return reinterpret_cast<const block_seen*>(
        room + seen_blocks)[(same_for_batch(a) ? 0 : b * q_blocks) + q_block];
  }
  // Key blocks that some row of a query block sees: [first, last).
  interval blocks_seen(const T* room, long b, long q_block) const {
    const block_seen& s = seen_by(room, b, q_block);
    return {s.first_block, s.last_block};
  }
  block_view view(const T* room, long b, long q_block, long k_block_at) const {
    const long row0 = q_block * query_block, key0 = k_block_at * key_block;
    return block_view(seen_by(room, b, q_block), first_seen(room, b, row0),
                      last_seen(room, b, row0), least(query_block, a.tq - row0), key0,
                      least(key_block, a.tk - key0));
  }
};

// The rows of one head: in place, or the copy.
template <class T, class P>
ROPEWALK_INLINE rows_view<T> view_of(const head_rows<P>& t, bool copied, long b, long h, long heads,
                                     long rows, long wide, const T* copy) {
  if (copied) return {copy + (b * heads + h) * rows * wide, wide};
  return {reinterpret_cast<const T*>(row_at(t, dtype_of<T>, b, h, 0)), t.row};
}

// 1 if some element is infinite or NaN (x · 0 is not 0), else 0. Four sums at a time: one alone
// waits for itself.
template <class T>
static T not_finite(const T* from, long row, long rows, long dim) {
  vec<T> sum[4] = {};
  T rest = 0;
  for (long i = 0; i < rows; i += 4) {
    const T* at[4];
    for (long r = 0; r < 4; ++r) at[r] = from + least(i + r, rows - 1) * row;
    long d = 0;
    for (; d + lanes<T> <= dim; d += lanes<T>)
#pragma GCC unroll 4
      for (long r = 0; r < 4; ++r) sum[r] += load(at[r] + d) * T(0);
    if (d < dim && dim >= lanes<T>)  // the last vector again, shifted
      for (long r = 0; r < 4; ++r) sum[r] += load(at[r] + dim - lanes<T>) * T(0);
    else
      for (; d < dim; ++d)
        for (long r = 0; r < 4; ++r) rest += at[r][d] * T(0);
  }
  return lane_sum<T>((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest == T(0) ? T(0) : T(1);
}

// Rows from `row` on, rotated if `position` (of the first) is not negative, to `to` [rows, wide].
template <class T, class P>
static void copy_rows(const attention_args& a, const head_rows<P>& t, dtype type, long b, long h,
                      long row, long rows, long dim, long position, T* to, long wide) {
  for (long i = 0; i < rows; ++i, to += wide) {
    read_row(row_at(t, type, b, h, row + i), type, dim, to);
    if (position >= 0) rotate(a.rope, position + i, false, to);
  }
}

// Packs one key block of one key head: transposed panels, copies, flags.
template <class T>
static void pack_keys(const attention_plan<T>& p, T* room, long index, int worker) {
  const attention_args& a = p.a;
  const long block = index % p.k_blocks, head = index / p.k_blocks;
  const long b = head / a.kv_heads, h = head % a.kv_heads;
  const long first = block * key_block, count = least(key_block, a.tk - first);
  bool seen = false;
  for (long qb = 0; qb < p.q_blocks && !seen; ++qb) {
    const interval blocks = p.blocks_seen(room, b, qb);
    seen = blocks.first <= block && block < blocks.last;
  }
  if (!seen) return;
  // In place, or the copy: one that stays, or the worker's for as long as this takes.
  const bool stored = p.types.kv == dtype_of<T>;
  const auto rows = [&](const head_rows<const void*>& t, long dim, long wide, bool rotated,
                        bool stays, long copies) -> rows_view<T> {
    if (!stays && stored && !rotated)
      return {reinterpret_cast<const T*>(row_at(t, dtype_of<T>, b, h, first)), t.row};
    T* const to = stays ? room + copies + (head * a.tk + first) * wide : p.worker(room, worker);
    copy_rows(a, t, p.types.kv, b, h, first, count, dim, rotated ? first : -1, to, wide);
    return {to, wide};
  };
  const rows_view<T> k = rows(a.k, a.dk, p.dk, p.rotated, p.copy_k, p.k);
  for (long j = 0; j < count; j += tile_columns<T>)
    pack_panel(k.at(j), 1, k.row, a.dk, least(tile_columns<T>, count - j),
               room + p.kt + index * p.k_panels + j * a.dk);
  room[p.bad_k + index] = not_finite(k.data, k.row, count, a.dk);
  const rows_view<T> v = rows(a.v, a.dv, p.dv, false, p.copy_v, p.v);
  if (p.backward)
    for (long j = 0; j < count; j += tile_columns<T>)
      pack_panel(v.at(j), 1, v.row, a.dv, least(tile_columns<T>, count - j),
                 room + p.vt + index * p.v_panels + j * a.dv);
  room[p.bad_v + index] = not_finite(v.data, v.row, count, a.dv);
}

// to [rows, a_stride] = left · panels, for the tiles in which some row sees some key.
template <class T>
static void visible_product(const block_view& w, long depth, const T* left, const T* panels,
                            T* to) {
  constexpr long width = tile_columns<T>;
  for (long j = 0; j < w.keys; j += width) {
    const long vectors = w.keys - j <= lanes<T> ? 1 : tile_vectors;
    for (long t = 0; t < w.tiles.count; ++t) {
      const long first = w.tiles.first(t), last = w.tiles.end(t);
      if (w.tile_last[t] <= j || w.tile_first[t] >= j + width) continue;
      tile_for<T>(last - first, vectors, false)(depth, left + first * a_stride, 0,
                                                panels + j * depth, width,
                                                to + first * a_stride + j, a_stride, false);
    }
  }
}

// to [columns] += Σ left[p · step] · right row p over the p with left not 0: what the tile of one
// row gives, bit by bit, except that it does not read the other rows (0 · NaN is NaN).
template <class T, int NV>
static void exact_row(long count, const T* left, long step, const T* right, long row, T* to) {
  vec<T> acc[NV] = {};
  for (long p = 0; p < count; ++p) {
    const T x = left[p * step];
    if (x == T(0)) continue;
    for (int j = 0; j < NV; ++j) acc[j] += x * load(right + p * row + j * lanes<T>);
  }
  for (int j = 0; j < NV; ++j) store(to + j * lanes<T>, load(to + j * lanes<T>) + acc[j]);
}
template <class T>
ROPEWALK_INLINE void exact_row(long vectors, long count, const T* left, long step, const T* right,
                               long row, T* to) {
  (vectors == 1 ? exact_row<T, 1> : exact_row<T, tile_vectors>)(count, left, step, right, row, to);
}

// to [rows, columns] += left [rows, keys seen] · right, where left is 0 for keys not seen. `exact`:
// right is not finite somewhere, so the keys with 0 are not read.
template <class T>
static void product_of_seen(const block_view& w, const T* left, rows_view<T> right, long columns,
                            bool exact, T* to) {
  constexpr long width = tile_columns<T>;
  for (long j = 0; j < columns; j += width) {
    const long vectors = columns - j <= lanes<T> ? 1 : tile_vectors;
    for (long t = 0; t < w.tiles.count; ++t) {
      const long first = w.tiles.first(t), last = w.tiles.end(t), from = w.tile_first[t];
      const long count = w.tile_last[t] - from;
      if (count <= 0) continue;
      if (!exact)
        tile_for<T>(last - first, vectors, false)(count, left + first * a_stride + from, 0,
                                                  right.at(from) + j, right.row,
                                                  to + first * columns + j, columns, true);
      else
        for (long i = first; i < last; ++i)
          exact_row(vectors, count, left + i * a_stride + from, 1, right.at(from) + j, right.row,
                    to + i * columns + j);
    }
  }
}

// The rows of q or d_out of one block, times `by`, as the left operand of tiles.
template <class T>
static void pack_left(const T* from, long row, long rows, long dim, T by, T* to) {
  for (long i = 0; i < rows; ++i, from += row, to += a_stride) {
    long d = 0;
    for (; d + lanes<T> <= dim; d += lanes<T>) store(to + d, load(from + d) * by);
    for (; d < dim; ++d) to[d] = from[d] * by;
  }
}
// The rows [row0, row0 + rows) of q of one head, rotated, times scale, likewise.
template <class T>
static void pack_queries(const attention_args& a, dtype type, long b, long h, long row0, long rows,
                         T* to) {
  if (type == dtype_of<T> && a.rope.width == 0) {
    const T* q = reinterpret_cast<const T*>(row_at(a.q, type, b, h, row0));
    return pack_left(q, a.q.row, rows, a.dk, T(a.scale), to);
  }
  const long position = a.rope.width == 0 ? -1 : start_of(a, b) + row0;
  copy_rows(a, a.q, type, b, h, row0, rows, a.dk, position, to, a_stride);
  pack_left(to, a_stride, rows, a.dk, T(a.scale), to);
}

// to[d] = from[d] · by
template <class T>
ROPEWALK_INLINE void scale_row(const T* from, long dim, T by, T* to) {
  long d = 0;
  for (; d + lanes<T> <= dim; d += lanes<T>) store(to + d, load(from + d) * by);
  for (; d < dim; ++d) to[d] = from[d] * by;
}
// The same into a stored row.
template <class T>
ROPEWALK_INLINE void put_row(const T* from, long dim, T by, char* to, dtype type) {
  if (type == dtype_of<T>) return scale_row(from, dim, by, reinterpret_cast<T*>(to));
  write_row(from, dim, by, to, type);
}

ROPEWALK_INLINE float log_of(float x) { return __builtin_logf(x); }
ROPEWALK_INLINE double log_of(double x) { return __builtin_log(x); }

// The end of a row: what its sum of p · v is multiplied with, and its log-sum-exp.
template <class T>
struct row_end {
  T by, lse;
};
// From the maximum `top` and Σ exp relative to it; the sink joins the denominator.
template <class T>
ROPEWALK_INLINE row_end<T> finish_row(const attention_args& a, long h, T top, T sum) {
  T weight = 1;
  if (a.sinks != nullptr) {
    const T sink = static_cast<const T*>(a.sinks)[h], now = greatest(top, sink);
    if (now > T(minus_infinity)) {
      weight = top == T(minus_infinity) ? T(0) : exp<T>(splat(top - now))[0];
      sum = (sum == T(0) ? T(0) : sum * weight) + exp<T>(splat(sink - now))[0];
      top = now;
    }
  }
  if (sum == T(0)) return {T(0), T(minus_infinity)};
  return {weight / sum, top + log_of(sum)};
}

}  // namespace ropewalk::ROPEWALK_KERNELS
