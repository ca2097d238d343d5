// SPDX-License-Identifier: LGPL-2.1-or-later
// Planar copies of channel spans.
#include "firmware/detess/planar.h"

#include "firmware/common/partition.h"
#include "firmware/common/slots.h"

namespace simaai::firmware::detess {
PlaneSpan channel_span(const Tiles& tiles, std::uint32_t channel, std::uint32_t most) noexcept {
  constexpr std::uint32_t kC = slot_of(Role::C);
  const std::uint32_t tile = channel / tiles.tile[kC];
  const std::uint32_t local = channel - tile * tiles.tile[kC];
  const std::uint32_t actual = tile < tiles.full_tiles[kC] ? tiles.tile[kC] : tiles.partial[kC];
  return {tiles.source + tile * tiles.slab_bytes + local, tiles.stored_channels(actual),
          at_most(actual - local, most)};
}

void Planar::read(std::uint32_t first, std::uint32_t count, std::byte* planes,
                  Chain& chain) noexcept {
  if (view_.rank == 1) {
    read_channels(first, count, planes, chain);
    return;
  }
  place_.seek(first);
  const std::uint32_t inner = view_.rank - 1;
  const ViewAxis& across = view_.axes[inner - 1];
  for (std::uint32_t done = 0; done < count && worker_.ok();) {
    const std::uint32_t pixel = place_.index(inner - 1);
    const Spot spot = view_.tiles.locate(place_.coordinates());
    const std::uint32_t pitch = pitch_along(spot, across);
    const std::uint32_t room = room_along(spot, across, pixel);
    // Pixels of one tile are found without locating each.
    std::uint32_t device = spot.device;
    for (std::uint32_t step = 0; step < room && done < count; ++step) {
      const std::uint32_t from = place_.index(inner);
      const std::uint32_t part = at_most(view_.inner().extent - from, count - done);
      read_span({device, spot.plane_pitch, part}, planes + done, chain);
      device += pitch - from;
      done += part;
      place_.advance(inner, part);
    }
  }
}

void Planar::read_channels(std::uint32_t first, std::uint32_t count, std::byte* planes,
                           Chain& chain) noexcept {
  for (std::uint32_t done = 0; done < count && worker_.ok();) {
    const PlaneSpan span = channel_span(view_.tiles, first + done, count - done);
    read_span(span, planes + done, chain);
    done += span.count;
  }
}

void Planar::read_span(const PlaneSpan& span, std::byte* to, Chain& chain) noexcept {
  const bool adjacent = span.count == kPanelElements && span.plane_pitch == kPanelElements;
  if (adjacent && view_.tiles.planes == 2) { // a complete panel from planes like the local ones
    worker_.read(chain, {span.device, to, 2 * kPanelElements});
    return;
  }
  for (std::uint32_t plane = 0; plane < view_.tiles.planes; ++plane)
    worker_.read(chain, {span.device + plane * span.plane_pitch,
                         to + std::size_t{plane} * kPanelElements, span.count});
}

} // namespace simaai::firmware::detess
