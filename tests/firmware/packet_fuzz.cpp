// SPDX-License-Identifier: LGPL-2.1-or-later
// Damaged packets on the device model: whatever the bytes, an entry refuses without a transfer or
// runs without a fault. Usage: firmware_packet_fuzz SEED (runs | seconds) COUNT
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "firmware/cast/cast_cases.h"
#include "firmware/detess/reader_cases.h"
#include "firmware/model/entries.h"
#include "firmware/model/entry_symbols.h"
#include "firmware/tiles/tile_cases.h"
#include "oracle/random_tensor.h"

namespace simaai::test {
namespace {

using kernels::DType;
using kernels::wire::EntryStatus;
using oracle::Random;

const TileWriter kTess{&encode_tess,
                       {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}}};
const TileWriter kCastTess{&encode_casttess,
                           {{DType::Float32, DType::BFloat16},
                            {DType::Float16, DType::BFloat16},
                            {DType::BFloat16, DType::BFloat16}}};

const TileReader kDetess{&encode_detess,
                         &simaai_kernels_ev74_detess_v1,
                         {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}}};
const TileReader kDetessCast{
    &encode_detesscast,
    &simaai_kernels_ev74_detesscast_v1,
    {{DType::BFloat16, DType::Float32}, {DType::BFloat16, DType::BFloat16}}};

DeviceCase any_case(std::uint64_t number) {
  switch (number % 5) {
  case 0:
    return generated_cast(number % 300);
  case 1:
    return generated_tiles(kTess, number % 300);
  case 2:
    return generated_tiles(kCastTess, number % 300);
  case 3:
    return generated_case(kDetess, number % 300);
  default:
    return generated_case(kDetessCast, number % 300);
  }
}

/// A value that is near a limit as often as not.
std::uint64_t hostile_value(Random& random) {
  constexpr std::uint64_t kValues[] = {0,
                                       1,
                                       2,
                                       15,
                                       16,
                                       17,
                                       255,
                                       65535,
                                       65536,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       0x100000000,
                                       0x7fffffffffffffff,
                                       0x8000000000000000,
                                       UINT64_MAX};
  return random.one_in(3) ? random.next() : kValues[random.below(16)];
}

void damage(std::vector<std::byte>& packet, Random& random) {
  for (std::uint64_t change = random.below(3) + 1; change != 0; --change) {
    if (random.one_in(12))
      packet.resize(random.below(packet.size() + 24));
    if (packet.empty())
      return;
    const std::size_t width = std::size_t{1} << random.below(4);
    const std::size_t at = random.below(packet.size()) / width * width;
    const std::uint64_t value = hostile_value(random);
    for (std::size_t i = 0; i < width && at + i < packet.size(); ++i)
      packet[at + i] = static_cast<std::byte>(value >> (8 * i));
  }
}

/// What an entry may do with a damaged packet.
bool is_in_order(const model::RunResult& result, bool untouched) {
  if (result.status == EntryStatus::Completed)
    return result.fault_count == 0;
  if (!untouched || result.counters != model::Counters{})
    return false;
  // Addresses that are valid, but nobody's, are a bus error.
  return result.status == EntryStatus::TransferFault ? result.fault_count == 1
                                                     : result.fault_count == 0;
}

int fuzz(std::uint64_t seed, std::uint64_t runs, std::chrono::seconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  std::uint64_t completed = 0;
  std::uint64_t run = 0;
  model::DeviceModel device(deferred(3, seed));
  for (; run < runs || (runs == 0 && std::chrono::steady_clock::now() < end);) {
    DeviceCase c = any_case(seed + run);
    const auto good = c.packet();
    for (int damaged = 0; damaged < 20; ++damaged, ++run) {
      Random random(seed * 1000003 + run);
      c.packet() = good;
      damage(c.packet(), random);
      const bool untouched = c.run_leaves_output(device, model::entry_of(c.packet()));
      if (!is_in_order(c.result(), untouched)) {
        std::printf("seed %llu, run %llu: %s\n", static_cast<unsigned long long>(seed),
                    static_cast<unsigned long long>(run), describe(c.result()).c_str());
        return 1;
      }
      completed += c.result().status == EntryStatus::Completed ? 1U : 0U;
    }
  }
  std::printf("%llu packets, %llu completed\n", static_cast<unsigned long long>(run),
              static_cast<unsigned long long>(completed));
  return completed != 0 && completed < run ? 0 : 1;
}

} // namespace
} // namespace simaai::test

int main(int argc, char** argv) {
  const std::string unit = argc == 4 ? argv[2] : "";
  if (unit != "runs" && unit != "seconds") {
    std::fprintf(stderr, "usage: %s SEED (runs | seconds) COUNT\n", argv[0]);
    return 2;
  }
  const std::uint64_t count = std::strtoull(argv[3], nullptr, 10);
  const bool timed = unit == "seconds";
  return simaai::test::fuzz(std::strtoull(argv[1], nullptr, 10), timed ? 0 : count,
                            std::chrono::seconds(timed ? count : 0));
}
