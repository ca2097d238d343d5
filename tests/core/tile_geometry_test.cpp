// SPDX-License-Identifier: LGPL-2.1-or-later
// Closed-form tile offsets against the order in which the oracle appends bytes.
#include <algorithm>

#include <gtest/gtest.h>

#include "core/tile_geometry.h"
#include "oracle/random_tensor.h"
#include "oracle/tiles.h"
#include "support/shape_generator.h"

namespace simaai::kernels::core {
namespace {

using oracle::Bytes;
using oracle::Odometer;
using oracle::Random;

constexpr std::uint64_t kMaxElements = 4000;

/// Description of a BFloat16 tensor of `layout`; extents are borrowed from `shape`.
TileDescription describe(const Shape& shape, const Layout& layout) {
  TileDescription description;
  description.extents = shape.extents().data();
  description.rank = shape.rank();
  description.planes = 2;
  if (const auto* tiled = std::get_if<MlaTiled>(&layout)) {
    std::copy(tiled->axes.begin(), tiled->axes.end(), description.axes);
    std::copy(tiled->tile_shape.begin(), tiled->tile_shape.end(), description.tile_shape);
    description.storage =
        tiled->channels == ChannelStorage::PadTo16 ? TileStorage::PadTo16 : TileStorage::Compact;
    return description;
  }
  const auto& blocked = std::get<MlaCBlocked>(layout);
  const auto rank = static_cast<std::int32_t>(shape.rank());
  const std::int32_t axes[] = {-1, rank - 3, rank - 2, rank - 1};
  std::copy(std::begin(axes), std::end(axes), description.axes);
  std::copy(blocked.tile_shape.begin(), blocked.tile_shape.end(), description.tile_shape);
  description.storage = TileStorage::CBlocked;
  return description;
}

/// Each element holds its own number, so that a byte in storage tells which element it belongs to.
oracle::Tensor numbered(const Shape& shape) {
  oracle::Tensor tensor{shape, DType::BFloat16, {}};
  for (std::uint32_t i = 0; i < oracle::element_count(shape); ++i)
    tensor.bits.push_back(i);
  return tensor;
}

std::int64_t offset_of(const TileGeometry& geometry, const TileDescription& description,
                       const std::vector<std::int64_t>& at, std::int64_t* plane_stride) {
  std::int64_t slice = 0;
  for (std::size_t slot = 0; slot < geometry.outer_count; ++slot)
    slice = slice * geometry.outer_extent[slot] + at[geometry.outer_axis[slot]];
  TileIndex tile{};
  TileIndex local{};
  TileIndex actual{};
  for (const TileAxis axis : {kAxisD, kAxisH, kAxisW, kAxisC}) {
    const std::int32_t logical = description.axes[axis];
    const std::int64_t coordinate = logical < 0 ? 0 : at[static_cast<std::size_t>(logical)];
    tile.at[axis] = coordinate / geometry.tile[axis];
    local.at[axis] = coordinate % geometry.tile[axis];
    actual.at[axis] = geometry.tile_extent(axis, tile.at[axis]);
  }
  *plane_stride = geometry.plane_stride(actual.at[kAxisC]);
  return slice * geometry.slice_bytes + geometry.tile_offset(tile) +
         geometry.scalar_offset(actual, local);
}

void expect_offsets(const Shape& shape, const Layout& layout) {
  const TileDescription description = describe(shape, layout);
  TileGeometry geometry;
  ASSERT_TRUE(derive_tile_geometry(description, &geometry));
  const Bytes bytes = oracle::tile(numbered(shape), layout, {0xff, 0xff});
  ASSERT_EQ(geometry.total_bytes, static_cast<std::int64_t>(bytes.size()));
  EXPECT_EQ(geometry.empty(), bytes.empty());
  std::uint32_t element = 0;
  for (Odometer at({shape.extents().begin(), shape.extents().end()}); !at.done(); at.advance()) {
    std::int64_t plane_stride = 0;
    const std::int64_t low = offset_of(geometry, description, at.coordinate(), &plane_stride);
    const std::int64_t high = low + plane_stride;
    ASSERT_LT(high, geometry.total_bytes);
    const unsigned found =
        bytes[static_cast<std::size_t>(low)] + 256U * bytes[static_cast<std::size_t>(high)];
    ASSERT_EQ(found, element) << "element at offset " << low;
    ++element;
  }
}

TEST(TileGeometry, OffsetsOfEveryElementFollowTheOracle) {
  for (std::uint64_t number = 0; number < 600; ++number) {
    Random random(number);
    const Shape shape = test::random_shape(random, 1 + number % kMaxRank, kMaxElements);
    MlaTiled tiled = test::random_tiling(random, shape);
    SCOPED_TRACE(number);
    for (const auto storage : {ChannelStorage::Compact, ChannelStorage::PadTo16}) {
      tiled.channels = storage;
      expect_offsets(shape, tiled);
    }
    if (shape.rank() >= 3)
      expect_offsets(shape, test::random_blocking(random, shape));
    if (HasFatalFailure())
      return;
  }
}

TEST(TileGeometry, SixteenClassesWhereEveryAxisHasAPartialTile) {
  const Shape shape{5, 7, 9, 11};
  const MlaTiled tiled{{0, 1, 2, 3}, {2, 3, 4, 3}};
  TileGeometry geometry;
  ASSERT_TRUE(derive_tile_geometry(describe(shape, tiled), &geometry));
  for (unsigned mask = 0; mask < 16; ++mask) {
    const std::int64_t d = (mask & 1) != 0 ? 1 : 2;
    const std::int64_t h = (mask & 2) != 0 ? 1 : 3;
    const std::int64_t w = (mask & 4) != 0 ? 1 : 4;
    const std::int64_t c = (mask & 8) != 0 ? 2 : 3;
    EXPECT_EQ(geometry.tile_bytes[mask], (2 * d * h * w * c + 15) / 16 * 16) << mask;
  }
  EXPECT_EQ(geometry.tiles(kAxisD), 3);
  EXPECT_EQ(geometry.tiles(kAxisC), 4);
}

/// Memory of a geometry does not grow with the tensor.
TEST(TileGeometry, HugeTensorsNeedNoStoragePerTile) {
  const Shape shape{1 << 20, 1 << 20, 1 << 10, 3};
  const MlaTiled tiled{{0, 1, 2, 3}, {1, 1, 1, 3}};
  TileGeometry geometry;
  ASSERT_TRUE(derive_tile_geometry(describe(shape, tiled), &geometry));
  EXPECT_EQ(geometry.total_bytes, std::int64_t{16} << 50);
  const TileIndex last{{(1 << 20) - 1, (1 << 20) - 1, (1 << 10) - 1, 0}};
  EXPECT_EQ(geometry.tile_offset(last), (std::int64_t{16} << 50) - 16);
}

TEST(TileGeometry, ProductsOutsideOf63BitsAreReported) {
  constexpr std::int64_t kHalf = std::int64_t{1} << 59;
  TileGeometry geometry;
  const MlaTiled compact{{-1, -1, 0, 1}, {1, 1, kHalf, 1}};
  // 2^60 bytes compact, but 2^64 padded.
  EXPECT_TRUE(derive_tile_geometry(describe({kHalf, 1}, compact), &geometry));
  MlaTiled padded = compact;
  padded.channels = ChannelStorage::PadTo16;
  EXPECT_FALSE(derive_tile_geometry(describe({kHalf, 1}, padded), &geometry));
  // Rounding up to 16 past the largest value.
  const MlaTiled whole{{-1, -1, -1, 0}, {1, 1, 1, INT64_MAX}};
  EXPECT_FALSE(derive_tile_geometry(describe({INT64_MAX / 2}, whole), &geometry));
  // Outer slices.
  const MlaTiled outer{{-1, -1, -1, 2}, {1, 1, 1, 1}};
  EXPECT_FALSE(derive_tile_geometry(describe({kHalf, 64, 1}, outer), &geometry));
  // An empty tensor multiplies nothing.
  EXPECT_TRUE(derive_tile_geometry(describe({INT64_MAX, 0, INT64_MAX}, outer), &geometry));
  EXPECT_TRUE(geometry.empty());
}

} // namespace
} // namespace simaai::kernels::core
