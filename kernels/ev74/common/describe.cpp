// SPDX-License-Identifier: LGPL-2.1-or-later
// Packets as text: a table of fields, and the verdict of the checks that the device makes.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include <simaai/kernels/ev74/describe.h>

#include "wire/bytes.h"
#include "wire/check.h"
#include "wire/descriptor.h"

namespace simaai::kernels::ev74 {
namespace {

/// How a value is written.
enum class Style : std::uint8_t { Decimal, Hex, Operation, Flags, DType, Storage };

struct Field {
  std::uint32_t offset;
  std::uint32_t width; ///< bytes of one value
  std::uint32_t count;
  bool is_signed;
  Style style;
  std::string_view name;
};

constexpr std::array kHead{
    Field{wire::kMagicOffset, 4, 1, false, Style::Hex, "magic"},
    Field{wire::kVersionOffset, 2, 1, false, Style::Decimal, "version"},
    Field{wire::kOperationOffset, 2, 1, false, Style::Operation, "operation"},
    Field{wire::kPacketBytesOffset, 4, 1, false, Style::Decimal, "packet bytes"},
    Field{wire::kFlagsOffset, 4, 1, false, Style::Flags, "flags"},
    Field{wire::kSourceDTypeOffset, 1, 1, false, Style::DType, "source dtype"},
    Field{wire::kDestinationDTypeOffset, 1, 1, false, Style::DType, "destination dtype"},
    Field{wire::kRankOffset, 1, 1, false, Style::Decimal, "rank"},
    Field{wire::kChannelStorageOffset, 1, 1, false, Style::Storage, "channel storage"},
    Field{wire::kChannelFillOffset, 1, 1, true, Style::Decimal, "channel fill"},
    Field{wire::kChannelFillPresentOffset, 1, 1, false, Style::Decimal, "channel fill present"},
    Field{wire::kHeadReservedOffset, 2, 1, false, Style::Hex, "reserved"},
    Field{wire::kSourceAddressOffset, 8, 1, false, Style::Hex, "source address"},
    Field{wire::kDestinationAddressOffset, 8, 1, false, Style::Hex, "destination address"},
    Field{wire::kSourceCapacityOffset, 8, 1, false, Style::Decimal, "source bytes"},
    Field{wire::kDestinationCapacityOffset, 8, 1, false, Style::Decimal, "destination bytes"},
    Field{wire::kShapeOffset, 8, wire::kMaxRank, true, Style::Decimal, "shape"},
};
constexpr std::array kCastBody{
    Field{wire::kCastSourceStridesOffset, 8, wire::kMaxRank, true, Style::Decimal,
          "source strides"},
    Field{wire::kCastDestinationStridesOffset, 8, wire::kMaxRank, true, Style::Decimal,
          "destination strides"},
    Field{wire::kCastReservedOffset, 8, 1, false, Style::Hex, "reserved"},
};
constexpr std::array kTiledBody{
    Field{wire::kTileShapeOffset, 8, wire::kTileAxes, true, Style::Decimal, "tile shape D H W C"},
    Field{wire::kAxesOffset, 4, wire::kTileAxes, true, Style::Decimal, "axes D H W C"},
    Field{wire::kTiledReservedOffset, 8, 2, false, Style::Hex, "reserved"},
    Field{wire::kLinearStridesOffset, 8, wire::kMaxRank, true, Style::Decimal, "linear strides"},
};

constexpr std::array<std::string_view, 6> kOperations{"",         "cast",   "tess",
                                                      "casttess", "detess", "detesscast"};
constexpr std::array<std::string_view, 5> kDTypes{"", "int8", "bfloat16", "float32", "float16"};
constexpr std::array<std::string_view, 3> kStorages{"none", "compact", "pad16"};

template <std::size_t N>
std::string_view name_of(const std::array<std::string_view, N>& names, std::uint64_t value) {
  return value < N && !names[value].empty() ? names[value] : std::string_view("unknown");
}

std::string hex(std::uint64_t value) {
  std::array<char, 24> room{};
  (void)std::snprintf(room.data(), room.size(), "0x%llx", static_cast<unsigned long long>(value));
  return room.data();
}

std::string flags_text(std::uint64_t value) {
  std::string text = hex(value);
  if ((value & wire::kFlagStrided) != 0)
    text += " STRIDED";
  if ((value & wire::kFlagCBlocked) != 0)
    text += " CBLOCKED";
  if ((value & ~std::uint64_t{wire::kKnownFlags}) != 0)
    text += " unknown";
  return text;
}

std::uint64_t load(const std::byte* from, std::uint32_t width) {
  switch (width) {
  case 1:
    return wire::load_le<std::uint8_t>(from);
  case 2:
    return wire::load_le<std::uint16_t>(from);
  case 4:
    return wire::load_le<std::uint32_t>(from);
  default: // widths of the tables above: 1, 2, 4, 8
    return wire::load_le<std::uint64_t>(from);
  }
}

std::string value_text(const Field& field, std::uint64_t value) {
  switch (field.style) {
  case Style::Decimal:
    break;
  case Style::Hex:
    return hex(value);
  case Style::Operation:
    return std::to_string(value) + " " + std::string(name_of(kOperations, value));
  case Style::Flags:
    return flags_text(value);
  case Style::DType:
    return std::to_string(value) + " " + std::string(name_of(kDTypes, value));
  case Style::Storage:
    return std::to_string(value) + " " + std::string(name_of(kStorages, value));
  }
  if (!field.is_signed)
    return std::to_string(value);
  const std::uint32_t unused_bits = 64 - 8 * field.width;
  return std::to_string(static_cast<std::int64_t>(value << unused_bits) >> unused_bits);
}

void line(std::string& text, std::uint32_t offset, std::string_view name, std::string_view value) {
  std::array<char, 64> head{};
  (void)std::snprintf(head.data(), head.size(), "%4u  %-21.*s ", offset,
                      static_cast<int>(name.size()), name.data());
  text.append(head.data()).append(value).append("\n");
}

/// As many values of the field as `bytes` holds.
void field_line(std::string& text, const Field& field, std::span<const std::byte> bytes) {
  std::string values;
  for (std::uint32_t i = 0; i < field.count; ++i) {
    const std::uint32_t at = field.offset + i * field.width;
    if (at + field.width > bytes.size())
      break;
    if (i > 0)
      values += " ";
    values += value_text(field, load(bytes.data() + at, field.width));
  }
  if (!values.empty())
    line(text, field.offset, field.name, values);
}

void hex_lines(std::string& text, std::span<const std::byte> bytes, std::size_t from) {
  constexpr std::size_t kRow = 16;
  for (std::size_t at = from; at < bytes.size(); at += kRow) {
    std::string row;
    for (std::size_t i = at; i < std::min(at + kRow, bytes.size()); ++i) {
      std::array<char, 8> digits{};
      (void)std::snprintf(digits.data(), digits.size(), "%02x ",
                          std::to_integer<unsigned>(bytes[i]));
      row += digits.data();
    }
    row.pop_back();
    line(text, static_cast<std::uint32_t>(at), "bytes", row);
  }
}

void body_lines(std::string& text, std::span<const std::byte> bytes) {
  const std::uint64_t operation = bytes.size() >= wire::kOperationOffset + 2
                                      ? load(bytes.data() + wire::kOperationOffset, 2)
                                      : 0;
  std::size_t shown = wire::kHeadBytes;
  if (operation == static_cast<std::uint64_t>(wire::Operation::Cast)) {
    for (const Field& field : kCastBody)
      field_line(text, field, bytes);
    shown = wire::kCastPacketBytes;
  } else if (operation >= wire::kFirstOperation && operation <= wire::kLastOperation) {
    for (const Field& field : kTiledBody)
      field_line(text, field, bytes);
    shown = wire::kStridedPacketBytes;
  }
  // Bytes that no field of this operation covers, up to a bound: the file may be anything.
  constexpr std::size_t kMostShown = 1024;
  if (bytes.size() > shown)
    hex_lines(text, bytes.first(std::min(bytes.size(), kMostShown)), shown);
}

std::string wrong_field(const wire::Finding& finding) {
  return "refused with status " + std::to_string(static_cast<std::uint32_t>(finding.status)) +
         ": field at byte " + std::to_string(finding.offset_bytes) + ": expected " +
         std::to_string(finding.expected) + ", found " + std::to_string(finding.found);
}

std::string verdict(std::span<const std::byte> bytes) {
  const auto length = static_cast<std::uint32_t>(
      std::min<std::size_t>(bytes.size(), std::size_t{wire::kMaxPacketBytes} + 1));
  wire::Descriptor d;
  wire::Finding finding = wire::read(bytes.data(), length, d);
  if (finding.ok())
    finding = wire::check_geometry(d);
  if (!finding.ok())
    return wrong_field(finding);
  if (d.source_address == 0 && d.destination_address == 0)
    return "valid, waits for both addresses";
  finding = wire::check_addresses(d);
  return finding.ok() ? "valid, can be run" : wrong_field(finding);
}

} // namespace

std::string describe_packet(std::span<const std::byte> bytes) {
  std::string text;
  for (const Field& field : kHead)
    field_line(text, field, bytes);
  body_lines(text, bytes);
  return text + "verdict: " + verdict(bytes) + "\n";
}

} // namespace simaai::kernels::ev74
