// SPDX-License-Identifier: LGPL-2.1-or-later
// Readers of panels of many channels for AVX-512 with VBMI, and what those of few channels share with
// them. Everything is a member of a class of this level. Include it in files built for the
// instruction set only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "a65/simd/isa_avx512.h"
#include "a65/simd/panel_rows.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiWideReaders {
  using Isa = Avx512<true>;
  using F32 = Isa::F32;
  using BF16 = Isa::BF16;
  using Bytes = Isa::Bytes;

  static constexpr std::uint64_t first_bits(std::int64_t count) noexcept {
    return Isa::first_bits(count);
  }

  // Every second scalar: kBytes is the distance of two values, and the gap between them is kept.
  struct SpreadF32 : F32 {
    static constexpr std::int64_t kBytes = 8;
  };
  struct SpreadBF16 : BF16 {
    static constexpr std::int64_t kBytes = 4;
  };

  /// Values of a vector.
  template <class To> static constexpr std::int64_t kValues = 64 / To::kBytes;
  /// Bytes of a vector that hold stored bytes; the others are zero.
  template <class To>
  static constexpr std::uint64_t kStoredBytes =
      std::is_same_v<To, SpreadF32>    ? 0x0c0c0c0c0c0c0c0cU
      : std::is_same_v<To, SpreadBF16> ? 0x3333333333333333U
      : To::kBytes == 4                ? 0xccccccccccccccccU
                                       : ~std::uint64_t{0};

  /// The value that byte `byte` of a vector belongs to, and its plane.
  template <class To> static constexpr std::int64_t value_of(std::int64_t byte) noexcept {
    return byte / To::kBytes;
  }

  static __m256i load_256(const std::byte* from) noexcept { return Isa::load_256(from); }

  /// Channels from `c` on as 32 low and 32 high bytes.
  static __m512i load_32(const std::byte* src, std::int64_t stored) noexcept {
    return _mm512_inserti64x4(_mm512_castsi256_si512(load_256(src)), load_256(src + stored), 1);
  }
  /// As 16 low and 16 high bytes in the lower half.
  static __m512i load_16(const std::byte* src, std::int64_t stored) noexcept {
    return _mm512_castsi256_si512(_mm256_inserti128_si256(
        _mm256_castsi128_si256(Isa::load_128(src)), Isa::load_128(src + stored), 1));
  }

  // Wide: groups of 32 channels, then one or two that end with the last channel.

  /// Bytes of values from `first` on of 32 low and 32 high bytes.
  template <class To, std::int64_t kFirst>
  static constexpr Bytes kWideIndex = [] {
    Bytes index{};
    for (std::int64_t i = 0; i < 64; ++i)
      index.at[i] = static_cast<std::uint8_t>((kFirst + value_of<To>(i)) % 32 + i % 2 * 32);
    return index;
  }();
  /// The same of 16 low and 16 high bytes.
  template <class To>
  static constexpr Bytes kHalfIndex = [] {
    Bytes index{};
    for (std::int64_t i = 0; i < 64; ++i)
      index.at[i] = static_cast<std::uint8_t>(value_of<To>(i) % 16 + i % 2 * 16);
    return index;
  }();

  struct WideIndices {
    __m512i first;
    __m512i second; ///< the upper sixteen values of Float32
    __m512i half;
  };

  template <class To, bool kStream>
  static void put_32(std::byte* dst, const WideIndices& indices, __m512i planes) noexcept {
    constexpr std::uint64_t kKeep = kStoredBytes<To>;
    Isa::put_512<kStream>(dst, _mm512_maskz_permutexvar_epi8(kKeep, indices.first, planes));
    if constexpr (To::kBytes == 4)
      Isa::put_512<kStream>(dst + 64, _mm512_maskz_permutexvar_epi8(kKeep, indices.second, planes));
  }

  template <class To, bool kStream>
  static void put_16(std::byte* dst, const WideIndices& indices, __m512i planes) noexcept {
    const __m512i values = _mm512_maskz_permutexvar_epi8(kStoredBytes<To>, indices.half, planes);
    if constexpr (To::kBytes == 4)
      Isa::put_512<kStream>(dst, values);
    else
      Isa::put_256<kStream>(dst, _mm512_castsi512_si256(values));
  }

  static void put_one(BF16 /*type*/, std::byte* dst, std::byte low, std::byte high) noexcept {
    const auto bits = static_cast<std::uint16_t>(std::to_integer<std::uint32_t>(low) |
                                                 std::to_integer<std::uint32_t>(high) << 8);
    std::memcpy(dst, &bits, sizeof bits);
  }
  static void put_one(F32 /*type*/, std::byte* dst, std::byte low, std::byte high) noexcept {
    const auto bits =
        std::to_integer<std::uint32_t>(low) << 16 | std::to_integer<std::uint32_t>(high) << 24;
    std::memcpy(dst, &bits, sizeof bits);
  }

  /// What is left of a pixel after its whole groups of 32 channels; its groups end with the last
  /// channel.
  enum class Rest : std::uint8_t { None, One, Group16, Group32, TwoGroups16 };

  static Rest rest_of(std::int64_t channels) noexcept {
    const std::int64_t rest = channels % 32;
    if (rest == 0)
      return Rest::None;
    if (rest == 1)
      return Rest::One;
    if (rest <= 16)
      return Rest::Group16;
    return channels < 32 ? Rest::TwoGroups16 : Rest::Group32;
  }

  static constexpr std::int64_t kAhead = Isa::kAhead;
  /// Float32 is faster without the next tile.
  template <class To> static std::int64_t linear_ahead(const TilePanel& panel) noexcept {
    return To::kBytes == 4 ? kAhead : Isa::linear_ahead(panel);
  }

  /// Tiles one pixel wide that are read together: their pixels follow each other in linear memory.
  static constexpr std::int64_t kAcross = 8;
  static bool walks_across(const TilePanel& panel, std::int64_t pixel_bytes) noexcept {
    return panel.segments == 1 && panel.boxes > 1 && panel.box_linear_bytes == pixel_bytes &&
           panel.row.pixels > 1 && panel.row.pixel_stride_bytes != pixel_bytes && panel.runs == 1;
  }

  /// Byte places of the channels from 64 on of one BFloat16 pixel of 80 channels and of the first 16 of
  /// the next, as 16 bytes of high ones, low ones of the next, low ones and high ones of the next.
  static constexpr Bytes kBetweenIndex = [] {
    Bytes index{};
    for (std::size_t i = 0; i < 32; ++i) {
      index.at[2 * i] = static_cast<std::uint8_t>(i < 16 ? i + 32 : i);
      index.at[2 * i + 1] = static_cast<std::uint8_t>(i < 16 ? i : i + 32);
    }
    return index;
  }();

  /// Two pixels of 80 BFloat16 channels: five cache lines.
  [[gnu::always_inline]] static inline void
  read_two_eighties(const std::byte* src, const std::byte* second, std::byte* dst, __m512i first,
                    __m512i between, std::int64_t ahead) noexcept {
    const auto put = [first, dst, ahead](std::int64_t at, const std::byte* from) {
      __builtin_prefetch(dst + at + ahead, 1);
      Isa::put_512<false>(dst + at, _mm512_permutexvar_epi8(first, load_32(from, 80)));
    };
    // High bytes of the one's last 16 channels and low bytes of the other's first, then the others.
    const __m256i high_low = _mm256_inserti128_si256(
        _mm256_castsi128_si256(Isa::load_128(src + 144)), Isa::load_128(second), 1);
    const __m256i low_high = _mm256_inserti128_si256(
        _mm256_castsi128_si256(Isa::load_128(src + 64)), Isa::load_128(second + 80), 1);
    const __m512i ends = _mm512_inserti64x4(_mm512_castsi256_si512(high_low), low_high, 1);
    put(0, src);
    put(64, src + 32);
    __builtin_prefetch(dst + 128 + ahead, 1);
    Isa::put_512<false>(dst + 128, _mm512_permutexvar_epi8(between, ends));
    put(192, second + 16);
    put(256, second + 48);
  }

  static bool is_of_eighties(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    if (row.channels != 80 || row.stored_channels != 80 || panel.runs != 1)
      return false;
    return walks_across(panel, 160) ? panel.boxes % 2 == 0
                                    : row.pixel_stride_bytes == 160 && row.pixels % 2 == 0;
  }

  static void read_eighties(const TilePanel& panel) noexcept {
    const __m512i first = kWideIndex<BF16, 0>.load();
    const __m512i between = kBetweenIndex.load();
    // Of tiles one pixel wide two are read together, pixel by pixel along H.
    const bool across = walks_across(panel, 160);
    const std::int64_t apart = across ? panel.box_tile_bytes : 160; // of the two pixels
    const std::int64_t step = across ? 2 : 1;                       // boxes
    const std::int64_t steps = across ? 1 : panel.row.pixels / 2;
    const std::int64_t segments = across ? panel.row.pixels : panel.segments;
    const std::int64_t segment_src_bytes = across ? 160 : panel.segment_tile_bytes;
    const std::int64_t segment_dst_bytes =
        across ? panel.row.pixel_stride_bytes : panel.segment_linear_bytes;
    const std::int64_t ahead = across ? 320 : linear_ahead<BF16>(panel);
    const std::byte* box_src = panel.row.src;
    std::byte* box_dst = panel.row.dst;
    for (std::int64_t boxes = panel.boxes; boxes != 0; boxes -= step) {
      const std::byte* segment_src = box_src;
      std::byte* segment_dst = box_dst;
      for (std::int64_t left = segments; left != 0; --left) {
        const std::byte* src = segment_src;
        std::byte* dst = segment_dst;
        for (std::int64_t pairs = steps; pairs != 0; --pairs) {
          read_two_eighties(src, src + apart, dst, first, between, ahead);
          src += 320;
          dst += 320;
        }
        segment_src += segment_src_bytes;
        segment_dst += segment_dst_bytes;
      }
      box_src += step * panel.box_tile_bytes;
      box_dst += step * panel.box_linear_bytes;
    }
  }

  /// Runs of sixteen channels, a cache line of two pixels at a time; the last run may have fewer.
  static bool is_of_sixteens(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    return row.channels == 16 && row.stored_channels == 16 && panel.runs > 1 && row.pixels % 2 == 0;
  }

  template <class To> static void read_sixteens(const TilePanel& panel) noexcept {
    constexpr std::int64_t kRuns = To::kBytes == 4 ? 1 : 2; // a step
    constexpr std::int64_t kStepValues = 16 * kRuns;
    const __m512i first = kHalfIndex<To>.load(); // of the first pixel; BFloat16 values twice
    const __m512i second = _mm512_add_epi8(first, _mm512_set1_epi8(32));
    const std::int64_t values = 16 * (panel.runs - 1) + panel.last_channels;
    const std::int64_t rest = values % kStepValues;
    const std::uint64_t rest_bytes = first_bits(rest * To::kBytes);
    const std::int64_t other = rest > 16 ? panel.run_tile_bytes : 0; // of the last step
    const std::int64_t run = panel.run_tile_bytes;
    const std::int64_t next = panel.row.pixel_stride_bytes;
    const std::int64_t ahead = linear_ahead<To>(panel);
    const auto place =
        [](__m512i index, __m512i pixels, __m512i others) __attribute__((always_inline)) {
      const __m512i placed = _mm512_maskz_permutexvar_epi8(kStoredBytes<To>, index, pixels);
      return kRuns == 1 ? placed
                        : _mm512_mask_permutexvar_epi8(placed, 0xffffffff00000000U, index, others);
    };
    const std::byte* box_src = panel.row.src;
    std::byte* box_dst = panel.row.dst;
    for (std::int64_t boxes = panel.boxes; boxes != 0; --boxes) {
      const std::byte* segment_src = box_src;
      std::byte* segment_dst = box_dst;
      for (std::int64_t segments = panel.segments; segments != 0; --segments) {
        const std::byte* src = segment_src;
        std::byte* dst = segment_dst;
        for (std::int64_t left = panel.row.pixels; left != 0; left -= 2) {
          const std::byte* from = src;
          std::byte* to = dst;
          for (std::int64_t steps = values / kStepValues; steps != 0; --steps) {
            const __m512i pixels = Isa::load_512(from);
            const __m512i others = kRuns == 2 ? Isa::load_512(from + run) : pixels;
            __builtin_prefetch(to + ahead, 1);
            __builtin_prefetch(to + next + ahead, 1);
            _mm512_storeu_si512(to, place(first, pixels, others));
            _mm512_storeu_si512(to + next, place(second, pixels, others));
            from += kRuns * run;
            to += 64;
          }
          if (rest != 0) {
            const __m512i pixels = Isa::load_512(from);
            const __m512i others = Isa::load_512(from + other);
            _mm512_mask_storeu_epi8(to, rest_bytes, place(first, pixels, others));
            _mm512_mask_storeu_epi8(to + next, rest_bytes, place(second, pixels, others));
          }
          src += 64;
          dst += 2 * next;
        }
        segment_src += panel.segment_tile_bytes;
        segment_dst += panel.segment_linear_bytes;
      }
      box_src += panel.box_tile_bytes;
      box_dst += panel.box_linear_bytes;
    }
  }

  /// kGroups: whole groups of 32 channels; 0 for any number.
  template <class To, bool kStream, Rest kRest, std::int64_t kGroups>
  [[gnu::always_inline]] static inline void
  read_pixel(const std::byte* src, std::byte* dst, std::int64_t channels, std::int64_t stored,
             const WideIndices& indices, std::int64_t ahead) noexcept {
    const std::byte* from = src;
    std::byte* to = dst;
    for (std::int64_t left = kGroups != 0 ? kGroups : channels / 32; left != 0; --left) {
      if constexpr (kStream)
        __builtin_prefetch(from + kAhead);
      else
        __builtin_prefetch(to + ahead, 1);
      if constexpr (!kStream && To::kBytes == 4)
        __builtin_prefetch(to + ahead + 64, 1);
      put_32<To, kStream>(to, indices, load_32(from, stored));
      from += 32;
      to += 32 * To::kBytes;
    }
    if constexpr (kRest == Rest::One) {
      put_one(To{}, to, *from, from[stored]);
      return;
    }
    if constexpr (kRest == Rest::TwoGroups16)
      put_16<To, false>(to, indices, load_16(from, stored));
    if constexpr (kRest == Rest::Group32)
      put_32<To, false>(dst + (channels - 32) * To::kBytes, indices,
                        load_32(src + channels - 32, stored));
    else if constexpr (kRest != Rest::None)
      put_16<To, kStream>(dst + (channels - 16) * To::kBytes, indices,
                          load_16(src + channels - 16, stored));
  }

  /// The loops of a panel: pixels, inside of what is around them, inside of steps over boxes.
  struct Walk {
    std::int64_t pixels;
    std::int64_t pixel_src;
    std::int64_t pixel_dst;
    std::int64_t outer;
    std::int64_t outer_src;
    std::int64_t outer_dst;
    std::int64_t most_boxes; ///< a step; where more than one, they are the pixels
    std::int64_t ahead;
  };

  template <class To> static Walk walk_of(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    const std::int64_t stored_bytes = 2 * row.stored_channels;
    if (walks_across(panel, row.channels * To::kBytes))
      return {kAcross,      panel.box_tile_bytes,   panel.box_linear_bytes, row.pixels,
              stored_bytes, row.pixel_stride_bytes, kAcross,                row.pixel_stride_bytes};
    const std::int64_t ahead = linear_ahead<To>(panel);
    if (walks_columns(row.pixels, panel.segments))
      return {panel.segments, panel.segment_tile_bytes, panel.segment_linear_bytes,
              row.pixels,     stored_bytes,             row.pixel_stride_bytes,
              1,              ahead};
    return {row.pixels,
            stored_bytes,
            row.pixel_stride_bytes,
            panel.segments,
            panel.segment_tile_bytes,
            panel.segment_linear_bytes,
            1,
            ahead};
  }

  /// Runs of equal numbers of channels, 16 or more.
  template <class To, bool kStream, Rest kRest, std::int64_t kGroups>
  static void read_wide_runs(const TilePanel& panel) noexcept {
    const std::int64_t channels = panel.row.channels;
    const std::int64_t stored = panel.row.stored_channels;
    const WideIndices indices{kWideIndex<To, 0>.load(), kWideIndex<To, 16>.load(),
                              kHalfIndex<To>.load()};
    const std::int64_t more_runs = panel.runs - 1;
    const std::int64_t run_tile_bytes = panel.run_tile_bytes;
    const Walk walk = walk_of<To>(panel);
    const bool across = walk.most_boxes > 1;
    const auto read_one = [indices, channels, stored, more_runs, run_tile_bytes,
                           ahead = walk.ahead](const std::byte* src, std::byte* dst)
                              __attribute__((always_inline)) {
                                read_pixel<To, kStream, kRest, kGroups>(src, dst, channels, stored,
                                                                        indices, ahead);
                                // A loop over a single run would take as long as the work.
                                if (more_runs == 0)
                                  return;
                                for (std::int64_t run = 1; run <= more_runs; ++run)
                                  read_pixel<To, kStream, kRest, kGroups>(
                                      src + run * run_tile_bytes,
                                      dst + run * channels * To::kBytes, channels, stored, indices,
                                      ahead);
                              };
    const std::byte* box_src = panel.row.src;
    std::byte* box_dst = panel.row.dst;
    std::int64_t step = 1; // boxes
    for (std::int64_t boxes = panel.boxes; boxes != 0; boxes -= step) {
      step = std::min(walk.most_boxes, boxes);
      const std::byte* segment_src = box_src;
      std::byte* segment_dst = box_dst;
      for (std::int64_t outer = walk.outer; outer != 0; --outer) {
        const std::byte* src = segment_src;
        std::byte* dst = segment_dst;
        for (std::int64_t pixels = across ? step : walk.pixels; pixels != 0; --pixels) {
          read_one(src, dst);
          src += walk.pixel_src;
          dst += walk.pixel_dst;
        }
        segment_src += walk.outer_src;
        segment_dst += walk.outer_dst;
      }
      box_src += step * panel.box_tile_bytes;
      box_dst += step * panel.box_linear_bytes;
    }
  }

  template <class To, bool kStream, Rest kRest>
  static void read_wide_runs(const TilePanel& panel) noexcept {
    if (panel.row.channels / 32 == 2)
      read_wide_runs<To, kStream, kRest, 2>(panel);
    else
      read_wide_runs<To, kStream, kRest, 0>(panel);
  }

  template <class To, bool kStream> static void read_wide_runs(const TilePanel& panel) noexcept {
    switch (rest_of(panel.row.channels)) {
    case Rest::None:
      return read_wide_runs<To, kStream, Rest::None>(panel);
    case Rest::One:
      return read_wide_runs<To, kStream, Rest::One>(panel);
    case Rest::Group16:
      return read_wide_runs<To, kStream, Rest::Group16>(panel);
    case Rest::Group32:
      return read_wide_runs<To, kStream, Rest::Group32>(panel);
    case Rest::TwoGroups16:
      return read_wide_runs<To, kStream, Rest::TwoGroups16>(panel);
    }
  }

  template <class To, bool kStream> static void read_wide(const TilePanel& panel) noexcept {
    if constexpr (To::kBytes == 2 && !kStream)
      if (is_of_eighties(panel))
        return read_eighties(panel);
    Isa::for_equal_runs(panel, panel.run_tile_bytes, panel.row.channels * To::kBytes,
                        [](const TilePanel& part) { read_wide_runs<To, kStream>(part); });
  }
};

} // namespace simaai::kernels::a65::detail
