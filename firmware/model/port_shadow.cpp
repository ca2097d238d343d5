// SPDX-License-Identifier: LGPL-2.1-or-later
// Ownership, holes and granules of a job's output.
#include "firmware/model/port_shadow.h"

#include <algorithm>

#include "core/coord_cursor.h"
#include "firmware/common/dma.h"

namespace simaai::model {
namespace {

using firmware::kGranuleBytes;
using kernels::wire::Descriptor;

/// Byte strides of a linear destination; null where its bytes are gapless.
const std::int64_t* destination_strides(const Descriptor& packet) noexcept {
  if (packet.operation == kernels::wire::Operation::Cast)
    return packet.destination_strides_bytes;
  const bool tiled = kernels::wire::rules_of(packet.operation).tiled_destination;
  return !tiled && packet.strided() ? packet.linear_strides_bytes : nullptr;
}

} // namespace

void PortShadow::begin(const Descriptor* packet) {
  source_ = {};
  destination_ = {};
  owned_ = {};
  bytes_.clear();
  granules_.clear();
  if (packet == nullptr)
    return;
  source_ = {packet->source_address, packet->source_address + packet->source_capacity_bytes};
  destination_ = {packet->destination_address,
                  packet->destination_address + packet->destination_capacity_bytes};
  mark_elements(*packet);
  const std::uint64_t first = destination_.begin / kGranuleBytes;
  const std::uint64_t last = (destination_.end - 1) / kGranuleBytes;
  granules_.assign(static_cast<std::size_t>(last - first + 1), Granule{});
}

void PortShadow::mark_elements(const Descriptor& packet) {
  const auto span = static_cast<std::size_t>(packet.destination_capacity_bytes);
  const std::int64_t* strides = destination_strides(packet);
  if (strides == nullptr) {
    bytes_.assign(span, ByteState::Element);
    return;
  }
  bytes_.assign(span, ByteState::Hole);
  kernels::core::CoordCursor cursor;
  for (std::size_t axis = 0; axis < packet.rank; ++axis)
    cursor.add_axis(packet.shape[axis], strides[axis], 0);
  const std::size_t width = kernels::wire::scalar_bytes(packet.destination_dtype);
  do
    std::fill_n(bytes_.begin() + cursor.first_offset(), width, ByteState::Element);
  while (cursor.advance());
}

void PortShadow::own(std::uint32_t worker, std::uint64_t begin, std::uint64_t end) noexcept {
  owned_[worker] = {begin, end};
}

PortShadow::Granule& PortShadow::granule(std::uint64_t address) noexcept {
  return granules_[static_cast<std::size_t>(address / kGranuleBytes -
                                            destination_.begin / kGranuleBytes)];
}

void PortShadow::check_read(const DeviceRange& range, FaultLog& faults) const noexcept {
  if (destination_.meets(range))
    faults.add(FaultKind::OutputRead, range.worker, range.address, range.bytes);
  else if (!source_.holds(range))
    faults.add(FaultKind::OutsideSource, range.worker, range.address, range.bytes);
}

void PortShadow::write_bytes(const DeviceRange& range, FaultLog& faults) noexcept {
  const auto first =
      bytes_.begin() + static_cast<std::ptrdiff_t>(range.address - destination_.begin);
  const auto last = first + static_cast<std::ptrdiff_t>(range.bytes);
  if (std::any_of(first, last, [](ByteState s) { return s == ByteState::Hole; }))
    faults.add(FaultKind::HoleWrite, range.worker, range.address, range.bytes);
  if (std::any_of(first, last, [](ByteState s) { return s == ByteState::Written; }))
    faults.add(FaultKind::Rewritten, range.worker, range.address, range.bytes);
  std::fill(first, last, ByteState::Written);
}

void PortShadow::check_write(const DeviceRange& range, bool in_flight, FaultLog& faults) noexcept {
  if (in_flight && (range.address % kGranuleBytes != 0 || range.bytes % kGranuleBytes != 0))
    faults.add(FaultKind::MisalignedWrite, range.worker, range.address, range.bytes);
  if (!destination_.holds(range) || !owned_[range.worker].holds(range)) {
    faults.add(FaultKind::OutsideOwned, range.worker, range.address, range.bytes);
    return;
  }
  const auto owner = static_cast<std::uint8_t>(range.worker + 1);
  for (std::uint64_t at = range.address / kGranuleBytes * kGranuleBytes;
       at < range.address + range.bytes; at += kGranuleBytes) {
    Granule& here = granule(at);
    if (here.owner != 0 && here.owner != owner)
      faults.add(FaultKind::OwnerOverlap, range.worker, at, kGranuleBytes);
    if (here.in_flight != 0)
      faults.add(FaultKind::GranuleInFlight, range.worker, at, kGranuleBytes);
    here.owner = owner;
    here.in_flight = static_cast<std::uint8_t>(here.in_flight + (in_flight ? 1 : 0));
  }
  write_bytes(range, faults);
}

void PortShadow::retire(const DeviceRange& range) noexcept {
  if (!destination_.holds(range))
    return;
  for (std::uint64_t at = range.address / kGranuleBytes * kGranuleBytes;
       at < range.address + range.bytes; at += kGranuleBytes)
    if (Granule& here = granule(at); here.in_flight != 0)
      --here.in_flight;
}

void PortShadow::check_complete(FaultLog& faults) const noexcept {
  const auto left = std::count(bytes_.begin(), bytes_.end(), ByteState::Element);
  if (left == 0)
    return;
  const auto first = std::find(bytes_.begin(), bytes_.end(), ByteState::Element);
  faults.add(FaultKind::MissingOutput, 0,
             destination_.begin + static_cast<std::uint64_t>(first - bytes_.begin()),
             static_cast<std::uint64_t>(left));
}

} // namespace simaai::model
