// SPDX-License-Identifier: LGPL-2.1-or-later
// Panels of 16 INT8 channels a pixel or more, for AVX2. Include it in files built with -mavx2 only,
// like lanes_avx2.h.
#pragma once

#include <cstddef>
#include <cstdint>

#include "a65/simd/narrow_pixels_avx2.h"

namespace simaai::kernels::a65::detail::avx2 {

template <bool kStream> struct WideBytes {
  static void put_16(std::byte* to, __m128i value) noexcept {
    if constexpr (kStream)
      stream_128(to, value);
    else
      store_128(to, value);
  }

  /// Whole groups of a pixel. Returns the channels that they hold.
  static std::int64_t write_groups(const std::byte* src, std::byte* dst,
                                   std::int64_t channels) noexcept {
    std::int64_t c = 0;
    for (; c + 32 <= channels; c += 32) {
      if constexpr (kStream) {
        stream_128(dst + c, load_128(src + c));
        stream_128(dst + c + 16, load_128(src + c + 16));
      } else {
        store_256(dst + c, load_256(src + c));
      }
    }
    if (c + 16 <= channels) {
      put_16(dst + c, load_128(src + c));
      c += 16;
    }
    return c;
  }

  /// The last group ends with the last channel, before which 16 or more are: without padding it
  /// overlaps the group before, otherwise it is shifted to its place.
  static void write_run(const std::byte* src, std::byte* dst, std::int64_t channels,
                        std::int64_t stored, __m128i fill) noexcept {
    const std::int64_t c = write_groups(src, dst, channels);
    if (c == channels)
      return;
    const __m128i last = load_128(src + channels - 16);
    if (stored == channels) {
      store_128(dst + channels - 16, last);
      return;
    }
    const __m128i padding = _mm256_castsi256_si128(bytes_from(channels - c));
    const __m128i group = _mm_shuffle_epi8(last, shift_control(c + 16 - channels));
    put_16(dst + c, _mm_blendv_epi8(group, fill, padding));
  }

  static void write(const TilePanel& panel) noexcept {
    const TileRow row = panel.row;
    const std::int64_t runs = panel.runs;
    const std::int64_t run_bytes = panel.run_tile_bytes;
    const std::int64_t last_channels = panel.last_channels;
    const __m128i fill = _mm_set1_epi8(static_cast<char>(row.fill));
    for (std::int64_t segment = 0; segment < panel.segments; ++segment) {
      const std::byte* pixel = row.src + segment * panel.segment_linear_bytes;
      std::byte* place = row.dst + segment * panel.segment_tile_bytes;
      for (std::int64_t p = 0; p < row.pixels; ++p) {
        const std::byte* src = pixel;
        std::byte* dst = place;
        for (std::int64_t run = 0; run < runs; ++run) {
          const std::int64_t channels = run + 1 < runs ? row.channels : last_channels;
          write_run(src, dst, channels, row.stored_channels, fill);
          src += channels;
          dst += run_bytes;
        }
        pixel += row.pixel_stride_bytes;
        place += row.stored_channels;
      }
    }
  }
};

/// Any panel with 16 channels or more in each run but the last, and in that one before its end.
inline void write_wide_bytes(const TilePanel& panel) noexcept {
  const std::uintptr_t places = plane_places_of(panel);
  if (panel.stream && places % 16 == 0)
    WideBytes<true>::write(panel);
  else
    WideBytes<false>::write(panel);
}

} // namespace simaai::kernels::a65::detail::avx2
