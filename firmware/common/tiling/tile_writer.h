// SPDX-License-Identifier: LGPL-2.1-or-later
// Linear source to tiles: the worker of Tess and CastTess. Freestanding C++17.
#pragma once

#include <cstddef>

#include "firmware/common/dma.h"
#include "firmware/common/slots.h"
#include "firmware/common/tiling/tile_plan.h"

namespace simaai::firmware::tiling {

/// Behind the panel itself an output slot holds what the panel before left of a granule and the gap
/// of the last tile: under 16 bytes each.
inline constexpr std::uint32_t kOutputSlotBytes = kPanelBytes + kSlotAlignment;

/// Per worker two input slots, then two output slots. Tess moves at most two bytes a value,
/// CastTess reads four.
template <std::uint32_t InputBytes>
using WriterSlots = SlotTable<InputBytes, InputBytes, kOutputSlotBytes, kOutputSlotBytes>;
using TessSlots = WriterSlots<kPanelBytes>;
using CastTessSlots = WriterSlots<2 * kPanelBytes>;

/// Slots of one worker, as addresses.
struct WriterLocal {
  std::byte* input[2];
  std::byte* output[2];
};

/// Writes this worker's share of the tile stream.
void write_tiles(Worker& worker, const WriterLocal& local, const Plan& plan);

template <class Slots> void run_writer(Worker& worker, std::byte* local, const Plan& plan) {
  write_tiles(
      worker,
      {{Slots::at(local, 0), Slots::at(local, 1)}, {Slots::at(local, 2), Slots::at(local, 3)}},
      plan);
}

} // namespace simaai::firmware::tiling
