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

/// For lambdas, which take no other spelling in front of `target`.
#define SIMAAI_INLINE __attribute__((always_inline))

namespace simaai::kernels::matrix::detail {
namespace {

/// The rescale of two vectors of accumulators to 16 bits, packed inside 128-bit lanes: four of a, four
/// of b and so on. They saturate; further saturation to 8 bits is up to the caller.
///
/// This one takes the high halves of products, see HighRequant. They saturate to 16 bits before they are
/// rounded, which makes no difference where at most 8 bits are shifted out there; `Shifted`: more are.
template <bool Shifted> class Avx512HighRescale {
public:
  SIMAAI_VNNI explicit Avx512HighRescale(const HighRequant& high) noexcept
      : multiplier_(_mm512_set1_epi64(high.multiplier)),
        count_(_mm_cvtsi32_si128(high.shift - rounded_bits(high))),
        // (value * 2^(15 - n) + 2^14) >> 15 is value >> n, rounded.
        rounding_(_mm512_set1_epi16(static_cast<std::int16_t>(1 << (15 - rounded_bits(high))))) {}

  [[nodiscard, gnu::always_inline]] SIMAAI_VNNI __m512i words(__m512i a, __m512i b) const noexcept {
    return _mm512_mulhrs_epi16(_mm512_packs_epi32(high(a), high(b)), rounding_);
  }
  /// Of sixteen accumulators each in memory, of which one more can be read.
  [[nodiscard, gnu::always_inline]] SIMAAI_VNNI __m512i
  words_at(const std::int32_t* a, const std::int32_t* b) const noexcept {
    return _mm512_mulhrs_epi16(_mm512_packs_epi32(high_at(a), high_at(b)), rounding_);
  }

private:
  [[nodiscard]] static int rounded_bits(const HighRequant& high) noexcept {
    return std::min(high.shift, HighRequant::kRoundedBits);
  }
  [[nodiscard, gnu::always_inline]] SIMAAI_VNNI __m512i high(__m512i acc) const noexcept {
    return high_halves(acc, _mm512_srli_epi64(acc, 32));
  }
  /// Odd ones are even ones of what lies an accumulator further: a load in place of a shift.
  [[nodiscard, gnu::always_inline]] SIMAAI_VNNI __m512i
  high_at(const std::int32_t* acc) const noexcept {
    return high_halves(_mm512_loadu_si512(acc), _mm512_loadu_si512(acc + 1));
  }
  /// Takes the low half of every 64 bits.
  [[nodiscard, gnu::always_inline]] SIMAAI_VNNI __m512i
  high_halves(__m512i even_acc, __m512i odd_acc) const noexcept {
    const __m512i even = _mm512_mul_epi32(even_acc, multiplier_);
    const __m512i odd = _mm512_mul_epi32(odd_acc, multiplier_);
    // The high halves of the even products move down beside those of the odd ones.
    const __m512i both = _mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB);
    return Shifted ? _mm512_sra_epi32(both, count_) : both;
  }

  __m512i multiplier_;
  __m128i count_;
  __m512i rounding_;
};

/// The same where the high half alone does not hold the result.
class Avx512WideRescale {
public:
  SIMAAI_VNNI explicit Avx512WideRescale(const Requant& requant) noexcept
      : Avx512WideRescale(unshifted_clamped(requant), requant_bounds(unshifted_clamped(requant))) {}

  [[nodiscard, gnu::always_inline]] SIMAAI_VNNI __m512i words(__m512i a, __m512i b) const noexcept {
    return _mm512_packs_epi32(scale(a), scale(b));
  }
  [[nodiscard, gnu::always_inline]] SIMAAI_VNNI __m512i
  words_at(const std::int32_t* a, const std::int32_t* b) const noexcept {
    return words(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
  }

private:
  SIMAAI_VNNI Avx512WideRescale(const Requant& requant, const RequantBounds& bounds) noexcept
      : multiplier_(_mm512_set1_epi64(requant.multiplier())),
        half_(
            _mm512_set1_epi64(requant.shift() == 0 ? 0 : std::int64_t{1} << (requant.shift() - 1))),
        count_(_mm_cvtsi32_si128(static_cast<int>(requant.shift()))),
        least_(_mm512_set1_epi32(bounds.least)), greatest_(_mm512_set1_epi32(bounds.greatest)) {}

  /// Without a shift, every multiplier beyond 128 saturates as 128 does.
  [[nodiscard]] static Requant unshifted_clamped(const Requant& requant) noexcept {
    return requant.shift() > 0 ? requant : Requant(std::clamp(requant.multiplier(), -128, 128), 0);
  }
  [[nodiscard, gnu::always_inline]] SIMAAI_VNNI __m512i scale(__m512i acc) const noexcept {
    acc = _mm512_min_epi32(_mm512_max_epi32(acc, least_), greatest_);
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(acc, multiplier_), half_);
    const __m512i odd =
        _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(acc, 32), multiplier_), half_);
    return _mm512_mask_blend_epi32(0xAAAA, _mm512_srl_epi64(even, count_),
                                   _mm512_slli_epi64(_mm512_srl_epi64(odd, count_), 32));
  }

  __m512i multiplier_;
  __m512i half_;
  __m128i count_;
  __m512i least_;
  __m512i greatest_;
};

/// Calls `use` with the rescale of a requant. It is inlined: as an argument in memory, the constants of
/// a rescale would cost as much as some hundred elements.
template <class Use>
[[gnu::always_inline]] SIMAAI_VNNI inline auto with_rescale(const Requant& requant,
                                                            Use use) noexcept {
  const HighRequant high = high_requant(requant);
  if (!high.exact)
    return use(Avx512WideRescale(requant));
  return high.shift > HighRequant::kRoundedBits ? use(Avx512HighRescale<true>(high))
                                                : use(Avx512HighRescale<false>(high));
}

/// 64 elements in order. Packing works inside 128-bit lanes: four bytes of each of the four vectors.
[[gnu::always_inline]] SIMAAI_VNNI inline __m512i elements_of(__m512i low, __m512i high) noexcept {
  constexpr std::int32_t kOrder[16] = {0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15};
  return _mm512_permutexvar_epi32(_mm512_loadu_si512(kOrder), _mm512_packs_epi16(low, high));
}

/// Rescales two rows of 32 adjacent sums each, behind which one more can be read.
template <class Rescale>
[[gnu::always_inline]] SIMAAI_VNNI inline void
rescale_two_rows(const Rescale& rescale, const std::int32_t* const (&src)[2],
                 std::int8_t* const (&dst)[2]) noexcept {
  const __m512i bytes =
      elements_of(rescale.words_at(src[0], src[0] + 16), rescale.words_at(src[1], src[1] + 16));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst[0]), _mm512_castsi512_si256(bytes));
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst[1]), _mm512_extracti64x4_epi64(bytes, 1));
}

/// Rescales whole vectors and says how many elements that were.
template <class Rescale>
[[gnu::always_inline]] SIMAAI_VNNI inline std::size_t
rescale_vectors(const Rescale& rescale, const std::int32_t* src, std::size_t count,
                std::int8_t* dst) noexcept {
  std::size_t n = 0;
  for (; n + 64 <= count; n += 64) {
    const __m512i low =
        rescale.words(_mm512_loadu_si512(src + n), _mm512_loadu_si512(src + n + 16));
    const __m512i high =
        rescale.words(_mm512_loadu_si512(src + n + 32), _mm512_loadu_si512(src + n + 48));
    _mm512_storeu_si512(dst + n, elements_of(low, high));
  }
  for (; n + 16 <= count; n += 16) {
    const __m512i words = rescale.words(_mm512_loadu_si512(src + n), _mm512_setzero_si512());
    const __m512i bytes =
        _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 4, 8, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0),
                                 _mm512_packs_epi16(words, words));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + n), _mm512_castsi512_si128(bytes));
  }
  return n;
}

/// The same for any count.
template <class Rescale>
[[gnu::always_inline]] SIMAAI_VNNI inline void
rescale_run(const Rescale& rescale, const std::int32_t* src, std::size_t count,
            const Requant& requant, std::int8_t* dst) noexcept {
  for (std::size_t n = rescale_vectors(rescale, src, count, dst); n < count; ++n)
    dst[n] = requant.requantize(src[n]);
}

SIMAAI_VNNI inline void rescale_avx512(const std::int32_t* src, std::size_t count,
                                       const Requant& requant, std::int8_t* dst) noexcept {
  with_rescale(requant, [&](const auto& rescale) SIMAAI_INLINE SIMAAI_VNNI {
    rescale_run(rescale, src, count, requant, dst);
  });
}

} // namespace
} // namespace simaai::kernels::matrix::detail
