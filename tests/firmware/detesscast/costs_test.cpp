// SPDX-License-Identifier: LGPL-2.1-or-later
// What DetessCast and Detess move for the tensors of deployed models: bounds that follow from the layouts
// alone, checked on the device model's exact counters.
#include <algorithm>

#include <gtest/gtest.h>

#include "firmware/detess/reader_cases.h"
#include "support/shape_table.h"

namespace simaai::test {
namespace {

using firmware::Route;
using kernels::DType;
using kernels::MlaCBlocked;
using kernels::MlaTiled;

constexpr std::int64_t kPanel = 4096;
constexpr std::int64_t kRaw = 4096;

std::int64_t divide_up(std::int64_t value, std::int64_t by) { return (value + by - 1) / by; }

/// H, W and C of a channels-last tensor, its tiles, and what stays outside.
struct Image {
  std::int64_t outer = 1;
  std::int64_t extent[3] = {1, 1, 1};
  std::int64_t tile[3] = {1, 1, 1};
  std::int64_t planes = 2;
  bool blocked = false;
  bool padded = false;

  [[nodiscard]] std::int64_t pixels() const { return outer * extent[0] * extent[1]; }
  [[nodiscard]] std::int64_t stored(std::int64_t channels) const {
    return padded ? divide_up(channels, 16) * 16 : channels;
  }
};

Image image_of(const kernels::TensorSpec& spec) {
  Image image;
  const std::size_t rank = spec.shape.rank();
  const auto* tiled = std::get_if<MlaTiled>(&spec.layout);
  image.planes = kernels::scalar_bytes(spec.dtype);
  image.blocked = tiled == nullptr;
  image.padded = image.blocked || tiled->channels == kernels::ChannelStorage::PadTo16;
  for (std::size_t axis = 0; axis < rank; ++axis)
    image.outer *= spec.shape[axis];
  for (std::size_t i = 0; i < 3; ++i) {
    const std::int32_t axis =
        image.blocked ? static_cast<std::int32_t>(rank - 3 + i) : tiled->axes[i + 1];
    if (axis < 0)
      continue;
    image.extent[i] = spec.shape[static_cast<std::size_t>(axis)];
    image.tile[i] = std::min(image.extent[i],
                             image.blocked ? std::get<MlaCBlocked>(spec.layout).tile_shape[i + 1]
                                           : tiled->tile_shape[i + 1]);
    image.outer /= image.extent[i];
  }
  return image;
}

/// Calls `visit(pixels, channels)` for each line of a tile: pixels that follow each other in the
/// tile and in the output, and the tile's channels. Lines of tiles that are as wide as the tensor
/// follow each other, too, and are one; so do tiles of one whole row where they leave no gap.
template <class Visit> void for_each_line(const Image& image, const Visit& visit) {
  for (std::int64_t c = 0; c < image.extent[2]; c += image.tile[2]) {
    const std::int64_t channels = std::min(image.tile[2], image.extent[2] - c);
    if (image.tile[1] == image.extent[1]) {
      const bool gapless =
          image.tile[0] * image.tile[1] * image.stored(channels) * image.planes % 16 == 0 &&
          (!image.blocked || image.tile[2] <= 16);
      const std::int64_t rows = gapless ? image.extent[0] : image.tile[0];
      for (std::int64_t h = 0; h < image.extent[0]; h += rows)
        visit(std::min(rows, image.extent[0] - h) * image.extent[1], channels, image.outer);
      continue;
    }
    for (std::int64_t w = 0; w < image.extent[1]; w += image.tile[1])
      visit(std::min(image.tile[1], image.extent[1] - w), channels, image.outer * image.extent[0]);
  }
}

/// Transfers that move each line once in pieces of the route's slot, and each output panel once.
std::int64_t least_calls(const Image& image, Route route, std::int64_t elements) {
  std::int64_t calls = divide_up(elements, kPanel);
  for_each_line(image, [&](std::int64_t pixels, std::int64_t channels, std::int64_t times) {
    if (route == Route::DetessCastRawRow || route == Route::DetessCastFullPixel ||
        route == Route::DetessRawRow)
      calls += times * divide_up(pixels, kRaw / (image.planes * image.stored(channels)));
    else if (route == Route::DetessCastBlocked || route == Route::DetessBlocked)
      calls += times * image.planes * divide_up(channels, 16) *
               divide_up(pixels * image.extent[2], kPanel);
    else
      calls += times * image.planes * divide_up(pixels * image.extent[2], kPanel);
  });
  if (route == Route::DetessCastChannelBand) { // one read a channel tile, one write a row
    const std::int64_t rows = std::min({image.tile[0], kRaw / (2 * image.tile[2] * image.tile[1]),
                                        kPanel / (image.extent[2] * image.tile[1])});
    const std::int64_t columns = image.outer * image.extent[1] / image.tile[1];
    const std::int64_t bands = image.extent[0] / image.tile[0] * divide_up(image.tile[0], rows);
    calls = columns * (bands * divide_up(image.extent[2], image.tile[2]) + image.extent[0]);
  }
  return calls;
}

void expect_costs(DeviceCase& c, const ShapeRow& row, const char* to, std::uint32_t workers,
                  std::uint32_t calls_a_worker) {
  model::DeviceModel device(immediate(workers));
  ASSERT_TRUE(c.run(device)) << row.name;
  const model::Counters& found = c.result().counters;
  const Image image = image_of(row.spec);
  const auto elements = static_cast<std::int64_t>(oracle::element_count(row.spec.shape));
  const std::uint64_t logical = c.golden().output.size();
  SCOPED_TRACE(row.name + " to " + to + ", " + firmware::route_name(c.result().route) +
               ", workers " + std::to_string(workers));
  // The output is aligned: only what no granule holds at its end is stored.
  EXPECT_EQ(found.typed_store_bytes, logical % 16);
  EXPECT_EQ(found.dma_bytes_out + found.typed_store_bytes, logical);
  // A pixel that two panels share is read twice; more is never read.
  const std::uint64_t physical = c.golden().input.size();
  const auto whole_pixels =
      static_cast<std::uint64_t>(std::max<std::int64_t>(kPanel / image.extent[2], 1));
  EXPECT_LE(found.dma_bytes_in + found.typed_load_bytes, physical + physical / whole_pixels);
  const auto calls = static_cast<std::int64_t>(found.dma_calls_in + found.dma_calls_out);
  const std::int64_t least = least_calls(image, c.result().route, elements);
  // Each further worker may begin one more panel.
  EXPECT_LE(10 * (calls - calls_a_worker * (workers - 1)), 11 * least)
      << calls << " calls, least " << least;
}

TEST(DetessCastCosts, BoundsForTheShapesOfTheTable) {
  std::uint64_t rows = 0;
  for (const ShapeRow& row : read_shape_table()) {
    if (row.spec.dtype != DType::BFloat16)
      continue;
    ++rows;
    for (const DType to : {DType::BFloat16, DType::Float32}) {
      DeviceCase c(&encode_detesscast, {row.spec, {row.spec.shape, to, {}}, {}, 1});
      for (const std::uint32_t workers : {1U, 4U})
        expect_costs(c, row, to == DType::Float32 ? "float32" : "bfloat16", workers, 1);
    }
  }
  EXPECT_GE(rows, 20U);
}

TEST(DetessCosts, BoundsForTheShapesOfTheTable) {
  std::uint64_t rows = 0;
  for (const ShapeRow& row : read_shape_table()) {
    ++rows;
    DeviceCase c(&encode_detess, {row.spec, {row.spec.shape, row.spec.dtype, {}}, {}, 1});
    for (const std::uint32_t workers : {1U, 4U})
      expect_costs(c, row, "itself", workers, 2);
  }
  EXPECT_GE(rows, 30U);
}

/// The counts of two tensors in full, as worked out by hand.
TEST(DetessCastCosts, ExactCounts) {
  const auto count = [](const char* name, DType to) {
    for (const ShapeRow& row : read_shape_table())
      if (row.name == name) {
        DeviceCase c(&encode_detesscast, {row.spec, {row.spec.shape, to, {}}, {}, 1});
        model::DeviceModel device(immediate(4));
        EXPECT_TRUE(c.run(device));
        return c.result().counters;
      }
    ADD_FAILURE() << name;
    return model::Counters{};
  };
  // 160 x 160 x 64 in tiles of 16: bands of four rows, 400 of them, each of four channel tiles.
  const model::Counters bands = count("bench_160x160x64", DType::Float32);
  EXPECT_EQ(bands.dma_calls_in, 1600U);
  EXPECT_EQ(bands.dma_bytes_in, 160U * 160 * 64 * 2);
  EXPECT_EQ(bands.dma_calls_out, 1600U);
  // 80 x 80 x 255, pixels of 512 bytes: eight in a raw slot, sixteen a panel.
  const model::Counters pixels = count("bench_80x80x255_whole", DType::BFloat16);
  EXPECT_EQ(pixels.dma_calls_in, 800U);
  EXPECT_EQ(pixels.dma_bytes_in, 80U * 80 * 512);
  EXPECT_EQ(pixels.dma_calls_out, 400U);
}

} // namespace
} // namespace simaai::test
