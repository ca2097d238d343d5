// SPDX-License-Identifier: LGPL-2.1-or-later
// Reads a packet without operating system or library: linked, not run. SIMAAI_TEST_ALLOCATES adds
// the negative control.
#include <cstddef>
#include <cstdint>

#include "wire/check.h"
#include "wire/descriptor.h"

// What a compiler expects of every environment.
extern "C" void* memcpy(void* to, const void* from, std::size_t bytes) {
  auto* target = static_cast<volatile unsigned char*>(to);
  const auto* source = static_cast<const unsigned char*>(from);
  for (std::size_t i = 0; i < bytes; ++i)
    target[i] = source[i];
  return to;
}
extern "C" void* memset(void* to, int value, std::size_t bytes) {
  auto* target = static_cast<volatile unsigned char*>(to);
  for (std::size_t i = 0; i < bytes; ++i)
    target[i] = static_cast<unsigned char>(value);
  return to;
}

namespace wire = simaai::kernels::wire;

extern "C" {
volatile std::uint32_t packet_status;
#ifdef SIMAAI_TEST_ALLOCATES
std::uint32_t* volatile kept; // an allocation that nobody sees would be optimised away
#endif
std::byte packet_bytes_in[wire::kMaxPacketBytes];
std::byte packet_bytes_out[wire::kMaxPacketBytes];

void _start() {
  wire::Descriptor descriptor;
  wire::Finding finding = wire::read(packet_bytes_in, wire::kMaxPacketBytes, descriptor);
  if (finding.ok())
    finding = wire::check_geometry(descriptor);
  if (finding.ok())
    finding = wire::check_addresses(descriptor);
  wire::write(descriptor, packet_bytes_out);
  packet_status = static_cast<std::uint32_t>(finding.status);
#ifdef SIMAAI_TEST_ALLOCATES
  kept = new std::uint32_t(packet_status);
#endif
  for (;;)
    packet_status = packet_status + 1;
}
}
