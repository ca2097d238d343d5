// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX-512: the target of the files that include this, and the rescale. Include it behind all other
// headers.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "matrix/backends.h"
#include "matrix/simd/avx512.h"
#include "matrix/simd/requant_bounds.h"

#if defined(SIMAAI_MATRIX_EMULATED)
#define SIMAAI_VNNI
#define SIMAAI_AMX
#else
#define SIMAAI_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#define SIMAAI_AMX                                                                                 \
  __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni,avx512vbmi,amx-tile,amx-int8")))
#endif

namespace simaai::kernels::matrix::detail {
namespace {

/// The rescale of sixteen accumulators at a time. See avx2_rescale.h.
class Avx512Rescale {
public:
  SIMAAI_VNNI explicit Avx512Rescale(const HighRequant& high) noexcept
      : multiplier_(_mm512_set1_epi64(high.multiplier)), half_(_mm512_set1_epi32(high.half)),
        count_(_mm_cvtsi32_si128(high.shift)) {}

  [[nodiscard]] SIMAAI_VNNI __m512i scale(__m512i acc) const noexcept {
    // The high halves of the even lanes' products move down into those of the odd lanes.
    constexpr std::int32_t kLanes[16] = {1, 17, 3, 19, 5, 21, 7, 23, 9, 25, 11, 27, 13, 29, 15, 31};
    const __m512i even = _mm512_mul_epi32(acc, multiplier_);
    const __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(acc, 32), multiplier_);
    const __m512i high = _mm512_permutex2var_epi32(even, _mm512_loadu_si512(kLanes), odd);
    return _mm512_sra_epi32(_mm512_add_epi32(high, half_), count_);
  }

private:
  __m512i multiplier_;
  __m512i half_;
  __m128i count_;
};

/// The same where the high half alone does not hold the result; the shift is at least 1.
class Avx512WideRescale {
public:
  Avx512WideRescale() = default; ///< for later assignment
  SIMAAI_VNNI explicit Avx512WideRescale(const Requant& requant) noexcept
      : multiplier_(_mm512_set1_epi64(requant.multiplier())),
        half_(_mm512_set1_epi64(std::int64_t{1} << (requant.shift() - 1))),
        count_(_mm_cvtsi32_si128(static_cast<int>(requant.shift()))) {
    const RequantBounds bounds = requant_bounds(requant);
    least_ = _mm512_set1_epi32(bounds.least);
    greatest_ = _mm512_set1_epi32(bounds.greatest);
  }

  [[nodiscard]] SIMAAI_VNNI __m512i scale(__m512i acc) const noexcept {
    acc = _mm512_min_epi32(_mm512_max_epi32(acc, least_), greatest_);
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(acc, multiplier_), half_);
    const __m512i odd =
        _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(acc, 32), multiplier_), half_);
    return _mm512_mask_blend_epi32(0xAAAA, _mm512_srl_epi64(even, count_),
                                   _mm512_slli_epi64(_mm512_srl_epi64(odd, count_), 32));
  }

private:
  __m512i multiplier_{};
  __m512i half_{};
  __m128i count_{};
  __m512i least_{};
  __m512i greatest_{};
};

/// Rescales whole vectors and says how many elements that were.
template <class Rescale>
SIMAAI_VNNI std::size_t rescale_vectors(const Rescale& rescale, const std::int32_t* src,
                                        std::size_t count, std::int8_t* dst) noexcept {
  std::size_t n = 0;
  for (; n + 16 <= count; n += 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + n),
                     _mm512_cvtsepi32_epi8(rescale.scale(_mm512_loadu_si512(src + n))));
  return n;
}

/// Rescales two rows of 32 adjacent sums each. Saturating to 16 bits before is no difference.
template <class Rescale>
SIMAAI_VNNI inline void rescale_two_rows(const Rescale& rescale,
                                         const std::int32_t* const (&src)[2],
                                         std::int8_t* const (&dst)[2]) noexcept {
  // Packing works inside 128-bit lanes, four bytes from each of the four vectors.
  constexpr std::int32_t kOrder[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  __m512i halves[2];
#pragma GCC unroll 2
  for (int row = 0; row < 2; ++row)
    halves[row] = _mm512_packs_epi32(rescale.scale(_mm512_loadu_si512(src[row])),
                                     rescale.scale(_mm512_loadu_si512(src[row] + 16)));
  const __m512i bytes = _mm512_permutexvar_epi32(_mm512_loadu_si512(kOrder),
                                                 _mm512_packs_epi16(halves[0], halves[1]));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst[0]), _mm512_castsi512_si256(bytes));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst[1]), _mm512_extracti64x4_epi64(bytes, 1));
}

SIMAAI_VNNI inline void rescale_avx512(const std::int32_t* src, std::size_t count,
                                       const Requant& requant, std::int8_t* dst) noexcept {
  std::size_t n = 0;
  if (count >= 16) {
    if (const HighRequant high = high_requant(requant); high.exact)
      n = rescale_vectors(Avx512Rescale(high), src, count, dst);
    else if (requant.shift() > 0)
      n = rescale_vectors(Avx512WideRescale(requant), src, count, dst);
  }
  for (; n < count; ++n)
    dst[n] = requant.requantize(src[n]);
}

} // namespace
} // namespace simaai::kernels::matrix::detail
