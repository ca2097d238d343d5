// SPDX-License-Identifier: LGPL-2.1-or-later
// Generated requests, encoded and spoiled.
#include "damaged_packet.h"

#include <utility>
#include <variant>

#include <simaai/kernels/ev74/cast.h>
#include <simaai/kernels/ev74/casttess.h>
#include <simaai/kernels/ev74/detess.h>
#include <simaai/kernels/ev74/detesscast.h>
#include <simaai/kernels/ev74/tess.h>

#include "ev74/generate.h"

namespace simaai::test {
namespace {

namespace k = kernels;
using k::DType;
using oracle::Random;
using Bytes = std::vector<std::byte>;
using Pair = std::pair<DType, DType>;

template <class Request, class Plan>
Bytes encode(
    const CaseRules& rules, std::size_t index, Random& random,
    std::variant<Plan, k::Error> (*admit)(const Request&) noexcept,
    std::variant<k::ev74::RelocatablePacket, k::Error> (*to_packet)(const Plan&) noexcept) {
  const auto made = simaai::test::generate_case(rules, index, random);
  Request request;
  request.inputs = {&made.source, 1};
  request.outputs = {&made.destination, 1};
  if constexpr (requires { request.params.int8_channel_padding; })
    request.params.int8_channel_padding = made.padding;
  const auto admitted = admit(request);
  const auto encoded = to_packet(std::get<Plan>(admitted));
  const auto bytes = std::get<k::ev74::RelocatablePacket>(encoded).bytes();
  return {bytes.begin(), bytes.end()};
}

} // namespace

Bytes any_packet(Random& random) {
  static constexpr Pair kCasts[] = {{DType::Float32, DType::BFloat16},
                                    {DType::BFloat16, DType::Float32}};
  static constexpr Pair kSame[] = {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}};
  static constexpr Pair kDown[] = {{DType::Float32, DType::BFloat16},
                                   {DType::Float16, DType::BFloat16},
                                   {DType::BFloat16, DType::BFloat16}};
  static constexpr Pair kUp[] = {{DType::BFloat16, DType::Float32},
                                 {DType::BFloat16, DType::BFloat16}};
  const std::size_t index = random.below(1000);
  switch (random.below(5)) {
  case 0:
    return encode({kCasts, false, false, false, false, 0}, index, random,
                  k::ops::cast::check_inference, k::ev74::cast::encode_relocatable);
  case 1:
    return encode({kSame, false, true, false, true, 1}, index, random,
                  k::ops::tess::check_inference, k::ev74::tess::encode_relocatable);
  case 2:
    return encode({kDown, false, true, false, false, 1}, index, random,
                  k::ops::casttess::check_inference, k::ev74::casttess::encode_relocatable);
  case 3:
    return encode({kSame, true, false, true, false, 1}, index, random,
                  k::ops::detess::check_inference, k::ev74::detess::encode_relocatable);
  default:
    return encode({kUp, true, false, true, false, 1}, index, random,
                  k::ops::detesscast::check_inference, k::ev74::detesscast::encode_relocatable);
  }
}

void store_u64(Bytes& packet, std::size_t at, std::uint64_t value) {
  for (std::size_t i = 0; i < 8; ++i)
    packet[at + i] = static_cast<std::byte>(value >> (8 * i));
}

void damage(Bytes& packet, Random& random) {
  static constexpr std::uint64_t kTempting[] = {0,
                                                1,
                                                2,
                                                3,
                                                15,
                                                16,
                                                17,
                                                0x7f,
                                                0x80,
                                                0xff,
                                                0x7fff,
                                                0xffff,
                                                0x7fffffff,
                                                0x80000000,
                                                0xffffffff,
                                                0x100000000,
                                                0x7fffffffffffffff,
                                                UINT64_MAX};
  for (std::uint64_t left = random.below(5); left > 0 && !packet.empty(); --left) {
    const std::size_t at = random.below(packet.size());
    switch (random.below(6)) {
    case 0:
      packet[at] = static_cast<std::byte>(random.next());
      break;
    case 1:
      if (packet.size() >= 8) {
        // Drawn in an order that no compiler chooses: a seed means the same packets everywhere.
        const std::size_t word = random.below(packet.size() / 8) * 8;
        store_u64(packet, word, kTempting[random.below(std::size(kTempting))]);
      }
      break;
    case 2:
      packet.resize(at);
      break;
    case 3:
      packet.insert(packet.end(), random.below(60), std::byte{0});
      break;
    case 4:
      std::swap(packet[at], packet[random.below(packet.size())]);
      break;
    default:
      packet[at] ^= static_cast<std::byte>(1U << random.below(8));
      break;
    }
  }
}

std::uint64_t load_u64(const Bytes& packet, std::size_t at) {
  std::uint64_t value = 0;
  for (std::size_t i = 8; i-- > 0;)
    value = value << 8 | std::to_integer<std::uint64_t>(packet[at + i]);
  return value;
}

} // namespace simaai::test
