// SPDX-License-Identifier: LGPL-2.1-or-later
// CastTess under the common suites, and exact bytes worked out by hand.
#include <algorithm>

#include <simaai/kernels/a65/casttess.h>

#include "a65/golden_bytes.h"

namespace simaai::test {

using kernels::ChannelStorage;
using kernels::DType;
using kernels::MlaTiled;
using kernels::Strided;

const Operation& operation_under_test() {
  namespace a65 = kernels::a65::casttess;
  namespace ops = kernels::ops::casttess;
  static const Operation operation = [] {
    Operation made =
        make_operation("casttess",
                       {{DType::Float32, DType::BFloat16},
                        {DType::Float16, DType::BFloat16},
                        {DType::BFloat16, DType::BFloat16}},
                       ops::check_inference, a65::prepare, a65::check_inference, a65::execute);
    made.tiled_input = false;
    made.tiled_output = true;
    return made;
  }();
  return operation;
}

namespace {

// Two pixels of three channels in one tile; values with ties, an infinity and a NaN that wraps.
TEST(Golden, Float32PixelsCompactAndPadded) {
  const oracle::Bytes input =
      words32({0x3f800000, 0x3f818000, 0x3f808000, 0xffffffff, 0xff800000, 0x00018001});
  // BF16: 3f80 3f82 3f80, 0000 ff80 0002.
  const MlaTiled compact{{-1, -1, 0, 1}, {1, 1, 2, 3}, ChannelStorage::Compact};
  EXPECT_TRUE(run_golden({{{2, 3}, DType::Float32}, {{2, 3}, DType::BFloat16, compact}}, input,
                         {0x80, 0x82, 0x80, 0x3f, 0x3f, 0x3f, 0x00, 0x80, 0x02, 0x00, 0xff, 0x00,
                          0x00, 0x00, 0x00, 0x00}));
  MlaTiled padded = compact;
  padded.channels = ChannelStorage::PadTo16;
  EXPECT_TRUE(run_golden({{{2, 3}, DType::Float32}, {{2, 3}, DType::BFloat16, padded}}, input,
                         oracle::Bytes{0x80, 0x82, 0x80} + zeros(13) +
                             oracle::Bytes{0x3f, 0x3f, 0x3f} + zeros(13) +
                             oracle::Bytes{0x00, 0x80, 0x02} + zeros(13) +
                             oracle::Bytes{0x00, 0xff, 0x00} + zeros(13)));
}

// The documented rank-six call: D and H are unit axes.
TEST(Golden, RankSixExample) {
  MlaTiled layout;
  layout.axes = {2, 3, 4, 5};
  layout.tile_shape = {1, 1, 2, 3};
  const oracle::Bytes input =
      words32({0x40000000, 0x40400000, 0x40800000, 0x40a00000, 0x40c00000, 0x40e00000});
  EXPECT_TRUE(run_golden(
      {{{1, 1, 1, 1, 2, 3}, DType::Float32}, {{1, 1, 1, 1, 2, 3}, DType::BFloat16, layout}}, input,
      {0x00, 0x40, 0x80, 0x40, 0x40, 0x40, 0xa0, 0xc0, 0xe0, 0x40, 0x40, 0x40, 0, 0, 0, 0}));
}

TEST(Golden, Float16NaNsAreQuietedAndTiesGoToEven) {
  const MlaTiled layout{{-1, -1, -1, 0}, {1, 1, 1, 8}, ChannelStorage::Compact};
  // 3c04 -> 3f80, 3c0c -> 3f82, 0001 -> 3380, fc00 -> ff80, 7c01 -> 7fc0, fe08 -> ffc1,
  // 8000 -> 8000, 7bff -> 4780.
  EXPECT_TRUE(run_golden({{{8}, DType::Float16}, {{8}, DType::BFloat16, layout}},
                         words16({0x3c04, 0x3c0c, 0x0001, 0xfc00, 0x7c01, 0xfe08, 0x8000, 0x7bff}),
                         {0x80, 0x82, 0x80, 0x80, 0xc0, 0xc1, 0x00, 0x80, 0x3f, 0x3f, 0x33, 0xff,
                          0x7f, 0xff, 0x80, 0x47}));
}

// FP32 [2,3] with byte strides 32 and 8: gaps of the input are not values.
TEST(Golden, PitchedInputOf52Bytes) {
  oracle::Bytes input(52, 0x77);
  for (std::size_t row = 0; row < 2; ++row)
    for (std::size_t column = 0; column < 3; ++column) {
      const oracle::Bytes one =
          words32({0x3f800000 + static_cast<std::uint32_t>((row * 3 + column) << 16)});
      std::copy(one.begin(), one.end(),
                input.begin() + static_cast<std::ptrdiff_t>(32 * row + 8 * column));
    }
  const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 1, 2}, ChannelStorage::Compact};
  // Tiles: c0-1 of w0, c0-1 of w1, c2 of w0, c2 of w1.
  EXPECT_TRUE(run_golden(
      {{{2, 3}, DType::Float32, Strided{{32, 8}}}, {{2, 3}, DType::BFloat16, layout}}, input,
      oracle::Bytes{0x80, 0x81, 0x3f, 0x3f} + zeros(12) + oracle::Bytes{0x83, 0x84, 0x3f, 0x3f} +
          zeros(12) + oracle::Bytes{0x82, 0x3f} + zeros(14) + oracle::Bytes{0x85, 0x3f} +
          zeros(14)));
}

} // namespace
} // namespace simaai::test
