// SPDX-License-Identifier: LGPL-2.1-or-later
// Every BFloat16 word through every reader of DetessCast.
#include <set>

#include <gtest/gtest.h>

#include "firmware/detess/reader_cases.h"

namespace simaai::test {
namespace {

using firmware::Route;
using kernels::ChannelStorage;
using kernels::DType;

constexpr DTypePair kToFloat32{DType::BFloat16, DType::Float32};
constexpr DTypePair kToBFloat16{DType::BFloat16, DType::BFloat16};
constexpr auto kCompact = ChannelStorage::Compact;
constexpr auto kPad16 = ChannelStorage::PadTo16;

/// All 65,536 words through one route, with one to four workers and late transfers.
void expect_every_word(const Case& c, Route route, std::uint32_t phase) {
  oracle::Tensor values{c.input.shape, DType::BFloat16, {}};
  const std::uint64_t count = oracle::element_count(values.shape);
  ASSERT_GE(count, 65536U);
  for (std::uint64_t i = 0; i < count; ++i) // neighbours differ in both bytes
    values.bits.push_back(static_cast<std::uint32_t>(i * 0x9e37 % 65536));
  EXPECT_EQ(std::set<std::uint32_t>(values.bits.begin(), values.bits.end()).size(), 65536U);
  DeviceCase on_device(&encode_detesscast, c, golden_of(c, values), {0, phase});
  EXPECT_TRUE(run_everywhere(on_device, 1));
  EXPECT_EQ(on_device.result().route, route);
}

TEST(DetessCastPatterns, EveryWordThroughSpecialisedPaths) {
  const Case pixels16 = tiled_case(kToFloat32, {64, 64, 16}, {-1, 0, 1, 2}, {1, 64, 64, 16});
  expect_every_word(pixels16, Route::DetessCastFullPixel, 0);
  const Case pixels32 = tiled_case(kToFloat32, {32, 64, 32}, {-1, 0, 1, 2}, {1, 8, 64, 32});
  expect_every_word(pixels32, Route::DetessCastFullPixel, 0);
  for (const ChannelStorage storage : {kPad16, kCompact}) { // 33 channels: a tail of one
    const Case bands =
        tiled_case(kToFloat32, {63, 32, 33}, {-1, 0, 1, 2}, {1, 21, 16, 16}, storage);
    expect_every_word(bands, Route::DetessCastChannelBand, 0);
  }
}

TEST(DetessCastPatterns, EveryWordThroughPartialOutputFallbacks) {
  const Case pixels16 = tiled_case(kToFloat32, {64, 64, 16}, {-1, 0, 1, 2}, {1, 64, 64, 16});
  expect_every_word(pixels16, Route::DetessCastRawRow, 4);
  const Case pixels32 = tiled_case(kToFloat32, {32, 64, 32}, {-1, 0, 1, 2}, {1, 8, 64, 32});
  expect_every_word(pixels32, Route::DetessCastRawRow, 12);
  const Case bands = tiled_case(kToFloat32, {63, 32, 33}, {-1, 0, 1, 2}, {1, 21, 16, 16});
  expect_every_word(bands, Route::DetessCastGather, 4);
}

TEST(DetessCastPatterns, EveryWordThroughGeneralPaths) {
  for (const DTypePair dtypes : {kToFloat32, kToBFloat16}) {
    expect_every_word(tiled_case(dtypes, {65536}, {-1, -1, -1, 0}, {1, 1, 1, 5000}),
                      Route::DetessCastPlanar, 6);
    expect_every_word(tiled_case(dtypes, {17, 64, 64}, {-1, 1, 2, 0}, {1, 64, 32, 16}),
                      Route::DetessCastGather, 0);
    expect_every_word(blocked_case(dtypes, {32, 64, 33}, {1, 8, 32, 33}), Route::DetessCastBlocked,
                      0);
  }
  expect_every_word(tiled_case(kToBFloat16, {64, 64, 17}, {-1, 0, 1, 2}, {1, 64, 64, 17}),
                    Route::DetessCastRawRow, 2);
}

} // namespace
} // namespace simaai::test
