// SPDX-License-Identifier: LGPL-2.1-or-later
// DetessCast under the common suites, and exact bytes worked out by hand.
#include <simaai/kernels/a65/detesscast.h>

#include "a65/golden_bytes.h"

namespace simaai::test {

using kernels::ChannelStorage;
using kernels::DType;
using kernels::MlaCBlocked;
using kernels::MlaTiled;
using kernels::Strided;

const Operation& operation_under_test() {
  namespace a65 = kernels::a65::detesscast;
  namespace ops = kernels::ops::detesscast;
  static const Operation operation = [] {
    Operation made = make_operation(
        "detesscast", {{DType::BFloat16, DType::BFloat16}, {DType::BFloat16, DType::Float32}},
        ops::check_inference, a65::prepare, a65::check_inference, a65::execute);
    made.tiled_input = true;
    made.tiled_output = false;
    return made;
  }();
  return operation;
}

namespace {

TEST(Golden, Float32OfPaddedPixels) {
  MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 3}, ChannelStorage::PadTo16};
  const oracle::Bytes junk(13, 0x99);
  const oracle::Bytes input =
      oracle::Bytes{0x80, 0x81, 0x01} + junk + oracle::Bytes{0x3f, 0x7f, 0x80} + junk +
      oracle::Bytes{0x00, 0x80, 0xff} + junk + oracle::Bytes{0x80, 0xff, 0xff} + junk;
  EXPECT_TRUE(run_golden(
      {{{2, 3}, DType::BFloat16, layout}, {{2, 3}, DType::Float32}}, input,
      words32({0x3f800000, 0x7f810000, 0x80010000, 0x80000000, 0xff800000, 0xffff0000})));
  EXPECT_TRUE(run_golden({{{2, 3}, DType::BFloat16, layout}, {{2, 3}, DType::BFloat16}}, input,
                         words16({0x3f80, 0x7f81, 0x8001, 0x8000, 0xff80, 0xffff})));
}

TEST(Golden, CompactPixelsToATransposedPitchedOutput) {
  const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 2}, ChannelStorage::Compact};
  const oracle::Bytes gap(8, 0x99);
  const oracle::Bytes input =
      oracle::Bytes{0x00, 0x40, 0x40, 0x40, 0x80, 0xa0, 0x40, 0x40} + gap; // 4000 4040, 4080 40a0
  // Channel stride 12 bytes, pixel stride 4: rows of two pixels and one hole.
  EXPECT_TRUE(
      run_golden({{{2, 2}, DType::BFloat16, layout}, {{2, 2}, DType::Float32, Strided{{4, 12}}}},
                 input, words32({0x40000000, 0x40800000, 0x12345678, 0x40400000, 0x40a00000}),
                 words32({0x12345678, 0x12345678, 0x12345678, 0x12345678, 0x12345678})));
}

// [1,1,18] blocked: block 1 has two channels, its planes are 16 bytes apart.
TEST(Golden, ChannelBlocks) {
  oracle::Bytes input;
  oracle::Bytes expected;
  for (std::uint8_t lane = 0; lane < 16; ++lane) {
    input.push_back(lane);
    expected = expected + words16({static_cast<std::uint16_t>(0x4000 + lane)});
  }
  const oracle::Bytes junk(14, 0x99);
  input = input + oracle::Bytes(16, 0x40) + oracle::Bytes{0x77, 0x78} + junk +
          oracle::Bytes{0x41, 0x42} + junk;
  expected = expected + words16({0x4177, 0x4278});
  EXPECT_TRUE(run_golden(
      {{{1, 1, 18}, DType::BFloat16, MlaCBlocked{{1, 1, 1, 18}}}, {{1, 1, 18}, DType::BFloat16}},
      input, expected));
}

} // namespace
} // namespace simaai::test
