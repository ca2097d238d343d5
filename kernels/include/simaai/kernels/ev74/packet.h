// SPDX-License-Identifier: LGPL-2.1-or-later
// EV74 packets as the host sees them: sealed bytes, device regions and the relocations of a packet
// that is not bound yet. The bytes themselves are specified in docs/wire-format.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>

#include <simaai/kernels/export.h>
#include <simaai/kernels/status.h>

namespace simaai::kernels::ev74 {

namespace detail {
/// Fills packet objects inside the library; users get them from encode functions only.
struct PacketAccess;
} // namespace detail

/// Size in bytes of the largest version 1 packet of any operation.
inline constexpr std::size_t kMaxPacketBytes = 216;
/// Alignment in bytes that the device requires of a packet's own storage.
inline constexpr std::size_t kPacketAlignment = 8;
/// End of the device's address domain: addresses are 64-bit fields below this value.
inline constexpr std::uint64_t kApertureBytes = std::uint64_t{1} << 32;

/// Memory as the device addresses it. Not a CPU pointer; whoever resolved the address keeps the
/// mapping alive until the device has retired every job that uses it.
struct DeviceRegion {
  std::uint64_t address = 0;
  std::uint64_t capacity_bytes = 0;
  friend constexpr bool operator==(const DeviceRegion&, const DeviceRegion&) noexcept = default;
};

/// What the device does with a region.
enum class RegionAccess : std::uint8_t { Read, Write };

/// An address slot that a driver or bind() still has to fill, and what the region behind it must
/// offer.
struct Relocation {
  std::uint32_t packet_offset = 0;   ///< 24 (source) or 32 (destination), bytes into the packet
  std::uint32_t alignment_bytes = 1; ///< of the address that goes there
  std::uint64_t length_bytes = 0;    ///< accessed from that address on
  RegionAccess access = RegionAccess::Read;
  friend constexpr bool operator==(const Relocation&, const Relocation&) noexcept = default;
};

/// An executable packet: both addresses are resolved and checked. Trivially copyable, inline
/// storage, aligned as the device requires. Reentrant.
class Invocation {
public:
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), size_}; }

private:
  friend struct detail::PacketAccess;
  Invocation() noexcept = default;

  alignas(kPacketAlignment) std::array<std::byte, kMaxPacketBytes> bytes_{};
  std::uint32_t size_ = 0;
};

/// A packet whose address slots are zero: never executable as it is. Its two relocations, source
/// first, tell what to write where. Trivially copyable, inline storage. Reentrant.
class RelocatablePacket {
public:
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {bytes_.data(), size_}; }
  [[nodiscard]] std::span<const Relocation, 2> relocations() const noexcept { return relocations_; }

private:
  friend struct detail::PacketAccess;
  RelocatablePacket() noexcept = default;

  alignas(kPacketAlignment) std::array<std::byte, kMaxPacketBytes> bytes_{};
  std::uint32_t size_ = 0;
  std::array<Relocation, 2> relocations_{};
};

/// The fields of a packet that decide which device can run it, as wire numbers (docs/wire-format.md).
struct PacketHead {
  std::uint16_t version = 0;
  std::uint16_t operation = 0;
  std::uint32_t flags = 0;
  std::uint8_t source_dtype = 0;      ///< dtype tag
  std::uint8_t destination_dtype = 0; ///< dtype tag
  friend constexpr bool operator==(const PacketHead&, const PacketHead&) noexcept = default;
};

/// Does not allocate. Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API PacketHead packet_head(const RelocatablePacket& packet) noexcept;

/// Reads back a relocatable packet of any operation from bytes that were stored or received.
///
/// Checks everything that the device checks except addresses: length, magic, version, operation,
/// tags, flags, reserved bytes, extents, tile geometry, strides, capacities, and that both address
/// slots are zero. Refusals: PacketTooSmall (fewer bytes than a packet head, or than the packet
/// states), PacketMalformed (axis: byte offset of the field). `bytes` needs no alignment. Does not
/// allocate. Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<RelocatablePacket, Error>
parse_relocatable(std::span<const std::byte> bytes) noexcept;

} // namespace simaai::kernels::ev74
