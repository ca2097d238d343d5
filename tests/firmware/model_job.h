// SPDX-License-Identifier: LGPL-2.1-or-later
// A small Cast job for tests of the device model, run by entries that the tests write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "firmware/common/dma.h"
#include "firmware/model/device_model.h"

namespace simaai::test {

/// 64 Float32 values to 64 BFloat16 values; the destination rows are pitched where `pitched`.
class ModelJob {
public:
  static constexpr std::uint32_t kSource = 0x10000;
  static constexpr std::uint32_t kDestination = 0x20000;
  static constexpr std::uint32_t kSourceBytes = 256;
  static constexpr std::uint32_t kDestinationBytes = 128;
  /// Destination rows of 16 values with a hole of 32 bytes behind each.
  static constexpr std::uint32_t kPitchedBytes = 3 * 64 + 32;

  explicit ModelJob(const model::ModelConfig& config, bool pitched = false);

  /// Runs the worker code as if it were the entry's.
  using Body = void (*)(firmware::Worker& worker, std::byte* local);
  model::RunResult run(Body body, std::uint32_t workers = 1);
  /// Runs whatever is given.
  model::RunResult run(Ev74Entry entry) { return device.run_entry(entry, packet); }

  std::vector<std::byte> source;
  std::vector<std::byte> destination;
  std::vector<std::byte> packet;
  model::DeviceModel device;
};

} // namespace simaai::test
