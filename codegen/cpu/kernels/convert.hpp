// Rows of stored elements (f64, f32, f16, bf16) as rows of the type T that a kernel computes in,
// and back, rounded to nearest, ties to even. f16 and bf16 pass through f32.
#pragma once
#include <ropewalk/core/dtype.hpp>

#include "vec.hpp"

namespace ropewalk::ROPEWALK_KERNELS {

struct f16_bits {
  std::uint16_t bits;
};
struct bf16_bits {
  std::uint16_t bits;
};

template <class T>
constexpr dtype dtype_of = sizeof(T) == 4 ? dtype::f32 : dtype::f64;

ROPEWALK_INLINE long element_size(dtype type) {
  return type == dtype::f64 ? 8 : type == dtype::f32 ? 4 : 2;
}

// n elements of S, whatever size they make together.
template <class S, int N>
struct group_of {
  using type __attribute__((vector_size(sizeof(S) * N))) = S;
};
template <class S, int N>
using group = typename group_of<S, N>::type;

// The floats of n f16s. Subnormal ones from integers: as f32 subnormals they would cost a hundred
// cycles each.
template <int n>
ROPEWALK_INLINE group<float, n> f16_to_floats(group<std::uint32_t, n> w) {
  using words = group<std::uint32_t, n>;
  using floats = group<float, n>;
  const words sign = (w & 0x8000u) << 16, size = w & 0x7FFFu, body = size << 13;
  const floats small =
      __builtin_convertvector(reinterpret_cast<group<std::int32_t, n>>(size), floats) * 0x1p-24f;
  const words normal = size >= 0x7C00u ? body | 0x7F800000u : body + 0x38000000u;
  return reinterpret_cast<floats>((size < 0x400u ? reinterpret_cast<words>(small) : normal) | sign);
}

template <class T, class S>
ROPEWALK_INLINE vec<T> load_as(const S* p) {
  constexpr int n = lanes<T>;
  if constexpr (std::is_same_v<S, float> || std::is_same_v<S, double>) {
    group<S, n> v;
    __builtin_memcpy(&v, p, sizeof v);
    return __builtin_convertvector(v, vec<T>);
  } else {
    group<std::uint16_t, n> v;
    __builtin_memcpy(&v, p, sizeof v);
#ifdef __AVX512F__
    if constexpr (std::is_same_v<S, f16_bits> && n == 16)
      return __builtin_ia32_vcvtph2ps512_mask(reinterpret_cast<group<short, n>>(v), vec<T>{},
                                              0xFFFF, 4);
#endif
    using words = group<std::uint32_t, n>;
    using floats = group<float, n>;
    const words w = __builtin_convertvector(v, words);
    if constexpr (std::is_same_v<S, bf16_bits>)
      return __builtin_convertvector(reinterpret_cast<floats>(w << 16), vec<T>);
    else
      return __builtin_convertvector(f16_to_floats<n>(w), vec<T>);
  }
}

template <class T, class S>
ROPEWALK_INLINE void store_as(S* p, vec<T> x) {
  constexpr int n = lanes<T>;
  if constexpr (std::is_same_v<S, float> || std::is_same_v<S, double>) {
    const group<S, n> v = __builtin_convertvector(x, group<S, n>);
    __builtin_memcpy(p, &v, sizeof v);
  } else {
    using words = group<std::uint32_t, n>;
    using floats = group<float, n>;
    const words w = reinterpret_cast<words>(__builtin_convertvector(x, floats));
    const words size = w & 0x7FFFFFFFu, sign = (w >> 16) & 0x8000u;
    words r;
    if constexpr (std::is_same_v<S, bf16_bits>) {
      r = size > 0x7F800000u ? (w >> 16) | 0x40u : (w + 0x7FFFu + ((w >> 16) & 1u)) >> 16;
    } else {
      // Normal results: rebias and round the 13 bits that go. Subnormal ones: adding 0.5 rounds.
      const words normal = (size - 0x38000000u + 0xFFFu + ((size >> 13) & 1u)) >> 13;
      const floats shifted = reinterpret_cast<floats>(size) + 0.5f;
      const words small = reinterpret_cast<words>(shifted) - 0x3F000000u;
      const words infinite = words{} + 0x7C00u, nan = words{} + 0x7E00u;
      const words finite = size < 0x38800000u ? small : normal;
      r = (size > 0x7F800000u ? nan : size >= 0x477FF000u ? infinite : finite) | sign;
    }
    const group<std::uint16_t, n> v = __builtin_convertvector(r, group<std::uint16_t, n>);
    __builtin_memcpy(p, &v, sizeof v);
  }
}

// f(pointer to the elements) with their type.
template <class F>
ROPEWALK_INLINE void with_type(const void* p, dtype type, F f) {
  if (type == dtype::f32) return f(static_cast<const float*>(p));
  if (type == dtype::f64) return f(static_cast<const double*>(p));
  if (type == dtype::f16) return f(static_cast<const f16_bits*>(p));
  return f(static_cast<const bf16_bits*>(p));
}

// to[d] = from[d] for d < n; 0 from there to the end of the last vector. `to` may lie anywhere.
template <class T, class S>
ROPEWALK_INLINE void read_elements(const S* from, long n, T* to) {
  long d = 0;
  for (; d + lanes<T> <= n; d += lanes<T>) store(to + d, load_as<T>(from + d));
  if (d == n) return;
  if constexpr (std::is_same_v<S, float> || std::is_same_v<S, double>) {
    const long end = d + lanes<T>;
    for (; d < n; ++d) to[d] = static_cast<T>(from[d]);
    for (; d < end; ++d) to[d] = T(0);
  } else {
    S room[lanes<T>] = {};
    __builtin_memcpy(room, from + d, static_cast<std::size_t>(n - d) * sizeof(S));
    store(to + d, load_as<T>(room));
  }
}
template <class T>
static void read_row(const void* from, dtype type, long n, T* to) {
  with_type(from, type, [&](auto* x) __attribute__((always_inline)) { read_elements(x, n, to); });
}

// One element.
template <class T, class S>
ROPEWALK_INLINE T element_as(const S* p) {
  if constexpr (std::is_same_v<S, float> || std::is_same_v<S, double>) return static_cast<T>(*p);
  T to[lanes<T>];
  read_elements(p, 1, to);
  return to[0];
}

// to[d] = from[d] · by for d < n; from may be read to the end of its last vector.
template <class T>
static void write_row(const T* from, long n, T by, void* to, dtype type) {
  with_type(to, type, [&](auto* y) __attribute__((always_inline)) {
    using S = std::remove_cvref_t<decltype(*y)>;
    S* const x = const_cast<S*>(y);
    long d = 0;
    for (; d + lanes<T> <= n; d += lanes<T>) store_as<T>(x + d, load(from + d) * by);
    if (d == n) return;
    S room[lanes<T>];
    store_as<T>(room, load(from + d) * by);
    __builtin_memcpy(x + d, room, static_cast<std::size_t>(n - d) * sizeof *x);
  });
}

}  // namespace ropewalk::ROPEWALK_KERNELS
