// Which keys a query row sees by structure (causal, window, lengths, documents, start): whatever it
// is made of, one interval [first, last). Blocks outside are skipped on both sides.
#pragma once
#include <ropewalk/runtime/cpu_kernels.hpp>

#include "tile.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

constexpr long query_block = 112;  // a multiple of tile_rows (14; 6 leaves one short tile)
constexpr long key_block = 128;    // a multiple of tile_columns; at most k_block
constexpr long most_tiles = (query_block + tile_rows - 1) / tile_rows;

// Key position of query row 0.
ROPEWALK_INLINE long start_of(const attention_args& a, long b) {
  return a.start != nullptr ? a.start[b * a.start_stride] : a.tk - a.tq;
}

// Whether every batch item sees the same.
ROPEWALK_INLINE bool same_for_batch(const attention_args& a) {
  return a.start == nullptr && a.lengths == nullptr;
}

// first, last [tq]: the keys that the rows of batch item b see, 0 <= first <= last <= tk whatever
// the documents hold. Rows before the first document or after the last are in none and see nothing.
// A row that sees nothing stands where the row before it ends: with ascending documents both lists
// ascend.
static void find_seen(const attention_args& a, long b, std::int32_t* first, std::int32_t* last) {
  const long start = start_of(a, b);
  const long length = a.lengths != nullptr ? a.lengths[b * a.lengths_stride] : a.tk;
  const long window = least(a.window, a.tq + a.tk + 1);  // no sum overflows
  const std::int32_t* document = a.documents;
  long before = 0;
  for (long j = 0; j < a.tq; ++j) {
    const long at = start + j;
    long from = 0, to = a.causal ? least(length, at + 1) : length;
    if (window > 0) from = greatest(from, at - window + 1);
    if (window > 0 && !a.causal) to = least(to, at + window);
    if (document != nullptr) {
      while (document + 1 < a.documents + a.document_count && document[1] <= at) ++document;
      const bool inside = a.document_count > 0 && document[0] <= at && at < document[1];
      from = greatest(from, inside ? long(document[0]) : 0l);
      to = inside ? least(to, long(document[1])) : 0;
    }
    if (from >= to) from = to = before;
    before = to;
    first[j] = static_cast<std::int32_t>(from);
    last[j] = static_cast<std::int32_t>(to);
  }
}

// What some of `rows` rows see; last <= first where that is nothing.
struct interval {
  long first, last;
};
ROPEWALK_INLINE interval union_of(const std::int32_t* first, const std::int32_t* last, long rows,
                                  long tk) {
  std::int32_t from = static_cast<std::int32_t>(tk), to = 0;
  for (long i = 0; i < rows; ++i) {
    if (first[i] >= last[i]) continue;
    from = least(from, first[i]);
    to = greatest(to, last[i]);
  }
  return {from, to};
}

// What a query block sees: some row the key blocks [first_block, last_block), every row the keys
// [all_first, all_last). ordered: first and last of its rows ascend.
struct block_seen {
  std::int32_t first_block, last_block, all_first, all_last, ordered;
};
static block_seen find_block(const std::int32_t* first, const std::int32_t* last, long rows,
                             long tk) {
  const interval some = union_of(first, last, rows, tk);
  std::int32_t from = 0, to = static_cast<std::int32_t>(tk), ordered = 1;
  for (long i = 0; i < rows; ++i) {
    from = greatest(from, first[i]);
    to = least(to, last[i]);
    if (i > 0 && (first[i] < first[i - 1] || last[i] < last[i - 1])) ordered = 0;
  }
  return {static_cast<std::int32_t>(some.first / key_block),
          static_cast<std::int32_t>(ceil_div(some.last, key_block)), from, to, ordered};
}

// A query block of one head against a key block: row i sees the keys [first[i], last[i]) of the
// block; tile t of the rows sees [tile_first[t], tile_last[t]) at most; both may be empty.
struct block_view {
  long rows, keys;
  row_tiles tiles;
  bool whole;    // every row sees all key_block keys
  bool ordered;  // first and last of its rows ascend
  std::int32_t first[query_block], last[query_block];
  std::int32_t tile_first[most_tiles], tile_last[most_tiles];

  // from and to may be read for query_block rows.
  block_view(const block_seen& seen, const std::int32_t* from, const std::int32_t* to,
             long row_count, long key0, long key_count)
      : rows(row_count),
        keys(key_count),
        tiles(tiles_of_rows(row_count)),
        whole(keys == key_block && seen.all_first <= key0 && key0 + keys <= seen.all_last),
        ordered(seen.ordered != 0) {
    const auto start = static_cast<std::int32_t>(key0), end = static_cast<std::int32_t>(keys);
    if (whole) {
      for (long i = 0; i < query_block; ++i) first[i] = 0, last[i] = end;
      for (long t = 0; t < most_tiles; ++t) tile_first[t] = 0, tile_last[t] = end;
      return;
    }
    for (long i = 0; i < query_block; ++i) {
      first[i] = least(greatest(from[i] - start, 0), end);
      last[i] = least(greatest(to[i] - start, 0), end);
    }
    for (long t = 0; t < tiles.count; ++t) {
      const long at = tiles.first(t), next = tiles.end(t);
      tile_first[t] = first[at];
      tile_last[t] = last[next - 1];
      if (ordered) continue;
      const interval u = union_of(first + at, last + at, next - at, keys);
      tile_first[t] = static_cast<std::int32_t>(u.first);
      tile_last[t] = static_cast<std::int32_t>(u.last);
    }
  }
};

// j rounded down and up to whole vectors.
template <class T>
ROPEWALK_INLINE long vector_down(long j) {
  return j & ~static_cast<long>(lanes<T> - 1);
}
template <class T>
ROPEWALK_INLINE long vector_up(long j) {
  return vector_down<T>(j + lanes<T> - 1);
}

// f(j, inside) for the vectors at j that hold [from, to); `inside` masks their lanes in [first,
// last), which lies within, or is all_lanes.
struct all_lanes {};
template <class T, class F>
ROPEWALK_INLINE void for_lanes(long from, long to, long first, long last, F f) {
  using I = typename bits_of<T>::type;
  static constexpr I lane[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  const ivec<T> lane_of = load(lane);
  const auto inside = [&](long j) __attribute__((always_inline)) -> ivec<T> {
    return (lane_of >= static_cast<I>(first - j)) & (lane_of < static_cast<I>(last - j));
  };
  long j = vector_down<T>(from);
  for (; j < first && j < to; j += lanes<T>) f(j, inside(j));
  for (; j + lanes<T> <= last; j += lanes<T>) f(j, all_lanes{});
  for (; j < to; j += lanes<T>) f(j, inside(j));
}
// The same for [first, last) itself; Whole: it is a whole number of vectors from 0 on.
template <class T, bool Whole, class F>
ROPEWALK_INLINE void for_vectors(long first, long last, F f) {
  if constexpr (Whole)
    for (long j = 0; j < last; j += lanes<T>) f(j, all_lanes{});
  else if (first < last)
    for_lanes<T>(first, last, first, last, f);
}
template <class T>
ROPEWALK_INLINE vec<T> where(all_lanes, vec<T> x, vec<T>) {
  return x;
}
template <class T>
ROPEWALK_INLINE vec<T> where(ivec<T> inside, vec<T> x, vec<T> other) {
  return choose<T>(inside, x, other);
}

// s = 0 in every vector that [from, to) touches and [first, last) does not. `from` to `to` holds
// first to last, unless that is empty.
template <class T>
ROPEWALK_INLINE void clear_around(T* s, long from, long first, long last, long to) {
  long j = vector_down<T>(from);
  if (first < last) {
    for (const long end = vector_down<T>(first); j < end; j += lanes<T>) store(s + j, vec<T>{});
    j = vector_up<T>(last);
  }
  for (; j < to; j += lanes<T>) store(s + j, vec<T>{});
}

}  // namespace ropewalk::ROPEWALK_KERNELS
