// SPDX-License-Identifier: LGPL-2.1-or-later
// Readers of panels of many channels for AVX-512 with VBMI, and what those of few channels share with
// them. Everything is a member of a class of this level. Include it in files built for the
// instruction set only.
#pragma once

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
  read_two_eighties(const std::byte* src, std::byte* dst, __m512i first, __m512i between) noexcept {
    const auto put = [dst, first](std::int64_t at, const std::byte* from) {
      Isa::put_512<false>(dst + at, _mm512_permutexvar_epi8(first, load_32(from, 80)));
    };
    const __m512i ends = _mm512_inserti64x4(_mm512_castsi256_si512(load_256(src + 144)),
                                            _mm512_castsi512_si256(load_16(src + 64, 176)), 1);
    put(0, src);
    put(64, src + 32);
    Isa::put_512<false>(dst + 128, _mm512_permutexvar_epi8(between, ends));
    put(192, src + 176);
    put(256, src + 208);
  }

  static bool is_of_eighties(const TilePanel& panel) noexcept {
    const TileRow& row = panel.row;
    return row.channels == 80 && row.stored_channels == 80 && panel.runs == 1 &&
           row.pixel_stride_bytes == 160 && row.pixels % 2 == 0;
  }

  static void read_eighties(const TilePanel& panel) noexcept {
    const __m512i first = kWideIndex<BF16, 0>.load();
    const __m512i between = kBetweenIndex.load();
    const std::byte* box_src = panel.row.src;
    std::byte* box_dst = panel.row.dst;
    for (std::int64_t boxes = panel.boxes; boxes != 0; --boxes) {
      const std::byte* segment_src = box_src;
      std::byte* segment_dst = box_dst;
      for (std::int64_t segments = panel.segments; segments != 0; --segments) {
        const std::byte* src = segment_src;
        std::byte* dst = segment_dst;
        for (std::int64_t left = panel.row.pixels; left != 0; left -= 2) {
          read_two_eighties(src, dst, first, between);
          src += 320;
          dst += 320;
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
  [[gnu::always_inline]] static inline void read_pixel(const std::byte* src, std::byte* dst,
                                                       std::int64_t channels, std::int64_t stored,
                                                       const WideIndices& indices) noexcept {
    constexpr std::int64_t kAhead = 1024;
    const std::byte* from = src;
    std::byte* to = dst;
    for (std::int64_t left = kGroups != 0 ? kGroups : channels / 32; left != 0; --left) {
      if constexpr (kStream)
        __builtin_prefetch(from + kAhead);
      else if constexpr (To::kBytes == 2) // two stores of Float32 a load are slower with it
        __builtin_prefetch(to + kAhead, 1);
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

  /// Runs of equal numbers of channels, 16 or more.
  template <class To, bool kStream, Rest kRest, std::int64_t kGroups>
  static void read_wide_runs(const TilePanel& panel) noexcept {
    const TileRow row = panel.row;
    const std::int64_t channels = row.channels;
    const std::int64_t stored = row.stored_channels;
    const WideIndices indices{kWideIndex<To, 0>.load(), kWideIndex<To, 16>.load(),
                              kHalfIndex<To>.load()};
    const std::int64_t more_runs = panel.runs - 1;
    const std::int64_t run_tile_bytes = panel.run_tile_bytes;
    const bool columns = walks_columns(row.pixels, panel.segments);
    const std::int64_t all_pixels = columns ? panel.segments : row.pixels;
    const std::int64_t pixel_src = columns ? panel.segment_tile_bytes : 2 * stored;
    const std::int64_t pixel_dst = columns ? panel.segment_linear_bytes : row.pixel_stride_bytes;
    const std::int64_t outer_src = columns ? 2 * stored : panel.segment_tile_bytes;
    const std::int64_t outer_dst = columns ? row.pixel_stride_bytes : panel.segment_linear_bytes;
    const std::byte* box_src = row.src;
    std::byte* box_dst = row.dst;
    for (std::int64_t boxes = panel.boxes; boxes != 0; --boxes) {
      const std::byte* segment_src = box_src;
      std::byte* segment_dst = box_dst;
      for (std::int64_t outer = columns ? row.pixels : panel.segments; outer != 0; --outer) {
        const std::byte* src = segment_src;
        std::byte* dst = segment_dst;
        // A loop over a single run would take as long as the work on a pixel.
        for (std::int64_t pixels = all_pixels; pixels != 0; --pixels) {
          read_pixel<To, kStream, kRest, kGroups>(src, dst, channels, stored, indices);
          if (more_runs != 0)
            for (std::int64_t run = 1; run <= more_runs; ++run)
              read_pixel<To, kStream, kRest, kGroups>(src + run * run_tile_bytes,
                                                      dst + run * channels * To::kBytes, channels,
                                                      stored, indices);
          src += pixel_src;
          dst += pixel_dst;
        }
        segment_src += outer_src;
        segment_dst += outer_dst;
      }
      box_src += panel.box_tile_bytes;
      box_dst += panel.box_linear_bytes;
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
