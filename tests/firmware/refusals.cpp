// SPDX-License-Identifier: LGPL-2.1-or-later
// Malformed packets of any operation, field by field.
#include "firmware/refusals.h"

#include <algorithm>
#include <cstring>

namespace simaai::test {
namespace {

using kernels::wire::EntryStatus;

/// A value of `width` bytes at an offset, and what it must lead to.
struct Spoiled {
  const char* what;
  std::size_t offset;
  std::size_t width;
  std::uint64_t value;
  EntryStatus status;
};

// Offsets as docs/wire-format.md has them.
constexpr Spoiled kHead[] = {
    {"magic", 0, 4, 0x34375646, EntryStatus::UnknownMagic},
    {"version", 4, 2, 2, EntryStatus::UnknownVersion},
    {"version zero", 4, 2, 0, EntryStatus::UnknownVersion},
    {"operation", 6, 2, 6, EntryStatus::WrongOperation},
    {"operation zero", 6, 2, 0, EntryStatus::WrongOperation},
    {"stated length", 8, 4, 200, EntryStatus::PacketLength},
    {"flag 2", 12, 4, 4, EntryStatus::UnsupportedFlags},
    {"flag 31", 12, 4, 0x80000000, EntryStatus::UnsupportedFlags},
    {"source dtype zero", 16, 1, 0, EntryStatus::UnsupportedDType},
    {"source dtype", 16, 1, 5, EntryStatus::UnsupportedDType},
    {"destination dtype", 17, 1, 9, EntryStatus::UnsupportedDType},
    {"rank zero", 18, 1, 0, EntryStatus::UnsupportedRank},
    {"rank", 18, 1, 7, EntryStatus::UnsupportedRank},
    {"channel storage", 19, 1, 3, EntryStatus::BadChannelStorage},
    {"fill presence", 21, 1, 2, EntryStatus::BadChannelFill},
    {"reserved halfword", 22, 2, 1, EntryStatus::ReservedNotZero},
    {"reserved halfword, upper bit", 22, 2, 0x8000, EntryStatus::ReservedNotZero},
    {"source address zero", 24, 8, 0, EntryStatus::UnboundAddress},
    {"source address beyond the aperture", 24, 8, 0x100000000, EntryStatus::BeyondAperture},
    {"source span beyond the aperture", 24, 8, 0xfffffff0, EntryStatus::BeyondAperture},
    {"source alignment", 24, 8, 0x10000001, EntryStatus::MisalignedAddress},
    {"destination address zero", 32, 8, 0, EntryStatus::UnboundAddress},
    {"destination address", 32, 8, 0x8000000000000000, EntryStatus::BeyondAperture},
    {"destination alignment", 32, 8, 0x80000001, EntryStatus::MisalignedAddress},
    {"source capacity", 40, 8, 1, EntryStatus::WrongCapacity},
    {"source capacity, all bits", 40, 8, UINT64_MAX, EntryStatus::WrongCapacity},
    {"destination capacity", 48, 8, 0, EntryStatus::WrongCapacity},
    {"destination capacity, all bits", 48, 8, UINT64_MAX, EntryStatus::WrongCapacity},
    {"extent zero", 56, 8, 0, EntryStatus::BadExtent},
    {"extent negative", 56, 8, UINT64_MAX, EntryStatus::BadExtent},
    {"extent", 56, 8, 0x80000000, EntryStatus::BadExtent},
    {"slot beyond the rank", 96, 8, 1, EntryStatus::ReservedNotZero},
};
constexpr Spoiled kCast[] = {
    {"source stride negative", 104, 8, UINT64_MAX - 3, EntryStatus::BadStride},
    {"source stride unaligned", 104, 8, 33, EntryStatus::BadStride},
    {"source stride zero", 104, 8, 0, EntryStatus::BadStride},
    {"source stride overlaps", 104, 8, 4, EntryStatus::BadStride},
    {"source stride slot beyond the rank", 144, 8, 4, EntryStatus::ReservedNotZero},
    {"destination stride negative", 152, 8, UINT64_MAX - 3, EntryStatus::BadStride},
    {"destination stride zero", 152, 8, 0, EntryStatus::BadStride},
    {"destination stride slot beyond the rank", 192, 8, 4, EntryStatus::ReservedNotZero},
    {"reserved word", 200, 8, 1, EntryStatus::ReservedNotZero},
};
constexpr Spoiled kTiled[] = {
    {"tile extent zero", 112, 8, 0, EntryStatus::BadTileShape},
    {"tile extent negative", 120, 8, UINT64_MAX, EntryStatus::BadTileShape},
    {"tile extent", 128, 8, 0x80000000, EntryStatus::BadTileShape},
    {"tile extent of an absent axis", 104, 8, 2, EntryStatus::BadTileShape},
    {"axis below -1", 136, 4, 0xfffffffe, EntryStatus::BadAxes},
    {"axis beyond the rank", 140, 4, 6, EntryStatus::BadAxes},
    {"axis twice", 144, 4, 1, EntryStatus::BadAxes},
    {"channel axis absent", 148, 4, 0xffffffff, EntryStatus::BadAxes},
    {"first reserved word", 152, 8, 1, EntryStatus::ReservedNotZero},
    {"second reserved word", 160, 8, 0x8000000000000000, EntryStatus::ReservedNotZero},
};
constexpr Spoiled kStrided[] = {
    {"stride negative", 168, 8, UINT64_MAX - 15, EntryStatus::BadStride},
    {"stride slot beyond the rank", 208, 8, 4, EntryStatus::ReservedNotZero},
};

class Spoiler {
public:
  Spoiler(DeviceCase& c, Ev74Entry entry) : case_(c), entry_(entry), good_(c.packet()) {}

  template <std::size_t N> void spoil_all(const Spoiled (&table)[N]) {
    for (const Spoiled& spoiled : table) {
      case_.packet() = good_;
      for (std::size_t i = 0; i < spoiled.width; ++i)
        case_.packet()[spoiled.offset + i] = static_cast<std::byte>(spoiled.value >> (8 * i));
      expect_refused(spoiled.what, spoiled.status);
    }
  }

  void overlap() {
    case_.packet() = good_;
    std::memcpy(case_.packet().data() + 32, case_.packet().data() + 24, 8);
    // Tiled ports need 16 bytes; the source of a case lies at phase 0.
    expect_refused("overlapping ranges", EntryStatus::Overlap);
  }

  void lengths() {
    for (std::size_t bytes = 0; bytes < good_.size() + 16; ++bytes) {
      if (bytes == good_.size())
        continue;
      case_.packet() = good_;
      case_.packet().resize(bytes);
      expect_refused("length", EntryStatus::PacketLength);
    }
    case_.packet() = good_;
  }

private:
  void expect_refused(const char* what, EntryStatus status) {
    model::DeviceModel device(immediate(4));
    EXPECT_TRUE(case_.run_leaves_output(device, entry_)) << what;
    const model::RunResult& result = case_.result();
    EXPECT_EQ(result.status, status) << what;
    EXPECT_EQ(result.counters, model::Counters{}) << what;
    EXPECT_EQ(result.fault_count, 0U) << what;
    EXPECT_EQ(result.route, firmware::Route::None) << what;
  }

  DeviceCase& case_;
  Ev74Entry entry_;
  const std::vector<std::byte> good_;
};

} // namespace

void expect_malformed_packets_refused(DeviceCase& c, Ev74Entry entry) {
  Spoiler spoiler(c, entry);
  const std::size_t bytes = c.packet().size();
  spoiler.spoil_all(kHead);
  if (bytes == 208)
    spoiler.spoil_all(kCast);
  else
    spoiler.spoil_all(kTiled);
  if (bytes == 216)
    spoiler.spoil_all(kStrided);
  spoiler.overlap();
  spoiler.lengths();
}

} // namespace simaai::test
