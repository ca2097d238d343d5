// SPDX-License-Identifier: LGPL-2.1-or-later
// What a packet of one operation may say. Each operation states its own in wire/<op>/rules.h.
// Freestanding C++17.
#pragma once

#include <cstdint>

#include "wire/packet.h"

namespace simaai::kernels::wire {

/// Bit of a dtype in a mask, as capability records use it.
constexpr std::uint32_t dtype_bit(DTypeTag tag) noexcept {
  return 1U << static_cast<std::uint32_t>(tag);
}

struct DTypePair {
  DTypeTag source;
  DTypeTag destination;
};

inline constexpr std::uint32_t kMaxDTypePairs = 3;

struct OperationRules {
  Operation operation;
  const char* entry_symbol; ///< native entry of packet version 1
  std::uint32_t allowed_flags;
  bool tiled_source;
  bool tiled_destination;
  bool has_channel_fill; ///< INT8 channel padding takes its byte from the packet
  std::uint32_t pair_count;
  DTypePair pairs[kMaxDTypePairs];

  constexpr bool admits(DTypeTag source, DTypeTag destination) const noexcept {
    for (std::uint32_t i = 0; i < pair_count; ++i)
      if (pairs[i].source == source && pairs[i].destination == destination)
        return true;
    return false;
  }
  /// A destination that goes with `source`; 0, which is no tag, where the operation does not read
  /// that type.
  constexpr DTypeTag destination_for(DTypeTag source) const noexcept {
    for (std::uint32_t i = 0; i < pair_count; ++i)
      if (pairs[i].source == source)
        return pairs[i].destination;
    return DTypeTag{};
  }
  constexpr bool tiled() const noexcept { return tiled_source || tiled_destination; }
  constexpr std::uint32_t source_dtypes() const noexcept {
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < pair_count; ++i)
      mask |= dtype_bit(pairs[i].source);
    return mask;
  }
  constexpr std::uint32_t destination_dtypes() const noexcept {
    std::uint32_t mask = 0;
    for (std::uint32_t i = 0; i < pair_count; ++i)
      mask |= dtype_bit(pairs[i].destination);
    return mask;
  }
};

} // namespace simaai::kernels::wire
