// Copies of matrix blocks in the order in which the tiles read them.
#pragma once
#include "tile.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

// One round of the transpose: (x0 x1 …), (y0 y1 …) → (x0 y0 x1 y1 …), low or high half.
template <class T, int... I>
ROPEWALK_INLINE void interleave(vec<T> x, vec<T> y, vec<T>& low, vec<T>& high,
                                std::integer_sequence<int, I...>) {
  constexpr int n = lanes<T>;
  low = __builtin_shufflevector(x, y, (I / 2 + (I % 2) * n)...);
  high = __builtin_shufflevector(x, y, (n / 2 + I / 2 + (I % 2) * n)...);
}

// lanes × lanes transpose in registers: log2(lanes) rounds of interleaving rows i and i + lanes/2.
template <class T>
ROPEWALK_INLINE void transpose_square(const T* from, long from_row, T* to, long to_row) {
  constexpr int n = lanes<T>;
  vec<T> r[n], s[n];
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) r[i] = load(from + i * from_row);
#pragma GCC unroll 4
  for (int round = 1; round < n; round *= 2) {
#pragma GCC unroll 8
    for (int i = 0; i < n / 2; ++i)
      interleave<T>(r[i], r[i + n / 2], s[2 * i], s[2 * i + 1],
                    std::make_integer_sequence<int, n>());
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i) r[i] = s[i];
  }
#pragma GCC unroll 16
  for (int i = 0; i < n; ++i) store(to + i * to_row, r[i]);
}

// to[p · tile_columns + j] = b(p, j) for p < k, j < columns; 0 for columns ≤ j < tile_columns.
template <class T>
static void pack_panel(const T* b, long row, long col, long k, long columns, T* to) {
  constexpr long width = tile_columns<T>, n = lanes<T>;
  if (columns < width) {
    for (long p = 0; p < k; ++p) {
      for (long j = 0; j < columns; ++j) to[p * width + j] = b[p * row + j * col];
      for (long j = columns; j < width; ++j) to[p * width + j] = T(0);
    }
  } else if (col == 1) {
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < tile_vectors; ++j)
        store(to + p * width + j * n, load(b + p * row + j * n));
  } else if (row == 1) {
    long p = 0;
    for (; p + n <= k; p += n)
      for (long j = 0; j < width; j += n)
        transpose_square(b + p + j * col, col, to + p * width + j, width);
    for (; p < k; ++p)
      for (long j = 0; j < width; ++j) to[p * width + j] = b[p + j * col];
  } else {
    for (long p = 0; p < k; ++p)
      for (long j = 0; j < width; ++j) to[p * width + j] = b[p * row + j * col];
  }
}

// to[i · a_stride + p] = a(i, p): the left operand of tiles that are not KMajor.
template <class T>
static void pack_rows(const T* a, long row, long col, long rows, long k, T* to) {
  constexpr long n = lanes<T>;
  for (long i = 0; i < rows; ++i, to += a_stride, a += row) {
    long p = 0;
    if (col == 1)
      for (; p + n <= k; p += n) store(to + p, load(a + p));
    for (; p < k; ++p) to[p] = a[p * col];
  }
}

// Row stride of a packed KMajor panel.
constexpr long k_major_stride = (tile_rows + 7) / 8 * 8;

// The tiles of `rows` rows, tile_room apart: to[tile][p · k_major_stride + i] = a[first + i + p ·
// col] where the tile's rows start at `first`. `readable`: how many elements of each column, from a
// on, may be read (at least rows). p outermost: a column is read once, from end to end.
template <class T>
static void pack_k_major(const T* a, long col, long rows, long readable, long k, T* to,
                         long tile_room) {
  constexpr long n = lanes<T>, reach = k_major_stride;
  const row_tiles tiles = tiles_of_rows(rows);
  // Tiles from which whole vectors may be read.
  long whole = 0;
  while (whole < tiles.count && reach % n == 0 && tiles.first(whole) + reach <= readable) ++whole;
  for (long p = 0; p < k; ++p, a += col, to += k_major_stride) {
    for (long t = 0; t < whole; ++t) {
      const T* from = a + tiles.first(t);
      for (long i = 0; i < reach; i += n) store(to + t * tile_room + i, load(from + i));
    }
    for (long t = whole; t < tiles.count; ++t)
      for (long i = tiles.first(t); i < tiles.end(t); ++i)
        to[t * tile_room + i - tiles.first(t)] = a[i];
  }
}

}  // namespace ropewalk::ROPEWALK_KERNELS
