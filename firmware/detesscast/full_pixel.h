// SPDX-License-Identifier: LGPL-2.1-or-later
// Conversion of whole pixels of sixteen or thirty-two channels to Float32. Freestanding C++17.
#pragma once

#include "firmware/detess/raw_row.h"

namespace simaai::firmware::detesscast {

/// Fragments hold whole pixels of `Groups` vectors, low bytes before high bytes: neither partial
/// pixels nor other channel counts are looked for.
template <std::uint32_t Groups> struct FullPixels {
  static constexpr std::uint32_t kChannels = Groups * detess::kLanes;

  static void convert(const detess::RawPixels& pixels, std::byte* out) noexcept {
    const std::byte* pixel = pixels.raw;
    for (std::uint32_t left = pixels.count; left != 0; left -= kChannels) {
      for (std::uint32_t group = 0; group < Groups; ++group) {
        const std::byte* low = pixel + std::size_t{group} * detess::kLanes;
        detess::Float32::lanes(low, low + kChannels, out, detess::kLanes);
        out += std::size_t{detess::kLanes} * detess::Float32::kWidth;
      }
      pixel += std::size_t{2} * kChannels;
    }
  }
};

} // namespace simaai::firmware::detesscast
