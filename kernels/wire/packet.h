// SPDX-License-Identifier: LGPL-2.1-or-later
// EV74 packet version 1: sizes, field offsets, tags and flags. Freestanding C++17. No C++ struct is
// laid over a packet, because 64-bit members are not aligned alike on all targets; every field is
// loaded and stored by its offset (bytes.h). Described in docs/wire-format.md.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simaai::kernels::wire {

inline constexpr std::uint32_t kMagic = 0x34375645; // "EV74" in memory
inline constexpr std::uint16_t kVersion = 1;
inline constexpr std::uint32_t kMaxRank = 6;
inline constexpr std::uint32_t kTileAxes = 4; // D, H, W, C
inline constexpr std::uint64_t kApertureBytes = std::uint64_t{1} << 32;
inline constexpr std::int64_t kMaxExtent = 0x7fffffff;
inline constexpr std::uint32_t kPacketAlignment = 8;
inline constexpr std::uint32_t kTiledAlignment = 16; // of the tiled port's address

enum class Operation : std::uint16_t {
  Cast = 1,
  Tess = 2,
  CastTess = 3,
  Detess = 4,
  DetessCast = 5,
};

enum class DTypeTag : std::uint8_t { Int8 = 1, BFloat16 = 2, Float32 = 3, Float16 = 4 };

enum class ChannelStorageTag : std::uint8_t { None = 0, Compact = 1, PadTo16 = 2 };

inline constexpr std::uint32_t kFlagStrided = 1u << 0;  // byte strides of the linear port follow
inline constexpr std::uint32_t kFlagCBlocked = 1u << 1; // the tiled port is channel-blocked
inline constexpr std::uint32_t kKnownFlags = kFlagStrided | kFlagCBlocked;

// Common head: offset of each field, bytes.
inline constexpr std::uint32_t kMagicOffset = 0;                // u32
inline constexpr std::uint32_t kVersionOffset = 4;              // u16
inline constexpr std::uint32_t kOperationOffset = 6;            // u16
inline constexpr std::uint32_t kPacketBytesOffset = 8;          // u32
inline constexpr std::uint32_t kFlagsOffset = 12;               // u32
inline constexpr std::uint32_t kSourceDTypeOffset = 16;         // u8
inline constexpr std::uint32_t kDestinationDTypeOffset = 17;    // u8
inline constexpr std::uint32_t kRankOffset = 18;                // u8
inline constexpr std::uint32_t kChannelStorageOffset = 19;      // u8
inline constexpr std::uint32_t kChannelFillOffset = 20;         // u8
inline constexpr std::uint32_t kChannelFillPresentOffset = 21;  // u8
inline constexpr std::uint32_t kHeadReservedOffset = 22;        // u16, zero
inline constexpr std::uint32_t kSourceAddressOffset = 24;       // u64
inline constexpr std::uint32_t kDestinationAddressOffset = 32;  // u64
inline constexpr std::uint32_t kSourceCapacityOffset = 40;      // u64
inline constexpr std::uint32_t kDestinationCapacityOffset = 48; // u64
inline constexpr std::uint32_t kShapeOffset = 56;               // i64[6]
inline constexpr std::uint32_t kHeadBytes = 104;

// Cast.
inline constexpr std::uint32_t kCastSourceStridesOffset = 104;      // i64[6]
inline constexpr std::uint32_t kCastDestinationStridesOffset = 152; // i64[6]
inline constexpr std::uint32_t kCastReservedOffset = 200;           // u64, zero
inline constexpr std::uint32_t kCastPacketBytes = 208;

// Tess, CastTess, Detess, DetessCast.
inline constexpr std::uint32_t kTileShapeOffset = 104;     // i64[4]
inline constexpr std::uint32_t kAxesOffset = 136;          // i32[4]
inline constexpr std::uint32_t kTiledReservedOffset = 152; // u64[2], zero
inline constexpr std::uint32_t kTiledPacketBytes = 168;
inline constexpr std::uint32_t kLinearStridesOffset = 168; // i64[6], with STRIDED only
inline constexpr std::uint32_t kStridedPacketBytes = 216;

inline constexpr std::uint32_t kMaxPacketBytes = kStridedPacketBytes;

/// Storage for any packet of this version.
struct PacketStorage {
  alignas(kPacketAlignment) std::byte bytes[kMaxPacketBytes];
};

// Fields follow one another without gaps, each aligned to its width.
namespace detail {
constexpr bool follows(std::uint32_t offset, std::uint32_t previous, std::uint32_t previous_bytes,
                       std::uint32_t width) {
  return offset == previous + previous_bytes && offset % width == 0;
}
} // namespace detail
static_assert(sizeof(Operation) == 2 && sizeof(DTypeTag) == 1 && sizeof(ChannelStorageTag) == 1);
static_assert(kMagicOffset == 0);
static_assert(detail::follows(kVersionOffset, kMagicOffset, 4, 2));
static_assert(detail::follows(kOperationOffset, kVersionOffset, 2, 2));
static_assert(detail::follows(kPacketBytesOffset, kOperationOffset, 2, 4));
static_assert(detail::follows(kFlagsOffset, kPacketBytesOffset, 4, 4));
static_assert(detail::follows(kSourceDTypeOffset, kFlagsOffset, 4, 1));
static_assert(detail::follows(kDestinationDTypeOffset, kSourceDTypeOffset, 1, 1));
static_assert(detail::follows(kRankOffset, kDestinationDTypeOffset, 1, 1));
static_assert(detail::follows(kChannelStorageOffset, kRankOffset, 1, 1));
static_assert(detail::follows(kChannelFillOffset, kChannelStorageOffset, 1, 1));
static_assert(detail::follows(kChannelFillPresentOffset, kChannelFillOffset, 1, 1));
static_assert(detail::follows(kHeadReservedOffset, kChannelFillPresentOffset, 1, 2));
static_assert(detail::follows(kSourceAddressOffset, kHeadReservedOffset, 2, 8));
static_assert(detail::follows(kDestinationAddressOffset, kSourceAddressOffset, 8, 8));
static_assert(detail::follows(kSourceCapacityOffset, kDestinationAddressOffset, 8, 8));
static_assert(detail::follows(kDestinationCapacityOffset, kSourceCapacityOffset, 8, 8));
static_assert(detail::follows(kShapeOffset, kDestinationCapacityOffset, 8, 8));
static_assert(detail::follows(kHeadBytes, kShapeOffset, 8 * kMaxRank, 8));
static_assert(kCastSourceStridesOffset == kHeadBytes);
static_assert(detail::follows(kCastDestinationStridesOffset, kCastSourceStridesOffset, 8 * kMaxRank,
                              8));
static_assert(detail::follows(kCastReservedOffset, kCastDestinationStridesOffset, 8 * kMaxRank, 8));
static_assert(detail::follows(kCastPacketBytes, kCastReservedOffset, 8, 8));
static_assert(kTileShapeOffset == kHeadBytes);
static_assert(detail::follows(kAxesOffset, kTileShapeOffset, 8 * kTileAxes, 4));
static_assert(detail::follows(kTiledReservedOffset, kAxesOffset, 4 * kTileAxes, 8));
static_assert(detail::follows(kTiledPacketBytes, kTiledReservedOffset, 8 * 2, 8));
static_assert(kLinearStridesOffset == kTiledPacketBytes);
static_assert(detail::follows(kStridedPacketBytes, kLinearStridesOffset, 8 * kMaxRank, 8));
static_assert(kCastPacketBytes <= kMaxPacketBytes && kMaxPacketBytes % kPacketAlignment == 0);
static_assert(sizeof(PacketStorage) == kMaxPacketBytes &&
              alignof(PacketStorage) == kPacketAlignment);

} // namespace simaai::kernels::wire
