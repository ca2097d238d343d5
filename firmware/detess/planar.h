// SPDX-License-Identifier: LGPL-2.1-or-later
// The compact planar reader: pixels whose channels lie in one tile, or nothing but channels. Each
// span of a plane is copied as it is. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/common/dma.h"
#include "firmware/detess/view.h"

namespace simaai::firmware::detess {

/// A span of channels of one pixel: equal bytes from each plane.
struct PlaneSpan {
  std::uint32_t device;
  std::uint32_t plane_pitch;
  std::uint32_t count;
};

/// Channels from `channel` on in a tensor that has nothing but channels.
PlaneSpan channel_span(const Tiles& tiles, std::uint32_t channel, std::uint32_t most) noexcept;

/// Reads panels for one worker, like Gather.
class Planar {
public:
  Planar(Worker& worker, const View& view, std::byte* /*raw*/) noexcept
      : worker_(worker), view_(view), place_(view) {}

  void read(std::uint32_t first, std::uint32_t count, std::byte* planes, Chain& chain) noexcept;

private:
  void read_channels(std::uint32_t first, std::uint32_t count, std::byte* planes,
                     Chain& chain) noexcept;
  void read_span(const PlaneSpan& span, std::byte* to, Chain& chain) noexcept;

  Worker& worker_;
  const View& view_;
  Place place_;
};

} // namespace simaai::firmware::detess
