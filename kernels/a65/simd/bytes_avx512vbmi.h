// SPDX-License-Identifier: LGPL-2.1-or-later
// INT8 panels for AVX-512 with VBMI: those of few channels that gain or lose padding, and the choice.
// Everything is a member of a class of this level. Include it in files built for the instruction set
// only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "a65/simd/copies_avx512vbmi.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiBytes : Avx512VbmiCopies {
  // Packed pixels of less than 16 channels in 16 stored ones, four a step.

  /// kStep: distance of two channels, 2 where every second scalar is one.
  template <std::int64_t kStep> static __m512i padded_index(std::int64_t channels) noexcept {
    static constexpr Bytes kChannel = [] {
      Bytes index{};
      for (std::uint8_t i = 0; i < 64; ++i)
        index.at[i] = static_cast<std::uint8_t>(i % 16 * kStep);
      return index;
    }();
    const auto pixel = [&](std::int64_t number, std::uint64_t lanes) {
      return _mm512_maskz_set1_epi8(lanes, static_cast<char>(number * channels * kStep));
    };
    const __m512i base = _mm512_or_si512(
        _mm512_or_si512(pixel(1, 0x00000000ffff0000U), pixel(2, 0x0000ffff00000000U)),
        pixel(3, 0xffff000000000000U));
    return _mm512_add_epi8(kChannel.load(), base);
  }

  /// The bytes of the first values.
  template <std::int64_t kStep> static std::uint64_t bytes_of(std::int64_t values) noexcept {
    return first_bits(values * kStep) & (kStep == 2 ? 0x5555555555555555U : ~std::uint64_t{0});
  }

  template <bool kStream, std::int64_t kStep = 1>
  static void write_padded(const TilePanel& panel) noexcept {
    const TileRow row = panel.row;
    const std::int64_t channels = row.channels;
    const __m512i index = padded_index<kStep>(channels);
    const __m512i fill = _mm512_set1_epi8(static_cast<char>(row.fill));
    const std::uint64_t keep = first_bits(channels) * 0x0001000100010001U;
    const std::uint64_t load_mask = bytes_of<kStep>(4 * channels);
    const auto write_4 = [fill, index, keep, load_mask](std::byte* dst, const std::byte* src) {
      Isa::put_512<kStream>(dst, _mm512_mask_permutexvar_epi8(
                                     fill, keep, index, _mm512_maskz_loadu_epi8(load_mask, src)));
    };
    const std::byte* box_src = row.src;
    std::byte* box_dst = row.dst;
    for (std::int64_t boxes = panel.boxes; boxes != 0; --boxes) {
      const std::byte* segment_src = box_src;
      std::byte* segment_dst = box_dst;
      for (std::int64_t segments = panel.segments; segments != 0; --segments) {
        const std::byte* src = segment_src;
        std::byte* dst = segment_dst;
        std::int64_t left = row.pixels;
        for (; left >= 4; left -= 4) {
          if constexpr (kStream)
            __builtin_prefetch(src + Isa::kAhead);
          else
            __builtin_prefetch(dst + Isa::kFarAhead, 1);
          write_4(dst, src);
          src += 4 * channels * kStep;
          dst += 64;
        }
        if (left != 0)
          Isa::put_first<kStream>(
              dst, left * 16,
              _mm512_mask_permutexvar_epi8(
                  fill, keep, index,
                  _mm512_maskz_loadu_epi8(bytes_of<kStep>(left * channels), src)));
        segment_src += panel.segment_linear_bytes;
        segment_dst += panel.segment_tile_bytes;
      }
      box_src += panel.box_linear_bytes;
      box_dst += panel.box_tile_bytes;
    }
  }

  /// Places of the channels of four padded pixels, by channels; of few enough for kStep.
  template <std::size_t kStep>
  static constexpr auto kPackedIndex = [] {
    std::array<Bytes, 16 / kStep> indices{};
    for (std::size_t channels = 1; channels < indices.size(); ++channels)
      for (std::size_t i = 0; i < 4 * channels; ++i)
        indices[channels].at[i * kStep] =
            static_cast<std::uint8_t>(i / channels * 16 + i % channels);
    return indices;
  }();

  /// Places of the channels of the k-th four of sixteen padded pixels, of up to four channels.
  static constexpr auto kSixteenIndex = [] {
    std::array<std::array<Bytes, 4>, 5> indices{};
    for (std::size_t channels = 1; channels < indices.size(); ++channels)
      for (std::size_t i = 0; i < 16 * channels; ++i)
        indices[channels][i / (4 * channels)].at[i] =
            static_cast<std::uint8_t>(i / channels % 4 * 16 + i % channels);
    return indices;
  }();

  /// Sixteen padded pixels of up to four channels, packed in front.
  static __m512i pack_sixteen(const std::byte* src, std::size_t channels) noexcept {
    const auto& index = kSixteenIndex[channels];
    const std::uint64_t four = first_bits(static_cast<std::int64_t>(4 * channels));
    __m512i packed = _mm512_permutexvar_epi8(index[0].load(), Isa::load_512(src));
#pragma GCC unroll 3
    for (std::size_t k = 1; k < 4; ++k)
      packed = _mm512_mask_permutexvar_epi8(packed, four << (4 * channels * k), index[k].load(),
                                            Isa::load_512(src + 64 * k));
    return packed;
  }

  /// The first values of a vector; see Isa::store_within(). Gaps are kept.
  template <std::int64_t kStep>
  static void put_values(std::byte* dst, std::int64_t values, std::int64_t room,
                         __m512i vector) noexcept {
    if constexpr (kStep == 1)
      Isa::store_within(dst, values, room, vector);
    else
      _mm512_mask_storeu_epi8(dst, bytes_of<kStep>(values), vector);
  }

  template <std::int64_t kStep = 1> static void read_padded(const TilePanel& panel) noexcept {
    const TileRow row = panel.row;
    const std::int64_t channels = row.channels;
    const std::int64_t four_bytes = 4 * channels * kStep;
    const auto slot = static_cast<std::size_t>(channels);
    const __m512i index = kPackedIndex<static_cast<std::size_t>(kStep)>[slot].load();
    const std::int64_t segment_bytes = row.pixels * channels * kStep;
    const bool contiguous = panel.boxes == 1 && panel.segment_linear_bytes == segment_bytes;
    const bool one_step = row.pixels == 4;
    const bool sixteen = kStep == 1 && channels <= 4;
    const std::byte* box_src = row.src;
    std::byte* box_dst = row.dst;
    for (std::int64_t boxes = panel.boxes; boxes != 0; --boxes) {
      const std::byte* segment_src = box_src;
      std::byte* segment_dst = box_dst;
      for (std::int64_t segments = panel.segments; segments != 0; --segments) {
        // A step may write over places that a later one of the panel writes.
        std::int64_t room = contiguous ? segments * segment_bytes : segment_bytes;
        const std::byte* src = segment_src;
        std::byte* dst = segment_dst;
        std::int64_t left = row.pixels;
        if (one_step) { // a loop would take as long
          put_values<kStep>(dst, 4 * channels, room,
                            _mm512_permutexvar_epi8(index, Isa::load_512(src)));
          left = 0;
        }
        if (sixteen)
          for (; left >= 16; left -= 16) {
            for (std::int64_t line = 0; line < 256; line += 64)
              __builtin_prefetch(src + Isa::kFarAhead + line);
            put_values<kStep>(dst, 16 * channels, room, pack_sixteen(src, slot));
            src += 256;
            dst += 4 * four_bytes;
            room -= 4 * four_bytes;
          }
        for (; left >= 4; left -= 4) {
          put_values<kStep>(dst, 4 * channels, room,
                            _mm512_permutexvar_epi8(index, Isa::load_512(src)));
          src += 64;
          dst += four_bytes;
          room -= four_bytes;
        }
        if (left != 0)
          _mm512_mask_storeu_epi8(
              dst, bytes_of<kStep>(left * channels),
              _mm512_permutexvar_epi8(index, _mm512_maskz_loadu_epi8(first_bits(left * 16), src)));
        segment_src += panel.segment_tile_bytes;
        segment_dst += panel.segment_linear_bytes;
      }
      box_src += panel.box_tile_bytes;
      box_dst += panel.box_linear_bytes;
    }
  }

  // Tiles of four pixels of four channels, four at a time: on the linear side their rows are one vector.

  static constexpr std::int64_t kFour = 4;
  static constexpr std::int64_t kFourBytes = 16; ///< of a row of such a tile, packed

  static bool has_four_boxes(const TilePanel& panel) noexcept {
    return panel.row.pixels == 4 && panel.row.channels == 4 && panel.boxes >= kFour &&
           panel.box_linear_bytes == kFourBytes;
  }

  /// The boxes that are left behind whole fours.
  static TilePanel behind_fours(const TilePanel& panel, bool to_tile) noexcept {
    TilePanel rest = panel;
    rest.boxes = panel.boxes % kFour;
    const std::int64_t done = panel.boxes - rest.boxes;
    const std::int64_t linear = done * panel.box_linear_bytes;
    const std::int64_t tiled = done * panel.box_tile_bytes;
    rest.row.src += to_tile ? linear : tiled;
    rest.row.dst += to_tile ? tiled : linear;
    return rest;
  }

  // Not inlined: gcc 12 misaligns copies of panels beside vectors under the address sanitizer.
  [[gnu::noinline]] static void write_four_boxes(const TilePanel& panel) noexcept {
    const __m512i fill = _mm512_set1_epi8(static_cast<char>(panel.row.fill));
    const std::uint64_t keep = 0x000f000f000f000fU;
    const __m512i first = padded_index<1>(kFour);
    const __m512i step = _mm512_set1_epi8(kFourBytes);
    const __m512i second = _mm512_add_epi8(first, step);
    const __m512i third = _mm512_add_epi8(second, step);
    const __m512i fourth = _mm512_add_epi8(third, step);
    const std::int64_t box = panel.box_tile_bytes;
    const auto put = [fill](std::byte * dst, __m512i index, __m512i pixels)
        __attribute__((always_inline)) {
      _mm512_storeu_si512(dst, _mm512_mask_permutexvar_epi8(fill, keep, index, pixels));
    };
    const std::byte* box_src = panel.row.src;
    std::byte* box_dst = panel.row.dst;
    for (std::int64_t boxes = panel.boxes; boxes >= kFour; boxes -= kFour) {
      const std::byte* src = box_src;
      std::byte* dst = box_dst;
      for (std::int64_t segments = panel.segments; segments != 0; --segments) {
        const __m512i pixels = Isa::load_512(src);
        put(dst, first, pixels);
        put(dst + box, second, pixels);
        put(dst + 2 * box, third, pixels);
        put(dst + 3 * box, fourth, pixels);
        src += panel.segment_linear_bytes;
        dst += panel.segment_tile_bytes;
      }
      box_src += kFour * kFourBytes;
      box_dst += kFour * box;
    }
  }

  [[gnu::noinline]] static void read_four_boxes(const TilePanel& panel) noexcept {
    // A lane a tile.
    const __m512i index = _mm512_broadcast_i32x4(_mm512_castsi512_si128(kPackedIndex<1>[4].load()));
    const std::int64_t box = panel.box_tile_bytes;
    const std::byte* box_src = panel.row.src;
    std::byte* box_dst = panel.row.dst;
    for (std::int64_t boxes = panel.boxes; boxes >= kFour; boxes -= kFour) {
      const std::byte* src = box_src;
      std::byte* dst = box_dst;
      for (std::int64_t segments = panel.segments; segments != 0; --segments) {
        __m512i rows = _mm512_permutexvar_epi8(index, Isa::load_512(src));
        rows = _mm512_mask_permutexvar_epi8(rows, 0x00000000ffff0000U, index,
                                            Isa::load_512(src + box));
        rows = _mm512_mask_permutexvar_epi8(rows, 0x0000ffff00000000U, index,
                                            Isa::load_512(src + 2 * box));
        rows = _mm512_mask_permutexvar_epi8(rows, 0xffff000000000000U, index,
                                            Isa::load_512(src + 3 * box));
        _mm512_storeu_si512(dst, rows);
        src += panel.segment_tile_bytes;
        dst += panel.segment_linear_bytes;
      }
      box_src += kFour * box;
      box_dst += kFour * kFourBytes;
    }
  }

  // Packed pixels of every second scalar, up to 4 channels.

  static void write_spread(const TilePanel& given) noexcept {
    const TilePanel panel = with_packed_rows(given, 2 * given.row.channels);
    if (panel.stream && places_of(panel) % Isa::kPartAlignment == 0)
      write_padded<true, 2>(panel);
    else
      write_padded<false, 2>(panel);
  }

  static void read_spread(const TilePanel& panel) noexcept {
    read_padded<2>(with_packed_rows(panel, 2 * panel.row.channels));
  }

  static bool is_padded(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    return row.stored_channels == 16 && row.channels < 16 && panel.runs == 1 &&
           row.pixel_stride_bytes == row.channels;
  }

  static void write(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    if (is_padded(panel)) {
      if (panel.stream && places_of(panel) % Isa::kPartAlignment == 0)
        write_padded<true>(panel);
      else if (has_four_boxes(panel)) {
        write_four_boxes(panel);
        write_padded<false>(behind_fours(panel, true));
      } else
        write_padded<false>(panel);
    } else if (panel.stream && plane_places_of(panel) % Isa::kPartAlignment == 0) {
      write_each_box(panel, avx2_rows().i8_i8_tiled); // streams
    } else {
      Isa::for_equal_runs(panel, row.channels, panel.run_tile_bytes, write_runs);
    }
  }

  static void read(const TilePanel& panel) noexcept {
    if (is_padded(panel) && has_four_boxes(panel)) {
      read_four_boxes(panel);
      read_padded(behind_fours(panel, false));
    } else if (is_padded(panel))
      read_padded(panel);
    else if (panel.stream && is_whole_of_16(panel) && panel.last_channels == 16 &&
             linear_places_of(panel, pixel_bytes_of(panel, 1)) % kCacheLineBytes == 0)
      read_each_box(panel, avx2_reader_rows().i8_i8_untiled); // streams
    else
      Isa::for_equal_runs(panel, panel.run_tile_bytes, panel.row.channels, read_runs);
  }
};

} // namespace simaai::kernels::a65::detail
