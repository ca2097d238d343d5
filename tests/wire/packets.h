// SPDX-License-Identifier: LGPL-2.1-or-later
// Valid packets written byte by byte, for tests that damage one field at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace simaai::test {

using PacketBytes = std::vector<std::byte>;

/// Overwrites `width` bytes at `offset` with a little-endian value.
inline void put(PacketBytes& packet, std::size_t offset, std::size_t width, std::int64_t value) {
  for (std::size_t i = 0; i < width; ++i)
    packet[offset + i] =
        static_cast<std::byte>((static_cast<std::uint64_t>(value) >> (8 * i)) & 0xff);
}

namespace detail {
inline PacketBytes head(std::size_t bytes, std::int64_t operation, std::int64_t flags, int from,
                        int to, int storage, std::int64_t from_span, std::int64_t to_span) {
  PacketBytes packet(bytes);
  put(packet, 0, 4, 0x34375645);
  put(packet, 4, 2, 1);
  put(packet, 6, 2, operation);
  put(packet, 8, 4, static_cast<std::int64_t>(bytes));
  put(packet, 12, 4, flags);
  put(packet, 16, 1, from);
  put(packet, 17, 1, to);
  put(packet, 18, 1, 3);
  put(packet, 19, 1, storage);
  put(packet, 24, 8, 0x1000);
  put(packet, 32, 8, 0x9000);
  put(packet, 40, 8, from_span);
  put(packet, 48, 8, to_span);
  put(packet, 56, 8, 2);
  put(packet, 64, 8, 3);
  put(packet, 72, 8, 20);
  return packet;
}

/// Tile 1, 2, 2, 16 over axes -1, 0, 1, 2.
inline void tiles(PacketBytes& packet) {
  const std::int64_t tile[] = {1, 2, 2, 16};
  for (std::size_t slot = 0; slot < 4; ++slot) {
    put(packet, 104 + 8 * slot, 8, tile[slot]);
    put(packet, 136 + 4 * slot, 4, static_cast<std::int64_t>(slot) - 1);
  }
}
} // namespace detail

// All of shape 2 x 3 x 20, source at 0x1000, destination at 0x9000.

/// Cast, float32 (dense) to bfloat16 (rows 50 bytes apart).
inline PacketBytes cast_packet() {
  PacketBytes packet = detail::head(208, 1, 0, 3, 2, 0, 480, 290);
  const std::int64_t from[] = {240, 80, 4};
  const std::int64_t to[] = {150, 50, 2};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    put(packet, 104 + 8 * axis, 8, from[axis]);
    put(packet, 152 + 8 * axis, 8, to[axis]);
  }
  return packet;
}

/// Tess, int8 (dense) to padded tiles, filled with 7. Channel tiles of 16 and 4, both stored as 16:
/// (4 + 2) pixels of 16 bytes, twice.
inline PacketBytes tess_packet() {
  PacketBytes packet = detail::head(168, 2, 0, 1, 1, 2, 120, 192);
  put(packet, 20, 1, 7);
  put(packet, 21, 1, 1);
  detail::tiles(packet);
  return packet;
}

/// CastTess, float16 (rows 42 bytes apart) to compact tiles. Channel tiles of 16: 4 and 2 pixels of
/// 32 bytes; of 4: 32 and 16 bytes.
inline PacketBytes casttess_packet() {
  PacketBytes packet = detail::head(216, 3, 1, 4, 2, 1, 250, 240);
  detail::tiles(packet);
  put(packet, 168, 8, 126);
  put(packet, 176, 8, 42);
  put(packet, 184, 8, 2);
  return packet;
}

/// Detess, channel-blocked bfloat16 to dense bfloat16.
inline PacketBytes detess_packet() {
  PacketBytes packet = detail::head(168, 4, 2, 2, 2, 2, 384, 240);
  detail::tiles(packet);
  return packet;
}

/// DetessCast, channel-blocked bfloat16 to float32 with channels outermost, two pixels of gap.
inline PacketBytes detesscast_packet() {
  PacketBytes packet = detail::head(216, 5, 3, 2, 3, 2, 384, 632);
  detail::tiles(packet);
  put(packet, 168, 8, 12);
  put(packet, 176, 8, 4);
  put(packet, 184, 8, 32);
  return packet;
}

} // namespace simaai::test
