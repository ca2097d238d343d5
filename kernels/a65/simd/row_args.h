// SPDX-License-Identifier: LGPL-2.1-or-later
// Arguments of row kernels: one call converts a run of pixels or elements, or a grid of such runs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simaai::kernels::a65::detail {

/// `rows` times `count` elements from a strided matrix to a strided matrix.
struct LinearRow {
  const std::byte* src;
  std::byte* dst;
  std::int64_t count;
  std::int64_t src_stride_bytes; ///< scalar width for `linear` and `stream` kernels
  std::int64_t dst_stride_bytes;
  std::int64_t rows = 1; ///< 1 for `linear` and `stream` kernels
  std::int64_t src_row_stride_bytes = 0;
  std::int64_t dst_row_stride_bytes = 0;
};

/// `pixels` pixels of `channels` channels between a linear view and tile storage, in either
/// direction. In the tile, pixels follow each other without a gap and each holds
/// `stored_channels` low bytes, then (two-byte scalars) as many high bytes.
struct TileRow {
  const std::byte* src;
  std::byte* dst;
  std::int64_t pixels;
  std::int64_t channels;             ///< 1 to stored_channels
  std::int64_t stored_channels;      ///< writers fill the channels above `channels`
  std::int64_t pixel_stride_bytes;   ///< of the linear side
  std::int64_t channel_stride_bytes; ///< of the linear side; scalar width unless the kernel says so
  std::uint8_t fill;                 ///< channel padding of INT8 writers; two-byte writers use 0
};

/// A grid of tile rows that differ in place only: `segments` runs of pixels, along a line or in
/// lines of a tile, times `runs` runs of channels, each of them one row as above. Such a grid is a box;
/// kernels of a table that takes_boxes get several, the others one.
struct TilePanel {
  TileRow row; ///< the first segment of the first run
  std::int64_t segments;
  std::int64_t segment_tile_bytes;
  std::int64_t segment_linear_bytes;
  std::int64_t runs;
  std::int64_t run_tile_bytes; ///< on the linear side runs follow each other
  std::int64_t last_channels;  ///< of the last run; the others have row.channels
  std::int64_t planes;         ///< bytes of a stored scalar: 1 or 2
  bool stream;                 ///< stores may bypass the cache
  std::int64_t boxes = 1;
  std::int64_t box_tile_bytes = 0;
  std::int64_t box_linear_bytes = 0;
};

/// Calls `visit(channels, linear offset, tile offset)` for every sixteen channels of a panel's pixels.
template <class Visit>
[[gnu::always_inline]] inline void for_each_sixteen(const TilePanel& panel, Visit visit) noexcept {
  const TileRow& row = panel.row;
  for (std::int64_t run = 0; run < panel.runs; ++run) {
    const std::int64_t all = run + 1 < panel.runs ? row.channels : panel.last_channels;
    for (std::int64_t first = 0; first < all; first += 16)
      visit(all - first < 16 ? all - first : 16,
            (run * row.channels + first) * row.channel_stride_bytes,
            run * panel.run_tile_bytes + first);
  }
}

/// A panel of tiles one pixel wide has pixels along H, which are not packed: the same as rows of one
/// pixel. `packed_bytes`: of a pixel on the linear side.
[[nodiscard]] inline TilePanel with_packed_rows(const TilePanel& panel,
                                                std::int64_t packed_bytes) noexcept {
  TilePanel same = panel;
  if (panel.row.pixel_stride_bytes == packed_bytes || panel.segments != 1)
    return same;
  same.segments = panel.row.pixels;
  same.segment_linear_bytes = panel.row.pixel_stride_bytes;
  same.segment_tile_bytes = panel.row.stored_channels * panel.planes;
  same.row.pixels = 1;
  same.row.pixel_stride_bytes = packed_bytes;
  return same;
}

/// Calls `kernel(panel)` for each box of a panel that is written to, or read from, tile storage.
template <class Kernel> void write_each_box(const TilePanel& panel, Kernel kernel) noexcept {
  TilePanel box = panel;
  box.boxes = 1;
  for (std::int64_t left = panel.boxes; left != 0; --left) {
    kernel(box);
    box.row.src += panel.box_linear_bytes;
    box.row.dst += panel.box_tile_bytes;
  }
}
template <class Kernel> void read_each_box(const TilePanel& panel, Kernel kernel) noexcept {
  TilePanel box = panel;
  box.boxes = 1;
  for (std::int64_t left = panel.boxes; left != 0; --left) {
    kernel(box);
    box.row.src += panel.box_tile_bytes;
    box.row.dst += panel.box_linear_bytes;
  }
}

/// The low bits of every place in the output where a row of the panel begins, but for the channels
/// before it: a power of two divides the result if it divides all of them.
[[nodiscard]] inline std::uintptr_t places_of(const TilePanel& panel) noexcept {
  return reinterpret_cast<std::uintptr_t>(panel.row.dst) |
         static_cast<std::uintptr_t>(panel.box_tile_bytes) |
         static_cast<std::uintptr_t>(panel.segment_tile_bytes) |
         static_cast<std::uintptr_t>(panel.run_tile_bytes);
}

/// The same of pixels and planes.
[[nodiscard]] inline std::uintptr_t plane_places_of(const TilePanel& panel) noexcept {
  return places_of(panel) | static_cast<std::uintptr_t>(panel.row.stored_channels);
}

/// Bytes that the panel has of a pixel on the linear side.
[[nodiscard]] inline std::int64_t pixel_bytes_of(const TilePanel& panel,
                                                 std::int64_t scalar_bytes) noexcept {
  return ((panel.runs - 1) * panel.row.channels + panel.last_channels) * scalar_bytes;
}

/// The same as places_of() for readers, of all pixels and their ends.
[[nodiscard]] inline std::uintptr_t linear_places_of(const TilePanel& panel,
                                                     std::int64_t pixel_bytes) noexcept {
  return reinterpret_cast<std::uintptr_t>(panel.row.dst) |
         static_cast<std::uintptr_t>(panel.box_linear_bytes) |
         static_cast<std::uintptr_t>(panel.segment_linear_bytes) |
         static_cast<std::uintptr_t>(panel.row.pixel_stride_bytes) |
         static_cast<std::uintptr_t>(pixel_bytes);
}

inline constexpr std::int64_t kCacheLineBytes = 64;
/// From this many bytes on that follow each other, the two lines at their ends are few among them.
inline constexpr std::int64_t kLongBytes = 512;

/// Whether writers fill the lines of tiles before they go on to other ones: of stores that bypass the
/// cache, a line that is left before it is full goes to memory for every part that it gets.
[[nodiscard]] inline bool fills_tile_lines(const TilePanel& panel) noexcept {
  const TileRow& row = panel.row;
  const std::int64_t pixel_bytes = row.stored_channels * panel.planes;
  // Runs take turns, after four pixels of 16 stored channels or after each of more.
  const std::int64_t pixels = panel.runs == 1 ? row.pixels : row.stored_channels == 16 ? 4 : 1;
  std::int64_t bytes = pixels * pixel_bytes;
  if (panel.runs == 1 && panel.segment_tile_bytes == bytes)
    bytes *= panel.segments;
  return row.pixels % pixels == 0 &&
         ((panel.runs == 1 && bytes >= kLongBytes) ||
          (places_of(panel) | static_cast<std::uintptr_t>(bytes)) % kCacheLineBytes == 0);
}

/// The same of readers and the lines of linear memory; `scalar_bytes` are those of a linear scalar.
[[nodiscard]] inline bool fills_linear_lines(const TilePanel& panel,
                                             std::int64_t scalar_bytes) noexcept {
  const TileRow& row = panel.row;
  const std::int64_t pixel_bytes = pixel_bytes_of(panel, scalar_bytes);
  if (row.pixel_stride_bytes == pixel_bytes && row.pixels * pixel_bytes >= kLongBytes)
    return true;
  return linear_places_of(panel, pixel_bytes) % kCacheLineBytes == 0;
}

/// Whether a kernel of whole pixels goes through the segments first, then to the next pixel of each:
/// short rows are no good inner loop. The lines of a few short rows stay in the first-level cache.
[[nodiscard]] inline bool walks_columns(std::int64_t pixels, std::int64_t segments) noexcept {
  return pixels == 1 || (pixels <= 4 && segments > pixels && segments <= 16);
}

using LinearRowFn = void (*)(const LinearRow&) noexcept;
using TileRowFn = void (*)(const TileRow&) noexcept;
using TilePanelFn = void (*)(const TilePanel&) noexcept;

} // namespace simaai::kernels::a65::detail
