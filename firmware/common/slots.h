// SPDX-License-Identifier: LGPL-2.1-or-later
// Local memory of one worker, divided into slots at compile time. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simaai::firmware {

/// Local memory of a worker, and what of it belongs to stack frames and static data.
inline constexpr std::uint32_t kWorkerLocalBytes = 128 * 1024;
inline constexpr std::uint32_t kFrameReserveBytes = 16 * 1024;

/// Slots start on vector boundaries.
inline constexpr std::uint32_t kSlotAlignment = 64;

/// Slots of the given sizes, one after the other. A table that does not fit a worker does not
/// compile.
template <std::uint32_t... Bytes> struct SlotTable {
  static constexpr std::uint32_t kCount = sizeof...(Bytes);
  static constexpr std::uint32_t kTotalBytes = (0U + ... + Bytes);
  static_assert(((Bytes % kSlotAlignment == 0) && ...), "slots are multiples of a vector");
  static_assert(kTotalBytes + kFrameReserveBytes <= kWorkerLocalBytes,
                "the slots exceed a worker's local memory");

  static constexpr std::uint32_t bytes(std::uint32_t slot) noexcept {
    constexpr std::uint32_t kBytes[] = {Bytes...};
    return kBytes[slot];
  }
  static constexpr std::uint32_t offset(std::uint32_t slot) noexcept {
    std::uint32_t sum = 0;
    for (std::uint32_t before = 0; before < slot; ++before)
      sum += bytes(before);
    return sum;
  }
  static std::byte* at(std::byte* local, std::uint32_t slot) noexcept {
    return local + offset(slot);
  }
};

/// Elements of a panel: the unit in which every operation stages and publishes.
inline constexpr std::uint32_t kPanelElements = 4096;

} // namespace simaai::firmware
