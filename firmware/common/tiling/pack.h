// SPDX-License-Identifier: LGPL-2.1-or-later
// Values in an input slot -> stored pixels in an output slot. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/common/tiling/tile_plan.h"

namespace simaai::firmware::tiling {

/// Distances between values of a staged fragment, bytes.
struct StagedSteps {
  std::uint32_t pixel;
  std::uint32_t channel;
};

/// Appends the stored bytes of a fragment: byte planes of each pixel, channel padding, tile gap.
void pack_fragment(const Fragment& fragment, const Plan& plan, const std::byte* staged,
                   const StagedSteps& steps, std::byte* out) noexcept;

} // namespace simaai::firmware::tiling
