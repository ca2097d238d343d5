// SPDX-License-Identifier: LGPL-2.1-or-later
// The fragment pipeline: several raw fragments make a panel; the next fragment is read while one is
// converted into its panel, and finished panels are written behind. Freestanding C++17.
#pragma once

#include <cstdint>

#include "firmware/common/dma.h"

namespace simaai::firmware::detess {

/// Runs all fragments of a worker. `Steps` has
///   Fragment                         plain description; members `opens`, `closes` (the first and
///                                    last of its panel) and `output`, the panel's slot, 0 or 1
///   bool next(Fragment&)             plans the next one; false after the last
///   void read(const Fragment&, slot, Chain&)     submits its read into raw slot 0 or 1
///   void convert(const Fragment&, slot)          raw slot -> its part of the output slot
///   void write(const Fragment&, Chain&)          submits the writes of the panel that it closes
///
/// State of a slot: a raw slot is free from the end of convert() on, an output slot from the
/// retirement of its writes on. A read retires before convert() uses it, the writes of a slot
/// retire before the fragment that opens its next panel is converted, and every transfer retires
/// before this returns, after a refused transfer too.
template <class Steps> void run_fragments(Worker& worker, Steps& steps) noexcept {
  typename Steps::Fragment fragments[2];
  Chain reads[2];
  Chain writes[2];
  bool present = steps.next(fragments[0]);
  if (present)
    steps.read(fragments[0], 0, reads[0]);
  for (std::uint32_t slot = 0; present && worker.ok(); slot ^= 1U) {
    const std::uint32_t other = slot ^ 1U;
    const bool more = steps.next(fragments[other]);
    if (more)
      steps.read(fragments[other], other, reads[other]);
    const auto& fragment = fragments[slot];
    worker.wait(reads[slot]);
    if (fragment.opens)
      worker.wait(writes[fragment.output]);
    steps.convert(fragment, slot);
    if (fragment.closes)
      steps.write(fragment, writes[fragment.output]);
    present = more;
  }
  for (std::uint32_t slot = 0; slot < 2; ++slot) {
    worker.wait(reads[slot]);
    worker.wait(writes[slot]);
  }
}

} // namespace simaai::firmware::detess
