// SPDX-License-Identifier: LGPL-2.1-or-later
// What the host adds to a job: encoding, binding, and a round trip by each transport beside the model called directly.
#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <simaai/kernels/ev74/cast.h>
#include <simaai/kernels/ev74/casttess.h>
#include <simaai/kernels/ev74/detess.h>
#include <simaai/kernels/ev74/detesscast.h>
#include <simaai/kernels/ev74/tess.h>
#include <simaai/runtime/device.h>
#include <simaai/runtime/dma_buf.h>
#include <simaai/runtime/prepare.h>

#include "../common/quantile.h"
#include "firmware/model/device_model.h"
#include "firmware/model/transport/model_options.h"
#include "firmware/model/transport/model_transport.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "runtime/server_process.h"

namespace {

using namespace simaai::kernels;
using simaai::bench::quantile;
namespace runtime = simaai::runtime;
using Clock = std::chrono::steady_clock;
namespace oracle = simaai::oracle;

constexpr int kWarmUps = 10;
constexpr int kSamples = 1000;
constexpr int kEncodings = 20000;
constexpr int kEncodeRounds = 31;
constexpr std::chrono::seconds kDeadline{10};

double ns_since(Clock::time_point begun) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begun).count();
}

[[noreturn]] void fail(const std::string& what) {
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

template <class Value, class Failure> Value take(std::variant<Value, Failure> result) {
  if (const auto* error = std::get_if<Failure>(&result))
    fail(error->message());
  return std::move(std::get<Value>(result));
}

// Encoding.

const TensorSpec kLinear32{{1, 160, 160, 64}, DType::Float32};
const TensorSpec kLinear16{{1, 160, 160, 64}, DType::BFloat16};
const TensorSpec kTiled16{{1, 160, 160, 64},
                          DType::BFloat16,
                          MlaTiled{{-1, 1, 2, 3}, {1, 16, 16, 16}, ChannelStorage::PadTo16}};
const ev74::DeviceRegion kSource{0x10000000, 0x1000000};
const ev74::DeviceRegion kDestination{0x20000000, 0x1000000};

/// Encodes and binds a plan; the bytes of each packet must be those of the first.
template <class Plan, class Encode, class Bind>
void measure_codec(const char* name, const Plan& plan, Encode encode, Bind bind) {
  const auto first = take(bind(take(encode(plan)), kSource, kDestination));
  std::vector<double> samples;
  for (int round = 0; round < kEncodeRounds; ++round) {
    std::uint32_t sum = 0;
    const auto begun = Clock::now();
    for (int i = 0; i < kEncodings; ++i) {
      // Another address each time: no packet can be reused.
      const ev74::DeviceRegion source{kSource.address + static_cast<std::uint64_t>(i % 1024) * 64,
                                      kSource.capacity_bytes};
      const auto packet = encode(plan);
      const auto bound = bind(*std::get_if<ev74::RelocatablePacket>(&packet), source, kDestination);
      const auto bytes = std::get_if<ev74::Invocation>(&bound)->bytes();
      sum += std::to_integer<std::uint32_t>(bytes[24]) + std::to_integer<std::uint32_t>(bytes[25]);
    }
    samples.push_back(ns_since(begun) / kEncodings);
    if (sum == 0)
      fail("packets without addresses");
  }
  const auto again = take(bind(take(encode(plan)), kSource, kDestination));
  if (!std::equal(first.bytes().begin(), first.bytes().end(), again.bytes().begin(),
                  again.bytes().end()))
    fail("a packet changed");
  std::printf("%-12s %8.1f %8.1f\n", name, quantile(samples, 0.0), quantile(samples, 0.5));
}

void measure_codecs() {
  std::printf("encode_relocatable and bind, ns (%d rounds of %d)\n%-12s %8s %8s\n", kEncodeRounds,
              kEncodings, "operation", "min", "median");
  const auto admit = [](auto check, const TensorSpec& input, const TensorSpec& output) {
    return take(check({{&input, 1}, {&output, 1}}));
  };
  const auto codec = [&](const char* name, const auto& plan, auto encode, auto bind) {
    measure_codec(name, plan, encode, bind);
  };
  using namespace ev74;
  codec(
      "cast",
      admit([](const cast::Request& r) { return cast::check_inference(r); }, kLinear32, kLinear16),
      [](const auto& plan) { return cast::encode_relocatable(plan); }, &cast::bind);
  codec(
      "tess",
      admit([](const tess::Request& r) { return tess::check_inference(r); }, kLinear16, kTiled16),
      [](const auto& plan) { return tess::encode_relocatable(plan); }, &tess::bind);
  codec(
      "casttess",
      admit([](const casttess::Request& r) { return casttess::check_inference(r); }, kLinear32,
            kTiled16),
      [](const auto& plan) { return casttess::encode_relocatable(plan); }, &casttess::bind);
  codec(
      "detess",
      admit([](const detess::Request& r) { return detess::check_inference(r); }, kTiled16,
            kLinear16),
      [](const auto& plan) { return detess::encode_relocatable(plan); }, &detess::bind);
  codec(
      "detesscast",
      admit([](const detesscast::Request& r) { return detesscast::check_inference(r); }, kTiled16,
            kLinear32),
      [](const auto& plan) { return detesscast::encode_relocatable(plan); }, &detesscast::bind);
}

// Round trips.

/// One tensor, its memory, and the way it takes.
class Route {
public:
  virtual ~Route() = default;
  virtual void run() = 0;
};

struct Memory {
  explicit Memory(std::uint64_t bytes)
      : buffer(take(
            take(runtime::BufferSource::open(runtime::BufferSourceKind::Memfd)).allocate(bytes))),
        mapping(take(runtime::CpuMapping::map(buffer.fd(), 0, bytes, true))) {}
  [[nodiscard]] runtime::Binding binding() const {
    return {buffer.fd(), 0, buffer.length_bytes(), {}};
  }
  runtime::DmaBuf buffer;
  runtime::CpuMapping mapping;
};

struct Case {
  explicit Case(std::int64_t elements)
      : input{{elements}, DType::Float32}, output{{elements}, DType::BFloat16},
        values(oracle::random_tensor(input.shape, input.dtype, 7)),
        wanted(oracle::convert(values, output.dtype)),
        source(static_cast<std::uint64_t>(elements) * 4),
        destination(static_cast<std::uint64_t>(elements) * 2) {
    for (std::size_t i = 0; i < values.bits.size(); ++i)
      std::memcpy(source.mapping.data() + i * 4, &values.bits[i], 4);
  }
  void clear() const {
    std::memset(destination.mapping.data(), 0, destination.mapping.size_bytes());
  }
  void check(const char* route) const {
    for (std::size_t i = 0; i < wanted.bits.size(); ++i) {
      std::uint16_t found = 0;
      std::memcpy(&found, destination.mapping.data() + i * 2, 2);
      if (found != wanted.bits[i])
        fail(std::string(route) + " produced wrong bytes");
    }
  }
  TensorSpec input;
  TensorSpec output;
  oracle::Tensor values;
  oracle::Tensor wanted;
  Memory source;
  Memory destination;
};

/// The device model as a function: what a transport cannot be faster than.
class Direct final : public Route {
public:
  explicit Direct(const Case& c) : model_(*std::get_if<simaai::model::ModelConfig>(&config_)) {
    const auto map = [this](const Memory& memory, simaai::model::RegionAccess access) {
      return ev74::DeviceRegion{
          model_.map(memory.mapping.data(), memory.mapping.size_bytes(), access).value(),
          memory.mapping.size_bytes()};
    };
    const auto plan = take(ev74::cast::check_inference({{&c.input, 1}, {&c.output, 1}}));
    packet_ = take(ev74::cast::encode(plan, map(c.source, simaai::model::RegionAccess::Read),
                                      map(c.destination, simaai::model::RegionAccess::Write)));
  }
  void run() override {
    if (!model_.run(packet_->bytes()).clean())
      fail("the model objects");
  }

private:
  std::variant<simaai::model::ModelConfig, simaai::model::BadOption> config_ =
      simaai::model::parse_options("");
  simaai::model::DeviceModel model_;
  std::optional<ev74::Invocation> packet_;
};

/// A device of the runtime, from submission to retirement.
class ByDevice final : public Route {
public:
  ByDevice(const Case& c, const std::string& uri)
      : case_(c), device_(take(runtime::Device::open(uri))),
        plan_(take(runtime::prepare(ops::cast::Request{{&c.input, 1}, {&c.output, 1}},
                                    runtime::Backend::Ev74))) {}
  void run() override {
    const runtime::Status status =
        device_.run(plan_, case_.source.binding(), case_.destination.binding(), kDeadline);
    if (!status.ok())
      fail(status.message());
  }

private:
  const Case& case_;
  runtime::Device device_;
  simaai::runtime::Plan plan_;
};

void measure_routes(std::int64_t elements, const std::string& server) {
  const Case c(elements);
  struct Candidate {
    const char* name;
    std::unique_ptr<Route> route;
    std::vector<double> samples;
  };
  std::array<Candidate, 3> candidates{
      Candidate{"model, called directly", std::make_unique<Direct>(c), {}},
      Candidate{"model:", std::make_unique<ByDevice>(c, "model:"), {}},
      Candidate{"unix:", std::make_unique<ByDevice>(c, server), {}}};
  std::array<std::size_t, 3> order{0, 1, 2};
  std::mt19937 random(1);
  for (int i = -kWarmUps; i < kSamples; ++i) {
    std::shuffle(order.begin(), order.end(), random);
    for (const std::size_t at : order) {
      Candidate& one = candidates[at];
      // Its own state: the first of two runs pays for the others' caches.
      one.route->run();
      const auto begun = Clock::now();
      one.route->run();
      if (i >= 0)
        one.samples.push_back(ns_since(begun) / 1000);
    }
  }
  for (const Candidate& one : candidates) {
    c.clear();
    one.route->run();
    c.check(one.name);
    std::printf("%10lld  %-24s %8.2f %8.2f %8.2f\n", static_cast<long long>(elements), one.name,
                quantile(one.samples, 0.0), quantile(one.samples, 0.5),
                quantile(one.samples, 0.95));
  }
}

} // namespace

int main() {
  measure_codecs();
  simaai::model::register_model_transport();
  const runtime::test::ServerProcess server;
  std::printf("\ncast float32 to bfloat16, submission to retirement, us (%d samples, in random "
              "order)\n%10s  %-24s %8s %8s %8s\n",
              kSamples, "elements", "route", "min", "median", "p95");
  for (const std::int64_t elements : {1, 1024, 65536, 1048576})
    measure_routes(elements, server.uri());
  return 0;
}
