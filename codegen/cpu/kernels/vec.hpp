// Vectors of the instruction set this file is compiled for, and the functions on them.
//
// Every kernel source is compiled once per instruction set, inside the namespace named by
// ROPEWALK_KERNELS. Nothing here or in the kernels may call an inline function of a shared header:
// the linker would keep one copy of it for the whole program, perhaps the AVX-512 one. So this
// includes no standard header but those of plain types and integer_sequence, and everything lives
// in that namespace.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#ifndef ROPEWALK_KERNELS
#error "ROPEWALK_KERNELS names the namespace of this instruction set; CMake sets it"
#endif
#define ROPEWALK_INLINE static inline __attribute__((always_inline))

namespace ropewalk::ROPEWALK_KERNELS {

#if defined(__AVX512F__)
constexpr int vector_bytes = 64, vector_registers = 32;
#elif defined(__AVX__)
constexpr int vector_bytes = 32, vector_registers = 16;
#else
constexpr int vector_bytes = 16, vector_registers = 16;
#endif

template <class T>
struct vec_of {
  using type __attribute__((vector_size(vector_bytes))) = T;
};
template <class T>
using vec = typename vec_of<T>::type;
template <class T>
constexpr int lanes = vector_bytes / static_cast<int>(sizeof(T));

// The integer of a float's size, for its bits and for comparison results.
template <class T>
struct bits_of;
template <>
struct bits_of<float> {
  using type = std::int32_t;
};
template <>
struct bits_of<double> {
  using type = std::int64_t;
};
template <class T>
using ivec = vec<typename bits_of<T>::type>;

template <class T>
ROPEWALK_INLINE T least(T a, T b) {
  return b < a ? b : a;
}
template <class T>
ROPEWALK_INLINE T greatest(T a, T b) {
  return a < b ? b : a;
}
ROPEWALK_INLINE long ceil_div(long a, long b) { return (a + b - 1) / b; }
ROPEWALK_INLINE long round_up(long a, long b) { return ceil_div(a, b) * b; }

template <class T>
ROPEWALK_INLINE vec<T> load(const T* p) {
  vec<T> v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class T>
ROPEWALK_INLINE void store(T* p, vec<T> v) {
  __builtin_memcpy(p, &v, sizeof v);
}
template <class T>
ROPEWALK_INLINE vec<T> splat(T x) {
  return x - vec<T>{};  // x − 0 is x and costs nothing; 0 + x is not x for −0, and is computed
}
template <class T>
ROPEWALK_INLINE vec<T> choose(ivec<T> mask, vec<T> a, vec<T> b) {
  return mask ? a : b;
}

// Every lane = the fold of all lanes by op, in a fixed tree: halves, quarters, …
template <int Shift, class T, class Op, int... I>
ROPEWALK_INLINE vec<T> fold_step(vec<T> v, Op op, std::integer_sequence<int, I...> lane) {
  v = op(v, __builtin_shufflevector(v, v, (I ^ Shift)...));
  if constexpr (Shift > 1) return fold_step<Shift / 2, T>(v, op, lane);
  return v;
}
template <class T, class Op>
ROPEWALK_INLINE T fold(vec<T> v, Op op) {
  return fold_step<lanes<T> / 2, T>(v, op, std::make_integer_sequence<int, lanes<T>>())[0];
}
template <class T>
ROPEWALK_INLINE T lane_sum(vec<T> v) {
  return fold<T>(v, [](vec<T> a, vec<T> b) __attribute__((always_inline)) { return a + b; });
}
template <class T>
ROPEWALK_INLINE T lane_max(vec<T> v) {
  return fold<T>(
      v, [](vec<T> a, vec<T> b) __attribute__((always_inline)) { return choose<T>(a > b, a, b); });
}

// True in the first n lanes.
template <class T>
ROPEWALK_INLINE ivec<T> first_lanes(long n) {
  using I = typename bits_of<T>::type;
  static constexpr I index[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  return load(index) < static_cast<I>(n < lanes<T> ? n : lanes<T>);
}

}  // namespace ropewalk::ROPEWALK_KERNELS
