// SPDX-License-Identifier: LGPL-2.1-or-later
// Encoding, running and comparing cases on the device model.
#include "firmware/device_case.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <variant>

#include <simaai/kernels/ev74/cast.h>
#include <simaai/kernels/ev74/casttess.h>
#include <simaai/kernels/ev74/detess.h>
#include <simaai/kernels/ev74/detesscast.h>
#include <simaai/kernels/ev74/tess.h>

#include "support/compare_bytes.h"

namespace simaai::test {

using kernels::Error;
using kernels::ev74::DeviceRegion;
using kernels::ev74::Invocation;
using model::DeviceModel;
using model::RegionAccess;

namespace {

// Regions of a case; addresses keep phases within the lowest 64 bytes.
constexpr std::uint64_t kSourceBase = 0x10000000;
constexpr std::uint64_t kDestinationBase = 0x80000000;

template <class Value> const Value& expect_value(const std::variant<Value, Error>& result) {
  if (const auto* error = std::get_if<Error>(&result))
    throw std::runtime_error(error->message());
  return std::get<Value>(result);
}

std::vector<std::byte> bytes_of(const Invocation& invocation) {
  return {invocation.bytes().begin(), invocation.bytes().end()};
}

/// Guards around the background of a case.
oracle::Bytes guarded(const oracle::Bytes& payload, std::size_t guard_bytes) {
  oracle::Bytes memory(payload.size() + 2 * guard_bytes, 0xc3);
  std::copy(payload.begin(), payload.end(),
            memory.begin() + static_cast<std::ptrdiff_t>(guard_bytes));
  return memory;
}

std::uint64_t at_phase(std::uint64_t base, std::uint32_t phase, const kernels::TensorSpec& spec) {
  const std::uint32_t alignment = port_alignment(spec);
  return base + phase % 64 / alignment * alignment;
}

/// Devices with immediate transfers are kept: what one case leaves behind must not matter to the
/// next. Late orders are too many to keep one each.
DeviceModel& immediate_device(std::uint32_t workers) {
  static DeviceModel devices[] = {DeviceModel(immediate(1)), DeviceModel(immediate(2)),
                                  DeviceModel(immediate(3)), DeviceModel(immediate(4))};
  return devices[workers - 1];
}

} // namespace

// The five operations differ in namespaces only.
#define SIMAAI_DEFINE_ENCODER(op, ...)                                                             \
  std::vector<std::byte> encode_##op(const Case& c, const DeviceRegion& source,                    \
                                     const DeviceRegion& destination) {                            \
    const std::array inputs{c.input};                                                              \
    const std::array outputs{c.output};                                                            \
    const auto plan = kernels::ops::op::check_inference({inputs, outputs, __VA_ARGS__});           \
    return bytes_of(                                                                               \
        expect_value(kernels::ev74::op::encode(expect_value(plan), source, destination)));         \
  }
SIMAAI_DEFINE_ENCODER(cast, {})
SIMAAI_DEFINE_ENCODER(tess, {c.fill})
SIMAAI_DEFINE_ENCODER(casttess, {})
SIMAAI_DEFINE_ENCODER(detess, {})
SIMAAI_DEFINE_ENCODER(detesscast, {})
#undef SIMAAI_DEFINE_ENCODER

DeviceCase::DeviceCase(Encoder encode, const Case& c, const Phases& phases)
    : DeviceCase(encode, c, golden_of(c), phases) {}

DeviceCase::DeviceCase(Encoder encode, const Case& c, const Golden& golden, const Phases& phases)
    : case_(c), golden_(golden), source_address_(at_phase(kSourceBase, phases.source, c.input)),
      destination_address_(at_phase(kDestinationBase, phases.destination, c.output)) {
  packet_ = encode(c, {source_address_, golden_.input.size()},
                   {destination_address_, golden_.output.size()});
}

void DeviceCase::prepare(DeviceModel& device) {
  memory_ = guarded(golden_.background, kGuardBytes);
  // The source ends where its region ends; the output's region holds its guards, too.
  if (!device.map_at(source_address_, golden_.input.data(), golden_.input.size(),
                     RegionAccess::Read) ||
      !device.map_at(destination_address_ - kGuardBytes, memory_.data(), memory_.size(),
                     RegionAccess::Write))
    throw std::runtime_error("the regions of a case are not mapped");
}

void DeviceCase::finish(DeviceModel& device) {
  device.unmap(source_address_);
  device.unmap(destination_address_ - kGuardBytes);
}

::testing::AssertionResult DeviceCase::compare() const {
  auto same = same_bytes(guarded(golden_.output, kGuardBytes), memory_);
  if (same && result_.clean())
    return same;
  return ::testing::AssertionFailure()
         << describe(case_) << " at " << std::hex << source_address_ << ", " << destination_address_
         << std::dec << ": " << describe(result_) << ": " << same.message();
}

::testing::AssertionResult DeviceCase::run(DeviceModel& device) {
  prepare(device);
  result_ = device.run(packet_);
  finish(device);
  return compare();
}

::testing::AssertionResult DeviceCase::run(DeviceModel& device, Ev74Entry entry) {
  prepare(device);
  result_ = device.run_entry(entry, packet_);
  finish(device);
  return compare();
}

bool DeviceCase::run_leaves_output(DeviceModel& device, Ev74Entry entry) {
  prepare(device);
  result_ = device.run_entry(entry, packet_);
  finish(device);
  return memory_ == guarded(golden_.background, kGuardBytes);
}

model::ModelConfig immediate(std::uint32_t workers) {
  model::ModelConfig config;
  config.workers = workers;
  return config;
}

model::ModelConfig deferred(std::uint32_t workers, std::uint64_t seed) {
  model::ModelConfig config = immediate(workers);
  config.dma = model::DmaEngine::Deferred;
  config.seed = seed;
  return config;
}

::testing::AssertionResult run_everywhere(DeviceCase& c, std::uint64_t seeds,
                                          std::uint64_t first_seed) {
  for (std::uint32_t workers = 1; workers <= 4; ++workers) {
    if (auto result = c.run(immediate_device(workers)); !result)
      return result << "\nimmediate, workers " << workers;
    for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
      DeviceModel late(deferred(workers, seed));
      if (auto result = c.run(late); !result)
        return result << "\ndeferred, workers " << workers << ", seed " << seed;
    }
  }
  return ::testing::AssertionSuccess();
}

std::string describe(const model::RunResult& result) {
  std::ostringstream out;
  out << "status " << static_cast<std::uint32_t>(result.status) << ", route "
      << firmware::route_name(result.route) << ", faults " << result.fault_count;
  for (std::size_t i = 0; i < std::min<std::uint64_t>(result.fault_count, 3); ++i) {
    const model::Fault& fault = result.faults[i];
    out << "; worker " << fault.worker << ": " << model::fault_name(fault.kind) << " at "
        << std::hex << fault.address << std::dec << ", " << fault.bytes << " bytes";
  }
  return out.str();
}

} // namespace simaai::test
