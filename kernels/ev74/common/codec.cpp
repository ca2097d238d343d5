// SPDX-License-Identifier: LGPL-2.1-or-later
// Representability, region checks and binding of EV74 packets.
#include "ev74/common/codec.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <span>

#include <simaai/kernels/tensor_spec.h>

#include "ev74/common/lower.h"
#include "ev74/common/packet_access.h"
#include "wire/bytes.h"
#include "wire/check.h"

namespace simaai::kernels::ev74::detail {
namespace {

Status check_extents(const TensorSpec& spec) noexcept {
  const auto extents = spec.shape.extents();
  for (std::size_t axis = 0; axis < extents.size(); ++axis)
    if (extents[axis] > wire::kMaxExtent)
      return Error{ErrorCode::ExtentTooLarge,       Operand::Input,   0,
                   static_cast<std::int16_t>(axis), wire::kMaxExtent, extents[axis]};
  return {};
}

Status check_tiles(const TensorSpec& spec, Operand operand) noexcept {
  const std::array<std::int64_t, 4>* tile = nullptr;
  if (const auto* tiled = std::get_if<MlaTiled>(&spec.layout))
    tile = &tiled->tile_shape;
  else if (const auto* blocked = std::get_if<MlaCBlocked>(&spec.layout))
    tile = &blocked->tile_shape;
  for (std::size_t slot = 0; tile != nullptr && slot < tile->size(); ++slot)
    if ((*tile)[slot] > wire::kMaxExtent)
      return Error{ErrorCode::TileTooLarge,         operand,          0,
                   static_cast<std::int16_t>(slot), wire::kMaxExtent, (*tile)[slot]};
  return {};
}

/// The least address is the alignment, as zero means unbound; the span starts there at the latest.
Status check_span(const ops::PortRequirement& needs, Operand operand) noexcept {
  const std::uint64_t most = kApertureBytes - needs.alignment;
  if (needs.bytes > most)
    return Error{ErrorCode::SpanTooLarge,
                 operand,
                 0,
                 -1,
                 static_cast<std::int64_t>(most),
                 static_cast<std::int64_t>(needs.bytes)};
  return {};
}

Status check_region(const Relocation& needs, const DeviceRegion& region, Operand operand) noexcept {
  const auto refuse = [operand](ErrorCode code, std::uint64_t expected, std::uint64_t found) {
    // Sums and capacities beyond the signed range are reported as its largest value.
    constexpr std::uint64_t kMost = INT64_MAX;
    return Error{code,
                 operand,
                 0,
                 -1,
                 static_cast<std::int64_t>(std::min(expected, kMost)),
                 static_cast<std::int64_t>(std::min(found, kMost))};
  };
  if (region.address == 0)
    return refuse(ErrorCode::ZeroDeviceAddress, needs.alignment_bytes, 0);
  if (region.address % needs.alignment_bytes != 0)
    return refuse(ErrorCode::BufferMisaligned, needs.alignment_bytes,
                  region.address % needs.alignment_bytes);
  if (region.capacity_bytes < needs.length_bytes)
    return refuse(ErrorCode::BufferTooSmall, needs.length_bytes, region.capacity_bytes);
  // A packet's length is below the aperture, so the difference is not negative.
  if (region.address > kApertureBytes - needs.length_bytes) {
    const std::uint64_t room = UINT64_MAX - needs.length_bytes;
    return refuse(ErrorCode::ApertureExceeded, kApertureBytes,
                  region.address > room ? UINT64_MAX : region.address + needs.length_bytes);
  }
  return {};
}

/// Region checks of one packet's two ports; only the accessed spans count, not the capacities.
Status check_regions(std::span<const Relocation, 2> needs, const DeviceRegion& source,
                     const DeviceRegion& destination) noexcept {
  if (const Status status = check_region(needs[0], source, Operand::Input); !status.ok())
    return status;
  if (const Status status = check_region(needs[1], destination, Operand::Output); !status.ok())
    return status;
  const std::uint64_t begin = std::max(source.address, destination.address);
  const std::uint64_t end =
      std::min(source.address + needs[0].length_bytes, destination.address + needs[1].length_bytes);
  if (begin < end)
    return Error{ErrorCode::BuffersOverlap,
                 Operand::Output,
                 0,
                 -1,
                 0,
                 static_cast<std::int64_t>(end - begin)};
  return {};
}

std::variant<Invocation, Error> bind_checked(const RelocatablePacket& packet,
                                             const DeviceRegion& source,
                                             const DeviceRegion& destination) noexcept {
  if (const Status status = check_regions(packet.relocations(), source, destination); !status.ok())
    return status.error();
  return PacketAccess::bound(packet, source.address, destination.address);
}

} // namespace

Status check_representable(const ops::PortPlan& plan) noexcept {
  if (plan.empty())
    return {};
  if (const Status status = check_extents(plan.input()); !status.ok())
    return status;
  if (const Status status = check_tiles(plan.input(), Operand::Input); !status.ok())
    return status;
  if (const Status status = check_tiles(plan.output(), Operand::Output); !status.ok())
    return status;
  if (const Status status = check_span(plan.input_requirement(), Operand::Input); !status.ok())
    return status;
  return check_span(plan.output_requirement(), Operand::Output);
}

std::variant<RelocatablePacket, Error> encode_relocatable_plan(const Lowering& lowering,
                                                               const ops::PortPlan& plan) noexcept {
  if (plan.empty())
    return Error{ErrorCode::NoWork, Operand::Request};
  if (const Status status = check_representable(plan); !status.ok())
    return status.error();
  return PacketAccess::relocatable(lower(lowering, plan));
}

std::variant<Invocation, Error> encode_plan(const Lowering& lowering, const ops::PortPlan& plan,
                                            const DeviceRegion& source,
                                            const DeviceRegion& destination) noexcept {
  const auto encoded = encode_relocatable_plan(lowering, plan);
  if (const auto* refused = std::get_if<Error>(&encoded))
    return *refused;
  return bind_checked(*std::get_if<RelocatablePacket>(&encoded), source, destination);
}

std::variant<Invocation, Error> bind_packet(wire::Operation operation,
                                            const RelocatablePacket& packet,
                                            const DeviceRegion& source,
                                            const DeviceRegion& destination) noexcept {
  const auto expected = static_cast<std::uint16_t>(operation);
  const auto found = wire::load_le<std::uint16_t>(packet.bytes().data() + wire::kOperationOffset);
  if (found != expected)
    return Error{ErrorCode::PacketMalformed, Operand::Packet, 0,
                 wire::kOperationOffset,     expected,        found};
  return bind_checked(packet, source, destination);
}

} // namespace simaai::kernels::ev74::detail
