// SPDX-License-Identifier: LGPL-2.1-or-later
// Writers of panels of any number of channels for AVX-512 with VBMI: those of few channels, which fill
// vectors with several pixels, and the choice. Everything is a member of a class of this level. Include
// it in files built for the instruction set only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "a65/simd/panel_rows.h"
#include "a65/simd/write_wide_avx512vbmi.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiWriters : Avx512VbmiWideWriters {
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

  /// What the loop over the pixels of a compact segment needs.
  struct CompactRun {
    std::int64_t pixels;
    std::int64_t channels;
    std::int64_t group; ///< pixels a step
    std::int64_t src_step;
    std::int64_t runs;
    std::int64_t run_tile_bytes;
    std::int64_t whole_loads; ///< pixels from which loads read no byte but theirs and need no mask
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
    for (; left >= run.whole_loads; left -= group) {
      __builtin_prefetch(dst + Isa::kAhead, 1);
      Isa::store_within(dst, bytes, room, place(type, src, index, of_second));
      src += run.src_step;
      dst += bytes;
      room -= bytes;
    }
    for (; left >= group; left -= group) {
      Isa::store_within(dst, bytes, room, place_some(type, src, index, of_second, load_mask));
      for (std::int64_t next = 1; next < run.runs; ++next)
        Isa::store_within(
            dst + next * run.run_tile_bytes, bytes, room,
            place_some(type, src + next * channels * From::kBytes, index, of_second, load_mask));
      src += run.src_step;
      dst += bytes;
      room -= bytes;
    }
    if (left != 0)
      Isa::store_within(dst, 2 * left * channels, room,
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
    const CompactRun run{row.pixels,
                         row.channels,
                         group,
                         group * row.pixel_stride_bytes,
                         panel.runs,
                         panel.run_tile_bytes,
                         packed ? std::max(group, 32 / row.channels + 1) : row.pixels + 1};
    // A step may write over places that a later one of the panel writes.
    const std::int64_t segment_bytes = 2 * row.pixels * row.channels;
    const bool contiguous = panel.runs == 1 && panel.segment_tile_bytes == segment_bytes;
    const std::byte* src = row.src;
    std::byte* dst = row.dst;
    From type{};
    for (std::int64_t left = panel.segments; left != 0; --left) {
      const std::int64_t room = contiguous ? left * segment_bytes : segment_bytes;
      const bool done = !PanelRows<Isa>::is_wary(type) && try_compact(type, run, room, src, dst);
      if constexpr (requires { typename From::Other; })
        if (!done)
          write_other_compact<typename From::Other>(run, room, src, dst);
      src += panel.segment_linear_bytes;
      dst += panel.segment_tile_bytes;
    }
  }

  /// Compact rows of sixteen values: one step each, without masks.
  template <class From>
  [[gnu::always_inline]] static inline bool try_sixteens(From& type, const TilePanel& panel,
                                                         std::int64_t rows, const std::byte* src,
                                                         std::byte* dst) noexcept {
    const auto slot = static_cast<std::size_t>(panel.row.channels);
    const __m512i index = kCompactIndex<From>[slot].load();
    const std::int64_t linear_bytes = panel.segment_linear_bytes;
    const std::int64_t tile_bytes = panel.segment_tile_bytes;
    for (; rows != 0; --rows) {
      const __m512i planes = _mm512_permutexvar_epi8(index, load_sixteen(type, src));
      Isa::store_256(dst, _mm512_castsi512_si256(planes));
      src += linear_bytes;
      dst += tile_bytes;
    }
    return PanelRows<Isa>::was_right(type);
  }

  static __m512i load_sixteen(F32& type, const std::byte* src) noexcept {
    return Isa::round_f32(type, Isa::load_512(src));
  }
  template <class From> static __m512i load_sixteen(From& type, const std::byte* src) noexcept {
    return Isa::convert_some(type, _mm512_castsi256_si512(Isa::load_256(src)), 0xffff);
  }

  template <class From>
  [[gnu::noinline]] static void write_other_sixteens(const TilePanel& panel, std::int64_t rows,
                                                     const std::byte* src,
                                                     std::byte* dst) noexcept {
    From type{};
    static_cast<void>(try_sixteens(type, panel, rows, src, dst));
  }

  template <class From> static void write_sixteens(const TilePanel& panel) noexcept {
    constexpr bool kAssumes = requires { typename From::Other; };
    constexpr std::int64_t kMostRows = 8; // that may have to be written again
    const std::int64_t most = kAssumes ? kMostRows : panel.segments;
    const std::byte* box_src = panel.row.src;
    std::byte* box_dst = panel.row.dst;
    From type{};
    for (std::int64_t boxes = panel.boxes; boxes != 0; --boxes) {
      const std::byte* src = box_src;
      std::byte* dst = box_dst;
      for (std::int64_t left = panel.segments; left > 0; left -= most) {
        const std::int64_t rows = left < most ? left : most;
        const bool done =
            !PanelRows<Isa>::is_wary(type) && try_sixteens(type, panel, rows, src, dst);
        if constexpr (kAssumes)
          if (!done)
            write_other_sixteens<typename From::Other>(panel, rows, src, dst);
        src += rows * panel.segment_linear_bytes;
        dst += rows * panel.segment_tile_bytes;
      }
      box_src += panel.box_linear_bytes;
      box_dst += panel.box_tile_bytes;
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
        __builtin_prefetch(src + Isa::kAhead);
      const __m512i values = load(type, src, load_mask);
      __m512i index = places.index;
#pragma GCC unroll 16
      for (std::int64_t pair = 0; pair < kPairs; ++pair) {
        if constexpr (!kStream)
          __builtin_prefetch(dst + 64 * pair + Isa::kFarAhead, 1);
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
        Isa::put_512<kStream>(dst, _mm512_maskz_permutexvar_epi8(places.keep, index, values));
        index = _mm512_add_epi8(index, places.step);
        dst += 64;
      }
      if (left != 0) {
        const __m512i pixel = _mm512_maskz_permutexvar_epi8(places.keep, index, values);
        if constexpr (kStream)
          Isa::put_first<true>(dst, 32, pixel);
        else
          Isa::store_256(dst, _mm512_castsi512_si256(pixel));
      }
    }
    return PanelRows<Isa>::was_right(type);
  }

  /// Rows of as many pixels as a step makes.
  template <std::int64_t kPairs, bool kStream, class From>
  [[gnu::always_inline]] static inline bool
  try_padded_rows(From& type, const TilePanel& panel, std::int64_t rows, const std::byte* src,
                  std::byte* dst, const PaddedPlaces& places) noexcept {
    const std::uint64_t load_mask = first_bits(2 * kPairs * panel.row.channels);
    const std::int64_t linear_bytes = panel.segment_linear_bytes;
    const std::int64_t tile_bytes = panel.segment_tile_bytes;
    for (; rows != 0; --rows) {
      const __m512i values = load(type, src, load_mask);
      __m512i index = places.index;
#pragma GCC unroll 16
      for (std::int64_t pair = 0; pair < kPairs; ++pair) {
        if constexpr (!kStream)
          __builtin_prefetch(dst + 64 * pair + Isa::kFarAhead, 1);
        Isa::put_512<kStream>(dst + 64 * pair,
                              _mm512_maskz_permutexvar_epi8(places.keep, index, values));
        index = _mm512_add_epi8(index, places.step);
      }
      src += linear_bytes;
      dst += tile_bytes;
    }
    return PanelRows<Isa>::was_right(type);
  }

  template <class From, std::int64_t kPairs, bool kStream>
  [[gnu::noinline]] static void write_other_padded_rows(const TilePanel& panel, std::int64_t rows,
                                                        const std::byte* src,
                                                        std::byte* dst) noexcept {
    From type{};
    const PaddedPlaces places = padded_places<From>(panel.row.channels);
    static_cast<void>(try_padded_rows<kPairs, kStream>(type, panel, rows, src, dst, places));
  }

  template <class From, std::int64_t kPairs, bool kStream>
  [[gnu::noinline]] static void write_other_padded(const TileRow& row, const std::byte* src,
                                                   std::byte* dst) noexcept {
    From type{};
    const PaddedPlaces places = padded_places<From>(row.channels);
    static_cast<void>(try_padded<kPairs, kStream>(type, row, src, dst, places));
  }

  template <class From, std::int64_t kPairs, bool kStream>
  [[gnu::always_inline]] static inline void write_padded_box(From& type, const TilePanel& panel,
                                                             const std::byte* src, std::byte* dst,
                                                             const PaddedPlaces& places) noexcept {
    constexpr bool kAssumes = requires { typename From::Other; };
    const TileRow& row = panel.row;
    if (row.pixels == 2 * kPairs) {
      constexpr std::int64_t kMostRows = 8; // that may have to be written again
      const std::int64_t most = kAssumes ? kMostRows : panel.segments;
      for (std::int64_t left = panel.segments; left > 0; left -= most) {
        const std::int64_t rows = left < most ? left : most;
        const bool done = !PanelRows<Isa>::is_wary(type) &&
                          try_padded_rows<kPairs, kStream>(type, panel, rows, src, dst, places);
        if constexpr (kAssumes)
          if (!done)
            write_other_padded_rows<typename From::Other, kPairs, kStream>(panel, rows, src, dst);
        src += rows * panel.segment_linear_bytes;
        dst += rows * panel.segment_tile_bytes;
      }
      return;
    }
    for (std::int64_t left = panel.segments; left != 0; --left) {
      const bool done = !PanelRows<Isa>::is_wary(type) &&
                        try_padded<kPairs, kStream>(type, row, src, dst, places);
      if constexpr (kAssumes)
        if (!done)
          write_other_padded<typename From::Other, kPairs, kStream>(row, src, dst);
      src += panel.segment_linear_bytes;
      dst += panel.segment_tile_bytes;
    }
  }

  template <class From, std::int64_t kPairs, bool kStream>
  static void write_padded(const TilePanel& panel) noexcept {
    const PaddedPlaces places = padded_places<From>(panel.row.channels);
    const std::byte* src = panel.row.src;
    std::byte* dst = panel.row.dst;
    From type{};
    for (std::int64_t left = panel.boxes; left != 0; --left) {
      write_padded_box<From, kPairs, kStream>(type, panel, src, dst, places);
      src += panel.box_linear_bytes;
      dst += panel.box_tile_bytes;
    }
  }

  template <class From, bool kStream> static void write_padded(const TilePanel& panel) noexcept {
    // No more than the pairs of a row: short ones are one step each.
    const std::int64_t most = kValues<From> / panel.row.channels / 2;
    const std::int64_t pairs = panel.row.pixels / 2 < most ? panel.row.pixels / 2 : most;
    if (pairs >= 16)
      write_padded<From, 16, kStream>(panel);
    else if (pairs >= 8)
      write_padded<From, 8, kStream>(panel);
    else if (pairs >= 5)
      write_padded<From, 5, kStream>(panel);
    else if (pairs == 4)
      write_padded<From, 4, kStream>(panel);
    else if (pairs == 3)
      write_padded<From, 3, kStream>(panel);
    else if (pairs == 2)
      write_padded<From, 2, kStream>(panel);
    else
      write_padded<From, 1, kStream>(panel);
  }

  /// Packed pixels of every second scalar with padding to 16 channels, as many channels as two pixels of
  /// a vector have.
  template <class From> static void write_spread(const TilePanel& given) noexcept {
    const TilePanel panel = with_packed_rows(given, given.row.channels * From::kBytes);
    if (panel.stream && places_of(panel) % Isa::kPartAlignment == 0)
      write_padded<From, true>(panel);
    else
      write_padded<From, false>(panel);
  }

  /// Any panel of contiguous channels.
  template <class From, TilePanelFn RowTable::*kBelow>
  static void write(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    const bool packed = panel.runs == 1 && row.pixel_stride_bytes == row.channels * From::kBytes;
    const bool padded = packed && row.stored_channels == 16 && 2 * row.channels <= kValues<From>;
    if (padded && panel.stream && places_of(panel) % Isa::kPartAlignment == 0)
      write_padded<From, true>(panel);
    else if (padded)
      write_padded<From, false>(panel);
    else if (row.stored_channels == 16)
      PanelRows<Isa>::write_of_16<From>(panel);
    else if (panel.stream && plane_places_of(panel) % Isa::kPartAlignment == 0)
      write_each_box(panel, avx2_rows().*kBelow); // streams
    else if (packed && row.stored_channels == row.channels && row.pixels * row.channels == 16)
      write_sixteens<From>(panel);
    else if (row.stored_channels == row.channels && row.channels <= kCompactChannels)
      write_each_box(panel, write_compact<From>);
    else
      write_wide<From>(panel);
  }
};

} // namespace simaai::kernels::a65::detail
