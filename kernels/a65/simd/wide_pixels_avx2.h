// SPDX-License-Identifier: LGPL-2.1-or-later
// Panels of more than 16 stored channels a pixel, for AVX2: both planes of a pixel are lines of
// their own. Include it in files built with -mavx2 only, like lanes_avx2.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "a65/simd/lanes_avx2.h"

namespace simaai::kernels::a65::detail::avx2 {

/// How the output is stored: through the cache, or past it in vectors of the alignment that it has.
enum class Put : std::uint8_t { Cached, Stream16, Stream32 };

/// Writes panels of pixels of 16 channels or more, each a part of `stored` channels or all of them.
template <class From, Put kPut> struct WidePixels {
  /// Bytes that streams ask for ahead: hardware stops at the end of a page.
  static constexpr std::int64_t kAhead = 1024;

  static void put_16(std::byte* to, __m128i value) noexcept {
    if constexpr (kPut == Put::Cached)
      store_128(to, value);
    else
      stream_128(to, value);
  }

  static void put_32(std::byte* to, __m256i value) noexcept {
    if constexpr (kPut == Put::Stream16) {
      stream_128(to, _mm256_castsi256_si128(value));
      stream_128(to + 16, _mm256_extracti128_si256(value, 1));
    } else {
      put_256<kPut == Put::Stream32>(to, value);
    }
  }

  static void put_planes(std::byte* to, std::int64_t stored, __m256i planes) noexcept {
    put_16(to, _mm256_castsi256_si128(planes));
    put_16(to + stored, _mm256_extracti128_si256(planes, 1));
  }

  /// The last group ends with the last channel: without padding it overlaps the one before,
  /// otherwise it is shifted to its place, which fills the padding with zeros.
  static void write_pixel(const std::byte* src, std::byte* dst, std::int64_t channels,
                          std::int64_t stored) noexcept {
    std::int64_t c = 0;
    for (; c + 32 <= channels; c += 32) {
      if constexpr (kPut != Put::Cached)
        for (std::int64_t line = 0; line < 32 * From::kBytes; line += 64)
          __builtin_prefetch(src + c * From::kBytes + kAhead + line);
      const WidePlanes planes = From::planes_32(src + c * From::kBytes);
      put_32(dst + c, planes.low);
      put_32(dst + stored + c, planes.high);
    }
    if (c + 16 <= channels) {
      put_planes(dst + c, stored, From::planes_16(src + c * From::kBytes));
      c += 16;
    }
    if (c == channels)
      return;
    const std::int64_t last = channels - 16;
    const __m256i planes = From::planes_16(src + last * From::kBytes);
    if (stored == channels) {
      put_planes(dst + last, stored, planes);
      return;
    }
    const __m256i shift = _mm256_broadcastsi128_si256(shift_control(c - last));
    put_planes(dst + c, stored, _mm256_shuffle_epi8(planes, shift));
  }

  static void write(const TilePanel& panel) noexcept {
    const TileRow row = panel.row;
    const std::int64_t last_channels = panel.last_channels;
    const std::int64_t stored = row.stored_channels;
    const std::int64_t runs = panel.runs;
    const std::int64_t run_bytes = panel.run_tile_bytes;
    for (std::int64_t segment = 0; segment < panel.segments; ++segment) {
      const std::byte* pixel = row.src + segment * panel.segment_linear_bytes;
      std::byte* place = row.dst + segment * panel.segment_tile_bytes;
      for (std::int64_t p = 0; p < row.pixels; ++p) {
        const std::byte* src = pixel;
        std::byte* dst = place;
        for (std::int64_t run = 0; run < runs; ++run) {
          const std::int64_t channels = run + 1 < runs ? row.channels : last_channels;
          write_pixel(src, dst, channels, stored);
          src += channels * From::kBytes;
          dst += run_bytes;
        }
        pixel += row.pixel_stride_bytes;
        place += 2 * stored;
      }
    }
  }
};

/// Any panel of 16 channels or more a run.
template <class From> void write_wide(const TilePanel& panel) noexcept {
  const std::uintptr_t places = plane_places_of(panel);
  if (!panel.stream || places % 16 != 0)
    WidePixels<From, Put::Cached>::write(panel);
  else if (places % 32 != 0)
    WidePixels<From, Put::Stream16>::write(panel);
  else
    WidePixels<From, Put::Stream32>::write(panel);
}

} // namespace simaai::kernels::a65::detail::avx2
