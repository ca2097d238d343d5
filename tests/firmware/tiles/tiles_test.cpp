// SPDX-License-Identifier: LGPL-2.1-or-later
// Tess and CastTess on the device model, compiled once for each with the operation as a parameter.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "firmware/effort.h"
#include "firmware/refusals.h"
#include "firmware/tiles/operation_under_test.h"
#include "firmware/tiles/tile_cases.h"
#include "support/shape_table.h"

namespace simaai::test {
namespace {

using firmware::Route;
using kernels::ChannelStorage;
using kernels::Strided;

TEST(TileFirmware, GeneratedShapesOnOneToFourWorkersAndLateTransfers) {
  for (std::uint64_t number = 0; number < effort().cases; ++number) {
    DeviceCase c = generated_tiles(writer_under_test(), number);
    ASSERT_TRUE(run_everywhere(c, effort().seeds, number)) << "case number " << number;
    const model::Counters& counters = c.result().counters;
    // Output is whole granules: nothing is left to scalar stores, padding included.
    ASSERT_EQ(counters.typed_store_bytes, 0U);
    ASSERT_EQ(counters.dma_bytes_out, c.golden().output.size());
  }
}

TEST(TileFirmware, EveryGrainIsReachedByGeneratedShapes) {
  std::map<unsigned, std::uint64_t> reached;
  model::DeviceModel device(immediate(4));
  for (std::uint64_t number = 0; number < 300; ++number) {
    DeviceCase c = generated_tiles(writer_under_test(), number);
    ASSERT_TRUE(c.run(device)) << "case number " << number;
    ++reached[static_cast<unsigned>(c.result().route) & 0xffU];
  }
  EXPECT_GE(reached[1], 30U);
  EXPECT_GE(reached[2], 10U);
  EXPECT_GE(reached[3], 10U);
}

/// Transfers that read each tile in as few pieces of a panel as it has, and write those pieces, small tiles together.
std::uint64_t least_calls(const kernels::TensorSpec& spec) {
  constexpr std::int64_t kPanel = 8192; // stored bytes
  const auto& layout = std::get<kernels::MlaTiled>(spec.layout);
  std::int64_t extent[4];
  std::int64_t tile[4];
  std::int64_t outer = static_cast<std::int64_t>(oracle::element_count(spec.shape));
  for (std::size_t i = 0; i < 4; ++i) {
    extent[i] = layout.axes[i] < 0 ? 1 : spec.shape[static_cast<std::size_t>(layout.axes[i])];
    tile[i] = std::min(extent[i], layout.tile_shape[i]);
    outer /= extent[i];
  }
  std::int64_t reads = 0;
  std::int64_t writes = 0;
  std::int64_t small_bytes = 0;
  for (std::int64_t c = 0; c < extent[3]; c += tile[3])
    for (std::int64_t h = 0; h < extent[1]; h += tile[1])
      for (std::int64_t w = 0; w < extent[2]; w += tile[2]) {
        const std::int64_t rows = std::min(tile[1], extent[1] - h);
        const std::int64_t columns = std::min(tile[2], extent[2] - w);
        const std::int64_t channels = std::min(tile[3], extent[3] - c);
        const std::int64_t stored =
            layout.channels == ChannelStorage::PadTo16 ? (channels + 15) / 16 * 16 : channels;
        const std::int64_t bytes =
            (rows * columns * stored * kernels::scalar_bytes(spec.dtype) + 15) / 16 * 16;
        const std::int64_t pieces = (bytes - 1) / kPanel + 1;
        // A transfer has rows at one distance: pixels that are apart need one a row or a column.
        const bool one_distance = channels == extent[3] || columns == extent[2];
        reads += one_distance ? pieces : std::max(pieces, std::min(rows, columns));
        if (2 * bytes > kPanel)
          writes += pieces;
        else
          small_bytes += bytes;
      }
  writes += (small_bytes + kPanel - 1) / kPanel;
  return static_cast<std::uint64_t>(outer * (reads + writes));
}

TEST(TileFirmware, ModelShapesAgreeWithTheOracle) {
  constexpr std::uint64_t kLarge = 700000; // bytes
  const bool all = effort().seeds > 10;
  std::uint32_t ran = 0;
  for (const ShapeRow& row : read_shape_table())
    for (const DTypePair dtypes : writer_under_test().dtypes) {
      if (!std::holds_alternative<kernels::MlaTiled>(row.spec.layout) ||
          row.spec.dtype != dtypes.to || (!all && row.bytes > kLarge))
        continue;
      Case c{{row.spec.shape, dtypes.from, {}}, row.spec, {}, 3};
      if (dtypes.to == kernels::DType::Int8)
        c.fill = std::int8_t{9};
      DeviceCase on_device(writer_under_test().encode, c);
      if (all) {
        const std::uint64_t orders = effort().seeds / (row.bytes > kLarge ? 4 : 1);
        ASSERT_TRUE(run_everywhere(on_device, orders)) << row.name;
      }
      model::DeviceModel device(deferred(4, 11));
      ASSERT_TRUE(on_device.run(device)) << row.name;
      // Nearly as few transfers as the tiles can be moved with; three further workers may each cut a panel and a tile. What
      // is read is the input once.
      const model::Counters& counters = on_device.result().counters;
      EXPECT_LE(10 * (counters.dma_calls_in + counters.dma_calls_out),
                11 * least_calls(row.spec) + 10 * 3 * 2)
          << row.name << ": " << counters.dma_calls_in << " and " << counters.dma_calls_out
          << ", least " << least_calls(row.spec);
      EXPECT_EQ(counters.dma_bytes_in, on_device.golden().input.size()) << row.name;
      ++ran;
    }
  EXPECT_GE(ran, 10U);
}

TEST(TileFirmware, EverySixteenBitPatternIsPacked) {
  for (const DTypePair dtypes : writer_under_test().dtypes) {
    if (kernels::scalar_bytes(dtypes.from) != 2)
      continue;
    oracle::Tensor words{kernels::Shape{1, 16, 64, 64}, dtypes.from, {}};
    for (std::uint32_t word = 0; word < 65536; ++word)
      words.bits.push_back(word);
    for (const auto storage : {ChannelStorage::Compact, ChannelStorage::PadTo16})
      for (const std::int64_t channels : {64, 17}) {
        const Case c = image_case(dtypes, {1, 16, 64, 64}, {1, 3, 7, channels}, storage);
        DeviceCase on_device(writer_under_test().encode, c, golden_of(c, words), {});
        model::DeviceModel device(deferred(3, 2));
        ASSERT_TRUE(on_device.run(device));
      }
  }
}

TEST(TileFirmware, GrainFollowsTileAndPixelBytes) {
  const auto grain = [](std::initializer_list<std::int64_t> shape,
                        std::initializer_list<std::int64_t> tile) {
    const DTypePair dtypes = writer_under_test().dtypes.back();
    DeviceCase c(writer_under_test().encode,
                 image_case(dtypes, shape, tile, ChannelStorage::PadTo16));
    model::DeviceModel device(immediate(2));
    EXPECT_TRUE(c.run(device));
    return static_cast<unsigned>(c.result().route) & 0xffU;
  };
  // Panels hold 8,192 stored bytes; the last dtype of both operations stores two bytes a value.
  EXPECT_EQ(grain({1, 16, 16, 16}, {1, 16, 16, 16}), 1U);
  EXPECT_EQ(grain({1, 16, 17, 16}, {1, 16, 17, 16}), 2U);
  EXPECT_EQ(grain({1, 1, 2, 4096}, {1, 1, 1, 4096}), 1U);
  EXPECT_EQ(grain({1, 1, 2, 4096}, {1, 1, 2, 4096}), 2U);
  EXPECT_EQ(grain({1, 1, 2, 4097}, {1, 1, 2, 4097}), 3U);
}

TEST(TileFirmware, DenseTilesAreOneTransferAPanel) {
  // Whole rows of the image are tiles, so source and destination are both one span.
  const DTypePair dtypes = writer_under_test().dtypes.back();
  DeviceCase c(writer_under_test().encode,
               image_case(dtypes, {1, 64, 64, 64}, {1, 1, 64, 64}, ChannelStorage::Compact));
  model::DeviceModel device(immediate(1));
  ASSERT_TRUE(c.run(device));
  const model::Counters& counters = c.result().counters;
  EXPECT_EQ(counters.dma_calls_out, 64U * 64 * 64 * 2 / 8192);
  EXPECT_EQ(counters.dma_calls_in, counters.dma_calls_out);
  EXPECT_EQ(counters.dma_bytes_in, c.golden().input.size());
}

TEST(TileFirmware, SourcePitchesAtTheSixteenBitBoundary) {
  // One row of four pixels, 65,534 or 65,536 bytes apart: one transfer, or one a pixel.
  const DTypePair dtypes = writer_under_test().dtypes.back();
  const std::int64_t width = kernels::scalar_bytes(dtypes.from);
  const auto calls = [&](std::int64_t pitch) {
    Case c = image_case(dtypes, {1, 1, 4, 8}, {1, 1, 4, 8}, ChannelStorage::Compact);
    c.input.layout = Strided{{4 * pitch, 4 * pitch, pitch, width}};
    DeviceCase on_device(writer_under_test().encode, c);
    model::DeviceModel device(immediate(1));
    EXPECT_TRUE(on_device.run(device));
    return on_device.result().counters.dma_calls_in;
  };
  EXPECT_EQ(calls(65536 - width), 1U);
  EXPECT_EQ(calls(65536), 4U);
}

TEST(TileFirmware, LocalMemoryIsTheDeclaredSlots) {
  const DTypePair dtypes = writer_under_test().dtypes.back();
  DeviceCase c(writer_under_test().encode,
               image_case(dtypes, {1, 2, 2, 3}, {1, 2, 2, 3}, ChannelStorage::PadTo16));
  model::DeviceModel device(immediate(1));
  ASSERT_TRUE(c.run(device));
  EXPECT_EQ(c.result().counters.local_bytes, local_bytes_under_test());
}

/// A small image with pitched rows, whose packet has strides.
Case pitched_image() {
  const DTypePair dtypes = writer_under_test().dtypes.back();
  const std::int64_t width = kernels::scalar_bytes(dtypes.from);
  Case c = image_case(dtypes, {1, 4, 4, 8}, {1, 2, 4, 8}, ChannelStorage::PadTo16);
  c.input.layout = Strided{{1024 * width, 100 * width, 8 * width, width}};
  return c;
}

TEST(TileRefusals, MalformedPacketsMoveNothing) {
  const DTypePair dtypes = writer_under_test().dtypes.back();
  DeviceCase dense(writer_under_test().encode,
                   image_case(dtypes, {1, 4, 4, 8}, {1, 2, 4, 8}, ChannelStorage::PadTo16));
  ASSERT_EQ(dense.packet().size(), 168U);
  expect_malformed_packets_refused(dense, entry_under_test());
  DeviceCase pitched(writer_under_test().encode, pitched_image());
  ASSERT_EQ(pitched.packet().size(), 216U);
  expect_malformed_packets_refused(pitched, entry_under_test());
}

TEST(TileRefusals, OlderFirmwareRefusesTheFlagOfStrides) {
  DeviceCase c(writer_under_test().encode, pitched_image());
  model::ModelConfig config = immediate(2);
  model::DeviceModel current(config);
  EXPECT_TRUE(c.run(current));
  config.supported_flags = 0;
  model::DeviceModel older(config);
  EXPECT_TRUE(c.run_leaves_output(older, entry_under_test()));
  EXPECT_EQ(c.result().status, kernels::wire::EntryStatus::UnsupportedFlags);
  EXPECT_EQ(c.result().counters, model::Counters{});
  for (const auto& capability : older.capabilities())
    EXPECT_EQ(capability.flags, 0U);
}

TEST(TileFirmware, WholeRowsOfImageTilesArriveTogether) {
  // Three channels, tiles narrower than the image: rows of a tile are one pitched transfer a panel.
  const DTypePair dtypes = writer_under_test().dtypes.back();
  DeviceCase c(writer_under_test().encode,
               image_case(dtypes, {1, 64, 256, 3}, {1, 32, 128, 3}, ChannelStorage::Compact));
  model::DeviceModel device(immediate(1));
  ASSERT_TRUE(c.run(device));
  const model::Counters& counters = c.result().counters;
  const std::uint64_t panels = (c.golden().output.size() + 8191) / 8192;
  EXPECT_LE(counters.dma_calls_out, panels + panels / 10 + 1);
  EXPECT_LE(counters.dma_calls_in, 2 * counters.dma_calls_out);
  EXPECT_EQ(counters.dma_bytes_in, c.golden().input.size());
}

} // namespace
} // namespace simaai::test
