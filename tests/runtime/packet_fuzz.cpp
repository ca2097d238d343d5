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

#include <simaai/kernels/ev74/describe.h>
#include <simaai/kernels/ev74/packet.h>

#include "damaged_packet.h"
#include "firmware/model/device_model.h"
#include "oracle/random_tensor.h"

namespace {

namespace k = simaai::kernels;
using simaai::oracle::Random;
using simaai::test::any_packet;
using simaai::test::damage;
using simaai::test::load_u64;
using simaai::test::store_u64;
using Bytes = std::vector<std::byte>;

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
  return packet.size() < 56 ||
         std::max(load_u64(packet, 40), load_u64(packet, 48)) <= kSourceBytes / 2;
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
