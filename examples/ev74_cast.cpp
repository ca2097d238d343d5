// SPDX-License-Identifier: LGPL-2.1-or-later
// Cast on the EV74: one admission, then a packet whose addresses a transport fills in later. No
// device is needed to run this.
#include <cstdio>
#include <variant>

#include <simaai/kernels/ev74/cast.h>

#include "print_bytes.h"

namespace k = simaai::kernels;
namespace ev = k::ev74::cast;

namespace {

k::Status run() {
  const k::TensorSpec floats{{2, 3}, k::DType::Float32};
  const k::TensorSpec halves{{2, 3}, k::DType::BFloat16};
  const auto checked = ev::check_inference(ev::Request{{&floats, 1}, {&halves, 1}});
  if (const auto* refused = std::get_if<k::Error>(&checked))
    return *refused;
  const auto& plan = std::get<ev::Plan>(checked);

  const auto encoded = ev::encode_relocatable(plan);
  if (const auto* refused = std::get_if<k::Error>(&encoded))
    return *refused;
  const auto& packet = std::get<k::ev74::RelocatablePacket>(encoded);
  print_bytes("relocatable packet", packet.bytes());
  for (const k::ev74::Relocation& slot : packet.relocations())
    std::printf("slot at %u: %llu bytes to %s, aligned to %u\n", slot.packet_offset,
                static_cast<unsigned long long>(slot.length_bytes),
                slot.access == k::ev74::RegionAccess::Read ? "read" : "write",
                slot.alignment_bytes);

  // With addresses at hand, bind() checks them and gives a packet that may be submitted.
  const auto bound = ev::bind(packet, {.address = 0x1000, .capacity_bytes = 4096},
                              {.address = 0x2000, .capacity_bytes = 4096});
  if (const auto* refused = std::get_if<k::Error>(&bound))
    return *refused;
  print_bytes("address slots", std::get<k::ev74::Invocation>(bound).bytes().subspan(24, 16));

  const auto refused = ev::bind(packet, {.address = 0x1000, .capacity_bytes = 4096},
                                {.address = 0x1008, .capacity_bytes = 4096});
  if (const auto* error = std::get_if<k::Error>(&refused))
    std::printf("refused: %s\n", error->message().c_str());
  return {};
}

} // namespace

int main() {
  const k::Status status = run();
  if (!status.ok())
    std::fprintf(stderr, "ev74_cast: %s\n", status.message().c_str());
  return status.ok() ? 0 : 1;
}
