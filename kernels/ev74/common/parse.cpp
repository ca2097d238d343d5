// SPDX-License-Identifier: LGPL-2.1-or-later
// Relocatable packets read back from bytes.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include <simaai/kernels/ev74/packet.h>
#include <simaai/kernels/status.h>

#include "ev74/common/packet_access.h"
#include "wire/bytes.h"
#include "wire/check.h"
#include "wire/descriptor.h"

namespace simaai::kernels::ev74 {
namespace {

Error malformed(std::uint32_t offset, std::int64_t expected, std::int64_t found) noexcept {
  return {ErrorCode::PacketMalformed,        Operand::Packet, 0,
          static_cast<std::int16_t>(offset), expected,        found};
}

Status check_length(std::span<const std::byte> bytes) noexcept {
  const auto refuse = [&bytes](std::uint32_t expected) {
    return Error{ErrorCode::PacketTooSmall,
                 Operand::Packet,
                 0,
                 -1,
                 expected,
                 static_cast<std::int64_t>(bytes.size())};
  };
  if (bytes.size() < wire::kHeadBytes)
    return refuse(wire::kHeadBytes);
  const auto stated = wire::load_le<std::uint32_t>(bytes.data() + wire::kPacketBytesOffset);
  if (stated <= wire::kMaxPacketBytes && bytes.size() < stated)
    return refuse(stated);
  return {};
}

/// An unbound port: the address slot is zero and some address leaves room for the capacity.
Status check_port(std::uint32_t address_offset, std::uint64_t address,
                  std::uint32_t capacity_offset, std::uint64_t capacity,
                  std::uint32_t alignment) noexcept {
  if (address != 0)
    return malformed(address_offset, 0, static_cast<std::int64_t>(address));
  const std::uint64_t room = kApertureBytes - alignment;
  if (capacity > room)
    return malformed(capacity_offset, static_cast<std::int64_t>(room),
                     static_cast<std::int64_t>(capacity));
  return {};
}

} // namespace

PacketHead packet_head(const RelocatablePacket& packet) noexcept {
  const std::byte* bytes = packet.bytes().data();
  PacketHead head;
  head.version = wire::load_le<std::uint16_t>(bytes + wire::kVersionOffset);
  head.operation = wire::load_le<std::uint16_t>(bytes + wire::kOperationOffset);
  head.flags = wire::load_le<std::uint32_t>(bytes + wire::kFlagsOffset);
  head.source_dtype = wire::load_le<std::uint8_t>(bytes + wire::kSourceDTypeOffset);
  head.destination_dtype = wire::load_le<std::uint8_t>(bytes + wire::kDestinationDTypeOffset);
  return head;
}

std::variant<RelocatablePacket, Error>
parse_relocatable(std::span<const std::byte> bytes) noexcept {
  if (const Status status = check_length(bytes); !status.ok())
    return status.error();
  // Any length above the largest packet is wrong in the same way.
  const auto length = static_cast<std::uint32_t>(
      std::min<std::size_t>(bytes.size(), std::size_t{wire::kMaxPacketBytes} + 1));
  wire::Descriptor d;
  wire::Finding finding = wire::read(bytes.data(), length, d);
  if (finding.ok())
    finding = wire::check_geometry(d);
  if (!finding.ok())
    return malformed(finding.offset_bytes, finding.expected, finding.found);
  if (const Status status =
          check_port(wire::kSourceAddressOffset, d.source_address, wire::kSourceCapacityOffset,
                     d.source_capacity_bytes, wire::source_alignment(d));
      !status.ok())
    return status.error();
  if (const Status status = check_port(
          wire::kDestinationAddressOffset, d.destination_address, wire::kDestinationCapacityOffset,
          d.destination_capacity_bytes, wire::destination_alignment(d));
      !status.ok())
    return status.error();
  return detail::PacketAccess::relocatable(d);
}

} // namespace simaai::kernels::ev74
