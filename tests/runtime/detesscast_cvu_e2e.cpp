// SPDX-License-Identifier: LGPL-2.1-or-later
// detesscast_cvu_e2e: DetessCast from submission to retirement on a device.
#include <array>
#include <initializer_list>
#include <utility>

#include <simaai/kernels/ops/detesscast.h>

#include "cvu_e2e.h"
#include "ev74/generate.h"
#include "oracle/random_tensor.h"

namespace simaai::runtime::test {
namespace {

using kernels::ChannelStorage;
using kernels::DType;
using kernels::Layout;
using kernels::MlaCBlocked;
using kernels::MlaTiled;
using kernels::Shape;
using kernels::Strided;

constexpr std::array kOutputs{DType::Float32, DType::BFloat16};

std::int64_t width(DType dtype) { return kernels::scalar_bytes(dtype); }

E2eCase make(const std::string& name, DType output, const Shape& shape, const Layout& source,
             const Layout& destination, std::uint32_t source_phase = 0,
             std::uint32_t destination_phase = 0) {
  return {name + (output == DType::Float32 ? " to float32" : " to bfloat16"),
          {{shape, DType::BFloat16, source},
           {shape, output, destination},
           {},
           std::hash<std::string>()(name)},
          source_phase,
          destination_phase};
}

/// H, W, C are the last three axes.
MlaTiled hwc(std::int64_t h, std::int64_t w, std::int64_t c, ChannelStorage storage) {
  return {{-1, 0, 1, 2}, {1, h, w, c}, storage};
}

std::vector<E2eCase> generated_cases() {
  constexpr std::array<std::pair<DType, DType>, 2> kPairs{
      std::pair{DType::BFloat16, DType::Float32}, std::pair{DType::BFloat16, DType::BFloat16}};
  simaai::test::CaseRules rules;
  rules.dtypes = kPairs;
  rules.tiled_source = true;
  rules.blocked = true;
  oracle::Random random(20240502);
  std::vector<E2eCase> cases;
  for (std::size_t i = 0; i < 300; ++i) {
    const auto made = simaai::test::generate_case(rules, i, random);
    const auto unit = static_cast<std::uint32_t>(width(made.destination.dtype));
    cases.push_back({"generated " + std::to_string(i),
                     {made.source, made.destination, {}, i},
                     static_cast<std::uint32_t>(random.below(4)) * 16,
                     static_cast<std::uint32_t>(random.below(64 / unit)) * unit});
  }
  return cases;
}

/// Strides of a view whose axes lie in memory in `order`, outermost first, with `pad` elements behind each run of the
/// innermost axis but one.
Layout ordered(const std::vector<std::int64_t>& shape, const std::vector<std::size_t>& order,
               DType dtype, std::int64_t pad) {
  Strided layout;
  std::int64_t stride = width(dtype);
  for (std::size_t i = order.size(); i-- > 0;) {
    layout.strides_bytes[order[i]] = stride;
    stride = stride * shape[order[i]] + (i + 1 == order.size() ? pad * width(dtype) : 0);
  }
  return layout;
}

/// Outputs whose channels are innermost next to H or to D, whatever the logical order says: 2 dtypes, 17 views.
std::vector<E2eCase> family() {
  std::vector<E2eCase> cases;
  for (const DType output : kOutputs) {
    for (const std::int64_t channels : {3, 16, 17, 35}) {
      const std::vector<std::int64_t> shape{12, 10, channels};
      const MlaTiled source = hwc(4, 5, 16, ChannelStorage::PadTo16);
      const std::string size = "C" + std::to_string(channels);
      // H and C innermost: W outside.
      cases.push_back(
          make("H/C " + size, output, Shape(shape), source, ordered(shape, {1, 0, 2}, output, 0)));
      cases.push_back(make("H/C holes " + size, output, Shape(shape), source,
                           ordered(shape, {1, 0, 2}, output, 3), 16,
                           static_cast<std::uint32_t>(width(output))));
      // C first in the logical order, innermost in memory.
      const std::vector<std::int64_t> first{channels, 12, 10};
      const MlaTiled first_source{{-1, 1, 2, 0}, {1, 4, 5, 16}, ChannelStorage::PadTo16};
      cases.push_back(make("C first " + size, output, Shape(first), first_source,
                           ordered(first, {2, 1, 0}, output, 1), 0,
                           static_cast<std::uint32_t>(3 * width(output))));
      const std::vector<std::int64_t> deep{6, 5, 4, channels};
      const MlaTiled deep_source{{0, 1, 2, 3}, {2, 5, 4, 16}, ChannelStorage::Compact};
      cases.push_back(make("D/C " + size, output, Shape(deep), deep_source,
                           ordered(deep, {1, 2, 0, 3}, output, 0)));
    }
    const std::vector<std::int64_t> deep{9, 3, 7, 40};
    cases.push_back(make("D/C holes", output, Shape(deep),
                         MlaTiled{{0, 1, 2, 3}, {3, 3, 4, 32}, ChannelStorage::PadTo16},
                         ordered(deep, {2, 1, 0, 3}, output, 5), 32,
                         static_cast<std::uint32_t>(width(output))));
  }
  return cases;
}

std::vector<E2eCase> corpus_cases() {
  std::vector<E2eCase> cases;
  for (const DType output : kOutputs) {
    for (const std::int64_t channels : {1, 3, 8, 16, 17, 32, 64, 80, 255})
      cases.push_back(make("whole pixels C" + std::to_string(channels), output, {40, 40, channels},
                           hwc(40, 40, channels, ChannelStorage::PadTo16), kernels::Contiguous{}));
    for (const std::int64_t channels : {33, 48, 64})
      cases.push_back(make("channel tiles C" + std::to_string(channels), output, {32, 32, channels},
                           hwc(16, 16, 16, ChannelStorage::PadTo16), kernels::Contiguous{}));
    cases.push_back(make("planar", output, {21, 64, 64},
                         MlaTiled{{-1, 1, 2, 0}, {1, 16, 16, 21}, ChannelStorage::Compact},
                         kernels::Contiguous{}));
    cases.push_back(
        make("blocks", output, {20, 20, 80}, MlaCBlocked{{1, 4, 20, 80}}, kernels::Contiguous{}));
    cases.push_back(make("rank 1", output, {1000},
                         MlaTiled{{-1, -1, -1, 0}, {1, 1, 1, 64}, ChannelStorage::PadTo16},
                         kernels::Contiguous{}));
  }
  return cases;
}

std::vector<E2eCase> retained_cases() {
  std::vector<E2eCase> cases;
  for (const DType output : kOutputs)
    for (const std::uint32_t source : {0U, 16U, 32U, 48U})
      for (const std::uint32_t destination : {0U, 1U, 3U, 7U})
        cases.push_back(make(
            "retained, phases " + std::to_string(source) + " and " + std::to_string(destination),
            output, {24, 24, 32}, hwc(24, 24, 32, ChannelStorage::PadTo16), kernels::Contiguous{},
            source, destination * static_cast<std::uint32_t>(width(output))));
  return cases;
}

std::variant<Plan, Error> prepare_case(const simaai::test::Case& c) {
  return prepare(kernels::ops::detesscast::Request{{&c.input, 1}, {&c.output, 1}}, Backend::Ev74);
}

} // namespace
} // namespace simaai::runtime::test

int main(int count, char** arguments) {
  using namespace simaai::runtime::test;
  return run_e2e({"detesscast_cvu_e2e", prepare_case, generated_cases(), corpus_cases(), family(),
                  retained_cases()},
                 count, arguments);
}
