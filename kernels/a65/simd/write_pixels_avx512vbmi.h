// SPDX-License-Identifier: LGPL-2.1-or-later
// Writers of panels of any number of channels for AVX-512 with VBMI: whole vectors of values go through
// byte permutes; masks keep loads to the bytes that they may touch. Everything is a member of a class of
// this level. Include it in files built for the instruction set only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "a65/simd/isa_avx512.h"
#include "a65/simd/panel_rows.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiWriters {
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
    const bool column = row.pixels == 1; // then the segments are the pixels
    const WideRun run{row.channels / 64,
                      row.channels % 64 >= 32,
                      kRest == Rest::Overlap ? row.channels - 32 : whole,
                      first_bits(row.channels - whole),
                      row.stored_channels,
                      panel.runs,
                      row.channels * From::kBytes,
                      panel.run_tile_bytes,
                      column ? panel.segment_linear_bytes : row.pixel_stride_bytes,
                      column ? panel.segment_tile_bytes : 2 * row.stored_channels};
    const std::int64_t all_pixels = column ? panel.segments : row.pixels;
    const __m512i index = kWideIndex<From>.load();
    const std::byte* segment_src = row.src;
    std::byte* segment_dst = row.dst;
    From type{};
    for (std::int64_t segments = column ? 1 : panel.segments; segments != 0; --segments) {
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
      segment_src += panel.segment_linear_bytes;
      segment_dst += panel.segment_tile_bytes;
    }
  }

  template <class From> static void write_wide_runs(const TilePanel& panel) noexcept {
    const std::int64_t rest = panel.row.channels % 32;
    if (rest == 0)
      write_wide_runs<From, Rest::None>(panel);
    else if (panel.row.stored_channels == panel.row.channels)
      write_wide_runs<From, Rest::Overlap>(panel);
    else if (rest <= 16)
      write_wide_runs<From, Rest::Half>(panel);
    else
      write_wide_runs<From, Rest::Whole>(panel);
  }

  /// Runs of 17 channels or more, with padding to a multiple of 16 or, from 32 on, without.
  template <class From> static void write_wide(const TilePanel& panel) noexcept {
    if (panel.last_channels == panel.row.channels) {
      write_wide_runs<From>(panel);
      return;
    }
    TilePanel part = panel;
    --part.runs;
    write_wide_runs<From>(part);
    part.row.src += part.runs * part.row.channels * From::kBytes;
    part.row.dst += part.runs * part.run_tile_bytes;
    part.row.channels = panel.last_channels;
    part.runs = 1;
    write_wide_runs<From>(part);
  }

  // Compact: pixels of less than 32 channels without padding, as many as 64 bytes hold.

  static constexpr std::int64_t kCompactChannels = 31; ///< most

  /// Places in values of what as many whole pixels as 64 bytes hold store.
  template <class From> static constexpr Bytes compact_index(std::int64_t channels) noexcept {
    Bytes index{};
    for (std::int64_t i = 0; i < 32 / channels * channels * 2; ++i) {
      const std::int64_t value = i / (2 * channels) * channels + i % channels;
      index.at[i] = static_cast<std::uint8_t>(byte_of<From>(value) + i % (2 * channels) / channels);
    }
    return index;
  }
  template <class From>
  static constexpr auto kCompactIndex = [] {
    std::array<Bytes, kCompactChannels + 1> indices{};
    for (std::int64_t channels = 1; channels <= kCompactChannels; ++channels)
      indices[static_cast<std::size_t>(channels)] = compact_index<From>(channels);
    return indices;
  }();
  /// Stored bytes of values from the sixteenth on.
  static constexpr auto kCompactSecond = [] {
    std::array<std::uint64_t, kCompactChannels + 1> masks{};
    for (std::int64_t channels = 1; channels <= kCompactChannels; ++channels)
      for (std::int64_t i = 0; i < 32 / channels * channels * 2; ++i)
        if (i / (2 * channels) * channels + i % channels >= 16)
          masks[static_cast<std::size_t>(channels)] |= std::uint64_t{1} << i;
    return masks;
  }();

  /// The first `bytes` bytes of a step; the other ones of the vector may be written up to `room`.
  static void put_step(std::byte* dst, std::int64_t bytes, std::int64_t room,
                       __m512i stored) noexcept {
    if (room >= 64)
      _mm512_storeu_si512(dst, stored);
    else if (bytes == 32)
      Isa::store_256(dst, _mm512_castsi512_si256(stored));
    else
      _mm512_mask_storeu_epi8(dst, first_bits(bytes), stored);
  }

  /// What the loop over the pixels of a compact segment needs.
  struct CompactRun {
    std::int64_t pixels;
    std::int64_t channels;
    std::int64_t group; ///< pixels a step
    std::int64_t src_step;
    std::int64_t runs;
    std::int64_t run_tile_bytes;
  };

  template <class From>
  [[gnu::always_inline]] static inline bool try_compact(From& type, const CompactRun& run,
                                                        std::int64_t room, const std::byte* src,
                                                        std::byte* dst) noexcept {
    const std::int64_t channels = run.channels;
    const std::int64_t group = run.group;
    const __m512i index = kCompactIndex<From>[static_cast<std::size_t>(channels)].load();
    const std::uint64_t of_second = kCompactSecond[static_cast<std::size_t>(channels)];
    const std::uint64_t load_mask = first_bits(group * channels);
    const std::int64_t bytes = 2 * group * channels;
    std::int64_t left = run.pixels;
    for (; left >= group; left -= group) {
      put_step(dst, bytes, room, place_some(type, src, index, of_second, load_mask));
      for (std::int64_t next = 1; next < run.runs; ++next)
        put_step(
            dst + next * run.run_tile_bytes, bytes, room,
            place_some(type, src + next * channels * From::kBytes, index, of_second, load_mask));
      src += run.src_step;
      dst += bytes;
      room -= bytes;
    }
    if (left != 0)
      put_step(dst, 2 * left * channels, room,
               place_some(type, src, index, of_second, first_bits(left * channels)));
    return PanelRows<Isa>::was_right(type);
  }

  template <class From>
  [[gnu::noinline]] static void write_other_compact(const CompactRun& run, std::int64_t room,
                                                    const std::byte* src, std::byte* dst) noexcept {
    From type{};
    static_cast<void>(try_compact(type, run, room, src, dst));
  }

  template <class From> static void write_compact(const TilePanel& panel) noexcept {
    const TileRow row = panel.row;
    const bool packed = panel.runs == 1 && row.pixel_stride_bytes == row.channels * From::kBytes;
    const std::int64_t most = packed ? 32 / row.channels : 1;
    const std::int64_t group = row.pixels < most ? row.pixels : most;
    const CompactRun run{row.pixels, row.channels,        group, group * row.pixel_stride_bytes,
                         panel.runs, panel.run_tile_bytes};
    // A step may write over places that a later one of the panel writes.
    const std::int64_t segment_bytes = 2 * row.pixels * row.channels;
    const bool contiguous = panel.runs == 1 && panel.segment_tile_bytes == segment_bytes;
    const std::byte* src = row.src;
    std::byte* dst = row.dst;
    From type{};
    for (std::int64_t left = panel.segments; left != 0; --left) {
      const std::int64_t room = contiguous ? left * segment_bytes : segment_bytes;
      const bool done = try_compact(type, run, room, src, dst);
      if constexpr (requires { typename From::Other; })
        if (!done)
          write_other_compact<typename From::Other>(run, room, src, dst);
      src += panel.segment_linear_bytes;
      dst += panel.segment_tile_bytes;
    }
  }

  // Padded: pixels of less than 16 channels in 16 stored ones.

  template <class From>
  static constexpr Bytes kPaddedIndex = [] {
    Bytes index{};
    for (std::uint8_t i = 0; i < 64; ++i)
      index.at[i] = static_cast<std::uint8_t>(byte_of<From>(i % 16) + i / 16 % 2);
    return index;
  }();

  /// How values of packed pixels find their places in padded ones.
  struct PaddedPlaces {
    __m512i index;
    __m512i step; ///< from pair to pair
    std::uint64_t keep;
  };

  template <class From> static PaddedPlaces padded_places(std::int64_t channels) noexcept {
    const std::int64_t pixel_bytes = channels * From::kBytes;
    return {_mm512_add_epi8(
                kPaddedIndex<From>.load(),
                _mm512_maskz_set1_epi8(0xffffffff00000000U, static_cast<char>(pixel_bytes))),
            _mm512_set1_epi8(static_cast<char>(2 * pixel_bytes)),
            first_bits(channels) * 0x0001000100010001U};
  }

  /// A segment of packed pixels, as many pairs a step as a vector of values holds.
  template <std::int64_t kPairs, bool kStream, class From>
  [[gnu::always_inline]] static inline bool try_padded(From& type, const TileRow& row,
                                                       const std::byte* src, std::byte* dst,
                                                       const PaddedPlaces& places) noexcept {
    const std::int64_t channels = row.channels;
    const std::uint64_t load_mask = first_bits(2 * kPairs * channels);
    std::int64_t left = row.pixels;
    for (; left >= 2 * kPairs; left -= 2 * kPairs) {
      if constexpr (kStream)
        __builtin_prefetch(src + 1024);
      const __m512i values = load(type, src, load_mask);
      __m512i index = places.index;
#pragma GCC unroll 16
      for (std::int64_t pair = 0; pair < kPairs; ++pair) {
        Isa::put_512<kStream>(dst + 64 * pair,
                              _mm512_maskz_permutexvar_epi8(places.keep, index, values));
        index = _mm512_add_epi8(index, places.step);
      }
      src += 2 * kPairs * channels * From::kBytes;
      dst += 2 * kPairs * 32;
    }
    if (left != 0) {
      const __m512i values = load(type, src, first_bits(left * channels));
      __m512i index = places.index;
      for (; left >= 2; left -= 2) {
        Isa::put_512<false>(dst, _mm512_maskz_permutexvar_epi8(places.keep, index, values));
        index = _mm512_add_epi8(index, places.step);
        dst += 64;
      }
      if (left != 0)
        Isa::store_256(
            dst, _mm512_castsi512_si256(_mm512_maskz_permutexvar_epi8(places.keep, index, values)));
    }
    return PanelRows<Isa>::was_right(type);
  }

  template <class From, std::int64_t kPairs>
  [[gnu::noinline]] static void write_other_padded(const TileRow& row, const std::byte* src,
                                                   std::byte* dst) noexcept {
    From type{};
    const PaddedPlaces places = padded_places<From>(row.channels);
    static_cast<void>(try_padded<kPairs, false>(type, row, src, dst, places));
  }

  template <class From, std::int64_t kPairs, bool kStream>
  static void write_padded(const TilePanel& panel) noexcept {
    const TileRow row = panel.row;
    const PaddedPlaces places = padded_places<From>(row.channels);
    const std::byte* src = row.src;
    std::byte* dst = row.dst;
    const std::int64_t linear_bytes = panel.segment_linear_bytes;
    const std::int64_t tile_bytes = panel.segment_tile_bytes;
    From type{};
    for (std::int64_t left = panel.segments; left != 0; --left) {
      const bool done = try_padded<kPairs, kStream>(type, row, src, dst, places);
      if constexpr (requires { typename From::Other; })
        if (!done)
          write_other_padded<typename From::Other, kPairs>(row, src, dst);
      src += linear_bytes;
      dst += tile_bytes;
    }
  }

  template <class From, bool kStream> static void write_padded(const TilePanel& panel) noexcept {
    switch (kValues<From> / panel.row.channels / 2) {
    case 16:
      return write_padded<From, 16, kStream>(panel);
    case 8:
      return write_padded<From, 8, kStream>(panel);
    case 5:
      return write_padded<From, 5, kStream>(panel);
    case 4:
      return write_padded<From, 4, kStream>(panel);
    case 3:
      return write_padded<From, 3, kStream>(panel);
    case 2:
      return write_padded<From, 2, kStream>(panel);
    default:
      return write_padded<From, 1, kStream>(panel);
    }
  }

  /// Any panel of contiguous channels.
  template <class From, TilePanelFn RowTable::*kBelow>
  static void write(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    if (row.stored_channels == 16) {
      const bool packed = row.pixel_stride_bytes == row.channels * From::kBytes;
      if (panel.runs != 1 || !packed || 2 * row.channels > kValues<From>)
        PanelRows<Isa>::write_of_16<From>(panel);
      else if (panel.stream && places_of(panel) % Isa::kStreamAlignment == 0)
        write_padded<From, true>(panel);
      else
        write_padded<From, false>(panel);
    } else if (panel.stream) {
      (avx2_rows().*kBelow)(panel);
    } else if (row.stored_channels == row.channels && row.channels <= kCompactChannels) {
      write_compact<From>(panel);
    } else {
      write_wide<From>(panel);
    }
  }
};

} // namespace simaai::kernels::a65::detail
