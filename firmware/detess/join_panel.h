// SPDX-License-Identifier: LGPL-2.1-or-later
// From the byte planes of a panel to its values, in local memory.
#pragma once

#include "firmware/common/panels.h"
#include "firmware/detess/slots.h"

namespace simaai::firmware::detess {

/// Joins the planes of `count` values in an input slot into the output slot of the same number.
template <class Element, class Slots>
void join_panel(Worker& worker, std::byte* local, std::uint32_t slot,
                std::uint32_t count) noexcept {
  const std::byte* low = Slots::input(local, slot);
  const std::byte* high = low + (Element::kPlanes - 1) * kPanelElements;
  std::byte* out = Slots::output(local, slot);
  worker.reads(low, count);
  if (Element::kPlanes == 2)
    worker.reads(high, count);
  worker.writes(out, count * Element::kWidth);
  Element::join(low, high, out, count);
}

} // namespace simaai::firmware::detess
