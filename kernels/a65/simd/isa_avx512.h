// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX-512 (F, BW, VL; VBMI where kVbmi) building blocks of PanelRows. Everything is a member of the
// class, so that code of the two levels and of others stays apart. Include it in files built for the
// instruction set only. Integer lanes only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__GNUC__) && !defined(__clang__)
// gcc 12 takes the undefined pass-through operands of its own intrinsics for uninitialized reads.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#if !defined(SIMAAI_A65_EMULATED) // a test provides the intrinsics
#include <immintrin.h>
#endif

#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {

template <bool kVbmi> struct Avx512 {
  static constexpr std::uintptr_t kStreamAlignment = 64;

  struct F32 {
    static constexpr std::int64_t kBytes = 4;
    static constexpr std::int64_t kStoredBytes = 32;
  };
  struct F16 {
    static constexpr std::int64_t kBytes = 2;
    static constexpr std::int64_t kStoredBytes = 32;
  };
  struct BF16 {
    static constexpr std::int64_t kBytes = 2;
    static constexpr std::int64_t kStoredBytes = 32;
  };

  /// Index vectors of byte permutes: one byte, or one 32- or 64-bit number, a lane.
  struct alignas(64) Bytes {
    std::uint8_t at[64];
    [[nodiscard]] __m512i load() const noexcept { return _mm512_loadu_si512(at); }
  };

  static __m512i load_512(const std::byte* from) noexcept { return _mm512_loadu_si512(from); }

  static __m256i load_256(const std::byte* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(from)));
  }

  static void store_256(std::byte* to, __m256i value) noexcept {
    _mm256_storeu_si256(static_cast<__m256i*>(static_cast<void*>(to)), value);
  }

  template <bool kStream> static void put_512(std::byte* to, __m512i value) noexcept {
    if constexpr (kStream)
      _mm512_stream_si512(static_cast<__m512i*>(static_cast<void*>(to)), value);
    else
      _mm512_storeu_si512(to, value);
  }

  template <bool kStream> static void put_256(std::byte* to, __m256i value) noexcept {
    if constexpr (kStream)
      _mm256_stream_si256(static_cast<__m256i*>(static_cast<void*>(to)), value);
    else
      store_256(to, value);
  }

  /// Two pixels of sixteen channels side by side.
  static __m512i load_pair(const std::byte* first, const std::byte* second) noexcept {
    return _mm512_inserti64x4(_mm512_castsi256_si512(load_256(first)), load_256(second), 1);
  }

  // Writing: two pixels at a time become two times sixteen low and sixteen high bytes.

  /// The cast rule in each 32-bit lane; the result is the high half.
  static __m512i round_f32(__m512i bits) noexcept {
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    return _mm512_add_epi32(bits, _mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)));
  }

  static __m512i planes(F32 /*type*/, const std::byte* first, const std::byte* second) noexcept {
    const __m512i low = round_f32(load_512(first));
    const __m512i high = round_f32(load_512(second));
    if constexpr (kVbmi) {
      // Byte 2 or 3 of every 32-bit lane: bits 0 to 5 of an index choose the byte, bit 6 the pixel.
      static constexpr Bytes kIndex = [] {
        Bytes index{};
        for (std::uint8_t i = 0; i < 64; ++i)
          index.at[i] = static_cast<std::uint8_t>(i / 32 * 64 + i % 16 * 4 + 2 + i / 16 % 2);
        return index;
      }();
      return _mm512_permutex2var_epi8(low, kIndex.load(), high);
    } else {
      // The pixels alternate in 16-bit lanes; per 128-bit lane a shuffle makes 32-bit groups of low
      // bytes and of high bytes of four channels of either pixel, which then find their places.
      const __m512i lanes = _mm512_mask_blend_epi16(0xaaaaaaaaU, _mm512_srli_epi32(low, 16), high);
      static constexpr Bytes kGroups = [] {
        Bytes index{};
        for (std::uint8_t i = 0; i < 64; ++i)
          index.at[i] = static_cast<std::uint8_t>(i % 4 * 4 + i / 8 % 2 * 2 + i / 4 % 2);
        return index;
      }();
      const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
      return _mm512_permutexvar_epi32(order, _mm512_shuffle_epi8(lanes, kGroups.load()));
    }
  }

  /// Byte planes of two pixels in 16-bit lanes.
  static __m512i split(__m512i lanes) noexcept {
    static constexpr Bytes kIndex = [] {
      Bytes index{};
      for (std::uint8_t i = 0; i < 64; ++i)
        index.at[i] = static_cast<std::uint8_t>(kVbmi ? i / 32 * 32 + i % 16 * 2 + i / 16 % 2
                                                      : i % 8 * 2 + i / 8 % 2);
      return index;
    }();
    if constexpr (kVbmi)
      return _mm512_permutexvar_epi8(kIndex.load(), lanes);
    else
      return _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 6, 4, 3, 1, 2, 0),
                                      _mm512_shuffle_epi8(lanes, kIndex.load()));
  }

  static __m512i planes(BF16 /*type*/, const std::byte* first, const std::byte* second) noexcept {
    return split(load_pair(first, second));
  }

  /// The full rule, taken from the scalar kernel.
  static __m512i convert_any(__m512i bits) noexcept {
    std::byte values[64];
    std::byte split_bytes[64];
    std::byte joined[64];
    _mm512_storeu_si512(values, bits);
    f16_bf16_channels_row__scalar({values, split_bytes, 1, 32, 32, 64, 2, 0});
    for (std::size_t i = 0; i < 32; ++i) {
      joined[2 * i] = split_bytes[i];
      joined[2 * i + 1] = split_bytes[32 + i];
    }
    return _mm512_loadu_si512(joined);
  }

  /// Normal numbers and zeros by a short path; one other lane sends both pixels to the full rule.
  static __m512i convert_f16(__m512i bits) noexcept {
    const __m512i magnitude = _mm512_and_si512(bits, _mm512_set1_epi16(0x7fff));
    const auto nonzero = _mm512_test_epi16_mask(magnitude, magnitude);
    // Normal: 0x0400 <= magnitude < 0x7c00, so magnitude - 0x0400 is below 0x7800 unsigned.
    const __m512i above = _mm512_sub_epi16(magnitude, _mm512_set1_epi16(0x0400));
    const auto other = _mm512_cmpge_epu16_mask(above, _mm512_set1_epi16(0x7800));
    if ((other & nonzero) != 0)
      return convert_any(bits);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi16(magnitude, 3), _mm512_set1_epi16(1));
    const __m512i sum = _mm512_add_epi16(magnitude, _mm512_add_epi16(odd, _mm512_set1_epi16(3)));
    const __m512i rebiased =
        _mm512_maskz_add_epi16(nonzero, _mm512_srli_epi16(sum, 3), _mm512_set1_epi16(112 << 7));
    return _mm512_or_si512(rebiased, _mm512_xor_si512(bits, magnitude));
  }

  static __m512i planes(F16 /*type*/, const std::byte* first, const std::byte* second) noexcept {
    return split(convert_f16(load_pair(first, second)));
  }

  template <bool kStream, class From>
  static void write_4(From type, const std::byte* src, std::int64_t stride,
                      std::byte* dst) noexcept {
    put_512<kStream>(dst, planes(type, src, src + stride));
    put_512<kStream>(dst + 64, planes(type, src + 2 * stride, src + 3 * stride));
  }

  template <bool kStream, class From>
  static void write_1(From type, const std::byte* src, std::byte* dst) noexcept {
    put_256<kStream>(dst, _mm512_castsi512_si256(planes(type, src, src)));
  }

  template <class From>
  static void write_some(From type, const std::byte* src, std::int64_t channels,
                         std::byte* dst) noexcept {
    std::byte pixel[64] = {};
    std::memcpy(pixel, src, static_cast<std::size_t>(channels * From::kBytes));
    write_1<false>(type, pixel, dst);
  }

  template <class From>
  static void write_rest(From type, const std::byte* src, std::int64_t channels,
                         std::byte* dst) noexcept {
    write_some(type, src, channels, dst);
  }

  // Reading.

  /// Sixteen Float32 values of a pixel.
  static __m512i join(F32 /*type*/, const std::byte* src) noexcept {
    const __m512i both = _mm512_castsi256_si512(load_256(src));
    static constexpr Bytes kIndex = [] {
      Bytes index{};
      for (std::uint8_t i = 0; i < 64; ++i)
        if (i % 4 >= 2)
          index.at[i] =
              static_cast<std::uint8_t>(kVbmi ? i / 4 + i % 2 * 16 : i / 4 % 4 + i % 2 * 4);
        else
          index.at[i] = 0x80; // zero; the permute below has a mask instead
      return index;
    }();
    if constexpr (kVbmi) {
      return _mm512_maskz_permutexvar_epi8(0xccccccccccccccccU, kIndex.load(), both);
    } else {
      // Per 128-bit lane: low bytes of its four channels, then their high bytes.
      const __m512i order = _mm512_set_epi32(7, 3, 7, 3, 6, 2, 6, 2, 5, 1, 5, 1, 4, 0, 4, 0);
      return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(order, both), kIndex.load());
    }
  }

  /// Sixteen BFloat16 values of two pixels each.
  static __m512i join_pair(__m512i pixels) noexcept {
    static constexpr Bytes kIndex = [] {
      Bytes index{};
      for (std::uint8_t i = 0; i < 64; ++i)
        index.at[i] = static_cast<std::uint8_t>(kVbmi ? i / 32 * 32 + i % 2 * 16 + i / 2 % 16
                                                      : i % 2 * 8 + i / 2 % 8);
      return index;
    }();
    if constexpr (kVbmi)
      return _mm512_permutexvar_epi8(kIndex.load(), pixels);
    else
      return _mm512_shuffle_epi8(
          _mm512_permutexvar_epi64(_mm512_set_epi64(7, 5, 6, 4, 3, 1, 2, 0), pixels),
          kIndex.load());
  }

  template <bool kStream>
  static void read_line(F32 type, const std::byte* src, std::byte* dst,
                        std::int64_t stride) noexcept {
    put_512<kStream>(dst, join(type, src));
    put_512<kStream>(dst + stride, join(type, src + 32));
  }

  template <bool kStream>
  static void read_line(BF16 /*type*/, const std::byte* src, std::byte* dst,
                        std::int64_t stride) noexcept {
    const __m512i pair = join_pair(load_512(src));
    put_256<kStream>(dst, _mm512_castsi512_si256(pair));
    put_256<kStream>(dst + stride, _mm512_extracti64x4_epi64(pair, 1));
  }

  template <bool kStream>
  static void read_1(F32 type, const std::byte* src, std::byte* dst) noexcept {
    put_512<kStream>(dst, join(type, src));
  }

  template <bool kStream>
  static void read_1(BF16 /*type*/, const std::byte* src, std::byte* dst) noexcept {
    put_256<kStream>(dst, _mm512_castsi512_si256(join_pair(load_pair(src, src))));
  }

  template <class To>
  static void read_some(To type, const std::byte* src, std::int64_t channels,
                        std::byte* dst) noexcept {
    std::byte pixel[64];
    read_1<false>(type, src, pixel);
    std::memcpy(dst, pixel, static_cast<std::size_t>(channels * To::kBytes));
  }
};

} // namespace simaai::kernels::a65::detail
