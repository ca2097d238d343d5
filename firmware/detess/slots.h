// SPDX-License-Identifier: LGPL-2.1-or-later
// Local memory of the readers. Freestanding C++17.
#pragma once

#include "firmware/common/slots.h"

namespace simaai::firmware::detess {

/// Staged bytes of short or partial spans, and one fragment of whole pixels.
inline constexpr std::uint32_t kRawBytes = 4096;

/// General readers: gathered planes twice, output twice, a raw slot. 52 KiB for Float32 output, 36
/// KiB for BFloat16, 20 KiB for INT8.
template <class Element> struct GeneralSlots {
  static constexpr std::uint32_t kPlaneBytes = kPanelElements; ///< of one plane
  static constexpr std::uint32_t kInputBytes = Element::kPlanes * kPlaneBytes;
  static constexpr std::uint32_t kOutputBytes = Element::kWidth * kPanelElements;
  using Table = SlotTable<kInputBytes, kInputBytes, kOutputBytes, kOutputBytes, kRawBytes>;

  static std::byte* input(std::byte* local, std::uint32_t slot) noexcept {
    return Table::at(local, slot);
  }
  static std::byte* output(std::byte* local, std::uint32_t slot) noexcept {
    return Table::at(local, 2 + slot);
  }
  static std::byte* raw(std::byte* local) noexcept { return Table::at(local, 4); }
};

/// Readers that convert fragments of whole pixels as they lie in the tiles: two raw slots, output
/// twice. 40 KiB for Float32 output, 24 KiB for BFloat16, 16 KiB for INT8.
template <class Element> struct FragmentSlots {
  static constexpr std::uint32_t kOutputBytes = Element::kWidth * kPanelElements;
  using Table = SlotTable<kRawBytes, kRawBytes, kOutputBytes, kOutputBytes>;

  static std::byte* raw(std::byte* local, std::uint32_t slot) noexcept {
    return Table::at(local, slot);
  }
  static std::byte* output(std::byte* local, std::uint32_t slot) noexcept {
    return Table::at(local, 2 + slot);
  }
};

} // namespace simaai::firmware::detess
