// SPDX-License-Identifier: LGPL-2.1-or-later
// DetessCast on the device model: padding, large tiles, phases, reuse and the limits of slots and
// transfer fields.

#include <gtest/gtest.h>

#include "firmware/detess/reader_cases.h"
#include "oracle/tiles.h"

namespace simaai::test {
namespace {

using firmware::Route;
using kernels::ChannelStorage;
using kernels::DType;

constexpr DTypePair kToFloat32{DType::BFloat16, DType::Float32};
constexpr DTypePair kToBFloat16{DType::BFloat16, DType::BFloat16};
constexpr auto kCompact = ChannelStorage::Compact;
constexpr auto kPad16 = ChannelStorage::PadTo16;

model::Counters run_once(const Case& c, std::uint32_t workers = 1, const Phases& phases = {}) {
  DeviceCase on_device(&encode_detesscast, c, phases);
  model::DeviceModel device(immediate(workers));
  EXPECT_TRUE(on_device.run(device));
  return on_device.result().counters;
}

/// Padded channels and tile gaps hold other bytes; the output is the same.
TEST(DetessCastQualification, PoisonedPaddingContributesNothing) {
  for (const Case& c :
       {tiled_case(kToFloat32, {3, 5, 7, 19}, {-1, 1, 2, 3}, {1, 2, 3, 19}),
        tiled_case(kToBFloat16, {3, 5, 7, 5}, {-1, 1, 2, 3}, {1, 2, 3, 5}, kCompact),
        tiled_case(kToFloat32, {6, 16, 33}, {-1, 0, 1, 2}, {1, 3, 16, 16}),
        tiled_case(kToFloat32, {33, 6, 7}, {-1, 1, 2, 0}, {1, 3, 4, 16}),
        blocked_case(kToBFloat16, {5, 7, 21}, {1, 2, 3, 21})}) {
    const oracle::Tensor values = oracle::random_tensor(c.input.shape, c.input.dtype, c.seed);
    for (const oracle::Padding poison :
         {oracle::Padding{0x00, 0xff}, oracle::Padding{0x7f, 0x80}}) {
      Golden golden = golden_of(c, values);
      golden.input = oracle::tile(values, c.input.layout, poison);
      DeviceCase on_device(&encode_detesscast, c, golden, {});
      EXPECT_TRUE(run_everywhere(on_device, 2));
    }
  }
}

/// Tiles far larger than local memory: read in bounded fragments.
TEST(DetessCastQualification, GiantTilesAreReadInBoundedFragments) {
  for (const DTypePair dtypes : {kToFloat32, kToBFloat16})
    for (const std::int64_t channels : {3, 20}) {
      const Case c = tiled_case(dtypes, {1, 120, 130, channels}, {-1, 1, 2, 3},
                                {1, 2147483647, 2147483647, 2147483647});
      DeviceCase on_device(&encode_detesscast, c, {16, 6});
      EXPECT_TRUE(run_everywhere(on_device, 1));
      EXPECT_GT(on_device.golden().input.size(), std::size_t{3} * 128 * 1024);
      EXPECT_LE(on_device.result().counters.local_bytes, 52U * 1024);
    }
}

TEST(DetessCastQualification, EveryScalarAlignedOutputOffset) {
  for (const auto& [dtypes, width] : {std::pair{kToFloat32, 4U}, std::pair{kToBFloat16, 2U}})
    for (std::uint32_t phase = 0; phase < 32; phase += width)
      for (const Case& c : {tiled_case(dtypes, {213}, {-1, -1, -1, 0}, {1, 1, 1, 64}),
                            tiled_case(dtypes, {4, 37, 33}, {-1, 0, 1, 2}, {1, 2, 16, 16}),
                            tiled_case(dtypes, {37, 16}, {-1, -1, 0, 1}, {1, 1, 16, 16}),
                            tiled_case(dtypes, {5, 3}, {-1, -1, 0, 1}, {1, 1, 2, 3}, kCompact)}) {
        DeviceCase on_device(&encode_detesscast, c, {0, phase});
        ASSERT_TRUE(run_everywhere(on_device, 1));
        EXPECT_LT(on_device.result().counters.typed_store_bytes, 32U);
      }
}

/// One device and one destination, tensors of different routes after each other.
TEST(DetessCastQualification, DirtyBuffersKeepNothing) {
  model::DeviceModel device(deferred(3, 5));
  for (std::uint64_t round = 0; round < 3; ++round)
    for (const Case& c :
         {tiled_case(kToFloat32, {40, 40, 9}, {-1, 0, 1, 2}, {1, 7, 8, 9}, kPad16, round),
          tiled_case(kToBFloat16, {40, 40, 3}, {-1, 0, 1, 2}, {1, 7, 8, 2}, kCompact, round + 1),
          blocked_case(kToFloat32, {20, 20, 33}, {1, 7, 8, 33}, round + 2),
          tiled_case(kToFloat32, {8, 16, 48}, {-1, 0, 1, 2}, {1, 4, 16, 16}, kPad16, round)}) {
      DeviceCase on_device(&encode_detesscast, c);
      ASSERT_TRUE(on_device.run(device));
    }
}

/// Pixels of exactly the raw slot, and one step more.
TEST(DetessCastQualification, RawCapacityBoundaries) {
  for (const DTypePair dtypes : {kToFloat32, kToBFloat16})
    for (const std::int64_t channels : {2032, 2047, 2048, 2049, 2064})
      for (const ChannelStorage storage : {kCompact, kPad16}) {
        DeviceCase on_device(&encode_detesscast, tiled_case(dtypes, {7, channels}, {-1, -1, 0, 1},
                                                            {1, 1, 3, channels}, storage));
        ASSERT_TRUE(run_everywhere(on_device, 1));
        EXPECT_EQ(on_device.result().route,
                  channels <= 2048 ? Route::DetessCastRawRow : Route::DetessCastPlanar);
      }
}

/// Columns whose pitch is the largest that a transfer can state, and split ones beyond.
TEST(DetessCastQualification, PitchesUpToSixteenBitsAndSplitOnesBeyond) {
  const auto calls = [](std::int64_t width) {
    // W outermost, H innermost: values of one column are a tile row apart.
    const Case c = tiled_case(kToBFloat16, {width, 3}, {-1, 1, 0, -1}, {1, 3, width, 1}, kCompact);
    Case mapped = c;
    std::get<kernels::MlaTiled>(mapped.input.layout).axes = {-1, 1, 0, 2};
    mapped.input.shape = mapped.output.shape = kernels::Shape{width, 3, 1};
    return run_once(mapped).dma_calls_in;
  };
  EXPECT_EQ(calls(32767), 2U * 32767);     // 65,534 bytes: a column a plane
  EXPECT_EQ(calls(32768), 2U * 3 * 32768); // 65,536 bytes: value by value
}

TEST(DetessCastQualification, RankSixCursorsCarryAcrossMappedAndUnmappedAxes) {
  for (const DTypePair dtypes : {kToFloat32, kToBFloat16})
    for (const Case& c : {tiled_case(dtypes, {2, 3, 2, 5, 3, 21}, {1, 3, 4, 5}, {2, 2, 2, 16}),
                          tiled_case(dtypes, {2, 3, 2, 5, 3, 21}, {5, 0, 2, 3}, {8, 1, 2, 3}),
                          tiled_case(dtypes, {3, 2, 21, 2, 3, 4}, {-1, 0, 4, 2}, {1, 2, 2, 16}),
                          tiled_case(dtypes, {3, 2, 4, 2, 3, 20}, {-1, -1, 1, 5}, {1, 1, 2, 20}),
                          tiled_case(dtypes, {3, 2, 4, 2, 3, 9}, {0, 1, 2, 3}, {2, 1, 3, 2})}) {
      DeviceCase on_device(&encode_detesscast, c, {0, 4});
      EXPECT_TRUE(run_everywhere(on_device, 2));
    }
}

/// Only the ends of a rank-one tensor are loaded as scalars: at most seven elements each.
TEST(DetessCastQualification, RankOneBoundariesAreTheOnlyTypedLoads) {
  for (const auto& [dtypes, width] : {std::pair{kToFloat32, 4U}, std::pair{kToBFloat16, 2U}})
    for (std::uint32_t phase = 0; phase < 16; phase += width)
      for (const std::int64_t count : {1, 3, 7, 8, 9, 40, 4096, 9000}) {
        const model::Counters found =
            run_once(tiled_case(dtypes, {count}, {-1, -1, -1, 0}, {1, 1, 1, 1000}), 4, {0, phase});
        const auto elements = static_cast<std::uint64_t>(count);
        EXPECT_LE(found.typed_load_bytes, 2U * 14);
        EXPECT_EQ(found.typed_load_bytes * width / 2, found.typed_store_bytes);
        EXPECT_EQ(found.dma_bytes_in, 2 * elements - found.typed_load_bytes);
        EXPECT_EQ(found.typed_store_bytes + found.dma_bytes_out, elements * width);
      }
  const model::Counters rank_two =
      run_once(tiled_case(kToFloat32, {1, 213}, {-1, -1, -1, 1}, {1, 1, 1, 64}), 4, {0, 4});
  EXPECT_EQ(rank_two.typed_load_bytes, 0U);
}

/// A short aligned interior comes by transfer too.
TEST(DetessCastQualification, ShortRankOneInteriorIsTransferred) {
  const model::Counters found =
      run_once(tiled_case(kToBFloat16, {8}, {-1, -1, -1, 0}, {1, 1, 1, 8}));
  EXPECT_EQ(found.typed_load_bytes, 0U);
  EXPECT_EQ(found.dma_calls_in, 2U);
}

/// A complete panel whose planes are a panel long is one read; anything else is one a plane.
TEST(DetessCastQualification, AdjacentPlanesOfACompletePanelAreOneRead) {
  const auto calls = [](std::int64_t channels, ChannelStorage storage) {
    return run_once(
               tiled_case(kToFloat32, {channels}, {-1, -1, -1, 0}, {1, 1, 1, channels}, storage))
        .dma_calls_in;
  };
  EXPECT_EQ(calls(4096, kCompact), 1U);
  EXPECT_EQ(calls(4096, kPad16), 1U);
  EXPECT_EQ(calls(4095, kCompact), 2U); // partial
  EXPECT_EQ(calls(8192, kCompact), 4U); // planes 8,192 apart
}

/// Values far apart are read exactly; intervals are staged where at most twice the values come in.
TEST(DetessCastQualification, EnvelopesAreAtMostTwiceTheirLivePlanes) {
  for (const std::int64_t channels : {1, 2, 3, 4, 8})
    for (const ChannelStorage storage : {kCompact, kPad16}) {
      const Case c = tiled_case(kToBFloat16, {channels, 40, 50}, {-1, 1, 2, 0},
                                {1, 16, 50, channels}, storage);
      const model::Counters found = run_once(c);
      const auto live = static_cast<std::uint64_t>(2 * channels * 40 * 50);
      EXPECT_LE(found.dma_bytes_in, 2 * live);
      if (storage == kPad16 || channels == 8) {
        EXPECT_EQ(found.dma_bytes_in, live); // planes alone
      }
    }
}

/// Channels between H and W: rows that lie between each other are staged together, or not at all.
TEST(DetessCastQualification, InterleavedRowsShareTheirEnvelope) {
  for (const std::int64_t width : {9, 100, 640})
    for (const std::int64_t channels : {2, 16, 30}) {
      const model::Counters found = run_once(tiled_case(
          kToBFloat16, {4, channels, width}, {-1, 0, 2, 1}, {1, 2, width, channels}, kCompact));
      EXPECT_LE(found.dma_bytes_in, static_cast<std::uint64_t>(2 * 2 * 4 * channels * width));
    }
}

/// Rows of whole H tiles and W tiles come as packed rectangles where C is outside.
TEST(DetessCastQualification, CompleteRowsComeAsRectangles) {
  // C first; 20 rows of 40 pixels in tiles of 10 by 20: two rectangles a band, two planes each.
  const Case c = tiled_case(kToBFloat16, {2, 20, 40}, {-1, 1, 2, 0}, {1, 10, 20, 2});
  const model::Counters found = run_once(c);
  EXPECT_EQ(found.dma_calls_in, 2U * 2 * 2 * 2);
  EXPECT_EQ(found.dma_bytes_in, 2U * 2 * 20 * 40);
}

/// Staging of each reader.
TEST(DetessCastQualification, StagingBytes) {
  const auto kib = [](const Case& c) { return run_once(c).local_bytes / 1024.0; };
  const auto pixels = [](DTypePair dtypes, std::int64_t channels) {
    return tiled_case(dtypes, {4, 16, channels}, {-1, 0, 1, 2}, {1, 4, 16, channels});
  };
  EXPECT_EQ(kib(pixels(kToFloat32, 3)), 52); // gather
  EXPECT_EQ(kib(pixels(kToBFloat16, 3)), 36);
  EXPECT_EQ(kib(pixels(kToFloat32, 17)), 40); // raw rows
  EXPECT_EQ(kib(pixels(kToBFloat16, 17)), 24);
  EXPECT_EQ(kib(pixels(kToFloat32, 16)), 40); // full pixels
  EXPECT_EQ(kib(tiled_case(kToFloat32, {4, 16, 48}, {-1, 0, 1, 2}, {1, 4, 16, 16})), 40);
}

} // namespace
} // namespace simaai::test
