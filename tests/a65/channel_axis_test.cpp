// SPDX-License-Identifier: LGPL-2.1-or-later
// Channel tiles of 17 and 32, full and partial last ones, with the channel axis in every position.
#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "a65/contract_case.h"
#include "support/shape_generator.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::MlaTiled;
using kernels::Shape;

struct Surroundings {
  const char* name;
  std::int64_t extent; ///< of every axis but C; from the second one on it grows by one an axis
  bool mapped;         ///< up to three of them are D, H and W, the rest is outer
};
constexpr Surroundings kSurroundings[] = {{"unit axes, mapped", 1, true},
                                          {"unit axes, unmapped", 1, false},
                                          {"small axes, mapped", 2, true},
                                          {"small axes, unmapped", 2, false}};

Shape shape_around(std::size_t rank, std::size_t channel_axis, std::int64_t channels,
                   const Surroundings& around) {
  std::vector<std::int64_t> extents(rank, around.extent);
  if (around.extent > 1 && rank > 1)
    extents[(channel_axis + 1) % rank] = 3;
  extents[channel_axis] = channels;
  return Shape(std::span<const std::int64_t>(extents));
}

MlaTiled tiling_around(std::size_t rank, std::size_t channel_axis, std::int64_t channel_tile,
                       const Surroundings& around) {
  MlaTiled tiled;
  tiled.axes[3] = static_cast<std::int32_t>(channel_axis);
  tiled.tile_shape[3] = channel_tile;
  std::size_t role = 3;
  for (std::size_t axis = rank; around.mapped && axis-- > 0 && role > 0;) {
    if (axis == channel_axis)
      continue;
    --role;
    tiled.axes[role] = static_cast<std::int32_t>(axis);
    tiled.tile_shape[role] = 2;
  }
  return tiled;
}

/// Both storages, contiguous and strided.
void run_layouts(const Operation& operation, const Shape& shape, DTypePair dtypes, MlaTiled tiled,
                 std::uint64_t seed) {
  oracle::Random random(seed);
  const auto linear_dtype = operation.tiled_input ? dtypes.to : dtypes.from;
  const auto strided = random_strides(random, shape, linear_dtype);
  for (const auto storage : {ChannelStorage::Compact, ChannelStorage::PadTo16}) {
    tiled.channels = storage;
    ASSERT_TRUE(run_case(operation,
                         make_case(operation, shape, dtypes, kernels::Contiguous{}, tiled, seed)));
    ASSERT_TRUE(run_case(operation, make_case(operation, shape, dtypes, strided, tiled, seed)));
  }
}

void run_positions(const Operation& operation, DTypePair dtypes, std::int64_t channel_tile,
                   std::int64_t channels) {
  std::uint64_t seed = static_cast<std::uint64_t>(channel_tile * 1000 + channels);
  for (std::size_t rank = 1; rank <= kernels::kMaxRank; ++rank)
    for (std::size_t position = 0; position < rank; ++position)
      for (const Surroundings& around : kSurroundings) {
        SCOPED_TRACE(around.name);
        run_layouts(operation, shape_around(rank, position, channels, around), dtypes,
                    tiling_around(rank, position, channel_tile, around), ++seed);
        if (::testing::Test::HasFatalFailure())
          return;
      }
}

TEST(ChannelAxis, EveryPositionWithFullAndPartialLastTiles) {
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes)
    for (const std::int64_t tile : {17, 32})
      for (const std::int64_t channels : {tile, 2 * tile, 2 * tile + 1, tile + 15, tile - 1}) {
        run_positions(operation, dtypes, tile, channels);
        if (HasFatalFailure())
          return;
      }
}

/// Narrow pixels, which have row kernels of their own: all channels in one tile, and split.
TEST(ChannelAxis, OneToFiveChannelsOverRowsOfEveryLength) {
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes)
    for (std::int64_t channels = 1; channels <= 5; ++channels)
      for (std::int64_t width = 1; width <= 70; width += width < 36 ? 1 : 7)
        for (const std::int64_t tile_width : {width, std::int64_t{16}, std::int64_t{5}}) {
          const Shape shape{2, width, channels};
          const MlaTiled tiled{{-1, 0, 1, 2}, {1, 2, tile_width, channels == 5 ? 3 : channels}};
          run_layouts(operation, shape, dtypes, tiled, static_cast<std::uint64_t>(width));
          if (HasFatalFailure())
            return;
        }
}

/// Several tiles along a line and a narrower last one, of one row and more: kernels take them at once.
TEST(ChannelAxis, TilesOfEveryWidthAlongALine) {
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes)
    for (const std::int64_t channels :
         {1, 3, 4, 7, 16, 17, 31, 32, 40, 64, 65, 79, 80, 96, 100, 130})
      for (const std::int64_t width : {1, 2, 3, 4, 5, 8, 9})
        for (const std::int64_t height : {1, 2, 5}) {
          const Shape shape{height + 1, 2 * width + 1 - width % 2, channels};
          const std::int64_t tile = channels % 32 == 0 && width % 2 == 0 ? channels / 2 : channels;
          const MlaTiled tiled{{-1, 0, 1, 2}, {1, height, width, tile}};
          run_layouts(operation, shape, dtypes, tiled, static_cast<std::uint64_t>(width));
          if (HasFatalFailure())
            return;
        }
}

/// Many narrow tiles along a line, which kernels take in groups, and channel tiles of sixteen with a
/// full and a partial last one.
TEST(ChannelAxis, ManyTilesAlongALine) {
  struct Pixels {
    std::int64_t channels;
    std::int64_t tile;
  };
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes)
    for (const auto [channels, tile] : {Pixels{4, 4}, Pixels{3, 3}, Pixels{65, 65}, Pixels{80, 80},
                                        Pixels{64, 16}, Pixels{35, 16}, Pixels{63, 16}})
      for (const std::int64_t width : {1, 2, 4})
        for (const std::int64_t tiles : {4, 7, 9, 18})
          for (const std::int64_t height : {1, 3}) {
            const Shape shape{height + 2, tiles * width, channels};
            const MlaTiled tiled{{-1, 0, 1, 2}, {1, height, width, tile}};
            run_layouts(operation, shape, dtypes, tiled, static_cast<std::uint64_t>(tiles));
            if (HasFatalFailure())
              return;
          }
}

/// Wide pixels around vector lengths.
TEST(ChannelAxis, WidePixelsOfEveryLength) {
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes)
    for (std::int64_t channels = 6; channels <= 140; ++channels) {
      const MlaTiled tiled{{-1, -1, 0, 1}, {1, 1, 3, channels}};
      run_layouts(operation, Shape{3, channels}, dtypes, tiled,
                  static_cast<std::uint64_t>(channels));
      if (HasFatalFailure())
        return;
    }
}

} // namespace
} // namespace simaai::test
