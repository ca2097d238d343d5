// SPDX-License-Identifier: LGPL-2.1-or-later
// Which reader a packet with a tiled source takes. Freestanding C++17.
#pragma once

#include <cstdint>

#include "firmware/common/route.h"
#include "wire/descriptor.h"

namespace simaai::firmware::detess {

enum class Reader : std::uint8_t {
  Planar = 1,      ///< spans of channels as they are in the tile
  Gather = 2,      ///< any order of axes
  RawRow = 3,      ///< whole pixels, both planes at once
  FullPixel = 4,   ///< the same for sixteen or thirty-two channels and Float32
  ChannelBand = 5, ///< rows of pixels across three or four channel tiles
  Blocked = 6,     ///< fragments of channel blocks
  Strided = 7,     ///< output with gaps or steps, in logical order
  StridedInner = 8 ///< the same in physical order, channels innermost
};

/// The reader for an admitted packet. FullPixel and ChannelBand convert to Float32 only.
Reader select_reader(const kernels::wire::Descriptor& packet) noexcept;

/// Bytes of one stored pixel, all planes, where one tile holds all channels.
std::uint32_t stored_pixel_bytes(const kernels::wire::Descriptor& packet) noexcept;

/// As reported.
constexpr Route route_of(const kernels::wire::Descriptor& packet, Reader reader) noexcept {
  return static_cast<Route>(static_cast<std::uint32_t>(packet.operation) << 8 |
                            static_cast<std::uint32_t>(reader));
}

} // namespace simaai::firmware::detess
