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

// first, last [tq]: the keys that the rows of batch item b see; 0, 0 where there is none. Whatever
// the documents hold, 0 <= first <= last <= tk. Rows before the first document or after the last
// are in none and see nothing.
static void find_seen(const attention_args& a, long b, std::int32_t* first, std::int32_t* last) {
  const long start = start_of(a, b);
  const long length = a.lengths != nullptr ? a.lengths[b * a.lengths_stride] : a.tk;
  const long window = least(a.window, a.tq + a.tk + 1);  // no sum overflows
  const std::int32_t* document = a.documents;
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
    first[j] = static_cast<std::int32_t>(from < to ? from : 0);
    last[j] = static_cast<std::int32_t>(from < to ? to : 0);
  }
}

// The union of what `rows` rows see; last <= first where that is nothing.
struct interval {
  long first, last;
};
ROPEWALK_INLINE interval union_of(const std::int32_t* first, const std::int32_t* last, long rows,
                                  long tk) {
  std::int32_t from = static_cast<std::int32_t>(tk), to = 0;
  for (long i = 0; i < rows; ++i) {
    from = least(from, first[i] < last[i] ? first[i] : from);
    to = greatest(to, last[i]);
  }
  return {from, to};
}

// A query block of one head against a key block: row i sees the keys [first[i], last[i]) of the
// block; tile t of the rows sees [tile_first[t], tile_last[t]), the union, empty if not ascending.
struct block_view {
  long rows, keys;
  row_tiles tiles;
  std::int32_t first[query_block], last[query_block];
  std::int32_t tile_first[most_tiles], tile_last[most_tiles];

  block_view(const std::int32_t* from, const std::int32_t* to, long row_count, long key0,
             long key_count)
      : rows(row_count), keys(key_count), tiles(tiles_of_rows(row_count)) {
    const auto start = static_cast<std::int32_t>(key0), end = static_cast<std::int32_t>(keys);
    for (long i = 0; i < rows; ++i) {
      const std::int32_t f = greatest(from[i] - start, 0), l = least(to[i] - start, end);
      first[i] = f < l ? f : 0;
      last[i] = f < l ? l : 0;
    }
    for (long t = 0; t < tiles.count; ++t) {
      const long at = tiles.first(t);
      const interval u = union_of(first + at, last + at, tiles.end(t) - at, keys);
      tile_first[t] = static_cast<std::int32_t>(u.first);
      tile_last[t] = static_cast<std::int32_t>(u.last);
    }
  }
};

// f(j, inside) for the vectors at j that make up [first, last): `inside` selects their lanes within
// (an ivec, or all_lanes where that is all of them).
struct all_lanes {};
template <class T, class F>
ROPEWALK_INLINE void for_vectors(long first, long last, F f) {
  using I = typename bits_of<T>::type;
  long j = first / lanes<T> * lanes<T>;
  if (j < first && first < last) {
    f(j, first_lanes<T>(last - j) & ~(first_lanes<T>(first - j)));
    j += lanes<T>;
  }
  for (; j + lanes<T> <= last; j += lanes<T>) f(j, all_lanes{});
  if (j < last && first < last) f(j, first_lanes<T>(last - j) & (ivec<T>{} - I(1)));
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
  long j = from / lanes<T> * lanes<T>;
  if (first < last) {
    for (const long end = first / lanes<T> * lanes<T>; j < end; j += lanes<T>)
      store(s + j, vec<T>{});
    j = round_up(last, static_cast<long>(lanes<T>));
  }
  for (; j < to; j += lanes<T>) store(s + j, vec<T>{});
}

}  // namespace ropewalk::ROPEWALK_KERNELS
