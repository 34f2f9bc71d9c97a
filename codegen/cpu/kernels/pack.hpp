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

// to[p · k_major_stride + i] = a[i + p · col] for i < rows ≤ tile_rows. `readable`: how many
// elements from a on may be read in each column (at least rows).
template <class T>
static void pack_k_major(const T* a, long col, long rows, long readable, long k, T* to) {
  constexpr long n = lanes<T>, reach = (k_major_stride + n - 1) / n * n;
  if (reach == k_major_stride && readable >= reach) {
    for (long p = 0; p < k; ++p)
      for (long i = 0; i < reach; i += n) store(to + p * k_major_stride + i, load(a + p * col + i));
  } else {
    for (long p = 0; p < k; ++p)
      for (long i = 0; i < rows; ++i) to[p * k_major_stride + i] = a[i + p * col];
  }
}

}  // namespace ropewalk::ROPEWALK_KERNELS
