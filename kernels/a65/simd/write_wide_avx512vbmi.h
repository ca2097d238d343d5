// SPDX-License-Identifier: LGPL-2.1-or-later
// Writers of panels of many channels for AVX-512 with VBMI, and what those of few channels share with
// them: whole vectors of values go through byte permutes; masks keep loads to the bytes that they may
// touch. Everything is a member of a class of this level. Include it in files built for the
// instruction set only.
#pragma once

#include <cstddef>
#include <cstdint>

#include "a65/simd/isa_avx512.h"
#include "a65/simd/panel_rows.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiWideWriters {
  using Isa = Avx512<true>;
  using F32 = Isa::F32;
  using AnyF16 = Isa::AnyF16;
  using F16 = Isa::F16;
  using BF16 = Isa::BF16;
  using Bytes = Isa::Bytes;

  /// Values of a vector.
  template <class Type> static constexpr std::int64_t kValues = 64 / Type::kBytes;

  /// The place of value `value` of a vector of linear values: the lower byte of its BFloat16.
  template <class Type> static constexpr std::uint8_t byte_of(std::int64_t value) noexcept {
    return static_cast<std::uint8_t>(value % kValues<Type> * Type::kBytes + Type::kBytes - 2);
  }

  static constexpr std::uint64_t first_bits(std::int64_t count) noexcept {
    return Isa::first_bits(count);
  }

  static void put_halves(std::byte* low, std::byte* high, __m512i planes) noexcept {
    Isa::store_256(low, _mm512_castsi512_si256(planes));
    Isa::store_256(high, _mm512_extracti64x4_epi64(planes, 1));
  }

  static void put_128(std::byte* to, __m128i value) noexcept {
    _mm_storeu_si128(static_cast<__m128i*>(static_cast<void*>(to)), value);
  }

  // Loads: up to a vector of values, as BFloat16 in the upper two bytes of each.

  static __m512i load(F32& type, const std::byte* src, std::uint64_t values) noexcept {
    return Isa::round_f32(type, _mm512_maskz_loadu_epi32(static_cast<__mmask16>(values), src));
  }
  template <class From>
  static __m512i load(From& type, const std::byte* src, std::uint64_t values) noexcept {
    const auto mask = static_cast<__mmask32>(values);
    return Isa::convert_some(type, _mm512_maskz_loadu_epi16(mask, src), mask);
  }

  /// Bytes at `index` of the first 32 values, or those in `values`: values from the sixteenth on
  /// are in a second vector of Float32, and `of_second` marks their bytes.
  static __m512i place(F32& type, const std::byte* src, __m512i index,
                       std::uint64_t of_second) noexcept {
    const __m512i first = Isa::round_f32(type, Isa::load_512(src));
    const __m512i second = Isa::round_f32(type, Isa::load_512(src + 64));
    return _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(index, first), of_second, index,
                                        second);
  }
  template <class From>
  static __m512i place(From& type, const std::byte* src, __m512i index,
                       std::uint64_t /*of_second*/) noexcept {
    return _mm512_permutexvar_epi8(index, Isa::convert(type, Isa::load_512(src)));
  }
  static __m512i place_some(F32& type, const std::byte* src, __m512i index, std::uint64_t of_second,
                            std::uint64_t values) noexcept {
    const __m512i first = load(type, src, values);
    const __m512i second = load(type, src + 64, values >> 16);
    return _mm512_mask_permutexvar_epi8(_mm512_permutexvar_epi8(index, first), of_second, index,
                                        second);
  }
  template <class From>
  static __m512i place_some(From& type, const std::byte* src, __m512i index,
                            std::uint64_t /*of_second*/, std::uint64_t values) noexcept {
    return _mm512_permutexvar_epi8(index, load(type, src, values));
  }

  // Wide: 32 channels of a pixel are 32 low and 32 high bytes.

  template <class From>
  static constexpr Bytes kWideIndex = [] {
    Bytes index{};
    for (std::uint8_t i = 0; i < 64; ++i)
      index.at[i] = static_cast<std::uint8_t>(byte_of<From>(i % 32) + i / 32);
    return index;
  }();
  static constexpr std::uint64_t kUpperValues = 0xffff0000ffff0000U;

  /// What is left of a pixel after its whole groups of 32 channels.
  enum class Rest : std::uint8_t {
    None,
    Half,   ///< stored as 16 channels
    Whole,  ///< stored as 32
    Eighty, ///< of 80 stored channels: the whole pixel is two and a half cache lines
    Overlap ///< without padding: the last group overlaps the one before
  };

  /// 64 channels: stores to a line follow each other.
  template <class From>
  static void write_64(From& type, const std::byte* src, std::byte* low, std::byte* high,
                       __m512i index) noexcept {
    const __m512i first = place(type, src, index, kUpperValues);
    const __m512i second = place(type, src + 32 * From::kBytes, index, kUpperValues);
    Isa::store_256(low, _mm512_castsi512_si256(first));
    Isa::store_256(low + 32, _mm512_castsi512_si256(second));
    Isa::store_256(high, _mm512_extracti64x4_epi64(first, 1));
    Isa::store_256(high + 32, _mm512_extracti64x4_epi64(second, 1));
  }

  /// 65 to 80 channels of 80 stored ones. Planes come as blocks of 16 bytes, 0 to 3 the low ones of
  /// 64 channels and so on; the pixel is put together from them, in stores that follow each other.
  template <class From>
  static void write_eighty(From& type, const std::byte* src, std::byte* dst, std::uint64_t rest,
                           __m512i index) noexcept {
    const __m512i first = place(type, src, index, kUpperValues);
    const __m512i second = place(type, src + 32 * From::kBytes, index, kUpperValues);
    const __m512i third = _mm512_permutexvar_epi8(index, load(type, src + 64 * From::kBytes, rest));
    const __m512i low = _mm512_set_epi64(11, 10, 9, 8, 3, 2, 1, 0);
    _mm512_storeu_si512(dst, _mm512_permutex2var_epi64(first, low, second));
    // The last low block, then three high ones.
    const __m512i blocks = _mm512_set_epi64(13, 12, 7, 6, 5, 4, 1, 0);
    const __m512i high = _mm512_permutex2var_epi64(first, blocks, second);
    _mm512_storeu_si512(dst + 64, _mm512_mask_mov_epi64(high, 0x03, third));
    const __m512i ends = _mm512_set_epi64(0, 0, 0, 0, 13, 12, 7, 6);
    Isa::store_256(dst + 128,
                   _mm512_castsi512_si256(_mm512_permutex2var_epi64(second, ends, third)));
  }

  /// The channels of a run as the loop over pixels needs them.
  struct WideRun {
    std::int64_t pairs; ///< groups of 64 channels
    bool single;        ///< a group of 32 after them
    std::int64_t rest;  ///< the first channel of the rest
    std::uint64_t rest_values;
    std::int64_t stored;
    std::int64_t runs;
    std::int64_t run_linear_bytes;
    std::int64_t run_tile_bytes;
    std::int64_t pixel_linear_bytes;
    std::int64_t pixel_tile_bytes;
  };

  template <Rest kRest, class From>
  [[gnu::always_inline]] static inline void write_pixel(From& type, const WideRun& run,
                                                        const std::byte* src, std::byte* dst,
                                                        __m512i index) noexcept {
    if constexpr (kRest == Rest::Eighty) {
      write_eighty(type, src, dst, run.rest_values, index);
      return;
    }
    const std::int64_t stored = run.stored;
    const std::byte* from = src;
    std::byte* to = dst;
    for (std::int64_t pair = run.pairs; pair != 0; --pair) {
      write_64(type, from, to, to + stored, index);
      from += 64 * From::kBytes;
      to += 64;
    }
    if (run.single)
      put_halves(to, to + stored, place(type, from, index, kUpperValues));
    from = src + run.rest * From::kBytes;
    to = dst + run.rest;
    if constexpr (kRest == Rest::Overlap) {
      put_halves(to, to + stored, place(type, from, index, kUpperValues));
    } else if constexpr (kRest == Rest::Whole) {
      put_halves(to, to + stored, place_some(type, from, index, kUpperValues, run.rest_values));
    } else if constexpr (kRest == Rest::Half) {
      const __m512i planes = _mm512_permutexvar_epi8(index, load(type, from, run.rest_values));
      put_128(to, _mm512_castsi512_si128(planes));
      put_128(to + stored, _mm512_extracti32x4_epi32(planes, 2));
    }
  }

  /// Some pixels; false if they have to be written again.
  template <Rest kRest, class From>
  [[gnu::always_inline]] static inline bool
  try_pixels(From& type, const WideRun& run, const std::byte* src, std::byte* dst,
             std::int64_t pixels, __m512i index) noexcept {
    for (; pixels != 0; --pixels) {
      const std::byte* from = src;
      std::byte* to = dst;
      for (std::int64_t left = run.runs; left != 0; --left) {
        write_pixel<kRest>(type, run, from, to, index);
        from += run.run_linear_bytes;
        to += run.run_tile_bytes;
      }
      src += run.pixel_linear_bytes;
      dst += run.pixel_tile_bytes;
    }
    return PanelRows<Isa>::was_right(type);
  }

  template <class From, Rest kRest>
  [[gnu::noinline]] static void write_other_pixels(const WideRun& run, const std::byte* src,
                                                   std::byte* dst, std::int64_t pixels) noexcept {
    From type{};
    static_cast<void>(try_pixels<kRest>(type, run, src, dst, pixels, kWideIndex<From>.load()));
  }

  /// Runs of equal numbers of channels.
  template <class From, Rest kRest> static void write_wide_runs(const TilePanel& panel) noexcept {
    constexpr std::int64_t kMostPixels = 8; ///< at once where they may have to be written again
    constexpr bool kAssumes = requires { typename From::Other; };
    const TileRow row = panel.row;
    const std::int64_t whole = row.channels / 32 * 32;
    const bool columns = walks_columns(row.pixels, panel.segments);
    const WideRun run{row.channels / 64,
                      row.channels % 64 >= 32,
                      kRest == Rest::Overlap ? row.channels - 32 : whole,
                      first_bits(row.channels - whole),
                      row.stored_channels,
                      panel.runs,
                      row.channels * From::kBytes,
                      panel.run_tile_bytes,
                      columns ? panel.segment_linear_bytes : row.pixel_stride_bytes,
                      columns ? panel.segment_tile_bytes : 2 * row.stored_channels};
    const std::int64_t all_pixels = columns ? panel.segments : row.pixels;
    const std::int64_t linear_bytes = columns ? row.pixel_stride_bytes : panel.segment_linear_bytes;
    const std::int64_t tile_bytes = columns ? 2 * row.stored_channels : panel.segment_tile_bytes;
    const __m512i index = kWideIndex<From>.load();
    const std::byte* segment_src = row.src;
    std::byte* segment_dst = row.dst;
    From type{};
    for (std::int64_t outer = columns ? row.pixels : panel.segments; outer != 0; --outer) {
      const std::byte* src = segment_src;
      std::byte* dst = segment_dst;
      if constexpr (kAssumes) {
        for (std::int64_t left = all_pixels; left > 0; left -= kMostPixels) {
          const std::int64_t pixels = left < kMostPixels ? left : kMostPixels;
          if (!try_pixels<kRest>(type, run, src, dst, pixels, index))
            write_other_pixels<typename From::Other, kRest>(run, src, dst, pixels);
          src += pixels * run.pixel_linear_bytes;
          dst += pixels * run.pixel_tile_bytes;
        }
      } else {
        try_pixels<kRest>(type, run, src, dst, all_pixels, index);
      }
      segment_src += linear_bytes;
      segment_dst += tile_bytes;
    }
  }

  template <class From> static void write_wide_runs(const TilePanel& panel) noexcept {
    const std::int64_t rest = panel.row.channels % 32;
    if (rest == 0)
      write_wide_runs<From, Rest::None>(panel);
    else if (panel.row.stored_channels == panel.row.channels)
      write_wide_runs<From, Rest::Overlap>(panel);
    else if (rest <= 16 && panel.row.stored_channels == 80)
      write_wide_runs<From, Rest::Eighty>(panel);
    else if (rest <= 16)
      write_wide_runs<From, Rest::Half>(panel);
    else
      write_wide_runs<From, Rest::Whole>(panel);
  }

  /// Runs of 17 channels or more, with padding to a multiple of 16 or, from 32 on, without.
  template <class From> static void write_wide(const TilePanel& panel) noexcept {
    Isa::for_equal_runs(panel, panel.row.channels * From::kBytes, panel.run_tile_bytes,
                        [](const TilePanel& part) { write_wide_runs<From>(part); });
  }
};

} // namespace simaai::kernels::a65::detail
