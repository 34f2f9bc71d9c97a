// Chains of fused multiply-adds on registers: 24 (AVX2: 12) hide the latency of two units.
#include "peak.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace {

// x · 0.999 + 0.001 stays near 1: no subnormal, no overflow. The empty asm keeps every step.
__attribute__((target("avx512f"))) void chains_512(long rounds) {
  __m512 acc[24];
  const __m512 x = _mm512_set1_ps(0.999f), y = _mm512_set1_ps(0.001f);
#pragma GCC unroll 24
  for (auto& a : acc) a = y;
  for (long r = 0; r < rounds; ++r)
#pragma GCC unroll 24
    for (auto& a : acc) {
      a = _mm512_fmadd_ps(a, x, y);
      asm volatile("" : "+v"(a));
    }
}

__attribute__((target("avx2,fma"))) void chains_256(long rounds) {
  __m256 acc[12];
  const __m256 x = _mm256_set1_ps(0.999f), y = _mm256_set1_ps(0.001f);
#pragma GCC unroll 12
  for (auto& a : acc) a = y;
  for (long r = 0; r < rounds; ++r)
#pragma GCC unroll 12
    for (auto& a : acc) {
      a = _mm256_fmadd_ps(a, x, y);
      asm volatile("" : "+x"(a));
    }
}

}  // namespace
#endif

double bench::multiply_adds([[maybe_unused]] ropewalk::isa set, [[maybe_unused]] long rounds) {
#if defined(__x86_64__)
  if (set == ropewalk::isa::avx512) {
    chains_512(rounds);
    return double(rounds) * 24 * 16 * 2;
  }
  if (set == ropewalk::isa::avx2) {
    chains_256(rounds);
    return double(rounds) * 12 * 8 * 2;
  }
#endif
  return 0;
}
