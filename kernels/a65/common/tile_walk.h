// SPDX-License-Identifier: LGPL-2.1-or-later
// Execution of conversions between a linear view and tile storage, in either direction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "a65/simd/row_args.h"
#include "core/tile_geometry.h"

namespace simaai::kernels::a65::detail {

struct TileState;

/// Visits the whole tensor in one order and direction. Pointers are the bases of the two ports.
using TileWalkFn = void (*)(const TileState& state, const std::byte* src, std::byte* dst) noexcept;

/// Everything that execution needs, fixed in prepare. The geometry is private: spatial axes that
/// continue each other are folded and unit axes dropped, which changes no byte.
struct TileState {
  core::TileGeometry geometry{};
  std::array<std::int64_t, core::kTileAxes> stride_bytes{}; ///< linear side, D, H, W, C
  std::array<std::int64_t, core::kMaxAxes> outer_stride_bytes{};
  /// Row kernels for runs of 1, 2, 3 and more channels.
  std::array<TileRowFn, 4> kernels{};
  TileWalkFn walk = nullptr;
  std::int64_t block_pixels = 0; ///< pixels a call in the pixel-order walk
  std::uint8_t fill = 0;

  [[nodiscard]] TileRowFn kernel(std::int64_t channels) const noexcept {
    return kernels[static_cast<std::size_t>(channels < 4 ? channels - 1 : 3)];
  }
};

/// Runs the chosen walk. The plan has work and the buffers are checked.
inline void run_tiles(const TileState& state, const void* src, void* dst) noexcept {
  state.walk(state, static_cast<const std::byte*>(src), static_cast<std::byte*>(dst));
}

/// Visiting orders. The names say what is outermost within an outer slice.
struct TileWalks {
  TileWalkFn tiles;    ///< tile after tile in storage order, rows within
  TileWalkFn pixels;   ///< linear pixel blocks, all channel tiles of each
  TileWalkFn channels; ///< one pixel, channel tile after channel tile
};

/// Linear to tile; also zeroes alignment tails.
[[nodiscard]] TileWalks writer_walks() noexcept;

/// Tile to linear.
[[nodiscard]] TileWalks reader_walks() noexcept;

} // namespace simaai::kernels::a65::detail
