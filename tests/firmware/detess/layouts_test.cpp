// SPDX-License-Identifier: LGPL-2.1-or-later
// Layouts in which axes join, tiles follow each other or neither, for both outputs and operations.
#include <gtest/gtest.h>

#include "firmware/detess/reader_under_test.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;

void expect_everywhere(const Case& c) {
  for (const std::uint32_t phase : {0U, 4U}) {
    DeviceCase on_device(reader_under_test().encode, c, {48, phase});
    ASSERT_TRUE(run_everywhere(on_device, 2));
  }
}

/// Spatial axes of one tile, in tiles of one row, split along the inner axis, and gaps between.
TEST(TileReaderLayouts, SpatialAxesThatJoinAndThoseThatDoNot) {
  for (const DTypePair dtypes : reader_under_test().dtypes)
    for (const ChannelStorage storage : {ChannelStorage::Compact, ChannelStorage::PadTo16})
      for (const std::int64_t channels : {1, 3, 8, 16, 21})
        for (const auto& tile : {std::array<std::int64_t, 3>{12, 20, 99},
                                 {1, 20, 16},
                                 {1, 4, 99},
                                 {5, 20, 8},
                                 {5, 7, 16},
                                 {12, 7, 99}}) {
          const Case c = tiled_case(dtypes, {2, 12, 20, channels}, {-1, 1, 2, 3},
                                    {1, tile[0], tile[1], tile[2]}, storage);
          DeviceCase on_device(reader_under_test().encode, c);
          ASSERT_TRUE(run_everywhere(on_device, 1));
        }
}

TEST(TileReaderLayouts, EveryAxisInnermost) {
  for (const DTypePair dtypes : reader_under_test().dtypes)
    for (const auto& axes : {std::array<std::int32_t, 4>{0, 1, 2, 3},
                             {3, 1, 2, 0},
                             {0, 3, 2, 1},
                             {0, 1, 3, 2},
                             {-1, 1, 2, 0},
                             {-1, -1, 1, 2},
                             {2, -1, 0, 1},
                             {1, 0, -1, 3}})
      expect_everywhere(
          tiled_case(dtypes, {4, 6, 5, 19}, {axes[0], axes[1], axes[2], axes[3]},
                     {axes[0] < 0 ? 1 : 2, axes[1] < 0 ? 1 : 4, axes[2] < 0 ? 1 : 3, 8}));
}

TEST(TileReaderLayouts, SingleElement) {
  for (const DTypePair dtypes : reader_under_test().dtypes) {
    expect_everywhere(tiled_case(dtypes, {1}, {-1, -1, -1, 0}, {1, 1, 1, 1}));
    expect_everywhere(tiled_case(dtypes, {1, 1, 1}, {-1, 0, 1, 2}, {1, 1, 1, 1}));
    expect_everywhere(blocked_case(dtypes, {1, 1, 1}, {1, 1, 1, 1}));
  }
}

TEST(TileReaderLayouts, PartialLastBlocksAndTiles) {
  for (const DTypePair dtypes : reader_under_test().dtypes)
    for (const std::int64_t channels : {1, 15, 16, 17, 65})
      for (const std::int64_t tile : {16, 20, 65})
        expect_everywhere(blocked_case(dtypes, {2, 7, 9, channels}, {1, 3, 4, tile}));
}

} // namespace
} // namespace simaai::test
