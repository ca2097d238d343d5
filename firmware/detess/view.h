// SPDX-License-Identifier: LGPL-2.1-or-later
// A tiled tensor and the linear output that it becomes, as the readers walk them: axes in output
// order, tiles in 32-bit numbers. Freestanding C++17.
#pragma once

#include <cstdint>

#include "core/tile_geometry.h"
#include "wire/descriptor.h"

namespace simaai::firmware::detess {

/// What an axis of the view is to the tiles: the first four are TileAxis values.
enum class Role : std::uint8_t { D = 0, H = 1, W = 2, C = 3, Outer = 4 };

constexpr std::uint32_t slot_of(Role role) noexcept { return static_cast<std::uint32_t>(role); }

struct ViewAxis {
  std::uint32_t extent;
  std::uint32_t slice_pitch;  ///< source bytes a step; outer axes only
  std::uint32_t output_pitch; ///< output bytes a step
  Role role;
};

/// Coordinates of an element among the tiles of its outer slice, and that slice's byte offset.
struct Coordinates {
  std::uint32_t at[kernels::core::kTileAxes];
  std::uint32_t slice_bytes;
};

/// Where an element lies, and how far it is to its neighbours in the same tile.
struct Spot {
  std::uint32_t device;                         ///< address of the low byte
  std::uint32_t pixel_pitch;                    ///< bytes from pixel to pixel along W
  std::uint32_t plane_pitch;                    ///< bytes from low to high byte
  std::uint32_t row_pitch;                      ///< along H
  std::uint32_t depth_pitch;                    ///< along D
  std::uint32_t room[kernels::core::kTileAxes]; ///< elements from here to the end of the tile
};

/// Tile geometry in 32-bit numbers: every sum is part of a span below 2^32.
struct Tiles {
  std::uint32_t source;
  std::uint32_t tile[kernels::core::kTileAxes];
  std::uint32_t full_tiles[kernels::core::kTileAxes];
  std::uint32_t partial[kernels::core::kTileAxes];
  std::uint32_t tile_bytes[16];
  std::uint32_t row_bytes[16];
  std::uint32_t plane_bytes[2];
  std::uint32_t slab_bytes;
  std::uint32_t planes;
  kernels::core::TileStorage storage;

  [[nodiscard]] Spot locate(const Coordinates& coordinates) const noexcept;

  /// Channels that a tile of `channels` actual channels stores.
  [[nodiscard]] std::uint32_t stored_channels(std::uint32_t channels) const noexcept {
    return storage == kernels::core::TileStorage::Compact ? channels : (channels + 15) / 16 * 16;
  }
};

/// At least one axis. Axes of extent one are left out, and neighbours that lie in the tiles like
/// one axis are one.
struct View {
  Tiles tiles;
  ViewAxis axes[kernels::wire::kMaxRank];
  std::uint32_t rank;
  std::uint32_t count; ///< elements
  std::uint32_t destination;
  std::uint32_t width; ///< bytes of an output scalar

  [[nodiscard]] const ViewAxis& inner() const noexcept { return axes[rank - 1]; }

  /// Elements of the longest contiguous output run, and how many axes it takes.
  struct Suffix {
    std::uint32_t elements;
    std::uint32_t axes;
  };
  [[nodiscard]] Suffix suffix() const noexcept;
};

/// Source bytes from `spot` to the next element along `axis`.
constexpr std::uint32_t pitch_along(const Spot& spot, const ViewAxis& axis) noexcept {
  switch (axis.role) {
  case Role::D:
    return spot.depth_pitch;
  case Role::H:
    return spot.row_pitch;
  case Role::W:
    return spot.pixel_pitch;
  case Role::C:
    return 1;
  case Role::Outer:
    break;
  }
  return axis.slice_pitch;
}

/// Steps that `axis` can take at its pitch, the first element included; `index` is where it is.
constexpr std::uint32_t room_along(const Spot& spot, const ViewAxis& axis,
                                   std::uint32_t index) noexcept {
  return axis.role == Role::Outer ? axis.extent - index : spot.room[slot_of(axis.role)];
}

/// Order in which the axes are walked: as the shape says, or by falling output pitch.
enum class AxisOrder : std::uint8_t { Logical, Physical };

/// The view of an admitted packet with a tiled source.
View make_view(const kernels::wire::Descriptor& packet, AxisOrder order) noexcept;

/// True where walking by falling output pitch differs from walking as the shape says.
bool order_matters(const kernels::wire::Descriptor& packet) noexcept;

/// A position in a view: mixed-radix, without divisions after seek().
class Place {
public:
  explicit Place(const View& view) noexcept : view_(view) {}

  void seek(std::uint32_t element) noexcept;
  [[nodiscard]] std::uint32_t index(std::uint32_t axis) const noexcept { return index_[axis]; }

  /// `steps` along `axis`, at most to its end; inner axes stay. Carries into the outer axes.
  void advance(std::uint32_t axis, std::uint32_t steps) noexcept;

  /// The same place with the innermost index replaced.
  [[nodiscard]] Coordinates coordinates(std::uint32_t inner_index) const noexcept;
  [[nodiscard]] Coordinates coordinates() const noexcept {
    return coordinates(index_[view_.rank - 1]);
  }

private:
  const View& view_;
  std::uint32_t index_[kernels::wire::kMaxRank] = {};
};

} // namespace simaai::firmware::detess
