// SPDX-License-Identifier: LGPL-2.1-or-later
// Panels as loops over rows for Advanced SIMD: one row description moves along, so that short rows,
// a few pixels of a few channels, cost little more than their pixels.
#pragma once

#include "a65/simd/row_args.h"

namespace simaai::kernels::a65::detail::neon {

/// Where a row's linear and tiled ends are: the source and the destination, or the other way around.
struct WriterEnds {
  static void move(TileRow* row, std::int64_t linear, std::int64_t tile) noexcept {
    row->src += linear;
    row->dst += tile;
  }
};
struct ReaderEnds {
  static void move(TileRow* row, std::int64_t linear, std::int64_t tile) noexcept {
    row->src += tile;
    row->dst += linear;
  }
};

/// All runs of a block of pixels, then the next block, so that linear cache lines are used up while
/// they are near.
template <class Ends, void (*kRow)(const TileRow&) noexcept>
void convert_blocks(const TilePanel& panel, TileRow row) noexcept {
  constexpr std::int64_t kBlockPixels = 16;
  const std::int64_t run_bytes = row.channels * row.channel_stride_bytes;
  const std::int64_t pixel_tile_bytes = row.stored_channels * panel.planes;
  for (std::int64_t left = row.pixels; left > 0; left -= kBlockPixels) {
    row.pixels = left < kBlockPixels ? left : kBlockPixels;
    row.channels = panel.row.channels;
    for (std::int64_t run = 1; run < panel.runs; ++run) {
      kRow(row);
      Ends::move(&row, run_bytes, panel.run_tile_bytes);
    }
    row.channels = panel.last_channels;
    kRow(row);
    Ends::move(&row, row.pixels * row.pixel_stride_bytes - (panel.runs - 1) * run_bytes,
               row.pixels * pixel_tile_bytes - (panel.runs - 1) * panel.run_tile_bytes);
  }
}

template <class Ends, void (*kRow)(const TileRow&) noexcept>
void convert_panel(const TilePanel& panel) noexcept {
  TileRow row = panel.row;
  const std::int64_t linear_bytes = panel.segment_linear_bytes;
  if (panel.runs == 1)
    row.channels = panel.last_channels;
  for (std::int64_t left = panel.segments; left != 0; --left) {
    if (panel.runs == 1)
      kRow(row);
    else
      convert_blocks<Ends, kRow>(panel, row);
    Ends::move(&row, linear_bytes, panel.segment_tile_bytes);
  }
}

/// A panel writer made of a row writer.
template <void (*kRow)(const TileRow&) noexcept> void write_panel(const TilePanel& panel) noexcept {
  convert_panel<WriterEnds, kRow>(panel);
}

/// A panel reader made of a row reader.
template <void (*kRow)(const TileRow&) noexcept> void read_panel(const TilePanel& panel) noexcept {
  convert_panel<ReaderEnds, kRow>(panel);
}

} // namespace simaai::kernels::a65::detail::neon
