// SPDX-License-Identifier: LGPL-2.1-or-later
// Bands of complete pixel rows of a tile's width, across three or four channel tiles, to Float32.
// Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/common/dma.h"
#include "firmware/detess/slots.h"
#include "wire/descriptor.h"

namespace simaai::firmware::detesscast {

/// Geometry of a job; lives until all workers have returned.
struct BandJob {
  std::uint32_t source;
  std::uint32_t destination;
  std::uint32_t workers;
  std::uint32_t channels;
  std::uint32_t tile_channels;
  std::uint32_t channel_tiles;
  std::uint32_t last_channels; ///< logical channels of the last channel tile
  std::uint32_t last_stored;   ///< and stored ones
  std::uint32_t tile_width;
  std::uint32_t width_tiles;
  std::uint32_t tile_height;
  std::uint32_t height_tiles;
  std::uint32_t planes; ///< depth times outer slices share their stride in the output
  std::uint32_t depth;
  std::uint32_t rows;  ///< of a band
  std::uint32_t bands; ///< a tile
  std::uint32_t slice_bytes;
};

/// Largest band that both slots hold.
constexpr std::uint32_t band_rows(std::uint32_t tile_height, std::uint32_t tile_width,
                                  std::uint32_t tile_channels, std::uint32_t channels) noexcept {
  std::uint32_t rows = tile_height;
  const std::uint32_t raw = detess::kRawBytes / (2 * tile_channels * tile_width);
  const std::uint32_t out = kPanelElements / (channels * tile_width);
  rows = rows < raw ? rows : raw;
  return rows < out ? rows : out;
}

/// For a packet that select_reader() gave this route.
BandJob make_band_job(const kernels::wire::Descriptor& packet,
                      std::uint32_t offered_workers) noexcept;

void run_bands(Worker& worker, std::byte* local, const BandJob& job);

} // namespace simaai::firmware::detesscast
