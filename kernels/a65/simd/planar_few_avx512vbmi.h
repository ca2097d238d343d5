// SPDX-License-Identifier: LGPL-2.1-or-later
// Channels first, up to four of them, read from padded pixels: a vector of whole pixels holds few bytes
// of use, so that one permute a vector gathers them, and no transposition is needed. Include it in files
// built for the instruction set only.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "a65/simd/planar_avx512vbmi.h"

namespace simaai::kernels::a65::detail {

struct Avx512VbmiFewPlanes : Avx512VbmiPlanar {
  /// Pixels of a vector of padded ones, and pixels of a channel that fill a 128-bit lane on the linear
  /// side: a unit.
  template <class To> static constexpr std::int64_t kPadded = 4 / kPlanes<To>;
  template <class To> static constexpr std::int64_t kUnit = 16 / To::kBytes;

  /// Lane c holds channel c of a unit. The same for all vectors of a unit: each gives its own pixels.
  template <class To>
  static constexpr Bytes kGatherIndex = [] {
    Bytes index{};
    for (std::int64_t i = 0; i < 64; ++i) {
      const std::int64_t pixel = i % 16 / To::kBytes % kPadded<To>;
      const std::int64_t byte = i % To::kBytes + kPlanes<To> - To::kBytes; // of the stored scalar
      index.at[i] =
          static_cast<std::uint8_t>(byte < 0 ? 0 : (pixel * kPlanes<To> + byte) * 16 + i / 16);
    }
    return index;
  }();
  /// Bytes of each vector of a unit. The lower ones of a Float32 come from none.
  template <class To>
  static constexpr std::array<std::uint64_t, kUnit<To> / kPadded<To>> kGathered = [] {
    std::array<std::uint64_t, kUnit<To> / kPadded<To>> masks{};
    for (std::int64_t i = 0; i < 64; ++i)
      if (i % To::kBytes + kPlanes<To> >= To::kBytes)
        masks[static_cast<std::size_t>(i % 16 / To::kBytes / kPadded<To>)] |= std::uint64_t{1} << i;
    return masks;
  }();

  /// The vectors of a panel, one behind the other. Where segments are short, so that they cannot be
  /// foreseen from addresses, those of the next line of pixels are asked for.
  class Walk {
  public:
    Walk(const TilePanel& panel, std::int64_t vectors) noexcept
        : at_(panel.row.src), next_segment_(at_ + panel.segment_tile_bytes), vectors_(vectors),
          left_(vectors), segment_bytes_(panel.segment_tile_bytes),
          ahead_(panel.segments > 1 && vectors <= kShort ? 64 * vectors : 0) {}
    [[gnu::always_inline]] const std::byte* next() noexcept {
      const std::byte* at = at_;
      __builtin_prefetch(at + ahead_);
      at_ += 64;
      if (--left_ == 0) {
        at_ = next_segment_;
        next_segment_ += segment_bytes_;
        left_ = vectors_;
      }
      return at;
    }

  private:
    static constexpr std::int64_t kShort = 8;

    const std::byte* at_;
    const std::byte* next_segment_;
    std::int64_t vectors_; ///< of a segment
    std::int64_t left_;    ///< of this one
    std::int64_t segment_bytes_;
    std::int64_t ahead_;
  };

  /// Whether segments are whole vectors of pixels, and the first ones of a lane are those of channels.
  template <class To> static bool fits(const TilePanel& panel) noexcept {
    return panel.runs == 1 && panel.last_channels <= 4 && panel.row.stored_channels == 16 &&
           panel.row.pixels % kPadded<To> == 0;
  }

  template <class To>
  [[gnu::always_inline]] static inline __m512i gather(Walk& walk, std::int64_t vectors) noexcept {
    const __m512i index = kGatherIndex<To>.load();
    __m512i lanes = _mm512_setzero_si512();
#pragma GCC unroll 4
    for (std::size_t number = 0; number < kGathered<To>.size(); ++number)
      if (static_cast<std::int64_t>(number) < vectors)
        lanes = _mm512_mask_permutexvar_epi8(lanes, kGathered<To>[number], index,
                                             _mm512_loadu_si512(walk.next()));
    return lanes;
  }

  template <class To, std::int64_t kChannels>
  static void read_few(const TilePanel& panel) noexcept {
    const std::int64_t stride = panel.row.channel_stride_bytes;
    constexpr auto kVectors = static_cast<std::int64_t>(kGathered<To>.size());
    Walk walk(panel, panel.row.pixels / kPadded<To>);
    std::byte* dst = panel.row.dst;
    std::int64_t pixels = panel.segments * panel.row.pixels;
    for (; pixels >= kUnit<To>; pixels -= kUnit<To>, dst += 16)
      put_each_channel<kChannels>(gather<To>(walk, kVectors),
                                  [&](std::int64_t channel, __m128i lane) {
                                    Isa::store_128(dst + channel * stride, lane);
                                  });
    if (pixels == 0)
      return;
    const auto rest = static_cast<__mmask16>(first_bits(pixels * To::kBytes));
    put_each_channel<kChannels>(gather<To>(walk, pixels / kPadded<To>),
                                [&](std::int64_t channel, __m128i lane) {
                                  _mm_mask_storeu_epi8(dst + channel * stride, rest, lane);
                                });
  }

  template <std::int64_t kChannels, class Put>
  [[gnu::always_inline]] static inline void put_each_channel(__m512i lanes, Put put) noexcept {
    put_each(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1),
             [&](std::size_t lane, __m128i value) {
               if (static_cast<std::int64_t>(lane) < kChannels)
                 put(static_cast<std::int64_t>(lane), value);
             });
  }

  template <class To> static void read(const TilePanel& panel) noexcept {
    if (!fits<To>(panel))
      return Avx512VbmiPlanar::read<To>(panel);
    switch (panel.last_channels) {
    case 1:
      return read_few<To, 1>(panel);
    case 2:
      return read_few<To, 2>(panel);
    case 3:
      return read_few<To, 3>(panel);
    default:
      return read_few<To, 4>(panel);
    }
  }
};

} // namespace simaai::kernels::a65::detail
