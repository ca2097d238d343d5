// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX2 building blocks for strided data: square transpositions and every-second-scalar loads.
// Include it in files built with -mavx2 only.
#pragma once

#include <cstddef>
#include <cstdint>

#include <immintrin.h>

#include "a65/simd/lanes_avx2.h"

namespace simaai::kernels::a65::detail::avx2 {

/// One step of a transposition: every pair of neighbours becomes its low and its high interleaving.
/// Both 128-bit lanes are transposed on their own.
template <std::size_t kScalarBytes>
inline void interleave(__m256i first, __m256i second, __m256i* low, __m256i* high) noexcept {
  if constexpr (kScalarBytes == 1) {
    *low = _mm256_unpacklo_epi8(first, second);
    *high = _mm256_unpackhi_epi8(first, second);
  } else {
    *low = _mm256_unpacklo_epi16(first, second);
    *high = _mm256_unpackhi_epi16(first, second);
  }
}

/// Transposes, in each 128-bit lane, the square matrix whose row r is `rows[r]`: sixteen rows of
/// bytes or eight rows of 16-bit scalars. Row r meets row r + kRows / 2 in each of the log2(kRows)
/// steps, which moves one bit of the row number into the column number a step.
template <std::size_t kScalarBytes> inline void transpose_lanes(__m256i* rows) noexcept {
  constexpr std::size_t kRows = 16 / kScalarBytes;
  __m256i other[kRows];
  __m256i* from = rows;
  __m256i* to = other;
#pragma GCC unroll 4
  for (std::size_t step = 1; step < kRows; step *= 2) {
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kRows / 2; ++r)
      interleave<kScalarBytes>(from[r], from[r + kRows / 2], &to[2 * r], &to[2 * r + 1]);
    __m256i* const done = from;
    from = to;
    to = done;
  }
  if constexpr (kScalarBytes == 2) { // an odd number of steps ends in the other array
#pragma GCC unroll 8
    for (std::size_t r = 0; r < kRows; ++r)
      rows[r] = other[r];
  }
}

/// Every second scalar of 2 * count - 1 consecutive ones. Reads end with the last scalar wanted: the
/// second vector starts one scalar early and its odd places are taken.
[[nodiscard]] inline __m256i load_8_of_16x32(const std::byte* from) noexcept {
  const __m256 first = _mm256_castsi256_ps(load_256(from));
  const __m256 second = _mm256_castsi256_ps(load_256(from + 28));
  const __m256 mixed = _mm256_shuffle_ps(first, second, _MM_SHUFFLE(3, 1, 2, 0));
  return _mm256_permute4x64_epi64(_mm256_castps_si256(mixed), 0xd8);
}

[[nodiscard]] inline __m256i load_16_of_32x16(const std::byte* from) noexcept {
  const __m256i first = _mm256_and_si256(load_256(from), _mm256_set1_epi32(0xffff));
  const __m256i second = _mm256_srli_epi32(load_256(from + 30), 16);
  return narrow_32(first, second);
}

[[nodiscard]] inline __m128i load_16_of_32x8(const std::byte* from) noexcept {
  const __m128i first = _mm_and_si128(load_128(from), _mm_set1_epi16(0x00ff));
  return _mm_packus_epi16(first, _mm_srli_epi16(load_128(from + 15), 8));
}

} // namespace simaai::kernels::a65::detail::avx2
