// SPDX-License-Identifier: LGPL-2.1-or-later
// The tests' own reading of an EV74 packet, and of what a packet must say for two tensor specs.
// Shares nothing with the codec.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string_view>
#include <vector>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::test {

/// Every field of a packet, in wire order. Fields that a packet lacks are zero.
struct PacketFields {
  std::uint32_t magic = 0;
  std::uint16_t version = 0;
  std::uint16_t operation = 0;
  std::uint32_t packet_bytes = 0;
  std::uint32_t flags = 0;
  std::uint8_t source_dtype = 0;
  std::uint8_t destination_dtype = 0;
  std::uint8_t rank = 0;
  std::uint8_t channel_storage = 0;
  std::uint8_t fill = 0;
  std::uint8_t fill_present = 0;
  std::uint16_t head_zero = 0;
  std::uint64_t source_address = 0;
  std::uint64_t destination_address = 0;
  std::uint64_t source_capacity = 0;
  std::uint64_t destination_capacity = 0;
  std::array<std::int64_t, 6> shape{};
  std::array<std::int64_t, 6> source_strides{};      // cast
  std::array<std::int64_t, 6> destination_strides{}; // cast
  std::uint64_t cast_zero = 0;                       // cast
  std::array<std::int64_t, 4> tile_shape{};          // tiled operations
  std::array<std::int32_t, 4> axes{};                // tiled operations
  std::array<std::uint64_t, 2> tiled_zero{};         // tiled operations
  std::array<std::int64_t, 6> linear_strides{};      // 216 bytes only
  friend bool operator==(const PacketFields&, const PacketFields&) = default;
  friend std::ostream& operator<<(std::ostream& out, const PacketFields& fields);
};

/// Reads 168, 208 or 216 bytes; the operation number decides how. Throws std::runtime_error where
/// the length does not go with the operation.
PacketFields read_packet(std::span<const std::byte> packet);

/// Bytes of "45 56 37 34 ..."; blanks and line ends between bytes are free, "00*8" repeats a byte.
std::vector<std::byte> from_hex(std::string_view text);

/// What a packet of operation `number` with zero address slots must say.
PacketFields expected_packet(std::uint16_t number, const kernels::TensorSpec& source,
                             const kernels::TensorSpec& destination,
                             std::optional<std::int8_t> padding);

} // namespace simaai::test
