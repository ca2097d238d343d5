// SPDX-License-Identifier: LGPL-2.1-or-later
// Fixture of the end-to-end programs.
#include "cvu_e2e.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>

#include <simaai/runtime/device.h>
#include <simaai/runtime/dma_buf.h>

#include "firmware/model/transport/model_transport.h"

namespace simaai::runtime::test {
namespace {

using Clock = std::chrono::steady_clock;
using simaai::test::Golden;

constexpr std::uint64_t kGuardBytes = 256;
constexpr std::uint8_t kCanary = 0xc3;
constexpr int kWarmUps = 10;
constexpr int kSamples = 100;
constexpr std::chrono::seconds kDeadline{60};

struct Options {
  std::string device = "model:checking=full";
  bool family_only = false;
  bool latency = true;
  std::string only; ///< part of the names of the cases that run
};

std::optional<Options> read_options(int count, char** arguments) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = arguments[i];
    if (word == "--shared-family-only")
      options.family_only = true;
    else if (word == "--no-latency")
      options.latency = false;
    else if (word == "--device" && i + 1 < count)
      options.device = arguments[++i];
    else if (word == "--only" && i + 1 < count)
      options.only = arguments[++i];
    else
      return std::nullopt;
  }
  return options;
}

/// An object with a port inside, canaries on both sides.
class Port {
public:
  Port(const BufferSource& from, std::uint64_t bytes, std::uint32_t phase)
      : offset_(kGuardBytes + phase), bytes_(bytes),
        buffer_(std::get<DmaBuf>(from.allocate(offset_ + bytes + kGuardBytes))),
        mapping_(
            std::get<CpuMapping>(CpuMapping::map(buffer_.fd(), 0, buffer_.length_bytes(), true))) {}

  void fill(const oracle::Bytes& content) {
    const auto access = CpuAccess::begin(buffer_.fd(), buffer_.kind(), CpuAccessMode::Write);
    std::memset(mapping_.data(), kCanary, mapping_.size_bytes());
    std::copy(content.begin(), content.end(),
              reinterpret_cast<std::uint8_t*>(mapping_.data()) + offset_);
  }
  /// Empty, or what differs.
  [[nodiscard]] std::string difference(const oracle::Bytes& expected) const {
    const auto access = CpuAccess::begin(buffer_.fd(), buffer_.kind(), CpuAccessMode::Read);
    for (std::uint64_t at = 0; at < mapping_.size_bytes(); ++at) {
      const bool inside = at >= offset_ && at < offset_ + bytes_;
      const std::uint8_t wanted = inside ? expected[at - offset_] : kCanary;
      const auto found = std::to_integer<std::uint8_t>(mapping_.data()[at]);
      if (found != wanted)
        return (inside ? "byte " + std::to_string(at - offset_)
                       : "guard byte " + std::to_string(at)) +
               ": expected " + std::to_string(wanted) + ", found " + std::to_string(found);
    }
    return {};
  }
  [[nodiscard]] Binding binding() const {
    return {buffer_.fd(), offset_, buffer_.length_bytes() - offset_, {}};
  }

private:
  std::uint64_t offset_;
  std::uint64_t bytes_;
  DmaBuf buffer_;
  CpuMapping mapping_;
};

class Runner {
public:
  Runner(const E2eSuite& suite, Device device, const Options& options)
      : suite_(suite), device_(std::move(device)), latency_(options.latency), only_(options.only) {}

  /// `again`: the same objects are used for further runs, which find the first result in them.
  void run(std::span<const E2eCase> cases, bool measured, bool again) {
    for (const E2eCase& one : cases) {
      if (one.name.find(only_) == std::string::npos)
        continue;
      const std::string problem = run_one(one, measured, again);
      ++run_;
      if (problem.empty())
        continue;
      ++failed_;
      std::printf("FAILED %s: %s: %s\n", one.name.c_str(), simaai::test::describe(one.c).c_str(),
                  problem.c_str());
    }
  }
  [[nodiscard]] int finish() const {
    std::printf("%s: %d cases, %d failed\n", suite_.program, run_, failed_);
    return failed_ == 0 && run_ > 0 ? 0 : 1;
  }

private:
  std::string run_one(const E2eCase& one, bool measured, bool again) {
    const auto prepared = suite_.prepare(one.c);
    if (const auto* error = std::get_if<Error>(&prepared))
      return "not admitted: " + error->message();
    const Plan& plan = std::get<Plan>(prepared);
    const Golden golden = simaai::test::golden_of(one.c);
    Port source(memory_, golden.input.size(), one.source_phase);
    Port destination(memory_, golden.output.size(), one.destination_phase);
    source.fill(golden.input);
    destination.fill(golden.background);
    for (int round = 0; round < (again ? 3 : 1); ++round) {
      const Status status = device_.run(plan, source.binding(), destination.binding(), kDeadline);
      if (!status.ok())
        return status.message();
      if (std::string wrong = destination.difference(golden.output); !wrong.empty())
        return "destination, " + wrong;
    }
    if (std::string wrong = source.difference(golden.input); !wrong.empty())
      return "source, " + wrong;
    if (!measured || !latency_ || plan.empty())
      return {};
    return measure(one, plan, golden, source, destination);
  }

  std::string measure(const E2eCase& one, const Plan& plan, const Golden& golden,
                      const Port& source, const Port& destination) {
    std::array<double, kSamples> samples{};
    for (int i = -kWarmUps; i < kSamples; ++i) {
      const auto begun = Clock::now();
      const Status status = device_.run(plan, source.binding(), destination.binding(), kDeadline);
      const std::chrono::duration<double, std::micro> taken = Clock::now() - begun;
      if (!status.ok())
        return status.message();
      if (i >= 0)
        samples[static_cast<std::size_t>(i)] = taken.count();
    }
    if (std::string wrong = destination.difference(golden.output); !wrong.empty())
      return "destination after the samples, " + wrong;
    std::sort(samples.begin(), samples.end());
    const double median = (samples[kSamples / 2 - 1] + samples[kSamples / 2]) / 2;
    std::printf("%-44s median %10.1f us  min %10.1f  p95 %10.1f  max %10.1f\n", one.name.c_str(),
                median, samples.front(), samples[kSamples * 95 / 100], samples.back());
    return {};
  }

  const E2eSuite& suite_;
  Device device_;
  bool latency_;
  std::string only_;
  BufferSource memory_ = BufferSource::best();
  int run_ = 0;
  int failed_ = 0;
};

} // namespace

int run_e2e(const E2eSuite& suite, int count, char** arguments) {
  const auto options = read_options(count, arguments);
  if (!options) {
    std::fprintf(stderr,
                 "usage: %s [--device URI] [--shared-family-only] [--no-latency] [--only TEXT]\n",
                 suite.program);
    return 2;
  }
  model::register_model_transport();
  auto opened = Device::open(options->device);
  if (const auto* error = std::get_if<Error>(&opened)) {
    std::fprintf(stderr, "%s: %s: %s\n", suite.program, options->device.c_str(),
                 error->message().c_str());
    return 2;
  }
  Runner runner(suite, std::get<Device>(opened), *options);
  runner.run(suite.family, true, false);
  if (!options->family_only) {
    runner.run(suite.generated, false, false);
    runner.run(suite.corpus, true, false);
    runner.run(suite.retained, true, true);
  }
  return runner.finish();
}

} // namespace simaai::runtime::test
