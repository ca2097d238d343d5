// SPDX-License-Identifier: LGPL-2.1-or-later
// Does an entry of the device cover a packet?
#include <simaai/runtime/capability.h>

namespace simaai::runtime {
namespace {

bool has(std::uint32_t mask, std::uint8_t tag) noexcept {
  return tag < 32 && (mask >> tag & 1) != 0;
}

Error refuse(ErrorCode code, std::int64_t expected, std::int64_t found) noexcept {
  Error error;
  error.code = code;
  error.expected = expected;
  error.found = found;
  return error;
}

/// Of one entry for the packet's operation.
Status check_entry(const Capability& entry, const kernels::ev74::PacketHead& packet) noexcept {
  if (entry.version != packet.version)
    return refuse(ErrorCode::VersionMissing, entry.version, packet.version);
  if ((packet.flags & ~entry.flags) != 0)
    return refuse(ErrorCode::FlagMissing, entry.flags, packet.flags);
  if (!has(entry.source_dtypes, packet.source_dtype))
    return refuse(ErrorCode::SourceDTypeMissing, entry.source_dtypes, packet.source_dtype);
  if (!has(entry.destination_dtypes, packet.destination_dtype))
    return refuse(ErrorCode::DestinationDTypeMissing, entry.destination_dtypes,
                  packet.destination_dtype);
  return {};
}

} // namespace

bool CapabilityTable::add(const Capability& capability) noexcept {
  if (count_ == entries_.size())
    return false;
  entries_[count_++] = capability;
  return true;
}

Status CapabilityTable::check(const kernels::ev74::PacketHead& packet) const noexcept {
  Error closest = refuse(ErrorCode::OperationMissing, 0, packet.operation);
  for (const Capability& entry : entries()) {
    if (entry.operation != packet.operation)
      continue;
    const Status status = check_entry(entry, packet);
    if (status.ok())
      return {};
    // The codes stand in the order of the checks: the later one got further.
    if (status.error().code > closest.code)
      closest = status.error();
  }
  return closest;
}

} // namespace simaai::runtime
