// SPDX-License-Identifier: LGPL-2.1-or-later
// How a packet that writes tiles is run: folded geometry, strides of the linear source, and the
// position in the tile stream. Freestanding C++17.
#pragma once

#include <cstdint>

#include "core/tile_geometry.h"
#include "wire/descriptor.h"

namespace simaai::firmware::tiling {

/// Stored bytes of a panel: 4,096 values of two bytes.
inline constexpr std::uint32_t kPanelBytes = 8192;

enum class SourceKind : std::uint8_t { Int8, BFloat16, Float16, Float32 };

/// How values of a fragment lie in the input slot.
enum class Staging : std::uint8_t {
  PixelMajor,   ///< channels are contiguous in the source
  ChannelMajor, ///< pixels of a row are contiguous in the source
  Gathered      ///< neither: value by value, pixel-major in the slot
};

/// Tiles as units of work: their whole spans, runs of their pixels, or parts of one pixel.
enum class Grain : std::uint8_t { Tiles, Pixels, Pieces };

struct Plan {
  kernels::core::TileGeometry geometry; ///< spatial axes that continue each other are folded
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint32_t width = 0;                              ///< of a source scalar
  std::uint32_t strides[kernels::core::kTileAxes] = {}; ///< D, H, W, C
  std::uint32_t outer_strides[kernels::core::kMaxAxes] = {};
  SourceKind kind = SourceKind::BFloat16;
  Staging staging = Staging::PixelMajor;
  Grain grain = Grain::Tiles;
  std::byte fill{};
  std::uint32_t panel_bytes =
      kPanelBytes; ///< stored; half where each value of a piece is read for one byte
  std::uint32_t workers = 1;
};

/// Plans an admitted packet whose destination is tiled.
Plan make_plan(const kernels::wire::Descriptor& d, std::uint32_t workers) noexcept;

/// Consecutive pixels of one tile with all their channels: part of a row, or whole rows where
/// staging is pixel-major. Where a pixel exceeds a panel, channels of one plane of one pixel.
struct Fragment {
  std::uint32_t source = 0; ///< address of the first value
  std::uint32_t pixels = 0;
  std::uint32_t rows = 1; ///< that the pixels fill
  std::uint32_t channels = 0;
  std::uint32_t stored = 0;       ///< channels with padding
  std::uint32_t plane = 0;        ///< of a piece
  bool piece = false;             ///< channels of one plane only
  std::uint32_t gap_bytes = 0;    ///< zeros behind it, up to the tile's end
  std::uint32_t stream_bytes = 0; ///< all it adds to the output
};

/// Position in the stream of stored bytes, which has no gaps between tiles.
class Cursor {
public:
  Cursor() noexcept = default;
  explicit Cursor(const Plan& plan) noexcept : plan_(&plan) {}

  /// First position at or after `stream_byte` where a worker may begin: a tile, or a pixel on a
  /// granule boundary where tiles exceed a panel. Returns its offset in the stream.
  std::uint32_t seek(std::uint32_t stream_byte) noexcept;

  /// The fragment from here on that adds at most `bytes` (false: none fits) and the gap of a tile
  /// that it completes, behind which the cursor then stands.
  bool take(std::uint32_t bytes, Fragment& out) noexcept;

  /// True between tiles where the next one exceeds `bytes`. There is a next one.
  [[nodiscard]] bool would_split_tile(std::uint32_t bytes) noexcept {
    if (pixel_ == pixels_)
      next_tile();
    return pixel_ == 0 && piece_byte_ == 0 && pixels_ * pixel_bytes_ + gap_bytes_ > bytes;
  }

  /// True between rows where the next one exceeds `bytes`.
  [[nodiscard]] bool would_split(std::uint32_t bytes) const noexcept {
    return at_row_start() && extent_[kernels::core::kAxisW] * pixel_bytes_ > bytes;
  }

private:
  [[nodiscard]] bool at_row_start() const noexcept {
    return pixel_ % extent_[kernels::core::kAxisW] == 0;
  }
  void enter_tile() noexcept;
  void next_tile() noexcept;
  [[nodiscard]] std::uint32_t source_of(std::uint32_t pixel) const noexcept;
  [[nodiscard]] std::uint32_t whole_rows(std::uint32_t bytes) const noexcept;
  bool take_pixels(std::uint32_t bytes, Fragment& out) noexcept;
  bool take_piece(std::uint32_t bytes, Fragment& out) noexcept;

  const Plan* plan_ = nullptr;
  kernels::core::TileIndex tile_{};
  std::uint32_t outer_ = 0;
  // The current tile.
  std::uint32_t origin_ = 0; ///< address of its first value
  std::uint32_t extent_[kernels::core::kTileAxes] = {};
  std::uint32_t stored_ = 0;
  std::uint32_t pixel_bytes_ = 0;
  std::uint32_t pixels_ = 0;
  std::uint32_t gap_bytes_ = 0;
  std::uint32_t pixel_ = 0;
  std::uint32_t piece_byte_ = 0; ///< within a pixel that exceeds a panel
};

} // namespace simaai::firmware::tiling
