// SPDX-License-Identifier: LGPL-2.1-or-later
// Messages between the transport unix: and the device server simaai-ev74d. Both ends run on one machine, so that fields
// are in its byte order; every message is one packet of a SOCK_SEQPACKET socket. docs/runtime.md tells the story.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <simaai/kernels/ev74/packet.h>
#include <simaai/runtime/capability.h>

namespace simaai::runtime::protocol {

inline constexpr std::uint32_t kMagic = 0x64373465; // "e47d" in memory of a little-endian machine
inline constexpr std::uint16_t kVersion = 3;

enum class MessageType : std::uint16_t {
  Hello = 1,      ///< server to client, first
  Submit = 2,     ///< client to server, with one or two descriptors of memory
  Completion = 3, ///< server to client
};

struct Header {
  std::uint32_t magic;
  std::uint16_t version;
  MessageType type;
  std::uint32_t bytes; ///< of the whole message
  std::uint32_t reserved;
};
static_assert(sizeof(Header) == 16);

struct CapabilityRecord {
  std::uint16_t operation;
  std::uint16_t version;
  std::uint32_t flags;
  std::uint32_t source_dtypes;
  std::uint32_t destination_dtypes;
};
static_assert(sizeof(CapabilityRecord) == 16);

struct Hello {
  Header header;
  std::uint32_t queue_limit; ///< jobs of one client that may be in flight
  std::uint32_t capability_count;
  CapabilityRecord capabilities[CapabilityTable::kMaxEntries];
};
static_assert(sizeof(Hello) == 24 + 16 * CapabilityTable::kMaxEntries);

/// The server writes the device address of (fd, offset) at packet_offset.
struct RelocationRecord {
  std::uint32_t packet_offset; ///< 24, then 32
  std::uint32_t fd_index;      ///< into the descriptors of the message
  std::uint64_t offset_bytes;
  std::uint64_t length_bytes;
  std::uint32_t writes; ///< 0: read, 1: written
  std::uint32_t reserved;
};
static_assert(sizeof(RelocationRecord) == 32);

inline constexpr std::uint32_t kMaxDescriptors = 2;

struct Submit {
  Header header;
  std::uint64_t job; ///< the client's number, repeated in the completion
  std::uint32_t packet_bytes;
  std::uint32_t fd_count;
  std::uint32_t processor; ///< a hint: that the client runs on
  std::uint32_t reserved;
  RelocationRecord relocations[2]; ///< source, destination
  std::byte packet[kernels::ev74::kMaxPacketBytes];
};
static_assert(sizeof(Submit) == 40 + 2 * 32 + 216);

/// Why the server did not run a job (JobOutcome::Refused); Completion::detail. Never renumbered.
enum class RefusalReason : std::uint32_t {
  BadPacket = 1,    ///< the packet, or relocations that are not those of the packet
  BadMemory = 2,    ///< not a DMA-BUF or a sealed memfd, too short, or not writable
  Overlap = 3,      ///< both ports share bytes of one object
  Misaligned = 4,   ///< an offset that the port's alignment does not admit
  AddressSpace = 5, ///< no room left in the client's device address space
  Unmappable = 6,   ///< the object cannot be mapped
};

struct CompletionRecord {
  Header header;
  std::uint64_t job;
  std::uint32_t outcome; ///< JobOutcome
  std::uint32_t entry_status;
  std::uint32_t detail;
  std::uint32_t processor; ///< a hint: that the server ran the job on
  std::uint64_t dma_calls_in;
  std::uint64_t dma_calls_out;
  std::uint64_t dma_bytes_in;
  std::uint64_t dma_bytes_out;
  std::uint64_t typed_load_bytes;
  std::uint64_t typed_store_bytes;
  std::uint64_t cycles;
  std::uint64_t started_ns; ///< CLOCK_MONOTONIC; both 0 where nothing was run
  std::uint64_t done_ns;
  std::uint32_t workers;
  std::uint32_t route;
};
static_assert(sizeof(CompletionRecord) == 40 + 9 * 8 + 8);

template <class Message> [[nodiscard]] constexpr Header header_of(MessageType type) noexcept {
  static_assert(std::is_trivially_copyable_v<Message>);
  return {kMagic, kVersion, type, sizeof(Message), 0};
}

/// True for a received message of `bytes` bytes that is what its header says, of that type.
template <class Message>
[[nodiscard]] constexpr bool is(const Message& message, MessageType type,
                                std::size_t bytes) noexcept {
  return bytes == sizeof(Message) && message.header.magic == kMagic &&
         message.header.version == kVersion && message.header.type == type &&
         message.header.bytes == bytes && message.header.reserved == 0;
}

} // namespace simaai::runtime::protocol
