// SPDX-License-Identifier: LGPL-2.1-or-later
// Damaged packets through everything that reads packets: parse, text, and the device with the host's checks bypassed.
// packet_fuzz SEED runs|seconds N
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <simaai/kernels/ev74/cast.h>
#include <simaai/kernels/ev74/casttess.h>
#include <simaai/kernels/ev74/describe.h>
#include <simaai/kernels/ev74/detess.h>
#include <simaai/kernels/ev74/detesscast.h>
#include <simaai/kernels/ev74/tess.h>

#include "ev74/generate.h"
#include "firmware/model/device_model.h"
#include "oracle/random_tensor.h"

namespace {

namespace k = simaai::kernels;
using k::DType;
using simaai::oracle::Random;
using simaai::test::CaseRules;
using Bytes = std::vector<std::byte>;
using Pair = std::pair<DType, DType>;

constexpr std::size_t kSourceBytes = std::size_t{1} << 14;
constexpr std::size_t kDestinationBytes = std::size_t{1} << 14;
constexpr std::byte kUntouched{0x7e};

[[noreturn]] void fail(const char* what, const Bytes& packet) {
  std::printf("FINDING: %s\n%s", what, k::ev74::describe_packet(packet).c_str());
  for (const std::byte value : packet)
    std::printf("%02x", std::to_integer<unsigned>(value));
  std::printf("\n");
  (void)std::fflush(stdout);
  std::abort();
}

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

/// A valid packet of any operation, addresses still zero.
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

/// The device of one run of the program. Both regions are bounded by unmapped space.
class Target {
public:
  explicit Target(std::uint64_t seed)
      : model_([seed] {
          simaai::model::ModelConfig config;
          config.dma = simaai::model::DmaEngine::Deferred;
          config.seed = seed;
          return config;
        }()),
        source_(kSourceBytes, std::byte{0x11}), destination_(kDestinationBytes, kUntouched),
        source_at_(*model_.map(source_.data(), source_.size(), simaai::model::RegionAccess::Read)),
        destination_at_(*model_.map(destination_.data(), destination_.size(),
                                    simaai::model::RegionAccess::ReadWrite)) {}

  [[nodiscard]] std::uint64_t source() const { return source_at_; }
  [[nodiscard]] std::uint64_t destination() const { return destination_at_; }

  void run(const Bytes& packet) {
    const simaai::model::RunResult result = model_.run(packet);
    // From NoWorker on, statuses tell of execution: an address that is not mapped shows only there.
    if (result.status != k::wire::EntryStatus::Completed &&
        result.status < k::wire::EntryStatus::NoWorker) {
      const auto& counters = result.counters;
      if (counters.dma_calls_in + counters.dma_calls_out + counters.typed_load_bytes +
              counters.typed_store_bytes !=
          0)
        fail("a refused packet moved data", packet);
      for (const std::byte value : destination_)
        if (value != kUntouched)
          fail("a refused packet wrote", packet);
      return;
    }
    // Ranges that are not mapped are the caller's doing, and so is what follows from them; everything else is the
    // firmware's.
    const std::size_t told = std::min<std::uint64_t>(result.fault_count, result.faults.size());
    const std::span<const simaai::model::Fault> faults(result.faults.data(), told);
    const bool mapped = std::none_of(faults.begin(), faults.end(), [](const auto& fault) {
      return fault.kind == simaai::model::FaultKind::Unmapped ||
             fault.kind == simaai::model::FaultKind::AccessDenied;
    });
    if (mapped && !faults.empty())
      fail(simaai::model::fault_name(faults[0].kind), packet);
    std::fill(destination_.begin(), destination_.end(), kUntouched);
  }

private:
  simaai::model::DeviceModel model_;
  Bytes source_;
  Bytes destination_;
  std::uint64_t source_at_;
  std::uint64_t destination_at_;
};

/// The bound on what the model is asked to do: damage can make a packet large and valid.
bool is_small(const Bytes& packet) {
  if (packet.size() < 56)
    return true;
  std::uint64_t most = 0;
  for (const std::size_t at : {40U, 48U}) {
    std::uint64_t value = 0;
    for (std::size_t i = 8; i-- > 0;)
      value = value << 8 | std::to_integer<std::uint64_t>(packet[at + i]);
    most = std::max(most, value);
  }
  return most <= kSourceBytes / 2;
}

void run_once(Target& target, Random& random) {
  Bytes packet = any_packet(random);
  damage(packet, random);
  const auto parsed = k::ev74::parse_relocatable(packet);
  const std::string text = k::ev74::describe_packet(packet);
  const bool waits = text.find("verdict: valid, waits") != std::string::npos;
  if (std::holds_alternative<k::ev74::RelocatablePacket>(parsed)) {
    const auto again = std::get<k::ev74::RelocatablePacket>(parsed).bytes();
    if (!waits || !std::equal(again.begin(), again.end(), packet.begin(), packet.end()))
      fail("a packet that was parsed is not the same any more", packet);
  } else if (waits && is_small(packet)) {
    fail("a packet is called valid and cannot be parsed", packet);
  }
  if (packet.size() >= 40 && !random.one_in(8)) {
    store_u64(packet, 24, target.source() + 16 * random.below(4));
    store_u64(packet, 32, target.destination() + 16 * random.below(4));
    if (random.one_in(4)) {
      const std::size_t slot = 24 + 8 * random.below(2);
      const std::uint64_t address = random.next();
      store_u64(packet, slot, address >> random.below(64));
    }
  }
  if (is_small(packet))
    target.run(packet);
}

} // namespace

int main(int count, char** values) {
  if (count != 4)
    return 2;
  const std::uint64_t seed = std::strtoull(values[1], nullptr, 10);
  Random random(seed);
  Target target(seed);
  const unsigned long limit = std::strtoul(values[3], nullptr, 10);
  const bool timed = std::strcmp(values[2], "seconds") == 0;
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limit);
  unsigned long runs = 0;
  while (timed ? std::chrono::steady_clock::now() < end : runs < limit) {
    run_once(target, random);
    ++runs;
  }
  std::printf("%lu packets without a finding\n", runs);
  return 0;
}
