// SPDX-License-Identifier: LGPL-2.1-or-later
// One case of an operation on the device model: the packet by the host codec, the bytes by the
// oracle, guards around the output.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <gtest/gtest.h>

#include <simaai/kernels/ev74/packet.h>

#include "a65/contract_case.h"
#include "firmware/model/device_model.h"

namespace simaai::test {

/// Encodes a case for two regions. Throws std::runtime_error where it is refused.
using Encoder = std::vector<std::byte> (*)(const Case& c, const kernels::ev74::DeviceRegion& source,
                                           const kernels::ev74::DeviceRegion& destination);
std::vector<std::byte> encode_cast(const Case& c, const kernels::ev74::DeviceRegion& source,
                                   const kernels::ev74::DeviceRegion& destination);
std::vector<std::byte> encode_tess(const Case& c, const kernels::ev74::DeviceRegion& source,
                                   const kernels::ev74::DeviceRegion& destination);
std::vector<std::byte> encode_casttess(const Case& c, const kernels::ev74::DeviceRegion& source,
                                       const kernels::ev74::DeviceRegion& destination);
std::vector<std::byte> encode_detess(const Case& c, const kernels::ev74::DeviceRegion& source,
                                     const kernels::ev74::DeviceRegion& destination);
std::vector<std::byte> encode_detesscast(const Case& c, const kernels::ev74::DeviceRegion& source,
                                         const kernels::ev74::DeviceRegion& destination);

/// Bytes that a port lies beyond a 64-byte boundary; rounded down to the port's alignment.
struct Phases {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
};

/// A case with its bytes, ready to run many times: every run starts from the same background.
class DeviceCase {
public:
  DeviceCase(Encoder encode, const Case& c, const Phases& phases = {});
  DeviceCase(Encoder encode, const Case& c, const Golden& golden, const Phases& phases);

  /// Maps, runs, unmaps and compares: result clean, output and guards bit for bit. A device that
  /// served other cases before is as good as a new one.
  ::testing::AssertionResult run(model::DeviceModel& device);
  /// The same with another entry than the model's.
  ::testing::AssertionResult run(model::DeviceModel& device, Ev74Entry entry);

  /// Of the last run.
  [[nodiscard]] const model::RunResult& result() const { return result_; }

  [[nodiscard]] const Golden& golden() const { return golden_; }
  [[nodiscard]] std::vector<std::byte>& packet() { return packet_; }

  /// Runs an entry with whatever packet() holds by now, without judging the result. True where output and guards
  /// are as they were before.
  bool run_leaves_output(model::DeviceModel& device, Ev74Entry entry);

private:
  void prepare(model::DeviceModel& device);
  void finish(model::DeviceModel& device);
  [[nodiscard]] ::testing::AssertionResult compare() const;

  static constexpr std::size_t kGuardBytes = 64;

  Case case_;
  Golden golden_;
  std::uint64_t source_address_;
  std::uint64_t destination_address_;
  std::vector<std::byte> packet_;
  oracle::Bytes memory_; ///< guard, output, guard
  model::RunResult result_;
};

/// A configuration with full checks.
model::ModelConfig immediate(std::uint32_t workers);
model::ModelConfig deferred(std::uint32_t workers, std::uint64_t seed);

/// Runs a case on one to four workers, with immediate transfers and with `seeds` late orders each.
::testing::AssertionResult run_everywhere(DeviceCase& c, std::uint64_t seeds,
                                          std::uint64_t first_seed = 0);

/// As text, for messages.
std::string describe(const model::RunResult& result);

} // namespace simaai::test
