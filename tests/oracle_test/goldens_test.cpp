// SPDX-License-Identifier: LGPL-2.1-or-later
// The oracle's tiled bytes against sequences written out by hand.
#include <stdexcept>

#include <gtest/gtest.h>

#include "oracle/linear.h"
#include "oracle/tiles.h"
#include "support/compare_bytes.h"

namespace simaai::oracle {
namespace {

using kernels::ChannelStorage;
using kernels::Contiguous;
using kernels::DType;
using kernels::MlaCBlocked;
using kernels::MlaTiled;
using kernels::Shape;
using kernels::Strided;
using test::same_bytes;

/// Element i is 0x(hi)(lo) with lo = i, hi = 0x80 + i for two bytes, and i for one byte.
Tensor counting(const Shape& shape, DType dtype) {
  Tensor tensor{shape, dtype, {}};
  for (std::uint32_t i = 0; i < element_count(shape); ++i)
    tensor.bits.push_back(dtype == DType::Int8 ? i : i | ((0x80 + i) << 8));
  return tensor;
}

void zeros(Bytes& bytes, std::size_t count) { bytes.insert(bytes.end(), count, 0); }

void append(Bytes& bytes, std::initializer_list<int> values) {
  for (const int value : values)
    bytes.push_back(static_cast<std::uint8_t>(value));
}

void range(Bytes& bytes, int first, int count) {
  for (int i = 0; i < count; ++i)
    bytes.push_back(static_cast<std::uint8_t>(first + i));
}

// Shape [W,C] = [2,17], tile W2 C16: a C16 tile of two pixels, then a tile of one channel.
TEST(TileGolden, Rank2Width2Channels17Compact) {
  Bytes expected;
  range(expected, 0, 16);                 // w0 low
  range(expected, 0x80, 16);              // w0 high
  range(expected, 17, 16);                // w1 low
  range(expected, 0x80 + 17, 16);         // w1 high
  append(expected, {16, 0x90, 33, 0xa1}); // c16: w0 low, high, w1 low, high
  zeros(expected, 12);
  ASSERT_EQ(expected.size(), 80U);
  const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 16}, ChannelStorage::Compact};
  EXPECT_TRUE(same_bytes(expected, tile(counting({2, 17}, DType::BFloat16), layout)));
  EXPECT_EQ(tiled_bytes({2, 17}, DType::BFloat16, layout), 80U);
}

TEST(TileGolden, Rank2Width2Channels17PadTo16) {
  Bytes expected;
  range(expected, 0, 16);
  range(expected, 0x80, 16);
  range(expected, 17, 16);
  range(expected, 0x80 + 17, 16);
  append(expected, {16});
  zeros(expected, 15);
  append(expected, {0x90});
  zeros(expected, 15);
  append(expected, {33});
  zeros(expected, 15);
  append(expected, {0xa1});
  zeros(expected, 15);
  ASSERT_EQ(expected.size(), 128U);
  const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 16}, ChannelStorage::PadTo16};
  EXPECT_TRUE(same_bytes(expected, tile(counting({2, 17}, DType::BFloat16), layout)));
}

// Channel tiles are outermost: [W,C] = [3,3] in W2 C2 tiles.
TEST(TileGolden, TileOrderIsChannelThenWidth) {
  Bytes expected;
  append(expected, {0, 1, 0x80, 0x81, 3, 4, 0x83, 0x84}); // c0-1, w0-1
  zeros(expected, 8);
  append(expected, {6, 7, 0x86, 0x87}); // c0-1, w2
  zeros(expected, 12);
  append(expected, {2, 0x82, 5, 0x85}); // c2, w0-1
  zeros(expected, 12);
  append(expected, {8, 0x88}); // c2, w2
  zeros(expected, 14);
  const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 2}, ChannelStorage::Compact};
  EXPECT_TRUE(same_bytes(expected, tile(counting({3, 3}, DType::BFloat16), layout)));
}

// [C,D,H,W] = [1,2,2,2] with unit tiles but for D: D outside H outside W among tiles.
TEST(TileGolden, SpatialOrderOfTilesAndPixels) {
  const MlaTiled by_tiles{{1, 2, 3, 0}, {1, 1, 1, 1}, ChannelStorage::Compact};
  Bytes expected;
  for (int i = 0; i < 8; ++i) {
    append(expected, {i});
    zeros(expected, 15);
  }
  EXPECT_TRUE(same_bytes(expected, tile(counting({1, 2, 2, 2}, DType::Int8), by_tiles)));

  // One tile: pixels run d, h, w. With W mapped to the first spatial axis the order changes.
  const MlaTiled reversed{{3, 2, 1, 0}, {2, 2, 2, 1}, ChannelStorage::Compact};
  Bytes one_tile;
  append(one_tile, {0, 4, 2, 6, 1, 5, 3, 7});
  zeros(one_tile, 8);
  EXPECT_TRUE(same_bytes(one_tile, tile(counting({1, 2, 2, 2}, DType::Int8), reversed)));
}

// Unmapped axes 0 and 2 of [2,2,2,1]: each pair has a tile sequence, axis 2 faster than axis 0.
TEST(TileGolden, UnmappedAxesAreOuterInLogicalOrder) {
  Bytes expected;
  for (const int first : {0, 1, 4, 5}) {
    append(expected, {first, first + 2});
    zeros(expected, 14);
  }
  const MlaTiled layout{{-1, -1, 1, 3}, {1, 1, 2, 1}, ChannelStorage::Compact};
  EXPECT_TRUE(same_bytes(expected, tile(counting({2, 2, 2, 1}, DType::Int8), layout)));
}

TEST(TileGolden, Int8FillIsInChannelPaddingOnly) {
  Bytes expected;
  append(expected, {0, 1, 2});
  expected.insert(expected.end(), 13, 0xfb);
  append(expected, {3, 4, 5});
  expected.insert(expected.end(), 13, 0xfb);
  const MlaTiled pad{{-1, -1, 0, 1}, {1, 1, 8, 8}, ChannelStorage::PadTo16};
  EXPECT_TRUE(same_bytes(expected, tile(counting({2, 3}, DType::Int8), pad, {0xfb})));

  Bytes gap;
  range(gap, 0, 6);
  zeros(gap, 10);
  const MlaTiled compact{{-1, -1, 0, 1}, {1, 1, 8, 8}, ChannelStorage::Compact};
  EXPECT_TRUE(same_bytes(gap, tile(counting({2, 3}, DType::Int8), compact, {0xfb})));
}

// [H,W,C] = [1,2,17] in one tile: block 0 of both pixels comes before block 1.
TEST(TileGolden, ChannelBlocksAreOutsidePixels) {
  Bytes expected;
  range(expected, 0, 16);
  range(expected, 0x80, 16);
  range(expected, 17, 16);
  range(expected, 0x80 + 17, 16);
  for (const int value : {16, 0x90, 33, 0xa1}) {
    append(expected, {value});
    zeros(expected, 15);
  }
  const MlaCBlocked blocked{{1, 1, 2, 17}};
  EXPECT_TRUE(same_bytes(expected, tile(counting({1, 2, 17}, DType::BFloat16), blocked)));
  // The padded form of the same tile keeps a pixel together.
  const MlaTiled padded{{-1, 0, 1, 2}, {1, 1, 2, 17}, ChannelStorage::PadTo16};
  const Bytes other = tile(counting({1, 2, 17}, DType::BFloat16), padded);
  EXPECT_EQ(other.size(), expected.size());
  EXPECT_EQ(other[16], 16);
  EXPECT_NE(other, expected);
}

TEST(TileGolden, ChannelBlocksOfInt8WithBoundaryTiles) {
  // [H,W,C] = [2,1,18] with H1 C16 tiles: channel tile, then h.
  Bytes expected;
  range(expected, 0, 16);
  range(expected, 18, 16);
  append(expected, {16, 17});
  zeros(expected, 14);
  append(expected, {34, 35});
  zeros(expected, 14);
  EXPECT_TRUE(
      same_bytes(expected, tile(counting({2, 1, 18}, DType::Int8), MlaCBlocked{{1, 1, 4, 16}})));
}

TEST(TileGolden, EmptyTensorsHaveNoBytes) {
  const MlaTiled layout{{-1, 0, 1, 2}, {1, 4, 4, 16}, ChannelStorage::PadTo16};
  for (const Shape& shape : {Shape{0, 2, 3}, Shape{2, 0, 3}, Shape{2, 3, 0}}) {
    EXPECT_EQ(tiled_bytes(shape, DType::BFloat16, layout), 0U);
    EXPECT_EQ(tiled_bytes(shape, DType::BFloat16, MlaCBlocked{{1, 4, 4, 16}}), 0U);
  }
}

TEST(Untile, IgnoresPaddingAndChecksTheLength) {
  const Tensor tensor = counting({2, 17}, DType::BFloat16);
  for (const auto storage : {ChannelStorage::Compact, ChannelStorage::PadTo16}) {
    const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 16}, storage};
    Bytes bytes = tile(tensor, layout, {0xa5, 0x5a});
    EXPECT_EQ(untile(bytes, tensor.shape, tensor.dtype, layout), tensor);
    bytes.push_back(0);
    EXPECT_THROW(untile(bytes, tensor.shape, tensor.dtype, layout), std::invalid_argument);
    bytes.resize(bytes.size() - 2);
    EXPECT_THROW(untile(bytes, tensor.shape, tensor.dtype, layout), std::invalid_argument);
  }
}

// The pitched example of the contract: FP32 [2,3] with byte strides 32 and 8 spans 52 bytes.
TEST(Linear, StridedSpanAndOrder) {
  const Strided layout{{32, 8}};
  EXPECT_EQ(linear_span({2, 3}, DType::Float32, layout), 52U);
  EXPECT_EQ(linear_span({2, 3}, DType::Float32, Contiguous{}), 24U);
  EXPECT_EQ(linear_span({2, 0}, DType::Float32, layout), 0U);
  EXPECT_EQ(linear_span(Shape{}, DType::Float32, Contiguous{}), 4U);
  Tensor tensor{{2, 3}, DType::Float32, {0x01020304, 2, 3, 4, 5, 0xa0b0c0d0}};
  Bytes storage(52, 0xee);
  scatter(tensor, layout, storage.data());
  EXPECT_EQ((Bytes{storage.begin(), storage.begin() + 5}), (Bytes{4, 3, 2, 1, 0xee}));
  EXPECT_EQ((Bytes{storage.begin() + 47, storage.end()}), (Bytes{0xee, 0xd0, 0xc0, 0xb0, 0xa0}));
  EXPECT_EQ(gather(storage.data(), tensor.shape, tensor.dtype, layout), tensor);
}

} // namespace
} // namespace simaai::oracle
