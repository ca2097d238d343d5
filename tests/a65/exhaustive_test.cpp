// SPDX-License-Identifier: LGPL-2.1-or-later
// Every bit pattern of the 8- and 16-bit dtypes, and every upper half of Float32, through several
// row shapes.
#include <gtest/gtest.h>

#include "a65/contract_case.h"
#include "support/generated_count.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::Contiguous;
using kernels::DType;
using kernels::Layout;
using kernels::MlaTiled;
using kernels::Shape;
using oracle::Tensor;

struct RowShape {
  std::int64_t channels;
  std::int64_t tile_channels;
  std::int64_t tile_width;
};
constexpr RowShape kRowShapes[] = {{1, 1, 64},  {2, 2, 61},   {3, 3, 128},  {3, 2, 16},
                                   {16, 16, 7}, {17, 17, 31}, {64, 24, 16}, {256, 256, 3}};

/// Distinct patterns of a dtype: all of them, or upper halves for Float32.
std::uint32_t pattern_count(DType dtype) { return kernels::scalar_bytes(dtype) == 1 ? 256 : 65536; }

/// All patterns in order, repeated at the end to fill whole pixels.
Tensor all_patterns(DType dtype, std::int64_t channels, std::uint32_t lower_half) {
  const std::uint32_t count = pattern_count(dtype);
  const auto per_pixel = static_cast<std::uint32_t>(channels);
  const std::uint32_t pixels = (count + per_pixel - 1) / per_pixel;
  Tensor tensor{{std::int64_t{pixels}, channels}, dtype, {}};
  for (std::uint32_t i = 0; i < pixels * per_pixel; ++i)
    tensor.bits.push_back(dtype == DType::Float32 ? ((i % count) << 16) | lower_half : i % count);
  return tensor;
}

std::vector<std::uint32_t> lower_halves(DType dtype) {
  if (dtype != DType::Float32)
    return {0};
  std::vector<std::uint32_t> halves{0x8000, 0x7fff, 0x8001, 0x0000, 0x0001, 0xffff};
  halves.resize(generated_count(halves.size()));
  return halves;
}

void run_patterns(const Operation& operation, DTypePair dtypes, const RowShape& row) {
  for (const std::uint32_t lower_half : lower_halves(dtypes.from)) {
    const Tensor values = all_patterns(dtypes.from, row.channels, lower_half);
    std::vector<Layout> others{Contiguous{}};
    if (!operation.is_linear_only()) {
      MlaTiled tiled{{-1, -1, 0, 1}, {1, 1, row.tile_width, row.tile_channels}};
      others = {tiled};
      tiled.channels = ChannelStorage::PadTo16;
      others.emplace_back(tiled);
    }
    for (const Layout& other : others) {
      const Case c = make_case(operation, values.shape, dtypes, Contiguous{}, other, lower_half);
      ASSERT_TRUE(run_case(operation, c, golden_of(c, values)));
    }
  }
}

TEST(Exhaustive, EveryPattern) {
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes)
    for (const RowShape& row : kRowShapes) {
      run_patterns(operation, dtypes, row);
      if (HasFatalFailure())
        return;
    }
}

} // namespace
} // namespace simaai::test
