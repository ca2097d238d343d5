// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX2: the target of this file's functions, and the rescale. Include it behind all other headers.
#pragma once

#include <immintrin.h>

#include "matrix/backends.h"
#include "matrix/simd/requant_bounds.h"

// Attributes instead of -mavx2: inline functions of headers above stay fit for every machine.
#define SIMAAI_AVX2 __attribute__((target("avx2")))

namespace simaai::kernels::matrix::detail {
namespace {

/// The rescale of eight accumulators at a time; the shift is at least 1.
class Avx2Rescale {
public:
  SIMAAI_AVX2 explicit Avx2Rescale(const Requant& requant) noexcept
      : multiplier_(_mm256_set1_epi64x(requant.multiplier())),
        half_(_mm256_set1_epi64x(std::int64_t{1} << (requant.shift() - 1))),
        wide_(requant.shift() >= 32),
        count_(_mm_cvtsi32_si128(static_cast<int>(requant.shift() % 32))) {
    const RequantBounds bounds = requant_bounds(requant);
    least_ = _mm256_set1_epi32(bounds.least);
    greatest_ = _mm256_set1_epi32(bounds.greatest);
  }

  /// Scaled values, before saturation; they fit 32 bits because the accumulators were clamped.
  [[nodiscard]] SIMAAI_AVX2 __m256i scale(__m256i acc) const noexcept {
    acc = _mm256_min_epi32(_mm256_max_epi32(acc, least_), greatest_);
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(acc, multiplier_), half_);
    const __m256i odd =
        _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(acc, 32), multiplier_), half_);
    if (wide_) // bits 32-63 hold the value and `count_` bits below it
      return _mm256_sra_epi32(_mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA), count_);
    return _mm256_blend_epi32(_mm256_srl_epi64(even, count_),
                              _mm256_slli_epi64(_mm256_srl_epi64(odd, count_), 32), 0xAA);
  }

private:
  __m256i multiplier_;
  __m256i half_;
  bool wide_;
  __m128i count_;
  __m256i least_;
  __m256i greatest_;
};

SIMAAI_AVX2 inline __m256i load8(const std::int32_t* src) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
}

/// Saturates 32 scaled values to bytes, in order.
SIMAAI_AVX2 inline void store32(std::int8_t* dst, __m256i a, __m256i b, __m256i c,
                                __m256i d) noexcept {
  // The packs work inside 128-bit lanes: dwords come out as 0 2 4 6 1 3 5 7.
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  const __m256i ordered =
      _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst), ordered);
}

SIMAAI_AVX2 inline void store8(std::int8_t* dst, __m256i values) noexcept {
  const __m128i words =
      _mm_packs_epi32(_mm256_castsi256_si128(values), _mm256_extracti128_si256(values, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(dst), _mm_packs_epi16(words, words));
}

SIMAAI_AVX2 inline void rescale_avx2(const std::int32_t* src, std::size_t count,
                                     const Requant& requant, std::int8_t* dst) noexcept {
  std::size_t n = 0;
  if (requant.shift() > 0 && count >= 8) {
    const Avx2Rescale rescale(requant);
    for (; n + 32 <= count; n += 32)
      store32(dst + n, rescale.scale(load8(src + n)), rescale.scale(load8(src + n + 8)),
              rescale.scale(load8(src + n + 16)), rescale.scale(load8(src + n + 24)));
    for (; n + 8 <= count; n += 8)
      store8(dst + n, rescale.scale(load8(src + n)));
  }
  for (; n < count; ++n)
    dst[n] = requant.requantize(src[n]);
}

/// Writes completed sums to adjacent outputs.
SIMAAI_AVX2 inline void emit_avx2(const PlainOutput& out, std::size_t offset,
                                  const std::int32_t* sums, std::size_t count) noexcept {
  if (out.requant != nullptr)
    return rescale_avx2(sums, count, *out.requant, out.elements + offset);
  std::size_t n = 0;
  for (; n + 8 <= count; n += 8)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out.sums + offset + n), load8(sums + n));
  for (; n < count; ++n)
    out.sums[offset + n] = sums[n];
}

} // namespace
} // namespace simaai::kernels::matrix::detail
