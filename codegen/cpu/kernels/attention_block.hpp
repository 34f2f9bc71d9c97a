// What the forward and backward passes of attention share: the cut into blocks, the packed keys and
// values, and the product of a query block with a key block where something is visible.
//
// Work goes by blocks of query_block rows × key_block keys. Scores of a block live in a buffer
// [query_block, a_stride]. A key block has its keys (for backward also its values) transposed into
// panels, k → [panel][dk][tile_columns], once for all query blocks and heads of the group.
#pragma once
#include "exp.hpp"
#include "pack.hpp"
#include "table.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

constexpr long query_block = 112;  // a multiple of tile_rows (14; 6 leaves one short tile)
constexpr long key_block = 128;    // a multiple of tile_columns; at most k_block

constexpr double minus_infinity = -__builtin_huge_val();

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

template <class T>
struct attention_plan {
  const attention_args& a;
  bool backward;
  long group, dk, dv;           // query heads of a key head; padded depths
  long q_blocks, k_blocks;      // of one head
  long k_panels, v_panels;      // room of one transposed key block
  long kt, vt, k, v, q, d_out;  // offsets: transposed blocks; padded copies
  long bad_k, bad_v;            // flags of key blocks that hold a value that is not finite
  long delta;                   // backward: rowsum(d_out ∘ out)  [batch, heads, tq]
  long workers, worker_room;
  layout shared;

  attention_plan(int threads, const attention_args& args, bool back) : a(args), backward(back) {
    group = a.heads / a.kv_heads;
    dk = padded<T>(a.dk);
    dv = padded<T>(a.dv);
    q_blocks = ceil_div(a.tq, query_block);
    k_blocks = ceil_div(a.tk, key_block);
    k_panels = key_block * a.dk;
    v_panels = key_block * a.dv;
    const long kv = a.batch * a.kv_heads, blocks = kv * k_blocks;
    kt = shared.take(blocks * k_panels);
    vt = shared.take(back ? blocks * v_panels : 0);
    k = shared.take(back && dk != a.dk ? kv * a.tk * dk : 0);
    v = shared.take(!back && dv != a.dv ? kv * a.tk * dv : 0);
    q = shared.take(back && dk != a.dk ? a.batch * a.heads * a.tq * dk : 0);
    d_out = shared.take(back && dv != a.dv ? a.batch * a.heads * a.tq * dv : 0);
    bad_k = shared.take(blocks);
    bad_v = shared.take(blocks);
    delta = shared.take(back ? a.batch * a.heads * a.tq : 0);
    // Rows of q, d_out and their scores; sums of query_block or key_block rows; row statistics.
    layout one;
    one.take(query_block * a_stride * (back ? 4 : 2));
    one.take(greatest(query_block, key_block) * (dk + dv));
    one.take(4 * round_up(query_block, 16l));
    worker_room = one.used + 4 * 64;
    workers = shared.take(threads * worker_room);
  }
  std::size_t bytes() const { return sizeof(T) * static_cast<std::size_t>(shared.used); }

  // How many keys, from the first, query row j sees.
  long seen(long j) const {
    return a.causal ? greatest(0l, least(a.tk - a.tq + j + 1, a.tk)) : a.tk;
  }
};

template <class T, class P>
ROPEWALK_INLINE T* head_at(const head_rows<P>& t, long b, long h) {
  return const_cast<T*>(static_cast<const T*>(t.data)) + b * t.batch + h * t.head;
}

// The rows of one head: in place where they end on a vector, else the padded copy.
template <class T>
ROPEWALK_INLINE rows_view<T> view_of(const head_rows<const void*>& t, long b, long h, long heads,
                                     long rows, long dim, const T* copy) {
  const long wide = padded<T>(dim);
  if (wide == dim) return {head_at<T>(t, b, h), t.row};
  return {copy + (b * heads + h) * rows * wide, wide};
}

template <class T>
ROPEWALK_INLINE void copy_padded(const T* from, long row, long rows, long dim, T* to) {
  const long wide = padded<T>(dim);
  for (long i = 0; i < rows; ++i)
    for (long d = 0; d < wide; ++d) to[i * wide + d] = d < dim ? from[i * row + d] : T(0);
}

// 1 if some element is infinite or NaN (x · 0 is not 0), else 0.
template <class T>
static T not_finite(const T* from, long row, long rows, long dim) {
  vec<T> sum = {};
  T rest = 0;
  for (long i = 0; i < rows; ++i) {
    long d = 0;
    for (; d + lanes<T> <= dim; d += lanes<T>) sum += load(from + i * row + d) * T(0);
    for (; d < dim; ++d) rest += from[i * row + d] * T(0);
  }
  return lane_sum<T>(sum) + rest == T(0) ? T(0) : T(1);
}

// Packs one key block of one key head: transposed panels, padded copies, flags.
template <class T>
static void pack_keys(const attention_plan<T>& p, T* room, long index) {
  const attention_args& a = p.a;
  const long block = index % p.k_blocks, head = index / p.k_blocks;
  const long b = head / a.kv_heads, h = head % a.kv_heads;
  const long first = block * key_block, count = least(key_block, a.tk - first);
  const T* k = head_at<T>(a.k, b, h) + first * a.k.row;
  const T* v = head_at<T>(a.v, b, h) + first * a.v.row;
  for (long j = 0; j < count; j += tile_columns<T>) {
    const long columns = least(tile_columns<T>, count - j);
    pack_panel(k + j * a.k.row, 1, a.k.row, a.dk, columns,
               room + p.kt + index * p.k_panels + j * a.dk);
    if (p.backward)
      pack_panel(v + j * a.v.row, 1, a.v.row, a.dv, columns,
                 room + p.vt + index * p.v_panels + j * a.dv);
  }
  if (p.backward && p.dk != a.dk)
    copy_padded(k, a.k.row, count, a.dk, room + p.k + (head * a.tk + first) * p.dk);
  if (!p.backward && p.dv != a.dv)
    copy_padded(v, a.v.row, count, a.dv, room + p.v + (head * a.tk + first) * p.dv);
  room[p.bad_k + index] = not_finite(k, a.k.row, count, a.dk);
  room[p.bad_v + index] = not_finite(v, a.v.row, count, a.dv);
}

// A query block of one head against a key block: which part of it is visible.
struct block_view {
  long rows;        // query rows
  long seen_first;  // keys of this block that row 0 sees, before clamping to [0, keys]
  long keys;        // keys of this block
  bool causal;
  long seen(long i) const { return causal ? greatest(0l, least(seen_first + i, keys)) : keys; }
};

template <class T>
ROPEWALK_INLINE block_view view_block(const attention_plan<T>& p, long q_block, long k_block_at) {
  const long row = q_block * query_block, key = k_block_at * key_block;
  return {least(query_block, p.a.tq - row), p.a.tk - p.a.tq + row + 1 - key,
          least(key_block, p.a.tk - key), p.a.causal};
}

// to [rows, a_stride] = left · panels, for the tiles in which some row sees some key.
template <class T>
static void visible_product(const block_view& w, long depth, const T* left, const T* panels,
                            T* to) {
  constexpr long width = tile_columns<T>;
  const row_tiles tiles = tiles_of_rows(w.rows);
  for (long j = 0; j < w.keys; j += width) {
    const long vectors = w.keys - j <= lanes<T> ? 1 : tile_vectors;
    for (long t = 0; t < tiles.count; ++t) {
      const long first = tiles.first(t), last = tiles.end(t);
      if (w.seen(last - 1) <= j) continue;
      tile_for<T>(last - first, vectors, false)(depth, left + first * a_stride, 0,
                                                panels + j * depth, width,
                                                to + first * a_stride + j, a_stride, false);
    }
  }
}

// to [rows, columns] += left [rows, keys seen] · right, where left is 0 for keys not seen but
// right may hold anything there. `exact`: right is not finite somewhere, so each row stops at the
// last key it sees (0 · NaN is NaN).
template <class T>
static void product_of_seen(const block_view& w, const T* left, rows_view<T> right, long columns,
                            bool exact, T* to) {
  constexpr long width = tile_columns<T>;
  const row_tiles tiles = tiles_of_rows(w.rows);
  for (long j = 0; j < columns; j += width) {
    const long vectors = columns - j <= lanes<T> ? 1 : tile_vectors;
    for (long t = 0; t < tiles.count; ++t) {
      const long first = tiles.first(t), last = tiles.end(t), keys = w.seen(last - 1);
      if (keys == 0) continue;
      if (!exact || w.seen(first) == keys) {
        tile_for<T>(last - first, vectors, false)(keys, left + first * a_stride, 0, right.data + j,
                                                  right.row, to + first * columns + j, columns,
                                                  true);
      } else {
        for (long i = first; i < last; ++i)
          tile_for<T>(1, vectors, false)(w.seen(i), left + i * a_stride, 0, right.data + j,
                                         right.row, to + i * columns + j, columns, true);
      }
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

// to[d] = from[d] · by
template <class T>
ROPEWALK_INLINE void scale_row(const T* from, long dim, T by, T* to) {
  long d = 0;
  for (; d + lanes<T> <= dim; d += lanes<T>) store(to + d, load(from + d) * by);
  for (; d < dim; ++d) to[d] = from[d] * by;
}

// Scores → probabilities relative to the running maximum, for one row of which `seen` keys are
// visible; the row is 0 from there to `end`. Returns their sum.
template <class T>
ROPEWALK_INLINE T probabilities(T* s, long seen, long end, T maximum) {
  vec<T> sum = {};
  long j = 0;
  for (; j + lanes<T> <= seen; j += lanes<T>) {
    const vec<T> p = exp<T>(load(s + j) - maximum);
    sum += p;
    store(s + j, p);
  }
  if (j < seen) {
    const vec<T> p = choose<T>(first_lanes<T>(seen - j), exp<T>(load(s + j) - maximum), vec<T>{});
    sum += p;
    store(s + j, p);
    j += lanes<T>;
  }
  for (; j < end; j += lanes<T>) store(s + j, vec<T>{});
  return lane_sum<T>(sum);
}

template <class T>
ROPEWALK_INLINE T row_maximum(const T* s, long seen, T before) {
  vec<T> top = splat(before);
  long j = 0;
  for (; j + lanes<T> <= seen; j += lanes<T>) {
    const vec<T> x = load(s + j);
    top = choose<T>(x > top, x, top);
  }
  if (j < seen) {
    const vec<T> x = load(s + j);
    top = choose<T>(first_lanes<T>(seen - j) & (x > top), x, top);
  }
  return lane_max<T>(top);
}

ROPEWALK_INLINE float log_of(float x) { return __builtin_logf(x); }
ROPEWALK_INLINE double log_of(double x) { return __builtin_log(x); }

}  // namespace ropewalk::ROPEWALK_KERNELS
