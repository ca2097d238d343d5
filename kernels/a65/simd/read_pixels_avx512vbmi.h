// SPDX-License-Identifier: LGPL-2.1-or-later
// Readers of panels of any number of channels for AVX-512 with VBMI: those of few channels, which fill
// vectors with several pixels, and the choice. Stores of whole vectors overlap what is written later;
// only the last of a panel have masks, which make stores slow. Everything is a member of a class of
// this level. Include it in files built for the instruction set only.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "a65/simd/panel_rows.h"
#include "a65/simd/read_wide_avx512vbmi.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiReaders : Avx512VbmiWideReaders {
  // Narrow: packed pixels of a few channels; a step makes one vector, or two of Float32, of which
  // the first `values` values are meant and the others may be written over what comes later.

  template <class To>
  static void put_some(std::byte* dst, std::int64_t values, std::int64_t room,
                       __m512i vector) noexcept {
    constexpr std::uint64_t kEverySecond = 0x5555555555555555U;
    const std::uint64_t slots = first_bits(2 * values) & kEverySecond;
    if constexpr (std::is_same_v<To, SpreadF32>)
      _mm512_mask_storeu_epi32(dst, static_cast<__mmask16>(slots), vector);
    else if constexpr (std::is_same_v<To, SpreadBF16>)
      _mm512_mask_storeu_epi16(dst, static_cast<__mmask32>(slots), vector);
    else
      Isa::store_within(dst, values * To::kBytes, room, vector);
  }

  /// Calls `segment(src, dst, room)` for each segment: so many bytes from `dst` on are the panel's,
  /// and none of them was written before.
  template <class To, class Segment>
  [[gnu::always_inline]] static inline void for_each_segment(const TilePanel& panel,
                                                             Segment segment) noexcept {
    const std::int64_t bytes = panel.row.pixels * panel.row.pixel_stride_bytes;
    const bool contiguous = panel.boxes == 1 && panel.segment_linear_bytes == bytes;
    const std::byte* box_src = panel.row.src;
    std::byte* box_dst = panel.row.dst;
    for (std::int64_t boxes = panel.boxes; boxes != 0; --boxes) {
      const std::byte* src = box_src;
      std::byte* dst = box_dst;
      for (std::int64_t left = panel.segments; left != 0; --left) {
        segment(src, dst, contiguous ? left * bytes : bytes);
        src += panel.segment_tile_bytes;
        dst += panel.segment_linear_bytes;
      }
      box_src += panel.box_tile_bytes;
      box_dst += panel.box_linear_bytes;
    }
  }

  /// Places of the first kChannels channels of two pixels of 16 stored ones, again and again.
  template <class To, std::int64_t kChannels>
  static constexpr Bytes kPaddedIndex = [] {
    Bytes index{};
    for (std::int64_t i = 0; i < 64; ++i) {
      const std::int64_t value = value_of<To>(i);
      index.at[i] =
          static_cast<std::uint8_t>(value / kChannels % 2 * 32 + value % kChannels + i % 2 * 16);
    }
    return index;
  }();

  /// kPairs pairs of pixels of kChannels channels in 16 stored ones as one vector.
  template <class To, std::int64_t kChannels, std::int64_t kPairs>
  [[gnu::always_inline]] static inline __m512i join_pairs(const std::byte* src,
                                                          __m512i index) noexcept {
    constexpr std::int64_t kPairBytes = 2 * kChannels * To::kBytes;
    __m512i values = _mm512_maskz_permutexvar_epi8(kStoredBytes<To>, index, Isa::load_512(src));
#pragma GCC unroll 16
    for (std::int64_t pair = 1; pair < kPairs; ++pair)
      values =
          _mm512_mask_permutexvar_epi8(values, kStoredBytes<To> & ~first_bits(pair * kPairBytes),
                                       index, Isa::load_512(src + pair * 64));
    return values;
  }

  /// Pixels of kChannels channels in 16 stored ones, kPairs pairs a step; 0 where a vector has no room
  /// for two.
  template <class To, std::int64_t kChannels, std::int64_t kPairs>
  static void read_pairs(const TilePanel& panel) noexcept {
    constexpr std::int64_t kPixels = 2 * kPairs;
    constexpr std::int64_t kPixelBytes = kChannels * To::kBytes;
    const __m512i index = kPaddedIndex<To, kChannels>.load();
    const std::int64_t pixels = panel.row.pixels;
    if (kPairs != 0 && pixels == kPixels) {
      for_each_segment<To>(panel, [=](const std::byte* src, std::byte* dst, std::int64_t room) {
        put_some<To>(dst, kPixels * kChannels, room, join_pairs<To, kChannels, kPairs>(src, index));
      });
      return;
    }
    for_each_segment<To>(panel, [=](const std::byte* src, std::byte* dst, std::int64_t room) {
      std::int64_t left = pixels;
      if constexpr (kPairs != 0) {
        for (; left >= kPixels; left -= kPixels) {
          for (std::int64_t line = 0; line < kPixels * 32; line += 64)
            __builtin_prefetch(src + Isa::kFarAhead + line);
          put_some<To>(dst, kPixels * kChannels, room,
                       join_pairs<To, kChannels, kPairs>(src, index));
          src += kPixels * 32;
          dst += kPixels * kPixelBytes;
          room -= kPixels * kPixelBytes;
        }
        for (; kPairs > 1 && left >= 2; left -= 2) {
          put_some<To>(dst, 2 * kChannels, room, join_pairs<To, kChannels, 1>(src, index));
          src += 64;
          dst += 2 * kPixelBytes;
          room -= 2 * kPixelBytes;
        }
      }
      for (; left != 0; --left) {
        put_some<To>(dst, kChannels, room,
                     _mm512_maskz_permutexvar_epi8(kStoredBytes<To>, index,
                                                   _mm512_castsi256_si512(load_256(src))));
        src += 32;
        dst += kPixelBytes;
        room -= kPixelBytes;
      }
    });
  }

  /// Rows of a few pixels are one step each.
  template <class To, std::int64_t kChannels>
  static void read_padded(const TilePanel& panel) noexcept {
    constexpr std::int64_t kMost = kValues<To> / kChannels / 2;
    const std::int64_t pairs = panel.row.pixels / 2;
    if constexpr (kMost > 4)
      if (pairs == 4)
        return read_pairs<To, kChannels, 4>(panel);
    if constexpr (kMost > 2)
      if (pairs == 2)
        return read_pairs<To, kChannels, 2>(panel);
    if constexpr (kMost > 1)
      if (pairs == 1)
        return read_pairs<To, kChannels, 1>(panel);
    read_pairs<To, kChannels, kMost>(panel);
  }

  static constexpr std::int64_t kCompactChannels = 31; ///< most

  /// Places of values from `first` on of as many whole compact pixels as 64 bytes hold.
  template <class To>
  static constexpr Bytes compact_index(std::int64_t channels, std::int64_t first) noexcept {
    Bytes index{};
    for (std::int64_t i = 0; i < 64; ++i) {
      const std::int64_t value = first + value_of<To>(i);
      index.at[i] = static_cast<std::uint8_t>(
          (value / channels * 2 * channels + value % channels + i % 2 * channels) % 64);
    }
    return index;
  }
  template <class To, std::int64_t kFirst>
  static constexpr auto kCompactIndex = [] {
    std::array<Bytes, kCompactChannels + 1> indices{};
    for (std::int64_t channels = 1; channels <= kCompactChannels; ++channels)
      indices[static_cast<std::size_t>(channels)] = compact_index<To>(channels, kFirst);
    return indices;
  }();

  /// Up to 32 values, of which those from `most` on are not meant.
  template <class To, bool kWide>
  [[gnu::always_inline]] static inline void put_compact(std::byte* dst, std::int64_t most,
                                                        std::int64_t room, __m512i first,
                                                        __m512i second, __m512i bytes) noexcept {
    if constexpr (To::kBytes == 2) {
      put_some<To>(dst, most, room, _mm512_permutexvar_epi8(first, bytes));
    } else {
      put_some<To>(dst, kWide ? 16 : most, room,
                   _mm512_maskz_permutexvar_epi8(kStoredBytes<To>, first, bytes));
      if constexpr (kWide)
        put_some<To>(dst + 64, most - 16, room - 64,
                     _mm512_maskz_permutexvar_epi8(kStoredBytes<To>, second, bytes));
    }
  }

  /// kWide: more than 16 values a step.
  template <class To, bool kWide>
  static void read_compact(const TilePanel& panel, std::int64_t group) noexcept {
    const std::int64_t channels = panel.row.channels;
    const auto slot = static_cast<std::size_t>(channels);
    const __m512i first = kCompactIndex<To, 0>[slot].load();
    const __m512i second = kCompactIndex<To, 16>[slot].load();
    const std::int64_t values = group * channels;
    const std::uint64_t mask = first_bits(2 * values);
    const std::int64_t pixels = panel.row.pixels;
    if (pixels == group && values == 16) { // one step a row, which needs no masks
      for_each_segment<To>(panel, [first, second](const std::byte* src, std::byte* dst,
                                                  std::int64_t room) {
        put_compact<To, kWide>(dst, 16, room, first, second, _mm512_castsi256_si512(load_256(src)));
      });
      return;
    }
    if (pixels == group) {
      for_each_segment<To>(panel, [first, second, mask, values](const std::byte* src,
                                                                std::byte* dst, std::int64_t room) {
        put_compact<To, kWide>(dst, values, room, first, second,
                               _mm512_maskz_loadu_epi8(mask, src));
      });
      return;
    }
    const std::int64_t whole_load = std::max(group, 32 / channels + 1);
    for_each_segment<To>(panel, [first, second, mask, values, group, channels, pixels, whole_load](
                                    const std::byte* src, std::byte* dst, std::int64_t room) {
      std::int64_t left = pixels;
      for (; left >= whole_load; left -= group) { // no byte of the next segment is read: no mask
        __builtin_prefetch(dst + Isa::kAhead, 1);
        if constexpr (To::kBytes == 4)
          __builtin_prefetch(dst + Isa::kAhead + 64, 1);
        put_compact<To, kWide>(dst, values, room, first, second, Isa::load_512(src));
        src += 2 * values;
        dst += values * To::kBytes;
        room -= values * To::kBytes;
      }
      for (; left >= group; left -= group) {
        put_compact<To, kWide>(dst, values, room, first, second,
                               _mm512_maskz_loadu_epi8(mask, src));
        src += 2 * values;
        dst += values * To::kBytes;
        room -= values * To::kBytes;
      }
      if (left == 0)
        return;
      const __m512i bytes = _mm512_maskz_loadu_epi8(first_bits(2 * left * channels), src);
      if (left * channels > 16)
        put_compact<To, true>(dst, left * channels, room, first, second, bytes);
      else
        put_compact<To, false>(dst, left * channels, room, first, second, bytes);
    });
  }

  /// Packed pixels of less than 32 channels without padding.
  template <class To> static void read_compact(const TilePanel& panel) noexcept {
    const std::int64_t most = 32 / panel.row.channels;
    const std::int64_t group = panel.row.pixels < most ? panel.row.pixels : most;
    if (group * panel.row.channels > 16)
      read_compact<To, true>(panel, group);
    else
      read_compact<To, false>(panel, group);
  }

  /// Readers of packed pixels of 1 to 15 channels in 16 stored ones, by channels.
  template <class To>
  static constexpr std::array<TilePanelFn, 16> kPadded{nullptr,
                                                       read_padded<To, 1>,
                                                       read_padded<To, 2>,
                                                       read_padded<To, 3>,
                                                       read_padded<To, 4>,
                                                       read_padded<To, 5>,
                                                       read_padded<To, 6>,
                                                       read_padded<To, 7>,
                                                       read_padded<To, 8>,
                                                       read_padded<To, 9>,
                                                       read_padded<To, 10>,
                                                       read_padded<To, 11>,
                                                       read_padded<To, 12>,
                                                       read_padded<To, 13>,
                                                       read_padded<To, 14>,
                                                       read_padded<To, 15>};

  /// 1 to 4 channels of packed pixels of every second scalar.
  template <class To> static void read_spread(const TilePanel& given) noexcept {
    const TilePanel panel = with_packed_rows(given, given.row.channels * To::kBytes);
    switch (panel.row.channels) {
    case 1:
      return read_padded<To, 1>(panel);
    case 2:
      return read_padded<To, 2>(panel);
    case 3:
      return read_padded<To, 3>(panel);
    default:
      return read_padded<To, 4>(panel);
    }
  }

  /// What is left to the level below.
  template <TilePanelFn RowTable::*kBelow> static void read_below(const TilePanel& panel) noexcept {
    read_each_box(panel, avx2_reader_rows().*kBelow);
  }

  /// Any panel of contiguous channels.
  template <class To, TilePanelFn RowTable::*kBelow>
  static void read(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    const bool packed = panel.runs == 1 && row.pixel_stride_bytes == row.channels * To::kBytes;
    if (row.stored_channels == 16) {
      if (packed && row.channels < 16)
        kPadded<To>[static_cast<std::size_t>(row.channels)](panel);
      else if (is_of_sixteens(panel) && !PanelRows<Isa>::streams_of_16<To>(panel))
        read_sixteens<To>(panel);
      else
        PanelRows<Isa>::read_of_16<To>(panel);
    } else if (packed && row.channels <= kCompactChannels && row.stored_channels == row.channels) {
      read_compact<To>(panel);
    } else if (row.channels < 16 || panel.last_channels < 16) {
      read_below<kBelow>(panel);
    } else if (!panel.stream) {
      read_wide<To, false>(panel);
    } else {
      constexpr std::uintptr_t kHalfLine = 32;
      const auto places = linear_places_of(panel, row.channels * To::kBytes) |
                          static_cast<std::uintptr_t>(panel.last_channels * To::kBytes);
      if (places % Isa::kStreamAlignment == 0)
        read_wide<To, true>(panel);
      else if (places % kHalfLine == 0)
        read_below<kBelow>(panel); // streams in shorter vectors
      else
        read_wide<To, false>(panel);
    }
  }
};

} // namespace simaai::kernels::a65::detail
