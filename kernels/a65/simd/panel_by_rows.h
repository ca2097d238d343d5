// SPDX-License-Identifier: LGPL-2.1-or-later
// Panels as loops over rows, for levels whose kernels convert one row a call.
#pragma once

#include "a65/simd/row_args.h"

namespace simaai::kernels::a65::detail {

/// Calls `visit(row, linear bytes, tile bytes)` for each row: all runs of a block of pixels, then the
/// next block, so that linear cache lines are used up while they are near. The bytes are the
/// distances from the first row on both sides.
template <class Visit> void for_each_row(const TilePanel& panel, Visit visit) noexcept {
  constexpr std::int64_t kBlockPixels = 16;
  const TileRow& first = panel.row;
  const std::int64_t block = panel.runs == 1 ? first.pixels : kBlockPixels;
  const std::int64_t planes = panel.planes;
  TileRow row = first;
  for (std::int64_t segment = 0; segment < panel.segments; ++segment)
    for (std::int64_t pixel = 0; pixel < first.pixels; pixel += block) {
      const std::int64_t left = first.pixels - pixel;
      row.pixels = left < block ? left : block;
      const std::int64_t linear =
          segment * panel.segment_linear_bytes + pixel * first.pixel_stride_bytes;
      const std::int64_t tile =
          segment * panel.segment_tile_bytes + pixel * first.stored_channels * planes;
      for (std::int64_t run = 0; run < panel.runs; ++run) {
        row.channels = run + 1 < panel.runs ? first.channels : panel.last_channels;
        visit(row, linear + run * first.channels * first.channel_stride_bytes,
              tile + run * panel.run_tile_bytes);
      }
    }
}

/// A panel writer made of a row writer.
template <void (*kRow)(const TileRow&) noexcept>
void write_by_rows(const TilePanel& panel) noexcept {
  for_each_row(panel, [&](TileRow row, std::int64_t linear, std::int64_t tile) {
    row.src += linear;
    row.dst += tile;
    kRow(row);
  });
}

/// A panel reader made of a row reader.
template <void (*kRow)(const TileRow&) noexcept>
void read_by_rows(const TilePanel& panel) noexcept {
  for_each_row(panel, [&](TileRow row, std::int64_t linear, std::int64_t tile) {
    row.src += tile;
    row.dst += linear;
    kRow(row);
  });
}

} // namespace simaai::kernels::a65::detail
