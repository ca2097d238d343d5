// SPDX-License-Identifier: LGPL-2.1-or-later
// Packet bytes <-> Descriptor, and the checks of tags, flags and reserved fields.
#include "wire/descriptor.h"

#include "wire/bytes.h"
#include "wire/rules.h"

namespace simaai::kernels::wire {
namespace {

template <class Integer, std::uint32_t Count>
void store_array(std::byte* packet, std::uint32_t offset, const Integer (&values)[Count]) noexcept {
  for (std::uint32_t i = 0; i < Count; ++i)
    store_le(packet + offset + i * sizeof(Integer), values[i]);
}

template <class Integer, std::uint32_t Count>
void load_array(const std::byte* packet, std::uint32_t offset, Integer (&values)[Count]) noexcept {
  for (std::uint32_t i = 0; i < Count; ++i)
    values[i] = load_le<Integer>(packet + offset + i * sizeof(Integer));
}

constexpr Finding wrong(EntryStatus status, std::uint32_t offset, std::int64_t expected,
                        std::int64_t found) noexcept {
  return {status, offset, expected, found};
}

/// Identity of the packet: everything that decides how the rest is read.
Finding read_identity(const std::byte* packet, std::uint32_t bytes, Descriptor& out) noexcept {
  if (bytes < kHeadBytes)
    return wrong(EntryStatus::PacketLength, kPacketBytesOffset, kHeadBytes, bytes);
  const auto magic = load_le<std::uint32_t>(packet + kMagicOffset);
  if (magic != kMagic)
    return wrong(EntryStatus::UnknownMagic, kMagicOffset, kMagic, magic);
  const auto version = load_le<std::uint16_t>(packet + kVersionOffset);
  if (version != kVersion)
    return wrong(EntryStatus::UnknownVersion, kVersionOffset, kVersion, version);
  const auto operation = load_le<std::uint16_t>(packet + kOperationOffset);
  if (operation < kFirstOperation || operation > kLastOperation)
    return wrong(EntryStatus::WrongOperation, kOperationOffset, kLastOperation, operation);
  out.operation = static_cast<Operation>(operation);
  out.flags = load_le<std::uint32_t>(packet + kFlagsOffset);
  const std::uint32_t allowed = rules_of(out.operation).allowed_flags;
  if ((out.flags & ~allowed) != 0)
    return wrong(EntryStatus::UnsupportedFlags, kFlagsOffset, allowed, out.flags);
  const std::uint32_t expected = packet_bytes(out.operation, out.flags);
  const auto stated = load_le<std::uint32_t>(packet + kPacketBytesOffset);
  if (stated != expected)
    return wrong(EntryStatus::PacketLength, kPacketBytesOffset, expected, stated);
  if (bytes != expected)
    return wrong(EntryStatus::PacketLength, kPacketBytesOffset, expected, bytes);
  return {};
}

Finding read_tags(const std::byte* packet, Descriptor& out) noexcept {
  const auto from = load_le<std::uint8_t>(packet + kSourceDTypeOffset);
  const auto to = load_le<std::uint8_t>(packet + kDestinationDTypeOffset);
  out.source_dtype = static_cast<DTypeTag>(from);
  out.destination_dtype = static_cast<DTypeTag>(to);
  const OperationRules& rules = rules_of(out.operation);
  const DTypeTag destination = rules.destination_for(out.source_dtype);
  if (destination == DTypeTag{})
    return wrong(EntryStatus::UnsupportedDType, kSourceDTypeOffset,
                 static_cast<std::int64_t>(rules.pairs[0].source), from);
  if (!rules.admits(out.source_dtype, out.destination_dtype))
    return wrong(EntryStatus::UnsupportedDType, kDestinationDTypeOffset,
                 static_cast<std::int64_t>(destination), to);

  out.rank = load_le<std::uint8_t>(packet + kRankOffset);
  const std::uint32_t least = out.cblocked() ? 3 : 1;
  if (out.rank < least)
    return wrong(EntryStatus::UnsupportedRank, kRankOffset, least, out.rank);
  if (out.rank > kMaxRank)
    return wrong(EntryStatus::UnsupportedRank, kRankOffset, kMaxRank, out.rank);
  return {};
}

Finding read_channels(const std::byte* packet, Descriptor& out) noexcept {
  constexpr auto kPad16 = static_cast<std::uint8_t>(ChannelStorageTag::PadTo16);
  constexpr auto kCompact = static_cast<std::uint8_t>(ChannelStorageTag::Compact);
  const auto storage = load_le<std::uint8_t>(packet + kChannelStorageOffset);
  const OperationRules& rules = rules_of(out.operation);
  const bool tiled = rules.tiled();
  const std::uint8_t least = !tiled ? std::uint8_t{0} : out.cblocked() ? kPad16 : kCompact;
  const std::uint8_t most = tiled ? kPad16 : std::uint8_t{0};
  if (storage < least || storage > most)
    return wrong(EntryStatus::BadChannelStorage, kChannelStorageOffset, least, storage);
  out.channel_storage = static_cast<ChannelStorageTag>(storage);

  const bool fills = rules.has_channel_fill && out.source_dtype == DTypeTag::Int8 &&
                     out.channel_storage == ChannelStorageTag::PadTo16;
  out.channel_fill_present = load_le<std::uint8_t>(packet + kChannelFillPresentOffset);
  out.channel_fill = load_le<std::uint8_t>(packet + kChannelFillOffset);
  if (out.channel_fill_present != (fills ? 1 : 0))
    return wrong(EntryStatus::BadChannelFill, kChannelFillPresentOffset, fills ? 1 : 0,
                 out.channel_fill_present);
  if (!fills && out.channel_fill != 0)
    return wrong(EntryStatus::BadChannelFill, kChannelFillOffset, 0, out.channel_fill);
  const auto reserved = load_le<std::uint16_t>(packet + kHeadReservedOffset);
  if (reserved != 0)
    return wrong(EntryStatus::ReservedNotZero, kHeadReservedOffset, 0, reserved);
  return {};
}

/// Loads an array of one value a logical axis; the slots that the rank leaves unused must be zero.
Finding read_axis_values(const std::byte* packet, std::uint32_t offset, std::uint8_t rank,
                         std::int64_t (&values)[kMaxRank]) noexcept {
  load_array(packet, offset, values);
  for (std::uint32_t slot = rank; slot < kMaxRank; ++slot)
    if (values[slot] != 0)
      return wrong(EntryStatus::ReservedNotZero, offset + slot * 8, 0, values[slot]);
  return {};
}

Finding require_zero(const std::byte* packet, std::uint32_t offset) noexcept {
  const auto value = load_le<std::int64_t>(packet + offset);
  return value == 0 ? Finding{} : wrong(EntryStatus::ReservedNotZero, offset, 0, value);
}

Finding read_cast_body(const std::byte* packet, Descriptor& out) noexcept {
  if (const Finding f =
          read_axis_values(packet, kCastSourceStridesOffset, out.rank, out.source_strides_bytes);
      !f.ok())
    return f;
  if (const Finding f = read_axis_values(packet, kCastDestinationStridesOffset, out.rank,
                                         out.destination_strides_bytes);
      !f.ok())
    return f;
  return require_zero(packet, kCastReservedOffset);
}

Finding read_tiled_body(const std::byte* packet, Descriptor& out) noexcept {
  load_array(packet, kTileShapeOffset, out.tile_shape);
  load_array(packet, kAxesOffset, out.axes);
  for (std::uint32_t i = 0; i < 2; ++i)
    if (const Finding f = require_zero(packet, kTiledReservedOffset + 8 * i); !f.ok())
      return f;
  if (!out.strided())
    return {};
  return read_axis_values(packet, kLinearStridesOffset, out.rank, out.linear_strides_bytes);
}

} // namespace

void write(const Descriptor& d, std::byte* packet) noexcept {
  const std::uint32_t bytes = packet_bytes(d.operation, d.flags);
  store_le(packet + kMagicOffset, kMagic);
  store_le(packet + kVersionOffset, kVersion);
  store_le(packet + kOperationOffset, static_cast<std::uint16_t>(d.operation));
  store_le(packet + kPacketBytesOffset, bytes);
  store_le(packet + kFlagsOffset, d.flags);
  store_le(packet + kSourceDTypeOffset, static_cast<std::uint8_t>(d.source_dtype));
  store_le(packet + kDestinationDTypeOffset, static_cast<std::uint8_t>(d.destination_dtype));
  store_le(packet + kRankOffset, d.rank);
  store_le(packet + kChannelStorageOffset, static_cast<std::uint8_t>(d.channel_storage));
  store_le(packet + kChannelFillOffset, d.channel_fill);
  store_le(packet + kChannelFillPresentOffset, d.channel_fill_present);
  store_le(packet + kHeadReservedOffset, std::uint16_t{0});
  store_le(packet + kSourceAddressOffset, d.source_address);
  store_le(packet + kDestinationAddressOffset, d.destination_address);
  store_le(packet + kSourceCapacityOffset, d.source_capacity_bytes);
  store_le(packet + kDestinationCapacityOffset, d.destination_capacity_bytes);
  store_array(packet, kShapeOffset, d.shape);
  if (d.operation == Operation::Cast) {
    store_array(packet, kCastSourceStridesOffset, d.source_strides_bytes);
    store_array(packet, kCastDestinationStridesOffset, d.destination_strides_bytes);
    store_le(packet + kCastReservedOffset, std::uint64_t{0});
    return;
  }
  store_array(packet, kTileShapeOffset, d.tile_shape);
  store_array(packet, kAxesOffset, d.axes);
  store_le(packet + kTiledReservedOffset, std::uint64_t{0});
  store_le(packet + kTiledReservedOffset + 8, std::uint64_t{0});
  if (d.strided())
    store_array(packet, kLinearStridesOffset, d.linear_strides_bytes);
}

Finding read(const std::byte* packet, std::uint32_t bytes, Descriptor& out) noexcept {
  out = Descriptor{};
  if (const Finding f = read_identity(packet, bytes, out); !f.ok())
    return f;
  if (const Finding f = read_tags(packet, out); !f.ok())
    return f;
  if (const Finding f = read_channels(packet, out); !f.ok())
    return f;
  out.source_address = load_le<std::uint64_t>(packet + kSourceAddressOffset);
  out.destination_address = load_le<std::uint64_t>(packet + kDestinationAddressOffset);
  out.source_capacity_bytes = load_le<std::uint64_t>(packet + kSourceCapacityOffset);
  out.destination_capacity_bytes = load_le<std::uint64_t>(packet + kDestinationCapacityOffset);
  if (const Finding f = read_axis_values(packet, kShapeOffset, out.rank, out.shape); !f.ok())
    return f;
  return out.operation == Operation::Cast ? read_cast_body(packet, out)
                                          : read_tiled_body(packet, out);
}

} // namespace simaai::kernels::wire
