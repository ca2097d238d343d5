// SPDX-License-Identifier: LGPL-2.1-or-later
// Execution of conversions between a linear view and tile storage, in either direction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "a65/common/store_choice.h"
#include "a65/simd/row_args.h"
#include "core/tile_geometry.h"

namespace simaai::kernels::a65::detail {

struct TileState;

/// Visits the whole tensor in one order and direction. Pointers are the bases of the two ports.
using TileWalkFn = void (*)(const TileState& state, const std::byte* src, std::byte* dst) noexcept;

/// Consecutive channel tiles that the walk along lines visits in the same way.
struct ChannelGroup {
  TilePanelFn kernel; ///< null: rows of the panel by the row kernel
  std::int64_t first_tile;
  std::int64_t visits; ///< panels a line segment, one channel tile further each
  std::int64_t runs;   ///< channel runs of a panel
  bool runs_are_tiles; ///< each run is a channel tile; otherwise a block of one
  std::int64_t channels;
  std::int64_t last_channels;   ///< of the last run
  std::int64_t stored_channels; ///< of each run
};

/// Everything that execution needs, fixed in prepare. The geometry is private: spatial axes that
/// continue each other are folded and unit axes dropped, which changes no byte.
struct TileState {
  core::TileGeometry geometry{};
  std::array<std::int64_t, core::kTileAxes> stride_bytes{}; ///< linear side, D, H, W, C
  std::array<std::int64_t, core::kMaxAxes> outer_stride_bytes{};
  TileWalkFn walk = nullptr;
  TileRowFn row_kernel = nullptr;       ///< of channels that are not contiguous
  std::array<ChannelGroup, 2> groups{}; ///< of the other walks
  std::size_t group_count = 0;
  bool has_tails = false;   ///< some tile's span was rounded up
  bool takes_boxes = false; ///< kernels take several boxes a call
  Stores stores = Stores::Cached;
  std::size_t dst_bytes = 0; ///< of the output port
  std::uint8_t fill = 0;

  /// All channels of a line segment are one panel.
  [[nodiscard]] bool is_one_visit() const noexcept {
    return group_count == 1 && groups[0].visits == 1;
  }
};

/// Runs the chosen walk. The plan has work and the buffers are checked.
inline void run_tiles(const TileState& state, const void* src, void* dst) noexcept {
  state.walk(state, static_cast<const std::byte*>(src), static_cast<std::byte*>(dst));
}

/// Visiting orders. The names say what is outermost within an outer slice.
struct TileWalks {
  TileWalkFn tiles; ///< tile after tile in storage order, rows within; any channel stride
  TileWalkFn lines; ///< linear lines along W, all channels of each
};

/// Linear to tile; also zeroes alignment tails.
[[nodiscard]] TileWalks writer_walks() noexcept;

/// Linear to tile, tile after tile as they follow each other along W: for one channel group of one
/// visit.
[[nodiscard]] TileWalkFn writer_box_walk() noexcept;

/// Linear to tile for one pixel: channel tile after channel tile, with the kernel of the first group.
[[nodiscard]] TileWalkFn writer_channel_walk() noexcept;

/// Tile to linear.
[[nodiscard]] TileWalks reader_walks() noexcept;

/// Tile to linear, everything as one panel: one outer slice, one spatial tile along W, one channel
/// group of one visit.
[[nodiscard]] TileWalkFn reader_whole_walk() noexcept;

/// Tile to linear, tile after tile as they follow each other along W: for one channel group of one
/// visit.
[[nodiscard]] TileWalkFn reader_box_walk() noexcept;

} // namespace simaai::kernels::a65::detail
