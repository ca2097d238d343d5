// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX-512 for machines that lack it: SIMDe, and the few intrinsics that its packaged version misses.
#pragma once

#include <cstdint>

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx512.h>

inline __m512i _mm512_sra_epi32(__m512i values, __m128i count) {
  std::int32_t lanes[16];
  simde_mm512_storeu_si512(lanes, values);
  for (std::int32_t& lane : lanes)
    lane >>= simde_mm_cvtsi128_si32(count);
  return simde_mm512_loadu_si512(lanes);
}

enum { _MM_PERM_DDBB = 0xF5 };
inline __m512i _mm512_mask_shuffle_epi32(__m512i others, std::uint16_t mask, __m512i values,
                                         int order) {
  std::int32_t lanes[16];
  std::int32_t from[16];
  simde_mm512_storeu_si512(lanes, others);
  simde_mm512_storeu_si512(from, values);
  for (int n = 0; n < 16; ++n)
    if ((mask >> n & 1) != 0)
      lanes[n] = from[n / 4 * 4 + (order >> n % 4 * 2 & 3)];
  return simde_mm512_loadu_si512(lanes);
}

inline __m512i _mm512_mask_loadu_epi8(__m512i others, std::uint64_t mask, const void* src) {
  std::int8_t lanes[64];
  simde_mm512_storeu_si512(lanes, others);
  for (unsigned n = 0; n < 64; ++n)
    if ((mask >> n & 1) != 0)
      lanes[n] = static_cast<const std::int8_t*>(src)[n];
  return simde_mm512_loadu_si512(lanes);
}

inline __m512i _mm512_maskz_loadu_epi8(std::uint64_t mask, const void* src) {
  return _mm512_mask_loadu_epi8(simde_mm512_setzero_si512(), mask, src);
}

inline void _mm512_mask_storeu_epi32(void* dst, std::uint16_t mask, __m512i values) {
  std::int32_t lanes[16];
  simde_mm512_storeu_si512(lanes, values);
  for (unsigned n = 0; n < 16; ++n)
    if ((mask >> n & 1) != 0)
      static_cast<std::int32_t*>(dst)[n] = lanes[n];
}

inline std::int32_t _mm512_reduce_add_epi32(__m512i values) {
  std::int32_t lanes[16];
  simde_mm512_storeu_si512(lanes, values);
  std::int32_t sum = 0;
  for (const std::int32_t lane : lanes)
    sum += lane;
  return sum;
}
