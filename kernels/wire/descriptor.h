// SPDX-License-Identifier: LGPL-2.1-or-later
// A packet's content as plain values, and the two conversions between it and the bytes. Shared by
// the host codec and the firmware. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "wire/packet.h"
#include "wire/rules.h"
#include "wire/status.h"

namespace simaai::kernels::wire {

/// What a packet says. Slots at or above the rank are zero. Cast uses the two stride arrays, the
/// other operations use tile_shape and axes (D, H, W, C order) and, with kFlagStrided, the strides
/// of their linear port.
struct Descriptor {
  Operation operation = Operation::Cast;
  std::uint32_t flags = 0;
  DTypeTag source_dtype = DTypeTag::Float32;
  DTypeTag destination_dtype = DTypeTag::BFloat16;
  std::uint8_t rank = 0;
  ChannelStorageTag channel_storage = ChannelStorageTag::None;
  std::uint8_t channel_fill = 0;
  std::uint8_t channel_fill_present = 0;
  std::uint64_t source_address = 0;
  std::uint64_t destination_address = 0;
  std::uint64_t source_capacity_bytes = 0;
  std::uint64_t destination_capacity_bytes = 0;
  std::int64_t shape[kMaxRank] = {};
  std::int64_t source_strides_bytes[kMaxRank] = {};
  std::int64_t destination_strides_bytes[kMaxRank] = {};
  std::int64_t tile_shape[kTileAxes] = {};
  std::int32_t axes[kTileAxes] = {};
  std::int64_t linear_strides_bytes[kMaxRank] = {};

  constexpr bool strided() const noexcept { return (flags & kFlagStrided) != 0; }
  constexpr bool cblocked() const noexcept { return (flags & kFlagCBlocked) != 0; }
};

/// Width of one scalar in bytes; 0 for an unknown tag.
constexpr std::uint32_t scalar_bytes(DTypeTag tag) noexcept {
  switch (tag) {
  case DTypeTag::Int8:
    return 1;
  case DTypeTag::BFloat16:
  case DTypeTag::Float16:
    return 2;
  case DTypeTag::Float32:
    return 4;
  }
  return 0;
}

/// Address alignment in bytes that the source or destination of a packet needs.
constexpr std::uint32_t source_alignment(const Descriptor& d) noexcept {
  return rules_of(d.operation).tiled_source ? kTiledAlignment : scalar_bytes(d.source_dtype);
}
constexpr std::uint32_t destination_alignment(const Descriptor& d) noexcept {
  return rules_of(d.operation).tiled_destination ? kTiledAlignment
                                                 : scalar_bytes(d.destination_dtype);
}

/// Length in bytes of the packet of an operation with these flags.
constexpr std::uint32_t packet_bytes(Operation operation, std::uint32_t flags) noexcept {
  if (operation == Operation::Cast)
    return kCastPacketBytes;
  return (flags & kFlagStrided) != 0 ? kStridedPacketBytes : kTiledPacketBytes;
}

/// Writes every byte of the packet, which has packet_bytes() bytes. Does not judge the values.
void write(const Descriptor& descriptor, std::byte* packet) noexcept;

/// Reads a packet of `bytes` bytes and judges everything that needs no arithmetic on the geometry:
/// length, magic, version, operation, flags, tags and their combination, rank, channel storage and
/// fill, reserved fields and unused slots. Neither alignment of `packet` nor any value is assumed.
/// `out` is meaningful only where the finding is ok. Follow with check_geometry() and, before
/// anything is accessed, check_addresses().
Finding read(const std::byte* packet, std::uint32_t bytes, Descriptor& out) noexcept;

} // namespace simaai::kernels::wire
