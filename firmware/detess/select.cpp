// SPDX-License-Identifier: LGPL-2.1-or-later
// Selection of readers. Packets are admitted, so extents are positive and fit 31 bits.
#include "firmware/detess/select.h"

#include "core/tile_geometry.h"
#include "firmware/common/dma.h"
#include "firmware/common/slots.h"
#include "firmware/detess/slots.h"
#include "firmware/detess/view.h"

namespace simaai::firmware::detess {

namespace core = kernels::core;
using kernels::wire::Descriptor;

namespace {

/// Fewer channels than these are gathered across pixels.
constexpr std::int64_t kLeastPlanarChannels = 8;

std::int64_t extent_of(const Descriptor& d, std::uint32_t slot) noexcept {
  return d.axes[slot] < 0 ? 1 : d.shape[d.axes[slot]];
}

/// Tile extent, clamped.
std::int64_t tile_of(const Descriptor& d, std::uint32_t slot) noexcept {
  const std::int64_t extent = extent_of(d, slot);
  return d.tile_shape[slot] < extent ? d.tile_shape[slot] : extent;
}

/// True where the shape has this axis `from_end` places before its last one.
bool is_last_axis(const Descriptor& d, std::uint32_t slot, std::int32_t from_end) noexcept {
  return d.axes[slot] >= 0 && d.axes[slot] == static_cast<std::int32_t>(d.rank) - 1 - from_end;
}

bool is_one_channel_tile(const Descriptor& d) noexcept {
  return d.tile_shape[core::kAxisC] >= extent_of(d, core::kAxisC);
}

bool takes_raw_rows(const Descriptor& d) noexcept {
  return is_last_axis(d, core::kAxisC, 0) && is_last_axis(d, core::kAxisW, 1) &&
         is_one_channel_tile(d) && extent_of(d, core::kAxisC) >= kLeastPlanarChannels &&
         extent_of(d, core::kAxisC) <= kRawBytes && stored_pixel_bytes(d) <= kRawBytes;
}

bool is_aligned_float32(const Descriptor& d) noexcept {
  return d.destination_dtype == kernels::wire::DTypeTag::Float32 &&
         d.destination_address % kGranuleBytes == 0;
}

bool takes_full_pixels(const Descriptor& d) noexcept {
  const std::int64_t channels = extent_of(d, core::kAxisC);
  return is_aligned_float32(d) && (channels == 16 || channels == 32);
}

/// Canonical H, W, C, last; D directly before H in tiles of one, or absent.
bool has_band_axes(const Descriptor& d) noexcept {
  return d.rank >= 3 && is_last_axis(d, core::kAxisC, 0) && is_last_axis(d, core::kAxisW, 1) &&
         is_last_axis(d, core::kAxisH, 2) &&
         (d.axes[core::kAxisD] < 0 ||
          (is_last_axis(d, core::kAxisD, 3) && tile_of(d, core::kAxisD) == 1));
}

bool takes_channel_bands(const Descriptor& d) noexcept {
  if (!is_aligned_float32(d) || !has_band_axes(d))
    return false;
  const std::int64_t channels = extent_of(d, core::kAxisC);
  const std::int64_t tile_channels = tile_of(d, core::kAxisC);
  const std::int64_t tiles = (channels + tile_channels - 1) / tile_channels;
  const std::int64_t width = tile_of(d, core::kAxisW);
  return (tile_channels == 16 || tile_channels == 32) && (tiles == 3 || tiles == 4) &&
         extent_of(d, core::kAxisH) % tile_of(d, core::kAxisH) == 0 &&
         extent_of(d, core::kAxisW) % width == 0 && width % 16 == 0 &&
         2 * tile_channels * width <= kRawBytes && channels * width <= kPanelElements;
}

/// Channels only, or pixels whose channels are contiguous and not few.
bool takes_planar(const Descriptor& d) noexcept {
  bool only_channels = true;
  for (std::uint32_t axis = 0; axis < d.rank; ++axis)
    only_channels = only_channels &&
                    (d.shape[axis] == 1 || d.axes[core::kAxisC] == static_cast<std::int32_t>(axis));
  return only_channels || (is_last_axis(d, core::kAxisC, 0) && is_one_channel_tile(d) &&
                           extent_of(d, core::kAxisC) >= kLeastPlanarChannels);
}

/// Contiguous channels that the shape does not have last, or other axes in another order.
bool takes_physical_order(const Descriptor& d) noexcept {
  const std::int32_t axis = d.axes[core::kAxisC];
  return !d.cblocked() && d.shape[axis] > 1 &&
         d.linear_strides_bytes[axis] == scalar_bytes(d.destination_dtype) && order_matters(d);
}

} // namespace

std::uint32_t stored_pixel_bytes(const Descriptor& packet) noexcept {
  const auto channels = static_cast<std::uint32_t>(extent_of(packet, core::kAxisC));
  const bool compact = packet.channel_storage == kernels::wire::ChannelStorageTag::Compact;
  return (compact ? channels : (channels + 15) / 16 * 16) * scalar_bytes(packet.source_dtype);
}

Reader select_reader(const Descriptor& packet) noexcept {
  if (packet.strided())
    return takes_physical_order(packet) ? Reader::StridedInner : Reader::Strided;
  if (packet.cblocked())
    return Reader::Blocked;
  if (takes_raw_rows(packet))
    return takes_full_pixels(packet) ? Reader::FullPixel : Reader::RawRow;
  if (takes_channel_bands(packet))
    return Reader::ChannelBand;
  return takes_planar(packet) ? Reader::Planar : Reader::Gather;
}

} // namespace simaai::firmware::detess
