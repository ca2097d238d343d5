// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of a packet's meaning, on the arithmetic that host and device share.
#include "wire/check.h"

#include "core/stride_proof.h"

namespace simaai::kernels::wire {
namespace {

static_assert(core::kMaxAxes == kMaxRank && core::kTileAxes == kTileAxes);

constexpr Finding wrong(EntryStatus status, std::uint32_t offset, std::int64_t expected,
                        std::int64_t found) noexcept {
  return {status, offset, expected, found};
}

Finding check_extents(const Descriptor& d) noexcept {
  for (std::uint32_t axis = 0; axis < d.rank; ++axis) {
    const std::uint32_t offset = kShapeOffset + 8 * axis;
    if (d.shape[axis] < 1)
      return wrong(EntryStatus::BadExtent, offset, 1, d.shape[axis]);
    if (d.shape[axis] > kMaxExtent)
      return wrong(EntryStatus::BadExtent, offset, kMaxExtent, d.shape[axis]);
  }
  return {};
}

Finding check_blocked_axes(const Descriptor& d) noexcept {
  for (std::uint32_t slot = 0; slot < kTileAxes; ++slot) {
    const std::int32_t expected =
        slot == core::kAxisD ? -1 : static_cast<std::int32_t>(d.rank + slot - kTileAxes);
    if (d.axes[slot] != expected)
      return wrong(EntryStatus::BadAxes, kAxesOffset + 4 * slot, expected, d.axes[slot]);
  }
  return {};
}

Finding check_axes(const Descriptor& d) noexcept {
  if (d.cblocked())
    return check_blocked_axes(d);
  for (std::uint32_t slot = 0; slot < kTileAxes; ++slot) {
    const std::uint32_t offset = kAxesOffset + 4 * slot;
    const std::int32_t least = slot == core::kAxisC ? 0 : -1;
    if (d.axes[slot] < least)
      return wrong(EntryStatus::BadAxes, offset, least, d.axes[slot]);
    if (d.axes[slot] >= d.rank)
      return wrong(EntryStatus::BadAxes, offset, d.rank - 1, d.axes[slot]);
    for (std::uint32_t earlier = 0; earlier < slot; ++earlier)
      if (d.axes[slot] >= 0 && d.axes[slot] == d.axes[earlier])
        return wrong(EntryStatus::BadAxes, offset, -1, d.axes[slot]);
  }
  return {};
}

Finding check_tile_shape(const Descriptor& d) noexcept {
  for (std::uint32_t slot = 0; slot < kTileAxes; ++slot) {
    const std::uint32_t offset = kTileShapeOffset + 8 * slot;
    const std::int64_t most = d.axes[slot] < 0 ? 1 : kMaxExtent;
    if (d.tile_shape[slot] < 1)
      return wrong(EntryStatus::BadTileShape, offset, 1, d.tile_shape[slot]);
    if (d.tile_shape[slot] > most)
      return wrong(EntryStatus::BadTileShape, offset, most, d.tile_shape[slot]);
  }
  return {};
}

Finding check_capacity(std::uint32_t offset, std::int64_t span, std::uint64_t stated) noexcept {
  if (static_cast<std::uint64_t>(span) == stated)
    return {};
  return wrong(EntryStatus::WrongCapacity, offset, span, static_cast<std::int64_t>(stated));
}

/// Strides at `offset`, and the capacity that their span demands.
Finding check_strides(const Descriptor& d, const std::int64_t* strides, std::uint32_t offset,
                      DTypeTag dtype, std::uint32_t capacity_offset,
                      std::uint64_t capacity) noexcept {
  const core::StrideProof proof =
      core::prove_strides(d.shape, strides, d.rank, scalar_bytes(dtype));
  switch (proof.fault) {
  case core::StrideFault::None:
    return check_capacity(capacity_offset, proof.span_bytes, capacity);
  case core::StrideFault::Overflow:
    return wrong(EntryStatus::WrongCapacity, capacity_offset, 0,
                 static_cast<std::int64_t>(capacity));
  case core::StrideFault::Negative:
  case core::StrideFault::Misaligned:
  case core::StrideFault::Zero:
  case core::StrideFault::Overlap:
    break;
  }
  return wrong(EntryStatus::BadStride, offset + 8 * static_cast<std::uint32_t>(proof.axis),
               proof.expected, strides[proof.axis]);
}

/// Where the linear port of a tiled operation keeps what.
struct LinearPort {
  DTypeTag dtype;
  std::uint32_t capacity_offset;
  std::uint64_t capacity;
};

constexpr LinearPort linear_port(const Descriptor& d) noexcept {
  return rules_of(d.operation).tiled_destination
             ? LinearPort{d.source_dtype, kSourceCapacityOffset, d.source_capacity_bytes}
             : LinearPort{d.destination_dtype, kDestinationCapacityOffset,
                          d.destination_capacity_bytes};
}

Finding check_linear(const Descriptor& d) noexcept {
  const LinearPort port = linear_port(d);
  std::int64_t dense[kMaxRank] = {};
  const core::StrideProof proof =
      core::row_major_strides(d.shape, d.rank, scalar_bytes(port.dtype), dense);
  if (proof.fault != core::StrideFault::None) // even the gapless span is too large
    return wrong(EntryStatus::WrongCapacity, port.capacity_offset, 0,
                 static_cast<std::int64_t>(port.capacity));
  if (!d.strided())
    return check_capacity(port.capacity_offset, proof.span_bytes, port.capacity);
  if (is_row_major(d.shape, d.linear_strides_bytes, d.rank, scalar_bytes(port.dtype)))
    return wrong(EntryStatus::RowMajorStrides, kFlagsOffset, 0, d.flags);
  return check_strides(d, d.linear_strides_bytes, kLinearStridesOffset, port.dtype,
                       port.capacity_offset, port.capacity);
}

Finding check_tiled(const Descriptor& d) noexcept {
  if (const Finding f = check_axes(d); !f.ok())
    return f;
  if (const Finding f = check_tile_shape(d); !f.ok())
    return f;
  if (const Finding f = check_linear(d); !f.ok())
    return f;
  const bool to = rules_of(d.operation).tiled_destination;
  const std::uint32_t offset = to ? kDestinationCapacityOffset : kSourceCapacityOffset;
  const std::uint64_t capacity = to ? d.destination_capacity_bytes : d.source_capacity_bytes;
  core::TileGeometry geometry;
  if (!tile_geometry(d, &geometry))
    return wrong(EntryStatus::WrongCapacity, offset, 0, static_cast<std::int64_t>(capacity));
  return check_capacity(offset, geometry.total_bytes, capacity);
}

Finding check_address(std::uint32_t offset, std::uint64_t address, std::uint32_t alignment,
                      std::uint64_t span) noexcept {
  const auto found = static_cast<std::int64_t>(address);
  if (address == 0)
    return wrong(EntryStatus::UnboundAddress, offset, alignment, 0);
  if (address % alignment != 0)
    return wrong(EntryStatus::MisalignedAddress, offset, alignment, found);
  if (span > kApertureBytes || address > kApertureBytes - span)
    return wrong(EntryStatus::BeyondAperture, offset, static_cast<std::int64_t>(kApertureBytes),
                 found);
  return {};
}

} // namespace

bool is_row_major(const std::int64_t* extents, const std::int64_t* strides_bytes,
                  std::uint32_t rank, std::uint32_t scalar_width_bytes) noexcept {
  std::int64_t dense = scalar_width_bytes;
  for (std::uint32_t axis = rank; axis-- > 0;) {
    if (extents[axis] != 1 && strides_bytes[axis] != dense)
      return false;
    dense *= extents[axis];
  }
  return true;
}

bool tile_geometry(const Descriptor& d, core::TileGeometry* geometry) noexcept {
  core::TileDescription description;
  description.extents = d.shape;
  description.rank = d.rank;
  for (std::uint32_t slot = 0; slot < kTileAxes; ++slot) {
    description.axes[slot] = d.axes[slot];
    description.tile_shape[slot] = d.tile_shape[slot];
  }
  description.planes =
      scalar_bytes(rules_of(d.operation).tiled_destination ? d.destination_dtype : d.source_dtype);
  description.storage = d.cblocked() ? core::TileStorage::CBlocked
                        : d.channel_storage == ChannelStorageTag::PadTo16
                            ? core::TileStorage::PadTo16
                            : core::TileStorage::Compact;
  return core::derive_tile_geometry(description, geometry);
}

Finding check_geometry(const Descriptor& d) noexcept {
  if (const Finding f = check_extents(d); !f.ok())
    return f;
  if (rules_of(d.operation).tiled())
    return check_tiled(d);
  if (const Finding f =
          check_strides(d, d.source_strides_bytes, kCastSourceStridesOffset, d.source_dtype,
                        kSourceCapacityOffset, d.source_capacity_bytes);
      !f.ok())
    return f;
  return check_strides(d, d.destination_strides_bytes, kCastDestinationStridesOffset,
                       d.destination_dtype, kDestinationCapacityOffset,
                       d.destination_capacity_bytes);
}

Finding check_addresses(const Descriptor& d) noexcept {
  if (const Finding f = check_address(kSourceAddressOffset, d.source_address, source_alignment(d),
                                      d.source_capacity_bytes);
      !f.ok())
    return f;
  if (const Finding f = check_address(kDestinationAddressOffset, d.destination_address,
                                      destination_alignment(d), d.destination_capacity_bytes);
      !f.ok())
    return f;
  const std::uint64_t source_end = d.source_address + d.source_capacity_bytes;
  const std::uint64_t destination_end = d.destination_address + d.destination_capacity_bytes;
  if (d.source_address < destination_end && d.destination_address < source_end)
    return wrong(EntryStatus::Overlap, kDestinationAddressOffset,
                 static_cast<std::int64_t>(source_end),
                 static_cast<std::int64_t>(d.destination_address));
  return {};
}

} // namespace simaai::kernels::wire
