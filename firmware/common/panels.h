// SPDX-License-Identifier: LGPL-2.1-or-later
// The panel pipeline: two slots, in which the next panel is read while one is converted and the one
// before is written. Freestanding C++17.
#pragma once

#include <cstdint>

#include "firmware/common/dma.h"

namespace simaai::firmware {

/// Runs all panels of a worker. `Steps` has
///   Panel                                            plain description of a panel
///   bool next(Panel&)                                plans the next one; false after the last
///   void read(const Panel&, slot, Chain&)            submits its reads into slot 0 or 1
///   void convert(const Panel&, slot)                 input slot -> output slot
///   void write(const Panel&, slot, Chain&)           submits its writes from the output slot
///
/// State of a slot: its input is free from the end of convert() on, its output from the retirement
/// of its writes on. Reads retire before convert() uses them, the writes of the panel before last
/// retire before convert() overwrites them, and every transfer retires before this returns, after
/// a refused transfer too.
template <class Steps> void run_panels(Worker& worker, Steps& steps) noexcept {
  typename Steps::Panel panels[2];
  Chain reads[2];
  Chain writes[2];
  bool present = steps.next(panels[0]);
  if (present)
    steps.read(panels[0], 0, reads[0]);
  for (std::uint32_t slot = 0; present && worker.ok(); slot ^= 1U) {
    const std::uint32_t other = slot ^ 1U;
    const bool more = steps.next(panels[other]);
    if (more)
      steps.read(panels[other], other, reads[other]);
    worker.wait(reads[slot]);
    worker.wait(writes[slot]);
    steps.convert(panels[slot], slot);
    steps.write(panels[slot], slot, writes[slot]);
    present = more;
  }
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    worker.wait(reads[slot]);
    worker.wait(writes[slot]);
  }
}

} // namespace simaai::firmware
