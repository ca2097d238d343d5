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

/// The rescale of eight accumulators at a time.
class Avx2Rescale {
public:
  SIMAAI_AVX2 explicit Avx2Rescale(const HighRequant& high) noexcept
      : multiplier_(_mm256_set1_epi64x(high.multiplier)), half_(_mm256_set1_epi32(high.half)),
        count_(_mm_cvtsi32_si128(high.shift)) {}

  /// The middle two of each four values are exchanged.
  static constexpr bool kExchanged = true;

  /// Scaled values, before saturation.
  [[nodiscard]] SIMAAI_AVX2 __m256i scale(__m256i acc) const noexcept {
    const __m256 even = _mm256_castsi256_ps(_mm256_mul_epi32(acc, multiplier_));
    const __m256 odd =
        _mm256_castsi256_ps(_mm256_mul_epi32(_mm256_srli_epi64(acc, 32), multiplier_));
    // Bits 32-63 of the products of values 0, 2, 1, 3.
    const __m256i high = _mm256_castps_si256(_mm256_shuffle_ps(even, odd, 0xDD));
    return _mm256_sra_epi32(_mm256_add_epi32(high, half_), count_);
  }

private:
  __m256i multiplier_;
  __m256i half_;
  __m128i count_;
};

/// The same where the high half alone does not hold the result; the shift is at least 1.
class Avx2WideRescale {
public:
  SIMAAI_AVX2 explicit Avx2WideRescale(const Requant& requant) noexcept
      : multiplier_(_mm256_set1_epi64x(requant.multiplier())),
        half_(_mm256_set1_epi64x(std::int64_t{1} << (requant.shift() - 1))),
        count_(_mm_cvtsi32_si128(static_cast<int>(requant.shift()))) {
    const RequantBounds bounds = requant_bounds(requant);
    least_ = _mm256_set1_epi32(bounds.least);
    greatest_ = _mm256_set1_epi32(bounds.greatest);
  }

  static constexpr bool kExchanged = false;

  /// They fit 32 bits because the accumulators were clamped.
  [[nodiscard]] SIMAAI_AVX2 __m256i scale(__m256i acc) const noexcept {
    acc = _mm256_min_epi32(_mm256_max_epi32(acc, least_), greatest_);
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(acc, multiplier_), half_);
    const __m256i odd =
        _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(acc, 32), multiplier_), half_);
    return _mm256_blend_epi32(_mm256_srl_epi64(even, count_),
                              _mm256_slli_epi64(_mm256_srl_epi64(odd, count_), 32), 0xAA);
  }

private:
  __m256i multiplier_;
  __m256i half_;
  __m128i count_;
  __m256i least_;
  __m256i greatest_;
};

SIMAAI_AVX2 inline __m256i load8(const std::int32_t* src) noexcept {
  return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
}

/// Bytes 1 and 2 of each four, exchanged where the rescale left them so.
template <bool Exchanged> SIMAAI_AVX2 inline __m256i in_order(__m256i bytes) noexcept {
  if constexpr (!Exchanged)
    return bytes;
  const __m128i order = _mm_setr_epi8(0, 2, 1, 3, 4, 6, 5, 7, 8, 10, 9, 11, 12, 14, 13, 15);
  return _mm256_shuffle_epi8(bytes, _mm256_broadcastsi128_si256(order));
}

/// Saturates 32 scaled values to bytes.
template <bool Exchanged>
SIMAAI_AVX2 inline void store32(std::int8_t* dst, __m256i a, __m256i b, __m256i c,
                                __m256i d) noexcept {
  // The packs work inside 128-bit lanes: dwords come out as 0 2 4 6 1 3 5 7.
  const __m256i bytes = _mm256_packs_epi16(_mm256_packs_epi32(a, b), _mm256_packs_epi32(c, d));
  const __m256i ordered = _mm256_permutevar8x32_epi32(in_order<Exchanged>(bytes),
                                                      _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst), ordered);
}

template <bool Exchanged>
SIMAAI_AVX2 inline void store8(std::int8_t* dst, __m256i values) noexcept {
  const __m256i words = _mm256_packs_epi32(values, values); // 0-3 and 4-7 at the ends of lanes
  const __m256i bytes = in_order<Exchanged>(_mm256_packs_epi16(words, words));
  const __m128i ordered =
      _mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1));
  _mm_storel_epi64(reinterpret_cast<__m128i*>(dst), ordered);
}

/// Rescales whole vectors and says how many elements that were.
template <class Rescale>
SIMAAI_AVX2 std::size_t rescale_vectors(const Rescale& rescale, const std::int32_t* src,
                                        std::size_t count, std::int8_t* dst) noexcept {
  std::size_t n = 0;
  for (; n + 32 <= count; n += 32)
    store32<Rescale::kExchanged>(
        dst + n, rescale.scale(load8(src + n)), rescale.scale(load8(src + n + 8)),
        rescale.scale(load8(src + n + 16)), rescale.scale(load8(src + n + 24)));
  for (; n + 8 <= count; n += 8)
    store8<Rescale::kExchanged>(dst + n, rescale.scale(load8(src + n)));
  return n;
}

/// Rows of accumulators to rescale: `count` of each, `src_stride` and `dst_stride` apart.
struct RescaleRows {
  const std::int32_t* src;
  std::int8_t* dst;
  std::size_t rows;
  std::size_t count;
  std::size_t src_stride;
  std::size_t dst_stride;
};

template <class Rescale>
SIMAAI_AVX2 void rescale_rows(const Rescale& rescale, const Requant& requant,
                              const RescaleRows& all) noexcept {
  for (std::size_t row = 0; row < all.rows; ++row) {
    const std::int32_t* src = all.src + row * all.src_stride;
    std::int8_t* dst = all.dst + row * all.dst_stride;
    for (std::size_t n = rescale_vectors(rescale, src, all.count, dst); n < all.count; ++n)
      dst[n] = requant.requantize(src[n]);
  }
}

SIMAAI_AVX2 inline void rescale_all(const Requant& requant, const RescaleRows& all) noexcept {
  if (const HighRequant high = high_requant(requant); high.exact)
    return rescale_rows(Avx2Rescale(high), requant, all);
  if (requant.shift() > 0)
    return rescale_rows(Avx2WideRescale(requant), requant, all);
  for (std::size_t row = 0; row < all.rows; ++row)
    for (std::size_t n = 0; n < all.count; ++n)
      all.dst[row * all.dst_stride + n] = requant.requantize(all.src[row * all.src_stride + n]);
}

SIMAAI_AVX2 inline void rescale_avx2(const std::int32_t* src, std::size_t count,
                                     const Requant& requant, std::int8_t* dst) noexcept {
  rescale_all(requant, {src, dst, 1, count, count, count});
}

/// Writes completed sums, rows of `count` that are `stride` apart, to adjacent outputs a row.
SIMAAI_AVX2 inline void emit_avx2(const PlainOutput& out, std::size_t offset,
                                  const std::int32_t* sums, std::size_t count, std::size_t rows = 1,
                                  std::size_t stride = 0) noexcept {
  if (out.requant != nullptr)
    return rescale_all(*out.requant,
                       {sums, out.elements + offset, rows, count, stride, out.row_stride});
  for (std::size_t row = 0; row < rows; ++row) {
    std::int32_t* dst = out.sums + offset + row * out.row_stride;
    const std::int32_t* src = sums + row * stride;
    std::size_t n = 0;
    for (; n + 8 <= count; n += 8)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst + n), load8(src + n));
    for (; n < count; ++n)
      dst[n] = src[n];
  }
}

} // namespace
} // namespace simaai::kernels::matrix::detail
