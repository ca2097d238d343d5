// SPDX-License-Identifier: LGPL-2.1-or-later
// port_requirement(): storage of single tensors, whatever operation they are meant for.
#include <gtest/gtest.h>

#include <simaai/kernels/ops/requirement.h>

#include "oracle/linear.h"
#include "oracle/random_tensor.h"
#include "oracle/tiles.h"
#include "support/shape_generator.h"
#include "support/shape_table.h"

namespace simaai::kernels::ops {
namespace {

using oracle::Random;

constexpr DType kDTypes[] = {DType::Int8,    DType::UInt8,    DType::Int32,
                             DType::Float16, DType::BFloat16, DType::Float32};

void expect_requirement(const TensorSpec& spec, std::uint64_t bytes, std::uint32_t alignment) {
  const auto result = port_requirement(spec);
  const auto* requirement = std::get_if<PortRequirement>(&result);
  ASSERT_NE(requirement, nullptr) << std::get<Error>(result).message();
  EXPECT_EQ(requirement->bytes, bytes);
  EXPECT_EQ(requirement->alignment, alignment);
}

TEST(PortRequirement, ModelShapes) {
  for (const auto& row : test::read_shape_table()) {
    SCOPED_TRACE(row.name);
    expect_requirement(row.spec, row.bytes, 16);
  }
}

TEST(PortRequirement, GeneratedShapesInEveryDType) {
  for (std::uint64_t number = 0; number < 500; ++number) {
    Random random(number);
    SCOPED_TRACE(number);
    const Shape shape = test::random_shape(random, number % 7, 2000);
    for (const DType dtype : kDTypes) {
      const Strided strided = test::random_strides(random, shape, dtype);
      for (const Layout& layout : {Layout(Contiguous{}), Layout(strided)})
        expect_requirement({shape, dtype, layout}, oracle::linear_span(shape, dtype, layout),
                           scalar_bytes(dtype));
      if (shape.rank() == 0 || scalar_bytes(dtype) == 4)
        continue;
      MlaTiled tiled = test::random_tiling(random, shape);
      tiled.channels = number % 2 == 0 ? ChannelStorage::Compact : ChannelStorage::PadTo16;
      expect_requirement({shape, dtype, tiled}, oracle::tiled_bytes(shape, dtype, tiled), 16);
      if (shape.rank() < 3)
        continue;
      const MlaCBlocked blocked = test::random_blocking(random, shape);
      expect_requirement({shape, dtype, blocked}, oracle::tiled_bytes(shape, dtype, blocked), 16);
    }
    if (HasFatalFailure())
      return;
  }
}

TEST(PortRequirement, RefusalsNameTheInput) {
  const std::pair<TensorSpec, Error> rows[] = {
      {{{2, -1}, DType::Int8}, {ErrorCode::NegativeExtent, Operand::Input, 0, 1, 0, -1}},
      {{{1, 1, 1, 1, 1, 1, 1}, DType::Int8},
       {ErrorCode::RankTooLarge, Operand::Input, 0, -1, 6, 7}},
      {{{2}, static_cast<DType>(40)}, {ErrorCode::UnknownDType, Operand::Input, 0, -1, 0, 40}},
      {{{2, 3}, DType::Float32, Strided{{4, 4}}},
       {ErrorCode::StrideOverlap, Operand::Input, 0, 1, 8, 4}},
      {{{2, 3}, DType::Float32, MlaTiled{}},
       {ErrorCode::MissingChannelAxis, Operand::Input, 0, -1, 0, -1}},
      {{{2, 3}, DType::Int8, MlaCBlocked{}},
       {ErrorCode::RankTooSmall, Operand::Input, 0, -1, 3, 2}}};
  for (const auto& [spec, expected] : rows) {
    const auto result = port_requirement(spec);
    ASSERT_TRUE(std::holds_alternative<Error>(result));
    EXPECT_EQ(std::get<Error>(result), expected) << std::get<Error>(result).message();
  }
}

} // namespace
} // namespace simaai::kernels::ops
