// SPDX-License-Identifier: LGPL-2.1-or-later
// The stride proof against marking every addressed byte, and the cursor against plain stepping.
#include <algorithm>
#include <array>
#include <vector>

#include <gtest/gtest.h>

#include "core/coord_cursor.h"
#include "core/stride_proof.h"
#include "oracle/linear.h"
#include "oracle/random_tensor.h"
#include "support/shape_generator.h"

namespace simaai::kernels::core {
namespace {

using oracle::Odometer;
using oracle::Random;

StrideProof prove(const Shape& shape, const Strided& layout, std::int64_t scalar) {
  return prove_strides(shape.extents().data(), layout.strides_bytes.data(), shape.rank(), scalar);
}

// Constant evaluation refuses a product that overflows.
constexpr std::int64_t kFar = std::int64_t{1} << 62;
static_assert(strides_continue(24, 3, 8));
static_assert(!strides_continue(28, 3, 8));
static_assert(strides_continue(0, 1, 0));
static_assert(!strides_continue(4, 2, kFar));
static_assert(!strides_continue(kFar, 2, INT64_MAX - 3));

/// True where some byte belongs to two elements.
bool overlaps(const Shape& shape, const Strided& layout, std::int64_t scalar) {
  std::vector<std::int64_t> offsets;
  for (Odometer at({shape.extents().begin(), shape.extents().end()}); !at.done(); at.advance()) {
    std::int64_t offset = 0;
    for (std::size_t axis = 0; axis < shape.rank(); ++axis)
      offset += at.coordinate()[axis] * layout.strides_bytes[axis];
    offsets.push_back(offset);
  }
  std::sort(offsets.begin(), offsets.end());
  for (std::size_t i = 1; i < offsets.size(); ++i)
    if (offsets[i] - offsets[i - 1] < scalar)
      return true;
  return false;
}

TEST(StrideProof, NothingThatOverlapsIsAdmitted) {
  int admitted = 0;
  int overlapping = 0;
  for (std::uint64_t number = 0; number < 20000; ++number) {
    Random random(number);
    const auto rank = static_cast<std::size_t>(random.between(1, 4));
    std::vector<std::int64_t> extents;
    Strided layout;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      extents.push_back(random.between(1, 4));
      layout.strides_bytes[axis] = 2 * random.between(0, 24);
    }
    const Shape shape{std::span<const std::int64_t>(extents)};
    const StrideProof proof = prove(shape, layout, 2);
    const bool overlap = overlaps(shape, layout, 2);
    overlapping += overlap ? 1 : 0;
    if (proof.fault != StrideFault::None)
      continue;
    ++admitted;
    ASSERT_FALSE(overlap) << "number " << number;
    ASSERT_EQ(static_cast<std::uint64_t>(proof.span_bytes),
              oracle::linear_span(shape, DType::BFloat16, layout));
  }
  EXPECT_GT(admitted, 1000);
  EXPECT_GT(overlapping, 1000);
}

TEST(StrideProof, GeneratedViewsAreAdmittedWithTheirSpan) {
  for (std::uint64_t number = 0; number < 2000; ++number) {
    Random random(number);
    const Shape shape = test::random_shape(random, number % 7, 500);
    const Strided layout = test::random_strides(random, shape, DType::Float32);
    const StrideProof proof = prove(shape, layout, 4);
    ASSERT_EQ(proof.fault, StrideFault::None) << "number " << number;
    ASSERT_EQ(static_cast<std::uint64_t>(proof.span_bytes),
              oracle::linear_span(shape, DType::Float32, layout));
  }
}

TEST(StrideProof, DocumentedPitchedExampleSpans52Bytes) {
  EXPECT_EQ(prove({2, 3}, Strided{{32, 8}}, 4).span_bytes, 52);
}

TEST(StrideProof, FaultsNameTheirAxis) {
  struct Row {
    Shape shape;
    Strided layout;
    StrideFault fault;
    std::size_t axis;
    std::int64_t expected;
  };
  constexpr std::int64_t kHuge = INT64_MAX / 4 * 4;
  const Row rows[] = {{{2, 3}, {{12, -4}}, StrideFault::Negative, 1, 0},
                      {{2, 1}, {{12, -4}}, StrideFault::Negative, 1, 0},
                      {{0, 3}, {{12, 6}}, StrideFault::Misaligned, 1, 4},
                      {{2, 3}, {{0, 4}}, StrideFault::Zero, 0, 2},
                      {{0, 3}, {{4, 0}}, StrideFault::Zero, 1, 3},
                      {{2, 3}, {{8, 4}}, StrideFault::Overlap, 0, 12},
                      {{2, 3}, {{12, 8}}, StrideFault::Overlap, 0, 20},
                      {{3, 3}, {{kHuge, 4}}, StrideFault::Overflow, 0, 0},
                      {{2, 3}, {{kHuge, 4}}, StrideFault::Overflow, 0, 0}};
  for (const Row& row : rows) {
    const StrideProof proof = prove(row.shape, row.layout, 4);
    EXPECT_EQ(proof.fault, row.fault);
    EXPECT_EQ(proof.axis, row.axis);
    EXPECT_EQ(proof.expected, row.expected);
  }
}

TEST(StrideProof, RowMajorStridesAndTheirOverflow) {
  std::array<std::int64_t, kMaxAxes> strides{};
  const std::int64_t extents[] = {2, 3, 5};
  EXPECT_EQ(row_major_strides(extents, 3, 4, strides.data()).span_bytes, 120);
  EXPECT_EQ(strides, (std::array<std::int64_t, 6>{60, 20, 4, 0, 0, 0}));
  const std::int64_t empty[] = {INT64_MAX, 0, INT64_MAX};
  EXPECT_EQ(row_major_strides(empty, 3, 4, strides.data()).fault, StrideFault::None);
  const std::int64_t large[] = {4, INT64_MAX / 2, 1};
  const StrideProof proof = row_major_strides(large, 3, 4, strides.data());
  EXPECT_EQ(proof.fault, StrideFault::Overflow);
  EXPECT_EQ(proof.axis, 1U);
  EXPECT_EQ(row_major_strides(nullptr, 0, 4, strides.data()).span_bytes, 4);
}

TEST(CoordCursor, CarriesBothOffsetsLikeTheOdometer) {
  for (std::uint64_t number = 0; number < 300; ++number) {
    Random random(number);
    std::vector<std::int64_t> extents;
    CoordCursor cursor;
    std::array<std::int64_t, 6> first{};
    std::array<std::int64_t, 6> second{};
    for (std::size_t axis = 0; axis < number % 7; ++axis) {
      extents.push_back(random.between(1, 4));
      first[axis] = random.between(-50, 50);
      second[axis] = random.between(0, 1000);
      cursor.add_axis(extents.back(), first[axis], second[axis]);
    }
    Odometer at(extents);
    for (bool more = true; more; more = cursor.advance(), at.advance()) {
      ASSERT_FALSE(at.done());
      std::int64_t first_offset = 0;
      std::int64_t second_offset = 0;
      for (std::size_t axis = 0; axis < extents.size(); ++axis) {
        first_offset += at.coordinate()[axis] * first[axis];
        second_offset += at.coordinate()[axis] * second[axis];
      }
      ASSERT_EQ(cursor.first_offset(), first_offset);
      ASSERT_EQ(cursor.second_offset(), second_offset);
    }
    EXPECT_TRUE(at.done());
    EXPECT_EQ(cursor.first_offset(), 0);
    EXPECT_EQ(cursor.second_offset(), 0);
  }
}

} // namespace
} // namespace simaai::kernels::core
