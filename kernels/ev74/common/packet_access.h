// SPDX-License-Identifier: LGPL-2.1-or-later
// Builds the sealed packet types; nothing outside the codec includes this.
#pragma once

#include <cstdint>

#include <simaai/kernels/ev74/packet.h>

#include "wire/bytes.h"
#include "wire/descriptor.h"

namespace simaai::kernels::ev74::detail {

static_assert(kMaxPacketBytes == wire::kMaxPacketBytes);
static_assert(kPacketAlignment == wire::kPacketAlignment);
static_assert(kApertureBytes == wire::kApertureBytes);

struct PacketAccess {
  [[nodiscard]] static RelocatablePacket relocatable(const wire::Descriptor& d) noexcept {
    RelocatablePacket packet;
    packet.size_ = wire::packet_bytes(d.operation, d.flags);
    wire::write(d, packet.bytes_.data());
    packet.relocations_ = {Relocation{wire::kSourceAddressOffset, wire::source_alignment(d),
                                      d.source_capacity_bytes, RegionAccess::Read},
                           Relocation{wire::kDestinationAddressOffset,
                                      wire::destination_alignment(d), d.destination_capacity_bytes,
                                      RegionAccess::Write}};
    return packet;
  }

  /// The regions are checked.
  [[nodiscard]] static Invocation bound(const RelocatablePacket& packet, std::uint64_t source,
                                        std::uint64_t destination) noexcept {
    Invocation invocation;
    invocation.bytes_ = packet.bytes_;
    invocation.size_ = packet.size_;
    wire::store_le(invocation.bytes_.data() + wire::kSourceAddressOffset, source);
    wire::store_le(invocation.bytes_.data() + wire::kDestinationAddressOffset, destination);
    return invocation;
  }
};

} // namespace simaai::kernels::ev74::detail
