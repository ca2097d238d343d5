// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading packets as the device does: every field that can be wrong, with status and offset.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "wire/bytes.h"
#include "wire/check.h"
#include "wire/descriptor.h"
#include "wire/packets.h"

namespace simaai::test {
namespace {

namespace wire = kernels::wire;
using wire::EntryStatus;
using wire::Finding;

/// All checks in the order of a device entry.
Finding judge(const PacketBytes& packet) {
  wire::Descriptor d;
  Finding finding = wire::read(packet.data(), static_cast<std::uint32_t>(packet.size()), d);
  if (finding.ok())
    finding = wire::check_geometry(d);
  if (finding.ok())
    finding = wire::check_addresses(d);
  return finding;
}

struct Damage {
  std::uint32_t offset;
  std::uint32_t width;
  std::int64_t value;
  EntryStatus status;
  std::uint32_t found_at; // offset that the finding names
};

void expect_damage(const PacketBytes& good, const std::vector<Damage>& table) {
  const Finding fine = judge(good);
  ASSERT_EQ(fine.status, EntryStatus::Completed) << "at " << fine.offset_bytes;
  for (const Damage& damage : table) {
    PacketBytes packet = good;
    put(packet, damage.offset, damage.width, damage.value);
    const Finding finding = judge(packet);
    const std::string what =
        "byte " + std::to_string(damage.offset) + " = " + std::to_string(damage.value);
    EXPECT_EQ(finding.status, damage.status) << what;
    EXPECT_EQ(finding.offset_bytes, damage.found_at) << what;
    if (finding.offset_bytes < wire::kSourceAddressOffset) { // a tag: says one that is admitted
      EXPECT_NE(finding.expected, finding.found) << what;
    }
  }
}

/// Faults of the common head, for a packet of shape 2 x 3 x 20 bound at 0x1000 and 0x9000.
std::vector<Damage> head_damage(std::int64_t other_operation) {
  return {
      {0, 4, 0x34375644, EntryStatus::UnknownMagic, 0},
      {3, 1, 0, EntryStatus::UnknownMagic, 0},
      {4, 2, 0, EntryStatus::UnknownVersion, 4},
      {4, 2, 2, EntryStatus::UnknownVersion, 4},
      {6, 2, 0, EntryStatus::WrongOperation, 6},
      {6, 2, 6, EntryStatus::WrongOperation, 6},
      {6, 2, 256 + other_operation, EntryStatus::WrongOperation, 6},
      {8, 4, 0, EntryStatus::PacketLength, 8},
      {8, 4, 200, EntryStatus::PacketLength, 8},
      {12, 4, 4, EntryStatus::UnsupportedFlags, 12},
      {12, 4, INT32_MIN, EntryStatus::UnsupportedFlags, 12},
      {16, 1, 0, EntryStatus::UnsupportedDType, 16},
      {16, 1, 5, EntryStatus::UnsupportedDType, 16},
      {17, 1, 0, EntryStatus::UnsupportedDType, 17},
      {17, 1, 5, EntryStatus::UnsupportedDType, 17},
      {17, 1, 4, EntryStatus::UnsupportedDType, 17},
      {18, 1, 0, EntryStatus::UnsupportedRank, 18},
      {18, 1, 7, EntryStatus::UnsupportedRank, 18},
      {18, 1, 2, EntryStatus::ReservedNotZero, 72}, // the third extent is no longer an axis
      {19, 1, 3, EntryStatus::BadChannelStorage, 19},
      {22, 2, 1, EntryStatus::ReservedNotZero, 22},
      {23, 1, 1, EntryStatus::ReservedNotZero, 22},
      {24, 8, 0, EntryStatus::UnboundAddress, 24},
      {24, 8, 0x100000000 - 16, EntryStatus::BeyondAperture, 24},
      {24, 8, 0x100000000, EntryStatus::BeyondAperture, 24},
      {24, 8, -16, EntryStatus::BeyondAperture, 24},
      {24, 8, 0x9000, EntryStatus::Overlap, 32},
      {32, 8, 0, EntryStatus::UnboundAddress, 32},
      {32, 8, 0x100000000 - 16, EntryStatus::BeyondAperture, 32},
      {32, 8, 0x1000, EntryStatus::Overlap, 32},
      {40, 8, 0, EntryStatus::WrongCapacity, 40},
      {40, 8, INT64_MIN, EntryStatus::WrongCapacity, 40},
      {48, 8, 1, EntryStatus::WrongCapacity, 48},
      {56, 8, 0, EntryStatus::BadExtent, 56},
      {64, 8, -1, EntryStatus::BadExtent, 64},
      {72, 8, 0x80000000, EntryStatus::BadExtent, 72},
      {80, 8, 1, EntryStatus::ReservedNotZero, 80},
      {96, 8, 1, EntryStatus::ReservedNotZero, 96},
  };
}

TEST(WireBytes, LoadAndStoreAreLittleEndianAtAnyAddress) {
  std::byte bytes[12] = {};
  wire::store_le(bytes + 1, std::uint32_t{0x01020384});
  EXPECT_EQ(bytes[1], std::byte{0x84});
  EXPECT_EQ(bytes[4], std::byte{0x01});
  EXPECT_EQ(bytes[5], std::byte{0});
  EXPECT_EQ(wire::load_le<std::uint32_t>(bytes + 1), 0x01020384U);
  EXPECT_EQ(wire::load_le<std::int8_t>(bytes + 1), -124);
  wire::store_le(bytes + 3, std::int64_t{-2});
  EXPECT_EQ(bytes[3], std::byte{0xfe});
  EXPECT_EQ(bytes[10], std::byte{0xff});
  EXPECT_EQ(bytes[11], std::byte{0});
  EXPECT_EQ(wire::load_le<std::int64_t>(bytes + 3), -2);
  EXPECT_EQ(wire::load_le<std::uint16_t>(bytes + 3), 0xfffeU);
}

TEST(WirePacket, EveryPacketIsReadAndWrittenBackAlike) {
  for (const PacketBytes& packet :
       {cast_packet(), tess_packet(), casttess_packet(), detess_packet(), detesscast_packet()}) {
    wire::Descriptor d;
    ASSERT_TRUE(wire::read(packet.data(), static_cast<std::uint32_t>(packet.size()), d).ok());
    PacketBytes written(packet.size() + 1, std::byte{0xa5});
    wire::write(d, written.data());
    EXPECT_EQ(written.back(), std::byte{0xa5});
    written.pop_back();
    EXPECT_EQ(written, packet);
  }
}

TEST(WirePacket, FieldsOfACastPacket) {
  const PacketBytes packet = cast_packet();
  wire::Descriptor d;
  ASSERT_TRUE(wire::read(packet.data(), 208, d).ok());
  EXPECT_EQ(d.operation, wire::Operation::Cast);
  EXPECT_EQ(d.source_dtype, wire::DTypeTag::Float32);
  EXPECT_EQ(d.destination_dtype, wire::DTypeTag::BFloat16);
  EXPECT_EQ(d.rank, 3);
  EXPECT_EQ(d.shape[2], 20);
  EXPECT_EQ(d.source_address, 0x1000U);
  EXPECT_EQ(d.destination_capacity_bytes, 290U);
  EXPECT_EQ(d.source_strides_bytes[0], 240);
  EXPECT_EQ(d.destination_strides_bytes[1], 50);
}

TEST(WirePacket, FieldsOfADetessCastPacket) {
  const PacketBytes packet = detesscast_packet();
  wire::Descriptor d;
  ASSERT_TRUE(wire::read(packet.data(), 216, d).ok());
  EXPECT_TRUE(d.strided());
  EXPECT_TRUE(d.cblocked());
  EXPECT_EQ(d.channel_storage, wire::ChannelStorageTag::PadTo16);
  EXPECT_EQ(d.axes[0], -1);
  EXPECT_EQ(d.axes[3], 2);
  EXPECT_EQ(d.tile_shape[3], 16);
  EXPECT_EQ(d.linear_strides_bytes[2], 32);
}

TEST(WirePacket, RefusesOtherLengths) {
  for (const PacketBytes& good :
       {cast_packet(), tess_packet(), casttess_packet(), detess_packet(), detesscast_packet()}) {
    wire::Descriptor d;
    for (std::size_t size = 0; size < good.size(); ++size) {
      const PacketBytes cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
      EXPECT_EQ(wire::read(cut.data(), static_cast<std::uint32_t>(size), d).status,
                EntryStatus::PacketLength);
    }
    PacketBytes longer = good;
    longer.resize(good.size() + 8);
    EXPECT_EQ(wire::read(longer.data(), static_cast<std::uint32_t>(longer.size()), d).status,
              EntryStatus::PacketLength);
  }
}

TEST(WirePacket, CastDamage) {
  auto table = head_damage(1);
  const std::vector<Damage> own = {
      {6, 2, 2, EntryStatus::PacketLength, 8},
      {12, 4, 1, EntryStatus::UnsupportedFlags, 12},
      {12, 4, 2, EntryStatus::UnsupportedFlags, 12},
      {16, 1, 1, EntryStatus::UnsupportedDType, 16}, // cast knows no int8
      {16, 1, 2, EntryStatus::UnsupportedDType, 17}, // bfloat16 to bfloat16
      {19, 1, 1, EntryStatus::BadChannelStorage, 19},
      {20, 1, 1, EntryStatus::BadChannelFill, 20},
      {21, 1, 1, EntryStatus::BadChannelFill, 21},
      {24, 8, 0x1002, EntryStatus::MisalignedAddress, 24},
      {32, 8, 0x9001, EntryStatus::MisalignedAddress, 32},
      {32, 8, 0x1000 + 478, EntryStatus::Overlap, 32},
      {32, 8, 0x1000 - 288, EntryStatus::Overlap, 32},
      {104, 8, -240, EntryStatus::BadStride, 104},
      {104, 8, 236, EntryStatus::BadStride, 104}, // overlaps the inner axes
      {112, 8, 0, EntryStatus::BadStride, 112},
      {120, 8, 2, EntryStatus::BadStride, 120}, // not a multiple of four
      {104, 8, INT64_MAX / 4 * 4, EntryStatus::WrongCapacity, 40},
      {104, 8, 244, EntryStatus::WrongCapacity, 40},
      {128, 8, 4, EntryStatus::ReservedNotZero, 128},
      {160, 8, 38, EntryStatus::BadStride, 160},
      {168, 8, 3, EntryStatus::BadStride, 168},
      {192, 8, 1, EntryStatus::ReservedNotZero, 192},
      {200, 8, 1, EntryStatus::ReservedNotZero, 200},
      {207, 1, 128, EntryStatus::ReservedNotZero, 200},
  };
  table.insert(table.end(), own.begin(), own.end());
  expect_damage(cast_packet(), table);
}

/// Faults of the tiled part, for axes -1, 0, 1, 2 without the blocked flag.
std::vector<Damage> mapped_damage() {
  return {
      {104, 8, 2, EntryStatus::BadTileShape, 104}, // absent axis
      {112, 8, 0, EntryStatus::BadTileShape, 112},
      {120, 8, -1, EntryStatus::BadTileShape, 120},
      {128, 8, 0x80000000, EntryStatus::BadTileShape, 128},
      {136, 4, -2, EntryStatus::BadAxes, 136},
      {140, 4, 3, EntryStatus::BadAxes, 140},
      {144, 4, 0, EntryStatus::BadAxes, 144},  // repeated
      {148, 4, -1, EntryStatus::BadAxes, 148}, // C is mandatory
      {148, 4, 1, EntryStatus::BadAxes, 148},
      {152, 8, 1, EntryStatus::ReservedNotZero, 152},
      {160, 8, -1, EntryStatus::ReservedNotZero, 160},
  };
}

TEST(WirePacket, TessDamage) {
  auto table = head_damage(2);
  const auto mapped = mapped_damage();
  table.insert(table.end(), mapped.begin(), mapped.end());
  const std::vector<Damage> own = {
      {6, 2, 1, EntryStatus::PacketLength, 8},
      {12, 4, 1, EntryStatus::PacketLength, 8}, // STRIDED demands 216 bytes
      {12, 4, 2, EntryStatus::UnsupportedFlags, 12},
      {17, 1, 2, EntryStatus::UnsupportedDType, 17},
      {19, 1, 0, EntryStatus::BadChannelStorage, 19},
      {19, 1, 1, EntryStatus::BadChannelFill, 21}, // compact has no fill
      {21, 1, 0, EntryStatus::BadChannelFill, 21}, // padded int8 needs one
      {21, 1, 2, EntryStatus::BadChannelFill, 21},
      {32, 8, 0x9008, EntryStatus::MisalignedAddress, 32},
      {128, 8, 8, EntryStatus::WrongCapacity, 48}, // three channel tiles
  };
  table.insert(table.end(), own.begin(), own.end());
  expect_damage(tess_packet(), table);
  PacketBytes other_fill = tess_packet();
  put(other_fill, 20, 1, 0xff);
  EXPECT_TRUE(judge(other_fill).ok());
  PacketBytes odd_source = tess_packet();
  put(odd_source, 24, 8, 0x1001); // one-byte scalars need no alignment
  EXPECT_TRUE(judge(odd_source).ok());
}

TEST(WirePacket, CastTessDamage) {
  auto table = head_damage(3);
  const auto mapped = mapped_damage();
  table.insert(table.end(), mapped.begin(), mapped.end());
  const std::vector<Damage> own = {
      {12, 4, 0, EntryStatus::PacketLength, 8},
      {12, 4, 3, EntryStatus::UnsupportedFlags, 12},
      {16, 1, 1, EntryStatus::UnsupportedDType, 16},
      {17, 1, 3, EntryStatus::UnsupportedDType, 17},
      {20, 1, 1, EntryStatus::BadChannelFill, 20},
      {21, 1, 1, EntryStatus::BadChannelFill, 21},
      {24, 8, 0x1001, EntryStatus::MisalignedAddress, 24},
      {168, 8, -2, EntryStatus::BadStride, 168},
      {176, 8, 38, EntryStatus::BadStride, 176},
      {176, 8, 41, EntryStatus::BadStride, 176},
      {184, 8, 0, EntryStatus::BadStride, 184},
      {168, 8, 128, EntryStatus::WrongCapacity, 40},
      {192, 8, 2, EntryStatus::ReservedNotZero, 192},
      {208, 8, 2, EntryStatus::ReservedNotZero, 208},
  };
  table.insert(table.end(), own.begin(), own.end());
  expect_damage(casttess_packet(), table);
}

TEST(WirePacket, StridedPacketThatIsRowMajorIsRefused) {
  PacketBytes packet = casttess_packet();
  put(packet, 40, 8, 240);
  put(packet, 168, 8, 120);
  put(packet, 176, 8, 40);
  const Finding finding = judge(packet);
  EXPECT_EQ(finding.status, EntryStatus::RowMajorStrides);
  EXPECT_EQ(finding.offset_bytes, 12U);
}

TEST(WirePacket, UnitAxesTakeAnyAdmittedStride) {
  // Shape 1 x 3 x 20 with rows 42 bytes apart: the first stride addresses nothing.
  PacketBytes packet = casttess_packet();
  put(packet, 56, 8, 1);
  put(packet, 40, 8, 124);
  put(packet, 48, 8, 128); // pixels 2 and 1 of 32 bytes; of 8 bytes, rounded up to 16 each
  for (const std::int64_t stride : {0, 2, 126, 1000002}) {
    put(packet, 168, 8, stride);
    EXPECT_TRUE(judge(packet).ok()) << stride;
  }
  put(packet, 168, 8, 1);
  EXPECT_EQ(judge(packet).status, EntryStatus::BadStride);
  put(packet, 168, 8, -2);
  EXPECT_EQ(judge(packet).status, EntryStatus::BadStride);
}

TEST(WirePacket, DetessDamage) {
  auto table = head_damage(4);
  const std::vector<Damage> own = {
      {16, 1, 1, EntryStatus::UnsupportedDType, 17},
      {18, 1, 1, EntryStatus::UnsupportedRank, 18},
      {19, 1, 0, EntryStatus::BadChannelStorage, 19},
      {19, 1, 1, EntryStatus::BadChannelStorage, 19}, // blocked is always padded
      {20, 1, 1, EntryStatus::BadChannelFill, 20},
      {24, 8, 0x1008, EntryStatus::MisalignedAddress, 24},
      {32, 8, 0x9001, EntryStatus::MisalignedAddress, 32},
      {104, 8, 2, EntryStatus::BadTileShape, 104},
      {136, 4, 0, EntryStatus::BadAxes, 136},
      {140, 4, 1, EntryStatus::BadAxes, 140},
      {144, 4, -1, EntryStatus::BadAxes, 144},
      {148, 4, 0, EntryStatus::BadAxes, 148},
      {160, 8, 1, EntryStatus::ReservedNotZero, 160},
  };
  for (const Damage& damage : own)
    table.push_back(damage);
  std::erase_if(table, [](const Damage& d) { return d.offset == 18 && d.value == 2; });
  table.push_back({18, 1, 2, EntryStatus::UnsupportedRank, 18}); // blocked starts at rank three
  expect_damage(detess_packet(), table);
}

TEST(WirePacket, DetessCastDamage) {
  expect_damage(detesscast_packet(), {{12, 4, 2, EntryStatus::PacketLength, 8},
                                      {16, 1, 3, EntryStatus::UnsupportedDType, 16},
                                      {17, 1, 1, EntryStatus::UnsupportedDType, 17},
                                      {32, 8, 0x9002, EntryStatus::MisalignedAddress, 32},
                                      {168, 8, 10, EntryStatus::BadStride, 168},
                                      {168, 8, 8, EntryStatus::BadStride, 168},
                                      {184, 8, 36, EntryStatus::WrongCapacity, 48},
                                      {192, 8, 4, EntryStatus::ReservedNotZero, 192}});
}

TEST(WirePacket, ProductsBeyond64BitsAreRefused) {
  // Five extents of 2^31 - 1: neither side has a span.
  PacketBytes packet = tess_packet();
  put(packet, 18, 1, 5);
  for (std::size_t axis = 0; axis < 5; ++axis)
    put(packet, 56 + 8 * axis, 8, INT32_MAX);
  const Finding finding = judge(packet);
  EXPECT_EQ(finding.status, EntryStatus::WrongCapacity);
  EXPECT_EQ(finding.offset_bytes, 40U);
}

TEST(WirePacket, SpansMayTouchButNotMeetTheApertureEnd) {
  PacketBytes packet = cast_packet();
  put(packet, 32, 8, 0x1000 + 480);
  EXPECT_TRUE(judge(packet).ok());
  put(packet, 32, 8, 0x1000 - 290);
  EXPECT_TRUE(judge(packet).ok());
  put(packet, 32, 8, 0x100000000 - 290);
  EXPECT_TRUE(judge(packet).ok());
  put(packet, 32, 8, 0x100000000 - 288);
  EXPECT_EQ(judge(packet).status, EntryStatus::BeyondAperture);
}

TEST(WireRules, EntryNamesFollowTheOperation) {
  const std::vector<std::string> names = {"cast", "tess", "casttess", "detess", "detesscast"};
  for (std::uint16_t number = wire::kFirstOperation; number <= wire::kLastOperation; ++number) {
    const auto& rules = wire::rules_of(static_cast<wire::Operation>(number));
    EXPECT_EQ(static_cast<std::uint16_t>(rules.operation), number);
    EXPECT_EQ(rules.entry_symbol, "simaai_kernels_ev74_" + names[number - 1U] + "_v1");
  }
  EXPECT_EQ(wire::kCastTessRules.source_dtypes(), 0x1cU); // tags 2, 3, 4
  EXPECT_EQ(wire::kCastTessRules.destination_dtypes(), 0x4U);
}

} // namespace
} // namespace simaai::test
