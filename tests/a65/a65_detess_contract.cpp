// SPDX-License-Identifier: LGPL-2.1-or-later
// Detess under the common suites, and exact bytes worked out by hand.
#include <simaai/kernels/a65/detess.h>

#include "a65/golden_bytes.h"

namespace simaai::test {

using kernels::ChannelStorage;
using kernels::DType;
using kernels::MlaCBlocked;
using kernels::MlaTiled;

const Operation& operation_under_test() {
  namespace a65 = kernels::a65::detess;
  namespace ops = kernels::ops::detess;
  static const Operation operation = [] {
    Operation made =
        make_operation("detess", {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}},
                       ops::check_inference, a65::prepare, a65::check_inference, a65::execute);
    made.tiled_input = true;
    made.tiled_output = false;
    return made;
  }();
  return operation;
}

namespace {

TEST(Golden, Int8IgnoresPaddingAndGap) {
  const MlaTiled padded{{-1, -1, 0, 1}, {1, 1, 2, 3}, ChannelStorage::PadTo16};
  const oracle::Bytes junk(13, 0x99);
  EXPECT_TRUE(run_golden({{{2, 3}, DType::Int8, padded}, {{2, 3}, DType::Int8}},
                         oracle::Bytes{1, 2, 3} + junk + oracle::Bytes{4, 5, 6} + junk,
                         {1, 2, 3, 4, 5, 6}));
}

TEST(Golden, Bfloat16PlanesOfTwoChannelTiles) {
  const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 2}, ChannelStorage::Compact};
  const oracle::Bytes gap8(8, 0x99);
  const oracle::Bytes gap12(12, 0x99);
  EXPECT_TRUE(run_golden({{{2, 3}, DType::BFloat16, layout}, {{2, 3}, DType::BFloat16}},
                         oracle::Bytes{0x10, 0x11, 0x80, 0x81, 0x13, 0x14, 0x83, 0x84} + gap8 +
                             oracle::Bytes{0x12, 0x82, 0x15, 0x85} + gap12,
                         words16({0x8010, 0x8111, 0x8212, 0x8313, 0x8414, 0x8515})));
}

// Within a blocked tile block 1 follows all pixels of block 0.
TEST(Golden, ChannelBlocks) {
  oracle::Bytes input;
  oracle::Bytes expected(34, 0);
  for (std::uint8_t pixel = 0; pixel < 2; ++pixel)
    for (std::uint8_t lane = 0; lane < 16; ++lane) {
      const auto value = static_cast<std::uint8_t>(pixel * 64 + lane);
      input.push_back(value);
      expected[static_cast<std::size_t>(pixel * 17 + lane)] = value;
    }
  const oracle::Bytes junk(15, 0x99);
  input = input + oracle::Bytes{200} + junk + oracle::Bytes{201} + junk;
  expected[16] = 200;
  expected[33] = 201;
  EXPECT_TRUE(
      run_golden({{{1, 2, 17}, DType::Int8, MlaCBlocked{{1, 1, 2, 17}}}, {{1, 2, 17}, DType::Int8}},
                 input, expected));
}

} // namespace
} // namespace simaai::test
