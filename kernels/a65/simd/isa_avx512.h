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
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#if !defined(SIMAAI_A65_EMULATED) // a test provides the intrinsics
#include <immintrin.h>
#endif

#include "a65/simd/linear_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {

template <bool kVbmi> struct Avx512 {
  static constexpr std::uintptr_t kStreamAlignment = 64;
  static constexpr std::uintptr_t kPartAlignment = 16; ///< where stores follow each other
  static constexpr std::int64_t kLinesAtOnce = 2;

  /// The same 32 bits in every lane, in a register that loops keep: compilers would rather make it
  /// anew, which takes turns with shuffles.
  static __m512i constant(std::uint32_t bits) noexcept {
    __m512i lanes = _mm512_set1_epi32(static_cast<int>(bits));
#if !defined(SIMAAI_A65_EMULATED)
    asm("" : "+v"(lanes));
#endif
    return lanes;
  }

  /// The same bits in a register: compilers would rather load them again for every use.
  static __m512i kept(__m512i bits) noexcept {
#if !defined(SIMAAI_A65_EMULATED)
    asm("" : "+v"(bits));
#endif
    return bits;
  }

  // Source and destination types. Objects of source types hold constants of conversions.

  struct F32 {
    static constexpr std::int64_t kBytes = 4;
    static constexpr std::int64_t kStoredBytes = 32;
    __m512i odd_bit = constant(0x10000);
    __m512i below_half = constant(0x7fff);
    __m512i one = constant(1);
  };
  /// Index vectors of byte permutes: one byte, or one 32- or 64-bit number, a lane.
  struct alignas(64) Bytes {
    std::uint8_t at[64];
    [[nodiscard]] __m512i load() const noexcept { return _mm512_loadu_si512(at); }
  };

  /// The upper byte of a BFloat16 by the lower six bits of that of an eighth of a Float16, of which the
  /// sign fills the upper four bits.
  static constexpr Bytes kUpperOfEighth = [] {
    Bytes upper{};
    for (std::uint8_t i = 0; i < 16; ++i) {
      upper.at[i] = static_cast<std::uint8_t>(0x38 + i);
      upper.at[48 + i] = static_cast<std::uint8_t>(0xb8 + i);
    }
    return upper;
  }();

  struct NormalConstants {
    __m512i magnitude = constant(0x7fff7fff);
    __m512i least = constant(0x04000400);
    __m512i odd_bit = constant(0x00080008);
    __m512i one = constant(0x00010001);
    __m512i eighth = constant(0x10001000);
    __m512i bias = constant(0x38803880); ///< and an eighth of the least normal number
    __m512i sign = constant(0x80008000);
    __m512i upper = kept(kUpperOfEighth.load());
  };
  /// Float16 of which any number may be other than normal.
  struct AnyF16 {
    static constexpr std::int64_t kBytes = 2;
    static constexpr std::int64_t kStoredBytes = 32;
    NormalConstants constants;
  };
  /// Float16 that is taken for normal numbers; where was_right() says no afterwards, everything that
  /// was loaded since the last call is to be converted again as Other.
  struct F16 {
    /// Steps that go by the full rule at once behind one that had to be repeated: zeros and the like
    /// seldom come alone.
    static constexpr std::int64_t kWarySteps = 32;
    using Other = AnyF16;
    static constexpr std::int64_t kBytes = 2;
    static constexpr std::int64_t kStoredBytes = 32;
    [[nodiscard]] bool is_wary() noexcept {
      if (wary == 0)
        return false;
      --wary;
      return true;
    }
    [[nodiscard]] bool was_right() noexcept {
      const bool right = _mm512_cmpge_epu16_mask(most_above, _mm512_set1_epi16(0x7800)) == 0;
      most_above = _mm512_setzero_si512();
      if (__builtin_expect(!right, 0))
        wary = kWarySteps;
      return right;
    }
    NormalConstants constants;
    __m512i most_above =
        _mm512_setzero_si512(); ///< magnitudes above that of the least normal number
    std::int64_t wary = 0;      ///< steps
  };
  struct BF16 {
    static constexpr std::int64_t kBytes = 2;
    static constexpr std::int64_t kStoredBytes = 32;
  };

  static __m512i load_512(const std::byte* from) noexcept { return _mm512_loadu_si512(from); }

  static __m256i load_256(const std::byte* from) noexcept {
    return _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(from)));
  }

  static void store_256(std::byte* to, __m256i value) noexcept {
    _mm256_storeu_si256(static_cast<__m256i*>(static_cast<void*>(to)), value);
  }

  static __m128i load_128(const std::byte* from) noexcept {
    return _mm_loadu_si128(static_cast<const __m128i*>(static_cast<const void*>(from)));
  }

  static void store_128(std::byte* to, __m128i value) noexcept {
    _mm_storeu_si128(static_cast<__m128i*>(static_cast<void*>(to)), value);
  }

  template <bool kStream> static void put_512(std::byte* to, __m512i value) noexcept {
    if constexpr (kStream)
      stream_512(to, value);
    else
      _mm512_storeu_si512(to, value);
  }

  static void stream_128(std::byte* to, __m128i value) noexcept {
    _mm_stream_si128(static_cast<__m128i*>(static_cast<void*>(to)), value);
  }

  /// Lines that begin elsewhere come in quarters: the write that follows fills up the last one.
  static void stream_512(std::byte* to, __m512i value) noexcept {
    if (reinterpret_cast<std::uintptr_t>(to) % 64 == 0)
      return _mm512_stream_si512(static_cast<__m512i*>(static_cast<void*>(to)), value);
    stream_128(to, _mm512_castsi512_si128(value));
    stream_128(to + 16, _mm512_extracti32x4_epi32(value, 1));
    stream_128(to + 32, _mm512_extracti32x4_epi32(value, 2));
    stream_128(to + 48, _mm512_extracti32x4_epi32(value, 3));
  }

  /// The first 16, 32 or 48 bytes of what put_512 wrote in front: one kind of stores for a line, which
  /// leaves for memory twice otherwise.
  template <bool kStream>
  static void put_first(std::byte* to, std::int64_t bytes, __m512i value) noexcept {
    if constexpr (kStream) {
      stream_128(to, _mm512_castsi512_si128(value));
      if (bytes > 16)
        stream_128(to + 16, _mm512_extracti32x4_epi32(value, 1));
      if (bytes > 32)
        stream_128(to + 32, _mm512_extracti32x4_epi32(value, 2));
    } else {
      _mm512_mask_storeu_epi8(to, first_bits(bytes), value);
    }
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

  /// The first `count` bits, 0 to 64.
  static constexpr std::uint64_t first_bits(std::int64_t count) noexcept {
    return count == 0 ? 0 : ~std::uint64_t{0} >> (64 - count);
  }

  /// The first `bytes` bytes of a vector. `room` bytes, no fewer, are there from `to` on of which none
  /// was written before: the rest of the vector may run over them. Masks make stores slow.
  static void store_within(std::byte* to, std::int64_t bytes, std::int64_t room,
                           __m512i value) noexcept {
    if (room >= 64)
      _mm512_storeu_si512(to, value);
    else if (bytes == 32)
      store_256(to, _mm512_castsi512_si256(value));
    else if (bytes == 16)
      store_128(to, _mm512_castsi512_si128(value));
    else
      _mm512_mask_storeu_epi8(to, first_bits(bytes), value);
  }

  /// Distance at which memory is asked for.
  static constexpr std::int64_t kAhead = 1024;
  /// The same where it is written through the caches one line after the other. The machine itself asks
  /// for too little, above all where vectors lie across lines.
  static constexpr std::int64_t kFarAhead = 2048;

  /// The same in linear memory: in the next tile, if this one's rows are still in the cache then.
  static std::int64_t linear_ahead(const TilePanel& panel) noexcept {
    constexpr std::int64_t kMostCached = 16384;
    return panel.boxes > 1 && panel.segments > 1 &&
                   panel.segments * panel.box_linear_bytes <= kMostCached
               ? panel.box_linear_bytes
               : kAhead;
  }

  /// Calls `part(panel)` for the runs of equal numbers of channels: all but the last, then that one.
  template <class Part>
  static void for_equal_runs(const TilePanel& panel, std::int64_t run_src_bytes,
                             std::int64_t run_dst_bytes, Part part) noexcept {
    if (panel.last_channels == panel.row.channels) {
      part(panel);
      return;
    }
    TilePanel some = panel;
    --some.runs;
    some.last_channels = some.row.channels;
    part(some);
    some.row.src += some.runs * run_src_bytes;
    some.row.dst += some.runs * run_dst_bytes;
    some.row.channels = panel.last_channels;
    some.last_channels = panel.last_channels;
    some.runs = 1;
    part(some);
  }

  // Writing: two pixels at a time become two times sixteen low and sixteen high bytes.

  /// The cast rule in each 32-bit lane; the result is the high half.
  static __m512i round_f32(const F32& type, __m512i bits) noexcept {
    const auto odd = _mm512_test_epi32_mask(bits, type.odd_bit);
    const __m512i sum = _mm512_add_epi32(bits, type.below_half);
    return _mm512_mask_add_epi32(sum, odd, sum, type.one);
  }

  /// Both planes of two pixels, rounded; the result is in the high halves of 32-bit lanes.
  static __m512i split_rounded(__m512i low, __m512i high) noexcept {
    if constexpr (kVbmi) {
      // Byte 2 or 3 of every 32-bit lane; two permutes with a mask are less work than one of two
      // sources.
      static constexpr Bytes kIndex = [] {
        Bytes index{};
        for (std::uint8_t i = 0; i < 64; ++i)
          index.at[i] = static_cast<std::uint8_t>(i % 16 * 4 + 2 + i / 16 % 2);
        return index;
      }();
      const __m512i index = kIndex.load();
      return _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(index, low), 0xffffffff00000000U,
                                          index, high);
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

  static __m512i planes(F32& type, const std::byte* first, const std::byte* second) noexcept {
    return split_rounded(round_f32(type, load_512(first)), round_f32(type, load_512(second)));
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

  /// The full rule, by the level below. Not instrumented: gcc 12 gives variables of a function that is
  /// checked for use after return less alignment than its stores of vectors assume.
  [[gnu::noinline, gnu::no_sanitize_address]] static __m512i convert_any(__m512i bits) noexcept {
    std::byte values[64];
    _mm512_storeu_si512(values, bits);
    f16_bf16_any_32__avx2(values, values);
    return _mm512_loadu_si512(values);
  }

  /// Normal numbers: an eighth is rounded to the nearest, ties up, which one less makes ties to even;
  /// then it gets the other bias. `above`: their magnitudes above the least one.
  static __m512i convert_normal(const NormalConstants& constants, __m512i bits,
                                __m512i above) noexcept {
    const auto even = _mm512_testn_epi16_mask(bits, constants.odd_bit);
    const __m512i given = kVbmi ? bits : above;
    const __m512i less = _mm512_mask_sub_epi16(given, even, given, constants.one);
    const __m512i rounded = _mm512_mulhrs_epi16(less, constants.eighth);
    if constexpr (kVbmi) { // the sign became the upper bits
      return _mm512_mask_permutexvar_epi8(rounded, 0xaaaaaaaaaaaaaaaaU, rounded, constants.upper);
    } else {
      const __m512i rebiased = _mm512_add_epi16(rounded, constants.bias);
      constexpr int kThirdWhereSecond = 0xb8; // the first elsewhere
      return _mm512_ternarylogic_epi32(rebiased, constants.sign, bits, kThirdWhereSecond);
    }
  }

  /// Normal numbers and zeros; one other lane sends all to the full rule. Magnitudes of normal
  /// numbers are less than 0x7800 above the least one, unsigned.
  static __m512i convert(AnyF16& type, __m512i bits) noexcept {
    const __m512i magnitude = _mm512_and_si512(bits, type.constants.magnitude);
    const auto nonzero = _mm512_test_epi16_mask(magnitude, magnitude);
    const __m512i above = _mm512_sub_epi16(magnitude, type.constants.least);
    const auto other = _mm512_cmpge_epu16_mask(above, _mm512_set1_epi16(0x7800));
    if (__builtin_expect((other & nonzero) != 0, 0))
      return convert_any(bits);
    return _mm512_mask_mov_epi16(bits, nonzero, convert_normal(type.constants, bits, above));
  }

  static __m512i convert(F16& type, __m512i loaded) noexcept {
    const __m512i bits = kept(loaded);
    const __m512i magnitude = _mm512_and_si512(bits, type.constants.magnitude);
    const __m512i above = _mm512_sub_epi16(magnitude, type.constants.least);
    type.most_above = _mm512_max_epu16(type.most_above, above);
    return convert_normal(type.constants, bits, above);
  }

  static __m512i convert(BF16& /*type*/, __m512i bits) noexcept { return bits; }

  /// Lanes that are not in `values` are zero and remain zero.
  static __m512i convert_some(F16& type, __m512i bits, __mmask32 values) noexcept {
    const __m512i magnitude = _mm512_and_si512(bits, type.constants.magnitude);
    const __m512i above = _mm512_sub_epi16(magnitude, type.constants.least);
    type.most_above = _mm512_mask_max_epu16(type.most_above, values, type.most_above, above);
    return _mm512_maskz_mov_epi16(values, convert_normal(type.constants, bits, above));
  }
  template <class From>
  static __m512i convert_some(From& type, __m512i bits, __mmask32 /*values*/) noexcept {
    return convert(type, bits);
  }

  template <class From>
  static __m512i planes(From& type, const std::byte* first, const std::byte* second) noexcept {
    return split(convert(type, load_pair(first, second)));
  }

  /// Both planes of the first `channels` channels, 1 to 16, of two pixels; the others are zero.
  /// Reads only those.
  static __m512i planes_some(F32& type, const std::byte* first, const std::byte* second,
                             std::int64_t channels) noexcept {
    const auto mask = static_cast<__mmask16>(first_bits(channels));
    return split_rounded(round_f32(type, _mm512_maskz_loadu_epi32(mask, first)),
                         round_f32(type, _mm512_maskz_loadu_epi32(mask, second)));
  }
  static __m512i load_some(const std::byte* first, const std::byte* second,
                           std::int64_t channels) noexcept {
    const auto mask = static_cast<__mmask16>(first_bits(channels));
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm256_maskz_loadu_epi16(mask, first)),
                              _mm256_maskz_loadu_epi16(mask, second), 1);
  }
  template <class From>
  static __m512i planes_some(From& type, const std::byte* first, const std::byte* second,
                             std::int64_t channels) noexcept {
    const auto mask = static_cast<__mmask32>(first_bits(channels) * 0x10001U);
    return split(convert_some(type, load_some(first, second, channels), mask));
  }

  template <bool kStream, class From>
  static void write_4(From& type, const std::byte* src, std::int64_t stride,
                      std::byte* dst) noexcept {
    put_512<kStream>(dst, planes(type, src, src + stride));
    put_512<kStream>(dst + 64, planes(type, src + 2 * stride, src + 3 * stride));
  }

  template <bool kStream, class From>
  static void write_1(From& type, const std::byte* src, std::byte* dst) noexcept {
    put_256<kStream>(dst, _mm512_castsi512_si256(planes(type, src, src)));
  }

  template <class From>
  static void write_some(From& type, const std::byte* src, std::int64_t channels,
                         std::byte* dst) noexcept {
    store_256(dst, _mm512_castsi512_si256(planes_some(type, src, src, channels)));
  }

  template <class From>
  static void write_rest(From& type, const std::byte* src, std::int64_t channels,
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

  /// A line of each of two runs that follow each other, which are whole lines of two pixels.
  template <bool kStream>
  requires kVbmi static void read_two_runs(BF16 /*type*/, const std::byte* src,
                                           std::int64_t run_bytes, std::byte* dst,
                                           std::int64_t stride) noexcept {
    const __m512i first = join_pair(load_512(src));
    const __m512i second = join_pair(load_512(src + run_bytes));
    put_512<kStream>(dst, _mm512_inserti64x4(first, _mm512_castsi512_si256(second), 1));
    put_512<kStream>(dst + stride, _mm512_shuffle_i64x2(first, second, 0xee));
  }

  template <bool kStream>
  static void read_1(F32 type, const std::byte* src, std::byte* dst) noexcept {
    put_512<kStream>(dst, join(type, src));
  }

  template <bool kStream>
  static void read_1(BF16 /*type*/, const std::byte* src, std::byte* dst) noexcept {
    put_256<kStream>(dst, _mm512_castsi512_si256(join_pair(load_pair(src, src))));
  }

  static void read_some(F32 type, const std::byte* src, std::int64_t channels,
                        std::byte* dst) noexcept {
    _mm512_mask_storeu_epi32(dst, static_cast<__mmask16>(first_bits(channels)), join(type, src));
  }

  static void read_some(BF16 /*type*/, const std::byte* src, std::int64_t channels,
                        std::byte* dst) noexcept {
    _mm512_mask_storeu_epi16(dst, static_cast<__mmask32>(first_bits(channels)),
                             join_pair(_mm512_castsi256_si512(load_256(src))));
  }
};

} // namespace simaai::kernels::a65::detail
