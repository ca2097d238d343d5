// SPDX-License-Identifier: LGPL-2.1-or-later
// Panels of contiguous channels, written once for the vector levels. `Isa` supplies what depends on
// the instruction set; its types are the level's own, so every instance belongs to one level.
//
// For a source type From, by reference, and a destination type To, Isa has, on several pixels or one:
//   write_4<kStream>(From, src, src stride, dst)   16 channels to 16 low and 16 high bytes a pixel
//   write_1<kStream>(From, src, dst)
//   write_some(From, src, channels, dst)           the channels above `channels` are zero
//   write_rest(From, src, channels, dst)           the same after 16 channels of the same pixel
//   read_line<kStream>(To, src, dst, dst stride)   the way back: 64 bytes of a tile, two pixels or
//                                                  four of INT8
//   read_two_runs<kStream>(To, src, run bytes, dst, dst stride)   optional: the same of two runs
//   read_1<kStream>(To, src, dst)                  one pixel
//   read_some(To, src, channels, dst)              writes no other channel
// From and To have kBytes, the width of a linear scalar, and kStoredBytes, that of 16 stored ones. A
// From with was_right() assumes something about its values: where it says no after some pixels were
// written, they are written again as From::Other.
// With kStream stores bypass the cache and every place is aligned to kStreamAlignment; otherwise
// readers take kLinesAtOnce lines of a tile before they go to the next run.
#pragma once

#include <cstddef>
#include <cstdint>

#include "a65/simd/row_args.h"

namespace simaai::kernels::a65::detail {

template <class Isa> struct PanelRows {
  /// Leading runs of exactly 16 channels.
  static std::int64_t whole_runs(const TilePanel& panel) noexcept {
    if (panel.row.channels != 16)
      return 0;
    return panel.last_channels == 16 ? panel.runs : panel.runs - 1;
  }

  static std::int64_t channels_of(const TilePanel& panel, std::int64_t run) noexcept {
    return run + 1 < panel.runs ? panel.row.channels : panel.last_channels;
  }

  /// Most runs of which a block of eight pixels and the one ahead of it stay in the first-level
  /// cache.
  static constexpr std::int64_t kRunsOfEight = 16;

  static constexpr std::int64_t kLineBytes = 64;
  /// Distance of prefetches along a tile.
  static constexpr std::int64_t kTileAheadBytes = 512;

  /// Asks for the place of `src` in the next `kPixels` pixels.
  template <std::int64_t kPixels>
  static void prefetch(const std::byte* src, std::int64_t stride) noexcept {
    for (std::int64_t pixel = kPixels; pixel < 2 * kPixels; ++pixel)
      __builtin_prefetch(src + pixel * stride);
  }

  /// A run of less than 16 channels of one pixel, the first one or one after whole runs.
  template <class From>
  static void write_part(From& type, bool after, const std::byte* src, std::int64_t channels,
                         std::byte* dst) noexcept {
    if (after)
      Isa::write_rest(type, src, channels, dst);
    else
      Isa::write_some(type, src, channels, dst);
  }

  /// Whether what `type` assumes is not worth a try here.
  template <class From> static bool is_wary(From& type) noexcept {
    if constexpr (requires { type.is_wary(); })
      return type.is_wary();
    else
      return false;
  }

  /// True, always or if what `type` assumed of its values since the last call was right.
  template <class From> static bool was_right(From& type) noexcept {
    if constexpr (requires { type.was_right(); })
      return type.was_right();
    else
      return true;
  }

  /// All runs of four or eight pixels; false if they have to be written again. Streams read ahead:
  /// only they work on memory that is too large for the cache, and their blocks of rows are no
  /// pattern that hardware follows.
  template <bool kStream, std::int64_t kPixels, class From>
  [[nodiscard]] static bool try_pixels(From& type, const TilePanel& panel, const std::byte* src,
                                       std::byte* dst) noexcept {
    const std::int64_t stride = panel.row.pixel_stride_bytes;
    const std::int64_t whole = whole_runs(panel);
    const std::int64_t runs = panel.runs;
    const std::int64_t run_bytes = panel.run_tile_bytes;
    std::int64_t run = 0;
    for (; run < whole; ++run) {
      if constexpr (kStream)
        prefetch<kPixels>(src, stride);
      for (std::int64_t pixel = 0; pixel < kPixels; pixel += 4)
        Isa::template write_4<kStream>(type, src + pixel * stride, stride,
                                       dst + pixel * From::kStoredBytes);
      src += 16 * From::kBytes;
      dst += run_bytes;
    }
    for (; run < runs; ++run) {
      const std::int64_t channels = channels_of(panel, run);
      for (std::int64_t pixel = 0; pixel < kPixels; ++pixel)
        write_part(type, whole != 0, src + pixel * stride, channels,
                   dst + pixel * From::kStoredBytes);
      src += channels * From::kBytes;
      dst += run_bytes;
    }
    return was_right(type);
  }

  template <bool kStream, std::int64_t kPixels, class From>
  [[gnu::noinline]] static void write_other_pixels(const TilePanel& panel, const std::byte* src,
                                                   std::byte* dst) noexcept {
    From type{};
    static_cast<void>(try_pixels<kStream, kPixels>(type, panel, src, dst));
  }

  template <bool kStream, std::int64_t kPixels, class From>
  static void write_pixels(From& type, const TilePanel& panel, const std::byte* src,
                           std::byte* dst) noexcept {
    const bool done = !is_wary(type) && try_pixels<kStream, kPixels>(type, panel, src, dst);
    if constexpr (requires { typename From::Other; })
      if (!done)
        write_other_pixels<kStream, kPixels, typename From::Other>(panel, src, dst);
  }

  /// All runs of one pixel; false if they have to be written again.
  template <bool kStream, class From>
  [[nodiscard]] static bool try_pixel(From& type, const TilePanel& panel, const std::byte* src,
                                      std::byte* dst) noexcept {
    const std::int64_t whole = whole_runs(panel);
    std::int64_t run = 0;
    for (; run < whole; ++run) {
      Isa::template write_1<kStream>(type, src, dst);
      src += 16 * From::kBytes;
      dst += panel.run_tile_bytes;
    }
    for (; run < panel.runs; ++run) {
      const std::int64_t channels = channels_of(panel, run);
      write_part(type, whole != 0, src, channels, dst);
      src += channels * From::kBytes;
      dst += panel.run_tile_bytes;
    }
    return was_right(type);
  }

  template <bool kStream, class From>
  [[gnu::noinline]] static void write_other_pixel(const TilePanel& panel, const std::byte* src,
                                                  std::byte* dst) noexcept {
    From type{};
    static_cast<void>(try_pixel<kStream>(type, panel, src, dst));
  }

  template <bool kStream, class From>
  static void write_pixel(From& type, const TilePanel& panel, const std::byte* src,
                          std::byte* dst) noexcept {
    const bool done = !is_wary(type) && try_pixel<kStream>(type, panel, src, dst);
    if constexpr (requires { typename From::Other; })
      if (!done)
        write_other_pixel<kStream, typename From::Other>(panel, src, dst);
  }

  template <bool kStream, class From>
  static void write_row(From& type, const TilePanel& panel, const std::byte* src,
                        std::byte* dst) noexcept {
    const TileRow& row = panel.row;
    std::int64_t p = 0;
    if constexpr (kStream) {
      const std::int64_t eights = panel.runs <= kRunsOfEight ? row.pixels : 0;
      for (; p + 8 <= eights; p += 8) {
        write_pixels<kStream, 8>(type, panel, src, dst);
        src += 8 * row.pixel_stride_bytes;
        dst += 8 * From::kStoredBytes;
      }
    }
    for (; p + 4 <= row.pixels; p += 4) {
      write_pixels<kStream, 4>(type, panel, src, dst);
      src += 4 * row.pixel_stride_bytes;
      dst += 4 * From::kStoredBytes;
    }
    for (; p < row.pixels; ++p) {
      write_pixel<kStream>(type, panel, src, dst);
      src += row.pixel_stride_bytes;
      dst += From::kStoredBytes;
    }
  }

  template <class From, bool kStream> static void write_segments(const TilePanel& panel) noexcept {
    From type{};
    const std::byte* box_src = panel.row.src;
    std::byte* box_dst = panel.row.dst;
    for (std::int64_t boxes = panel.boxes; boxes != 0; --boxes) {
      for (std::int64_t segment = 0; segment < panel.segments; ++segment)
        write_row<kStream>(type, panel, box_src + segment * panel.segment_linear_bytes,
                           box_dst + segment * panel.segment_tile_bytes);
      box_src += panel.box_linear_bytes;
      box_dst += panel.box_tile_bytes;
    }
  }

  /// Panels of 16 stored channels a run.
  template <class From> static void write_of_16(const TilePanel& panel) noexcept {
    if (panel.stream && places_of(panel) % Isa::kStreamAlignment == 0)
      write_segments<From, true>(panel);
    else
      write_segments<From, false>(panel);
  }

  /// kLines cache lines of each run's tile. Writes whole pixels one after the other as nearly as
  /// lines of the tile allow.
  template <class To, bool kStream, std::int64_t kLines = 1>
  static void read_line(const TilePanel& panel, std::int64_t whole, const std::byte* src,
                        std::byte* dst) noexcept {
    // Copies: a store of bytes might change what `panel` refers to, which would be read every time.
    const std::int64_t stride = panel.row.pixel_stride_bytes;
    const std::int64_t run_bytes = panel.run_tile_bytes;
    std::int64_t run = 0;
    if constexpr (requires { Isa::template read_two_runs<kStream>(To{}, src, 0, dst, 0); }) {
      for (; run + 2 <= whole; run += 2) {
        __builtin_prefetch(src + kTileAheadBytes);
        __builtin_prefetch(src + run_bytes + kTileAheadBytes);
        for (std::int64_t line = 0; line < kLines; ++line)
          Isa::template read_two_runs<kStream>(
              To{}, src + line * kLineBytes, run_bytes,
              dst + line * (kLineBytes / To::kStoredBytes) * stride, stride);
        src += 2 * run_bytes;
        dst += 32 * To::kBytes;
      }
    }
    for (; run < whole; ++run) {
      __builtin_prefetch(src + kTileAheadBytes);
      for (std::int64_t line = 0; line < kLines; ++line)
        Isa::template read_line<kStream>(To{}, src + line * kLineBytes,
                                         dst + line * (kLineBytes / To::kStoredBytes) * stride,
                                         stride);
      src += run_bytes;
      dst += 16 * To::kBytes;
    }
    for (; run < panel.runs; ++run) {
      const std::int64_t channels = channels_of(panel, run);
      for (std::int64_t pixel = 0; pixel < kLines * kLineBytes / To::kStoredBytes; ++pixel)
        Isa::read_some(To{}, src + pixel * To::kStoredBytes, channels, dst + pixel * stride);
      src += panel.run_tile_bytes;
      dst += channels * To::kBytes;
    }
  }

  /// All runs of one pixel.
  template <class To, bool kStream>
  static void read_pixel(const TilePanel& panel, std::int64_t whole, const std::byte* src,
                         std::byte* dst) noexcept {
    const std::int64_t run_bytes = panel.run_tile_bytes;
    std::int64_t run = 0;
    for (; run < whole; ++run) {
      Isa::template read_1<kStream>(To{}, src, dst);
      src += run_bytes;
      dst += 16 * To::kBytes;
    }
    for (; run < panel.runs; ++run) {
      const std::int64_t channels = channels_of(panel, run);
      Isa::read_some(To{}, src, channels, dst);
      src += panel.run_tile_bytes;
      dst += channels * To::kBytes;
    }
  }

  template <class To, bool kStream>
  static void read_row(const TilePanel& panel, std::int64_t whole, const std::byte* src,
                       std::byte* dst) noexcept {
    constexpr std::int64_t kPixels = kLineBytes / To::kStoredBytes;
    constexpr std::int64_t kLinesAtOnce = Isa::kLinesAtOnce;
    const TileRow& row = panel.row;
    std::int64_t p = 0;
    if constexpr (!kStream && kLinesAtOnce > 1) {
      for (; p + kLinesAtOnce * kPixels <= row.pixels; p += kLinesAtOnce * kPixels) {
        read_line<To, kStream, kLinesAtOnce>(panel, whole, src, dst);
        src += kLinesAtOnce * kLineBytes;
        dst += kLinesAtOnce * kPixels * row.pixel_stride_bytes;
      }
    }
    for (; p + kPixels <= row.pixels; p += kPixels) {
      read_line<To, kStream>(panel, whole, src, dst);
      src += kLineBytes;
      dst += kPixels * row.pixel_stride_bytes;
    }
    for (; p < row.pixels; ++p) {
      read_pixel<To, kStream>(panel, whole, src, dst);
      src += To::kStoredBytes;
      dst += row.pixel_stride_bytes;
    }
  }

  template <class To, bool kStream> static void read_segments(const TilePanel& panel) noexcept {
    const std::int64_t whole = whole_runs(panel);
    const std::byte* box_src = panel.row.src;
    std::byte* box_dst = panel.row.dst;
    for (std::int64_t boxes = panel.boxes; boxes != 0; --boxes) {
      for (std::int64_t segment = 0; segment < panel.segments; ++segment)
        read_row<To, kStream>(panel, whole, box_src + segment * panel.segment_tile_bytes,
                              box_dst + segment * panel.segment_linear_bytes);
      box_src += panel.box_tile_bytes;
      box_dst += panel.box_linear_bytes;
    }
  }

  /// Whether a panel of 16 stored channels a run is read past the cache.
  template <class To> static bool streams_of_16(const TilePanel& panel) noexcept {
    return panel.stream &&
           linear_places_of(panel, pixel_bytes_of(panel, To::kBytes)) % Isa::kStreamAlignment == 0;
  }

  template <class To> static void read_of_16(const TilePanel& panel) noexcept {
    if (streams_of_16<To>(panel))
      read_segments<To, true>(panel);
    else
      read_segments<To, false>(panel);
  }
};

} // namespace simaai::kernels::a65::detail
