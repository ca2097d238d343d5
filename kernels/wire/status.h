// SPDX-License-Identifier: LGPL-2.1-or-later
// What a native EV74 entry returns, and what reading a packet finds. Freestanding C++17.
#pragma once

#include <cstdint>

namespace simaai::kernels::wire {

/// Result of `uint32_t simaai_kernels_ev74_<op>_v1(...)`. The values are part of the ABI: never
/// renumbered, new ones are appended to their group. Only Completed means that output was written
/// and retired; every refusal up to Overlap is made before the first transfer.
enum class EntryStatus : std::uint32_t {
  Completed = 0,
  // The call.
  NullArgument = 1,     ///< packet or services pointer
  MisalignedPacket = 2, ///< packet address not a multiple of 8
  PacketLength = 3,     ///< bytes passed or stated differ from what operation and flags demand
  // The head.
  UnknownMagic = 16,
  UnknownVersion = 17,
  WrongOperation = 18, ///< unknown, or not the one of this entry
  UnsupportedFlags = 19,
  UnsupportedDType = 20, ///< unknown tag, or a pair that the operation does not have
  UnsupportedRank = 21,
  BadChannelStorage = 22,
  BadChannelFill = 23,
  ReservedNotZero = 24, ///< a reserved field or an unused slot
  // Geometry.
  BadExtent = 32,       ///< zero, negative or above 2^31 - 1
  BadAxes = 33,         ///< out of range, repeated, C missing, or not those of the blocked layout
  BadTileShape = 34,    ///< not positive, above 2^31 - 1, or above 1 on an absent axis
  BadStride = 35,       ///< negative, misaligned, zero or not proven free of overlap
  RowMajorStrides = 36, ///< STRIDED although the strides are row-major
  // Regions.
  UnboundAddress = 48, ///< an address slot is zero
  MisalignedAddress = 49,
  BeyondAperture = 50, ///< address + span above 2^32
  WrongCapacity = 51,  ///< the stated capacity is not the span of the geometry
  Overlap = 52,        ///< source and destination spans intersect
  // Execution.
  NoWorker = 64,          ///< the services offer no worker
  LocalMemory = 65,       ///< a worker's local memory cannot hold the slots
  TransferFault = 66,     ///< a DMA transfer was refused or failed
  UnsupportedLayout = 67, ///< valid packet, but this firmware was built without the path
};

/// Outcome of reading a packet: Completed, or the first field that is wrong.
struct Finding {
  EntryStatus status = EntryStatus::Completed;
  std::uint32_t offset_bytes = 0; ///< of the field in the packet
  std::int64_t expected = 0;      ///< the value or bound that the field breaks
  std::int64_t found = 0;

  constexpr bool ok() const noexcept { return status == EntryStatus::Completed; }
};

} // namespace simaai::kernels::wire
