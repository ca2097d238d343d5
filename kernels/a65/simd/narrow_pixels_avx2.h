// SPDX-License-Identifier: LGPL-2.1-or-later
// Panels of one run of few channels a pixel, for AVX2. Whole vectors are read over the channels of
// the next pixels, and written over the next pixels where there is no padding; the last pixels are
// taken exactly. Include it in files built with -mavx2 only, like lanes_avx2.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "a65/simd/lanes_avx2.h"

namespace simaai::kernels::a65::detail::avx2 {

/// All ones in the bytes from `count` on, in each 128-bit lane.
[[nodiscard]] inline __m256i bytes_from(std::int64_t count) noexcept {
  const __m128i index = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  return _mm256_broadcastsi128_si256(
      _mm_cmpgt_epi8(index, _mm_set1_epi8(static_cast<char>(count - 1))));
}

/// Pixels of 1 to 15 two-byte channels in 16 stored ones.
template <class From> struct PaddedPixels {
  static constexpr std::int64_t kPixelBytes = 32;
  static constexpr std::int64_t kMostReadBytes = 16 * From::kBytes;

  PaddedPixels(std::int64_t channels, std::uint8_t /*fill*/) noexcept
      : read_bytes((channels <= 8 ? 8 : 16) * From::kBytes), padding_(bytes_from(channels)) {
    const __m256i halves = _mm256_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 0, 0, 0, 0, 0, 0, 0, 0, 1, 3,
                                            5, 7, 9, 11, 13, 15, 0, 0, 0, 0, 0, 0, 0, 0);
    places_ = _mm256_or_si256(halves, padding_);
  }

  template <bool kStream> void write(const std::byte* src, std::byte* dst) const noexcept {
    if (read_bytes == 8 * From::kBytes)
      put_256<kStream>(
          dst, _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(From::load_8(src)), places_));
    else
      put_256<kStream>(dst, _mm256_andnot_si256(padding_, From::planes_16(src)));
  }

  std::int64_t read_bytes;

private:
  __m256i padding_;
  __m256i places_;
};

/// Pixels of 1 to 15 INT8 channels in 16 stored ones.
struct PaddedBytes {
  static constexpr std::int64_t kPixelBytes = 16;
  static constexpr std::int64_t kMostReadBytes = 16;

  PaddedBytes(std::int64_t channels, std::uint8_t fill) noexcept
      : padding_(_mm256_castsi256_si128(bytes_from(channels))),
        fill_(_mm_and_si128(padding_, _mm_set1_epi8(static_cast<char>(fill)))) {}

  template <bool kStream> void write(const std::byte* src, std::byte* dst) const noexcept {
    const __m128i pixel = _mm_or_si128(_mm_andnot_si128(padding_, load_128(src)), fill_);
    if constexpr (kStream)
      stream_128(dst, pixel);
    else
      store_128(dst, pixel);
  }

  std::int64_t read_bytes = 16;

private:
  __m128i padding_;
  __m128i fill_;
};

/// How many pixels of segment number `segment` may be read `read_bytes` each: up to the last byte of
/// the panel, or of the segment where segments do not ascend.
[[nodiscard]] inline std::int64_t pixels_to_read_over(const TilePanel& panel, std::int64_t segment,
                                                      std::int64_t pixel_bytes,
                                                      std::int64_t read_bytes) noexcept {
  const TileRow& row = panel.row;
  const std::int64_t stride = row.pixel_stride_bytes;
  const std::int64_t behind =
      panel.segment_linear_bytes > 0 ? panel.segments - 1 - segment : 0; // segments
  const std::int64_t room =
      behind * panel.segment_linear_bytes + (row.pixels - 1) * stride + pixel_bytes - read_bytes;
  if (stride <= 0 || room < 0)
    return 0;
  return room >= row.pixels * stride ? row.pixels : room / stride + 1;
}

/// The panel with pixels of type `Pixels`; `channel_bytes` wide scalars.
template <class Pixels, bool kStream>
void write_padded(const TilePanel& panel, std::int64_t channel_bytes) noexcept {
  const TileRow row = panel.row;
  const std::int64_t pixel_bytes = panel.last_channels * channel_bytes;
  const Pixels pixels{panel.last_channels, row.fill};
  for (std::int64_t segment = 0; segment < panel.segments; ++segment) {
    const std::byte* src = row.src + segment * panel.segment_linear_bytes;
    std::byte* dst = row.dst + segment * panel.segment_tile_bytes;
    const std::byte* const end = dst + row.pixels * Pixels::kPixelBytes;
    const std::int64_t count = pixels_to_read_over(panel, segment, pixel_bytes, pixels.read_bytes);
    for (const std::byte* const last = dst + count * Pixels::kPixelBytes; dst != last;
         dst += Pixels::kPixelBytes, src += row.pixel_stride_bytes)
      pixels.template write<kStream>(src, dst);
    for (; dst != end; dst += Pixels::kPixelBytes, src += row.pixel_stride_bytes) {
      std::byte copy[Pixels::kMostReadBytes] = {};
      std::memcpy(copy, src, static_cast<std::size_t>(pixel_bytes));
      pixels.template write<kStream>(copy, dst);
    }
  }
}

template <class Pixels> void write_padded(const TilePanel& panel, std::int64_t bytes) noexcept {
  const auto places = reinterpret_cast<std::uintptr_t>(panel.row.dst) |
                      static_cast<std::uintptr_t>(panel.segment_tile_bytes);
  if (panel.stream && places % Pixels::kPixelBytes == 0)
    write_padded<Pixels, true>(panel, bytes);
  else
    write_padded<Pixels, false>(panel, bytes);
}

/// Pixels of 1 to 8 two-byte channels without padding.
template <class From> struct CompactPixels {
  /// Whether whole pixels fill a vector.
  static bool fill_vectors(const TileRow& row) noexcept {
    return 8 % row.channels == 0 && row.pixel_stride_bytes == row.channels * From::kBytes;
  }

  /// Shuffle control of as many pixels of two times `channels` bytes as 16 bytes hold.
  static __m128i places_of(std::int64_t channels) noexcept {
    alignas(16) std::int8_t places[16];
    for (std::int64_t i = 0; i < 16; ++i) {
      const std::int64_t first = i / (2 * channels) * channels;
      const std::int64_t plane = i / channels % 2;
      places[i] = static_cast<std::int8_t>(2 * (first + i % channels) + plane);
    }
    return load_128(static_cast<const std::byte*>(static_cast<const void*>(places)));
  }

  /// Pixels one by one from `p` on, each over the places of the next ones.
  static void write_singly(const TileRow& row, std::int64_t p, std::int64_t over,
                           __m128i places) noexcept {
    const std::int64_t stored_bytes = 2 * row.channels;
    const std::byte* src = row.src + p * row.pixel_stride_bytes;
    std::byte* dst = row.dst + p * stored_bytes;
    for (; p < row.pixels; ++p) {
      if (p < over && (row.pixels - p) * stored_bytes >= 16) {
        store_128(dst, _mm_shuffle_epi8(From::load_8(src), places));
      } else {
        std::byte copy[8 * From::kBytes] = {};
        std::memcpy(copy, src, static_cast<std::size_t>(row.channels * From::kBytes));
        store_128(copy, _mm_shuffle_epi8(From::load_8(copy), places));
        std::memcpy(dst, copy, static_cast<std::size_t>(stored_bytes));
      }
      src += row.pixel_stride_bytes;
      dst += stored_bytes;
    }
  }

  static void write(const TilePanel& panel) noexcept {
    TileRow row = panel.row;
    const __m128i places = places_of(row.channels);
    const __m256i both = _mm256_broadcastsi128_si256(places);
    const std::int64_t group = fill_vectors(row) ? 16 / row.channels : row.pixels + 1;
    for (std::int64_t segment = 0; segment < panel.segments; ++segment) {
      std::int64_t p = 0;
      for (; p + group <= row.pixels; p += group)
        store_256(row.dst + p * 2 * row.channels,
                  _mm256_shuffle_epi8(From::load_16(row.src + p * row.pixel_stride_bytes), both));
      if (p != row.pixels)
        write_singly(
            row, p,
            pixels_to_read_over(panel, segment, row.channels * From::kBytes, 8 * From::kBytes),
            places);
      row.src += panel.segment_linear_bytes;
      row.dst += panel.segment_tile_bytes;
    }
  }
};

} // namespace simaai::kernels::a65::detail::avx2
