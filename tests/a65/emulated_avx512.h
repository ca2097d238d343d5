// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX-512 for machines that lack it: SIMDe, and what its packaged version misses. Loads and stores
// with masks touch the chosen bytes only, so guard pages catch the others.
#pragma once

#define SIMDE_ENABLE_NATIVE_ALIASES
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <simde/x86/avx512.h>

using __mmask16 = std::uint16_t;
using __mmask32 = std::uint32_t;

inline void _mm512_stream_si512(__m512i* to, __m512i value) { simde_mm512_storeu_si512(to, value); }

namespace emulated {

/// Lanes of `lane_bytes` bytes that `mask` chooses, the others from `otherwise`.
template <class Vector>
Vector load_lanes(Vector otherwise, std::uint64_t mask, const void* from, std::size_t lane_bytes) {
  std::byte lanes[sizeof(Vector)];
  std::memcpy(lanes, &otherwise, sizeof lanes);
  for (std::size_t at = 0; at < sizeof lanes; at += lane_bytes, mask >>= 1)
    if ((mask & 1) != 0)
      std::memcpy(lanes + at, static_cast<const std::byte*>(from) + at, lane_bytes);
  Vector loaded;
  std::memcpy(&loaded, lanes, sizeof lanes);
  return loaded;
}

/// Lanes of `lane_bytes` bytes of `value` that `mask` chooses, the others of `otherwise`.
inline __m512i choose(__m512i otherwise, std::uint64_t mask, __m512i value,
                      std::size_t lane_bytes) {
  return load_lanes(otherwise, mask, &value, lane_bytes);
}

/// Copies quarter `number` of a vector.
inline void copy_quarter(std::byte* to, __m512i from, int number) {
  std::byte bytes[64];
  std::memcpy(bytes, &from, sizeof bytes);
  std::memcpy(to, bytes + 16 * number, 16);
}

template <class Vector>
void store_lanes(void* to, std::uint64_t mask, Vector value, std::size_t lane_bytes) {
  std::byte lanes[sizeof(Vector)];
  std::memcpy(lanes, &value, sizeof lanes);
  for (std::size_t at = 0; at < sizeof lanes; at += lane_bytes, mask >>= 1)
    if ((mask & 1) != 0)
      std::memcpy(static_cast<std::byte*>(to) + at, lanes + at, lane_bytes);
}

} // namespace emulated

inline __m512i _mm512_maskz_loadu_epi8(std::uint64_t mask, const void* from) {
  return emulated::load_lanes(simde_mm512_setzero_si512(), mask, from, 1);
}
inline __m512i _mm512_maskz_loadu_epi16(__mmask32 mask, const void* from) {
  return emulated::load_lanes(simde_mm512_setzero_si512(), mask, from, 2);
}
inline __m512i _mm512_maskz_loadu_epi32(__mmask16 mask, const void* from) {
  return emulated::load_lanes(simde_mm512_setzero_si512(), mask, from, 4);
}
inline __m256i _mm256_maskz_loadu_epi16(__mmask16 mask, const void* from) {
  return emulated::load_lanes(simde_mm256_setzero_si256(), mask, from, 2);
}
inline __m128i _mm_mask_loadu_epi8(__m128i otherwise, __mmask16 mask, const void* from) {
  return emulated::load_lanes(otherwise, mask, from, 1);
}
inline void _mm512_mask_storeu_epi8(void* to, std::uint64_t mask, __m512i value) {
  emulated::store_lanes(to, mask, value, 1);
}
inline void _mm512_mask_storeu_epi16(void* to, __mmask32 mask, __m512i value) {
  emulated::store_lanes(to, mask, value, 2);
}
inline void _mm512_mask_storeu_epi32(void* to, __mmask16 mask, __m512i value) {
  emulated::store_lanes(to, mask, value, 4);
}
inline void _mm_mask_storeu_epi8(void* to, __mmask16 mask, __m128i value) {
  emulated::store_lanes(to, mask, value, 1);
}
inline __m512i _mm512_cvtepu16_epi32(__m256i value) {
  std::uint16_t narrow[16];
  std::uint32_t wide[16];
  std::memcpy(narrow, &value, sizeof narrow);
  for (std::size_t i = 0; i < 16; ++i)
    wide[i] = narrow[i];
  __m512i made;
  std::memcpy(&made, wide, sizeof wide);
  return made;
}
inline __mmask32 _mm512_testn_epi16_mask(__m512i first, __m512i second) {
  return ~simde_mm512_test_epi16_mask(first, second);
}
inline __m512i _mm512_mask_sub_epi16(__m512i otherwise, __mmask32 mask, __m512i from,
                                     __m512i value) {
  return emulated::choose(otherwise, mask, simde_mm512_sub_epi16(from, value), 2);
}
inline __m512i _mm512_shuffle_i64x2(__m512i first, __m512i second, int quarters) {
  std::byte made[64];
  for (int quarter = 0; quarter < 4; ++quarter)
    emulated::copy_quarter(made + 16 * quarter, quarter < 2 ? first : second,
                           quarters >> 2 * quarter & 3);
  __m512i vector;
  std::memcpy(&vector, made, sizeof made);
  return vector;
}
inline __m512i _mm512_mask_shuffle_i64x2(__m512i otherwise, std::uint8_t mask, __m512i first,
                                         __m512i second, int quarters) {
  return emulated::choose(otherwise, mask, _mm512_shuffle_i64x2(first, second, quarters), 8);
}
inline __m512i _mm512_mask_alignr_epi64(__m512i otherwise, std::uint8_t mask, __m512i upper,
                                        __m512i lower, int lanes) {
  std::byte both[128];
  std::memcpy(both, &lower, 64);
  std::memcpy(both + 64, &upper, 64);
  __m512i vector;
  std::memcpy(&vector, both + 8 * lanes, sizeof vector);
  return emulated::choose(otherwise, mask, vector, 8);
}
