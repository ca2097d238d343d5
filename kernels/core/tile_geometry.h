// SPDX-License-Identifier: LGPL-2.1-or-later
// Physical geometry of MlaTiled and MlaCBlocked tensors: sizes and offsets of any tile in closed
// form, from at most sixteen tile classes and no storage per tile. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/checked.h"
#include "core/stride_proof.h"

namespace simaai::kernels::core {

/// Position in arrays that are ordered D, H, W, C.
using TileAxis = std::uint32_t;
inline constexpr TileAxis kAxisD = 0;
inline constexpr TileAxis kAxisH = 1;
inline constexpr TileAxis kAxisW = 2;
inline constexpr TileAxis kAxisC = 3;
inline constexpr TileAxis kTileAxes = 4;

/// Channels of one block, and the unit that tile spans and padded channel counts are rounded up to.
inline constexpr std::int64_t kChannelBlock = 16;

/// How the channels of one tile are stored.
enum class TileStorage : std::uint8_t {
  Compact, ///< the tile's actual channels
  PadTo16, ///< rounded up to a multiple of 16
  CBlocked ///< blocks of 16 channels outermost, each with all pixels of the tile
};

/// Plain description of a tiled tensor. Checked by the caller: rank at most kMaxAxes, extents
/// nonnegative, axes unique and in range (or -1; C present), tile extents positive.
struct TileDescription {
  const std::int64_t* extents = nullptr; ///< logical, outermost first
  std::size_t rank = 0;
  std::int32_t axes[kTileAxes] = {-1, -1, -1, -1};
  std::int64_t tile_shape[kTileAxes] = {1, 1, 1, 1};
  TileStorage storage = TileStorage::Compact;
  std::int64_t planes = 1; ///< bytes a scalar: 1 or 2
};

/// Coordinates of a tile within its outer slice, in D, H, W, C order.
struct TileIndex {
  std::int64_t at[kTileAxes];
};

/// Derived geometry. A tile class is a mask with bit 1 << axis set where the tile is the partial
/// last one of that axis.
struct TileGeometry {
  std::int64_t extent[kTileAxes] = {1, 1, 1, 1};
  std::int64_t tile[kTileAxes] = {1, 1, 1, 1}; ///< clamped to the extent
  std::int64_t full_tiles[kTileAxes] = {1, 1, 1, 1};
  std::int64_t partial[kTileAxes] = {}; ///< extent of the partial last tile, 0: none
  // Byte sums in traversal order; index bits follow the class mask, absent classes are 0.
  std::int64_t tile_bytes[16] = {};    ///< one tile, by D, H, W, C class
  std::int64_t row_bytes[16] = {};     ///< all W tiles, by D, H, C class (W bit clear)
  std::int64_t plane_bytes[2][2] = {}; ///< all H and W tiles, by C and D class
  std::int64_t slab_bytes[2] = {};     ///< all D, H and W tiles, by C class
  std::int64_t slice_bytes = 0;        ///< one outer slice
  std::int64_t outer_slices = 1;
  std::int64_t total_bytes = 0; ///< 0 for an empty tensor
  std::int64_t outer_extent[kMaxAxes] = {};
  std::uint8_t outer_axis[kMaxAxes] = {}; ///< logical axes without a tile axis, increasing
  std::uint8_t outer_count = 0;
  std::uint8_t planes = 1;
  TileStorage storage = TileStorage::Compact;

  [[nodiscard]] constexpr bool empty() const noexcept { return total_bytes == 0; }

  [[nodiscard]] constexpr std::int64_t tiles(TileAxis axis) const noexcept {
    return full_tiles[axis] + (partial[axis] != 0 ? 1 : 0);
  }

  /// Actual extent of tile number `index` along `axis`.
  [[nodiscard]] constexpr std::int64_t tile_extent(TileAxis axis,
                                                   std::int64_t index) const noexcept {
    return index < full_tiles[axis] ? tile[axis] : partial[axis];
  }

  /// Channels that a tile of `channels` actual channels stores.
  [[nodiscard]] constexpr std::int64_t stored_channels(std::int64_t channels) const noexcept {
    if (storage == TileStorage::Compact)
      return channels;
    return (channels + kChannelBlock - 1) / kChannelBlock * kChannelBlock;
  }

  [[nodiscard]] constexpr unsigned class_bit(TileAxis axis, std::int64_t index) const noexcept {
    return index < full_tiles[axis] ? 0U : 1U << axis;
  }

  [[nodiscard]] constexpr unsigned tile_class(const TileIndex& index) const noexcept {
    return class_bit(kAxisD, index.at[kAxisD]) | class_bit(kAxisH, index.at[kAxisH]) |
           class_bit(kAxisW, index.at[kAxisW]) | class_bit(kAxisC, index.at[kAxisC]);
  }

  /// Byte span of a tile, rounded up to 16.
  [[nodiscard]] constexpr std::int64_t bytes_of_tile(const TileIndex& index) const noexcept {
    return tile_bytes[tile_class(index)];
  }

  /// Byte offset of a tile within its outer slice: everything before it is a full tile of the
  /// respective axis.
  [[nodiscard]] constexpr std::int64_t tile_offset(const TileIndex& index) const noexcept {
    const unsigned c = class_bit(kAxisC, index.at[kAxisC]);
    const unsigned d = class_bit(kAxisD, index.at[kAxisD]);
    const unsigned h = class_bit(kAxisH, index.at[kAxisH]);
    return index.at[kAxisC] * slab_bytes[0] + index.at[kAxisD] * plane_bytes[c != 0 ? 1 : 0][0] +
           index.at[kAxisH] * row_bytes[c | d] + index.at[kAxisW] * tile_bytes[c | d | h];
  }

  /// Byte offset within its tile of one scalar's low byte, at tile-local coordinates; the high byte
  /// of a two-byte scalar follows plane_stride() bytes later. `actual` holds the tile's extents.
  [[nodiscard]] constexpr std::int64_t scalar_offset(const TileIndex& actual,
                                                     const TileIndex& local) const noexcept {
    const std::int64_t pixel =
        (local.at[kAxisD] * actual.at[kAxisH] + local.at[kAxisH]) * actual.at[kAxisW] +
        local.at[kAxisW];
    if (storage != TileStorage::CBlocked)
      return pixel * stored_channels(actual.at[kAxisC]) * planes + local.at[kAxisC];
    const std::int64_t pixels = actual.at[kAxisD] * actual.at[kAxisH] * actual.at[kAxisW];
    const std::int64_t block = local.at[kAxisC] / kChannelBlock;
    return (block * pixels + pixel) * kChannelBlock * planes + local.at[kAxisC] % kChannelBlock;
  }

  /// Bytes from a scalar's low byte to its high byte in a tile of `channels` actual channels.
  [[nodiscard]] constexpr std::int64_t plane_stride(std::int64_t channels) const noexcept {
    return storage == TileStorage::CBlocked ? kChannelBlock : stored_channels(channels);
  }
};

namespace detail {

/// Bytes of one tile of class `mask`; 0 where the class does not occur.
[[nodiscard]] constexpr bool tile_class_bytes(const TileGeometry& geometry, unsigned mask,
                                              std::int64_t* bytes) noexcept {
  *bytes = 0;
  std::int64_t actual[kTileAxes] = {};
  for (TileAxis axis = 0; axis < kTileAxes; ++axis) {
    const bool last = (mask >> axis & 1U) != 0;
    actual[axis] = last ? geometry.partial[axis] : geometry.tile[axis];
    if (last ? geometry.partial[axis] == 0 : geometry.full_tiles[axis] == 0)
      return true;
  }
  std::int64_t product = actual[kAxisC];
  if (geometry.storage != TileStorage::Compact && !checked_round_up_16(product, &product))
    return false;
  if (!checked_mul(product, geometry.planes, &product))
    return false;
  for (TileAxis axis = 0; axis < kAxisC; ++axis)
    if (!checked_mul(product, actual[axis], &product))
      return false;
  return checked_round_up_16(product, bytes);
}

/// `*sum` of all tiles of one axis: full tiles of `full_bytes` and, if present, the partial one.
[[nodiscard]] constexpr bool sum_tiles(const TileGeometry& geometry, TileAxis axis,
                                       std::int64_t full_bytes, std::int64_t partial_bytes,
                                       std::int64_t* sum) noexcept {
  return checked_mul(full_bytes, geometry.full_tiles[axis], sum) &&
         checked_add(*sum, geometry.partial[axis] != 0 ? partial_bytes : 0, sum);
}

/// Fills the byte sums from single tiles up to the whole tensor.
[[nodiscard]] constexpr bool sum_geometry(TileGeometry* geometry) noexcept {
  for (unsigned mask = 0; mask < 16; ++mask)
    if (!tile_class_bytes(*geometry, mask, &geometry->tile_bytes[mask]))
      return false;
  constexpr unsigned kDBit = 1U << kAxisD;
  constexpr unsigned kHBit = 1U << kAxisH;
  constexpr unsigned kWBit = 1U << kAxisW;
  constexpr unsigned kCBit = 1U << kAxisC;
  for (unsigned mask = 0; mask < 16; ++mask)
    if ((mask & kWBit) == 0 &&
        !sum_tiles(*geometry, kAxisW, geometry->tile_bytes[mask],
                   geometry->tile_bytes[mask | kWBit], &geometry->row_bytes[mask]))
      return false;
  for (unsigned c = 0; c < 2; ++c) {
    const unsigned base = c != 0 ? kCBit : 0U;
    for (unsigned d = 0; d < 2; ++d) {
      const unsigned mask = base | (d != 0 ? kDBit : 0U);
      if (!sum_tiles(*geometry, kAxisH, geometry->row_bytes[mask],
                     geometry->row_bytes[mask | kHBit], &geometry->plane_bytes[c][d]))
        return false;
    }
    if (!sum_tiles(*geometry, kAxisD, geometry->plane_bytes[c][0], geometry->plane_bytes[c][1],
                   &geometry->slab_bytes[c]))
      return false;
  }
  return sum_tiles(*geometry, kAxisC, geometry->slab_bytes[0], geometry->slab_bytes[1],
                   &geometry->slice_bytes) &&
         checked_mul(geometry->slice_bytes, geometry->outer_slices, &geometry->total_bytes);
}

/// Splits the logical axes into D, H, W, C and outer ones. False where a tensor extent is zero.
constexpr bool split_axes(const TileDescription& description, TileGeometry* geometry) noexcept {
  bool nonempty = true;
  bool mapped[kMaxAxes] = {};
  for (TileAxis axis = 0; axis < kTileAxes; ++axis) {
    if (description.axes[axis] < 0)
      continue;
    const auto logical = static_cast<std::size_t>(description.axes[axis]);
    mapped[logical] = true;
    const std::int64_t extent = description.extents[logical];
    const std::int64_t tile =
        extent < description.tile_shape[axis] ? extent : description.tile_shape[axis];
    geometry->extent[axis] = extent;
    geometry->tile[axis] = tile;
    geometry->full_tiles[axis] = tile != 0 ? extent / tile : 0;
    geometry->partial[axis] = tile != 0 ? extent % tile : 0;
    nonempty = nonempty && extent != 0;
  }
  for (std::size_t logical = 0; logical < description.rank; ++logical) {
    if (mapped[logical])
      continue;
    geometry->outer_axis[geometry->outer_count] = static_cast<std::uint8_t>(logical);
    geometry->outer_extent[geometry->outer_count] = description.extents[logical];
    ++geometry->outer_count;
    nonempty = nonempty && description.extents[logical] != 0;
  }
  return nonempty;
}

} // namespace detail

/// Derives the geometry of a description; false where a product or sum exceeds the signed 64-bit
/// range. Empty tensors multiply nothing and always succeed.
[[nodiscard]] constexpr bool derive_tile_geometry(const TileDescription& description,
                                                  TileGeometry* geometry) noexcept {
  *geometry = TileGeometry{};
  geometry->storage = description.storage;
  geometry->planes = static_cast<std::uint8_t>(description.planes);
  if (!detail::split_axes(description, geometry)) {
    geometry->outer_slices = 0;
    return true;
  }
  for (std::size_t slot = 0; slot < geometry->outer_count; ++slot)
    if (!checked_mul(geometry->outer_slices, geometry->outer_extent[slot], &geometry->outer_slices))
      return false;
  return detail::sum_geometry(geometry);
}

} // namespace simaai::kernels::core
