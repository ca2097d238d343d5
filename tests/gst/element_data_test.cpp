// SPDX-License-Identifier: LGPL-2.1-or-later
// What each element produces, byte for byte against the oracle.
#include <optional>

#include <gtest/gtest.h>

#include "element_harness.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "tensor_text.h"

namespace {

using namespace simaai::kernels;
using namespace simaai::test;
namespace oracle = simaai::oracle;

constexpr auto kCompact = ChannelStorage::Compact;
constexpr auto kPad16 = ChannelStorage::PadTo16;

struct Case {
  const char* name;
  const char* element;
  TensorSpec input;
  TensorSpec output;
  std::optional<std::int8_t> fill;
};

/// A pitched form of {1, 5, 6, 17} float32 and of its bfloat16 counterpart.
const Strided kPitched32{{5 * 640, 640, 80, 4}};
const Strided kPitched16{{5 * 320, 320, 40, 2}};
/// Channels first in memory, channels last logically: {1, 5, 6, 17}.
const Strided kPlanar16{{1020, 12, 2, 60}};
const Shape kShape{1, 5, 6, 17};

const Case kCases[] = {
    {"CastDown", "simaaicast", {kShape, DType::Float32}, {kShape, DType::BFloat16}, {}},
    {"CastUp", "simaaicast", {kShape, DType::BFloat16}, {kShape, DType::Float32}, {}},
    {"CastRankZero", "simaaicast", {{}, DType::Float32}, {{}, DType::BFloat16}, {}},
    {"CastStridedIn",
     "simaaicast",
     {kShape, DType::Float32, kPitched32},
     {kShape, DType::BFloat16},
     {}},
    {"CastStridedOut",
     "simaaicast",
     {kShape, DType::Float32},
     {kShape, DType::BFloat16, kPitched16},
     {}},
    {"CastStridedBoth",
     "simaaicast",
     {kShape, DType::BFloat16, kPlanar16},
     {kShape, DType::Float32, kPitched32},
     {}},
    {"TessInt8Compact",
     "simaaitess",
     {kShape, DType::Int8},
     {kShape, DType::Int8, tiled({-1, 1, 2, 3}, {1, 2, 4, 16}, kCompact)},
     {}},
    {"TessInt8Pad16",
     "simaaitess",
     {kShape, DType::Int8},
     {kShape, DType::Int8, tiled({-1, 1, 2, 3}, {1, 2, 4, 16}, kPad16)},
     std::int8_t{-128}},
    {"TessBFloat16",
     "simaaitess",
     {kShape, DType::BFloat16},
     {kShape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 5, 6, 3}, kPad16)},
     {}},
    {"TessPlanar",
     "simaaitess",
     {kShape, DType::BFloat16, kPlanar16},
     {kShape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 2, 2, 16}, kCompact)},
     {}},
    {"TessNchw",
     "simaaitess",
     {{1, 3, 6, 5}, DType::BFloat16},
     {{1, 3, 6, 5}, DType::BFloat16, tiled({-1, 2, 3, 1}, {1, 4, 4, 3}, kPad16)},
     {}},
    {"CastTessFloat32",
     "simaaicasttess",
     {kShape, DType::Float32},
     {kShape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 4, 4, 16}, kPad16)},
     {}},
    {"CastTessFloat16",
     "simaaicasttess",
     {kShape, DType::Float16},
     {kShape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 4, 4, 16}, kCompact)},
     {}},
    {"CastTessBFloat16",
     "simaaicasttess",
     {kShape, DType::BFloat16},
     {kShape, DType::BFloat16, tiled({0, 1, 2, 3}, {1, 1, 6, 17}, kPad16)},
     {}},
    {"CastTessStrided",
     "simaaicasttess",
     {kShape, DType::Float32, kPitched32},
     {kShape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 3, 5, 16}, kPad16)},
     {}},
    {"CastTessImage",
     "simaaicasttess",
     {{1, 7, 9, 3}, DType::Float32},
     {{1, 7, 9, 3}, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 7, 4, 3}, kPad16)},
     {}},
    {"DetessInt8",
     "simaaidetess",
     {kShape, DType::Int8, tiled({-1, 1, 2, 3}, {1, 2, 4, 16}, kPad16)},
     {kShape, DType::Int8},
     {}},
    {"DetessBFloat16",
     "simaaidetess",
     {kShape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 2, 4, 16}, kCompact)},
     {kShape, DType::BFloat16},
     {}},
    {"DetessBlocked",
     "simaaidetess",
     {kShape, DType::Int8, MlaCBlocked{{1, 2, 4, 17}}},
     {kShape, DType::Int8},
     {}},
    {"DetessStrided",
     "simaaidetess",
     {kShape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 2, 4, 16}, kPad16)},
     {kShape, DType::BFloat16, kPlanar16},
     {}},
    {"DetessCastFloat32",
     "simaaidetesscast",
     {kShape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 2, 4, 16}, kPad16)},
     {kShape, DType::Float32},
     {}},
    {"DetessCastBFloat16",
     "simaaidetesscast",
     {kShape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 2, 4, 16}, kPad16)},
     {kShape, DType::BFloat16},
     {}},
    {"DetessCastBlocked",
     "simaaidetesscast",
     {kShape, DType::BFloat16, MlaCBlocked{{1, 2, 4, 16}}},
     {kShape, DType::Float32},
     {}},
    {"DetessCastBlockedStrided",
     "simaaidetesscast",
     {kShape, DType::BFloat16, MlaCBlocked{{1, 2, 4, 32}}},
     {kShape, DType::Float32, kPitched32},
     {}},
    {"DetessCastStrided",
     "simaaidetesscast",
     {kShape, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 5, 6, 17}, kCompact)},
     {kShape, DType::Float32, kPitched32},
     {}},
    {"EmptyCastTess",
     "simaaicasttess",
     {{1, 0, 6, 17}, DType::Float32},
     {{1, 0, 6, 17}, DType::BFloat16, tiled({-1, 1, 2, 3}, {1, 1, 4, 16}, kPad16)},
     {}},
};

class ElementData : public testing::TestWithParam<Case> {};

TEST_P(ElementData, EqualsTheOracle) {
  const Case& c = GetParam();
  ElementHarness harness(c.element);
  if (c.fill)
    gst_util_set_object_arg(G_OBJECT(harness.element()), "int8-channel-padding",
                            std::to_string(*c.fill).c_str());
  harness.accept_downstream(caps_of(c.output).c_str());
  ASSERT_TRUE(harness.send_caps(caps_of(c.input))) << testing::PrintToString(harness.take_errors());
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const auto source = oracle::random_tensor(c.input.shape, c.input.dtype, seed);
    const auto wanted = oracle::convert(source, c.output.dtype);
    ASSERT_EQ(harness.push(physical(source, c.input.layout, 0x5a)), GST_FLOW_OK);
    const auto buffer = harness.pull_buffer();
    ASSERT_NE(buffer, nullptr);
    const Bytes found = bytes_of(buffer.get());
    const auto padding = static_cast<std::uint8_t>(c.fill.value_or(0));
    ASSERT_EQ(found.size(), physical(wanted, c.output.layout, padding).size());
    EXPECT_EQ(logical(found, c.output).bits, wanted.bits) << "seed " << seed;
    if (!std::holds_alternative<Strided>(c.output.layout)) { // gaps are not the element's to write
      EXPECT_EQ(found, physical(wanted, c.output.layout, padding)) << "seed " << seed;
    }
  }
  EXPECT_EQ(harness.stat("frames"), 3u);
  EXPECT_EQ(harness.stat("copies"), 0u);
}

INSTANTIATE_TEST_SUITE_P(Elements, ElementData, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

} // namespace
