// Products of few rows with a matrix that is contiguous along k: dot products, nothing packed.
#pragma once
#include "vec.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

// c [Rows, Columns] = or += a · bᵀ. a [Rows, k], b [Columns, k], both contiguous along k.
template <class T, int Rows, int Columns>
static void dot_tile(long k, const T* a, long lda, const T* b, long ldb, T* c, long ldc, bool add) {
  vec<T> acc[Rows][Columns] = {};
  long p = 0;
  for (; p + lanes<T> <= k; p += lanes<T>) {
    vec<T> bv[Columns];
#pragma GCC unroll 4
    for (int j = 0; j < Columns; ++j) bv[j] = load(b + j * ldb + p);
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) {
      const vec<T> av = load(a + i * lda + p);
#pragma GCC unroll 4
      for (int j = 0; j < Columns; ++j) acc[i][j] += av * bv[j];
    }
  }
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < Columns; ++j) {
      T sum = lane_sum<T>(acc[i][j]);
      for (long q = p; q < k; ++q) sum += a[i * lda + q] * b[j * ldb + q];
      T& at = c[i * ldc + j];
      at = add ? at + sum : sum;
    }
}

// The same for any number of rows and columns, by tiles of at most 4 × 4.
template <class T>
static void dot_rows(long rows, long columns, long k, const T* a, long lda, const T* b, long ldb,
                     T* c, long ldc, bool add) {
  using function = void (*)(long, const T*, long, const T*, long, T*, long, bool);
  static constexpr function tiles[4][2] = {{dot_tile<T, 1, 1>, dot_tile<T, 1, 4>},
                                           {dot_tile<T, 2, 1>, dot_tile<T, 2, 4>},
                                           {dot_tile<T, 3, 1>, dot_tile<T, 3, 4>},
                                           {dot_tile<T, 4, 1>, dot_tile<T, 4, 4>}};
  for (long j = 0, width; j < columns; j += width) {
    width = j + 4 <= columns ? 4 : 1;
    for (long i = 0, height; i < rows; i += height) {
      height = least(4l, rows - i);
      tiles[height - 1][width == 4](k, a + i * lda, lda, b + j * ldb, ldb, c + i * ldc + j, ldc,
                                    add);
    }
  }
}

}  // namespace ropewalk::ROPEWALK_KERNELS
