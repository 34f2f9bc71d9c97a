// The one inner loop of matrix products and attention: a register tile of outer products.
#pragma once
#include <utility>

#include "vec.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

// Rows of a tile and vectors of a row. AVX-512: 14 × 2 accumulators, 2 of b, 1 broadcast of 32
// registers (97 % of peak in cache); 16 registers: 6 × 2, 2, 1 (AVX2: 98 %).
constexpr int tile_rows = vector_registers == 32 ? 14 : 6;
constexpr int tile_vectors = 2;
template <class T>
constexpr long tile_columns = tile_vectors * lanes<T>;

// Row stride of every packed left operand with contiguous k, in elements: a constant, so that the
// rows of a tile need one pointer; 25 cache lines (f32), so that rows do not share cache sets.
constexpr long a_stride = 400;
// The longest k of one packed left operand.
constexpr long k_block = 384;

// c [Rows, NV · lanes] = or += a · b over k steps. b [k, NV · lanes], rows ldb apart.
// A element (i, p) lies at a[i · a_stride + p], or, when KMajor, at a[p · lda + i].
// No unrolling over p: 97 % of peak without, 93 to 96 % with 2 or 4.
template <class T, int Rows, int NV, bool KMajor>
static void tile(long k, const T* a, long lda, const T* b, long ldb, T* c, long ldc, bool add) {
  vec<T> acc[Rows][NV];
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) acc[i][j] = vec<T>{};
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) __builtin_prefetch(c + i * ldc + j * lanes<T>, 1);
  for (long p = 0; p < k; ++p) {
    vec<T> bv[NV];
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) bv[j] = load(b + j * lanes<T>);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const vec<T> av = splat(KMajor ? a[i] : a[i * a_stride]);
#pragma GCC unroll 4
      for (int j = 0; j < NV; ++j) acc[i][j] += av * bv[j];
    }
    a += KMajor ? lda : 1;
    b += ldb;
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < NV; ++j) {
      T* at = c + i * ldc + j * lanes<T>;
      store(at, add ? load(at) + acc[i][j] : acc[i][j]);
    }
}

template <class T>
using tile_function = void (*)(long k, const T* a, long lda, const T* b, long ldb, T* c, long ldc,
                               bool add);

// The tiles of 1 to tile_rows rows.
template <class T, int NV, bool KMajor>
struct tiles_of {
  tile_function<T> rows[tile_rows];
  template <int... I>
  static constexpr tiles_of make(std::integer_sequence<int, I...>) {
    return {{&tile<T, I + 1, NV, KMajor>...}};
  }
};
template <class T, int NV, bool KMajor>
static constexpr tiles_of<T, NV, KMajor> tiles =
    tiles_of<T, NV, KMajor>::make(std::make_integer_sequence<int, tile_rows>());

template <class T>
ROPEWALK_INLINE tile_function<T> tile_for(long rows, long vectors, bool k_major) {
  return k_major ? (vectors == 1 ? tiles<T, 1, true>.rows : tiles<T, 2, true>.rows)[rows - 1]
                 : (vectors == 1 ? tiles<T, 1, false>.rows : tiles<T, 2, false>.rows)[rows - 1];
}

// Rows cut into tiles of one height (the last may be lower): 64 rows are 13, 13, 13, 13, 12.
struct row_tiles {
  long rows, height, count;
  long first(long t) const { return t * height; }
  long end(long t) const { return least((t + 1) * height, rows); }
};
ROPEWALK_INLINE row_tiles tiles_of_rows(long rows) {
  const long height = ceil_div(rows, greatest(1l, ceil_div(rows, long(tile_rows))));
  return {rows, height, rows == 0 ? 0 : ceil_div(rows, height)};
}

// Part i of [0, total) cut into `parts` nearly equal ranges starts here (and ends where i + 1
// starts).
ROPEWALK_INLINE long cut(long total, long parts, long i) { return total * i / parts; }

}  // namespace ropewalk::ROPEWALK_KERNELS
