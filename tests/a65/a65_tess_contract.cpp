// SPDX-License-Identifier: LGPL-2.1-or-later
// Tess under the common suites, and exact bytes worked out by hand.
#include <simaai/kernels/a65/tess.h>

#include "a65/golden_bytes.h"
#include "a65/refusals.h"

namespace simaai::test {

using kernels::ChannelStorage;
using kernels::DType;
using kernels::Error;
using kernels::ErrorCode;
using kernels::MlaTiled;
using kernels::Operand;

const Operation& operation_under_test() {
  namespace a65 = kernels::a65::tess;
  namespace ops = kernels::ops::tess;
  static const Operation operation = [] {
    Operation made =
        make_operation("tess", {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}},
                       ops::check_inference, a65::prepare, a65::check_inference, a65::execute);
    made.tiled_input = false;
    made.tiled_output = true;
    return made;
  }();
  return operation;
}

namespace {

oracle::Bytes run_of(int first, int count) {
  oracle::Bytes bytes;
  for (int i = 0; i < count; ++i)
    bytes.push_back(static_cast<std::uint8_t>(first + i));
  return bytes;
}

/// BF16 [2,17]; element i is the low byte 0x81 - i with the high byte 0xc0 + i.
oracle::Bytes input_2x17() {
  oracle::Bytes bytes;
  for (int i = 0; i < 34; ++i)
    bytes = bytes +
            oracle::Bytes{static_cast<std::uint8_t>(0x81 - i), static_cast<std::uint8_t>(0xc0 + i)};
  return bytes;
}

oracle::Bytes low_bytes(int first, int count) {
  oracle::Bytes bytes;
  for (int i = first; i < first + count; ++i)
    bytes.push_back(static_cast<std::uint8_t>(0x81 - i));
  return bytes;
}

// W/C mapping with tile [1,1,2,16]: 64 bytes, then a tail of one channel.
TEST(Golden, Rank2Compact80Bytes) {
  const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 16}, ChannelStorage::Compact};
  const oracle::Bytes expected =
      low_bytes(0, 16) + run_of(0xc0, 16) + low_bytes(17, 16) + run_of(0xc0 + 17, 16) +
      oracle::Bytes{0x81 - 16, 0xc0 + 16, 0x81 - 33, 0xc0 + 33} + zeros(12);
  ASSERT_EQ(expected.size(), 80U);
  EXPECT_TRUE(run_golden({{{2, 17}, DType::BFloat16}, {{2, 17}, DType::BFloat16, layout}},
                         input_2x17(), expected));
}

TEST(Golden, Rank2PadTo16128Bytes) {
  const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 16}, ChannelStorage::PadTo16};
  const oracle::Bytes expected = low_bytes(0, 16) + run_of(0xc0, 16) + low_bytes(17, 16) +
                                 run_of(0xc0 + 17, 16) + low_bytes(16, 1) + zeros(15) +
                                 run_of(0xc0 + 16, 1) + zeros(15) + low_bytes(33, 1) + zeros(15) +
                                 run_of(0xc0 + 33, 1) + zeros(15);
  ASSERT_EQ(expected.size(), 128U);
  EXPECT_TRUE(run_golden({{{2, 17}, DType::BFloat16}, {{2, 17}, DType::BFloat16, layout}},
                         input_2x17(), expected));
}

// The documented call: two pixels of three channels in one tile, four bytes of gap.
TEST(Golden, DocumentedCall) {
  const MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 3}, ChannelStorage::Compact};
  EXPECT_TRUE(run_golden(
      {{{2, 3}, DType::BFloat16}, {{2, 3}, DType::BFloat16, layout}},
      words16({0x7f81, 0x8001, 0x3f80, 0xff80, 0x0000, 0x8000}),
      {0x81, 0x01, 0x80, 0x7f, 0x80, 0x3f, 0x80, 0x00, 0x00, 0xff, 0x00, 0x80, 0, 0, 0, 0}));
}

// The fill is in the channel padding; alignment gaps are zero bytes.
TEST(Golden, Int8FillAndGap) {
  MlaTiled layout{{-1, -1, 0, 1}, {1, 1, 2, 3}, ChannelStorage::PadTo16};
  const oracle::Bytes input = run_of(1, 6);
  const oracle::Bytes fill(13, 0x80);
  EXPECT_TRUE(run_golden({{{2, 3}, DType::Int8}, {{2, 3}, DType::Int8, layout}, std::int8_t{-128}},
                         input, run_of(1, 3) + fill + run_of(4, 3) + fill));
  layout.channels = ChannelStorage::Compact;
  EXPECT_TRUE(run_golden({{{2, 3}, DType::Int8}, {{2, 3}, DType::Int8, layout}, std::int8_t{-128}},
                         input, run_of(1, 6) + zeros(10)));
}

// NCHW storage, here [1,2,1,3] with C = axis 1: pixels gather scattered channels.
TEST(Golden, ChannelsFirst) {
  const MlaTiled layout{{-1, 2, 3, 1}, {1, 1, 3, 2}, ChannelStorage::Compact};
  EXPECT_TRUE(run_golden({{{1, 2, 1, 3}, DType::Int8}, {{1, 2, 1, 3}, DType::Int8, layout}},
                         run_of(1, 6), oracle::Bytes{1, 4, 2, 5, 3, 6} + zeros(10)));
}

TEST(TessRefusals, Fill) {
  const auto pad16 = [](Draft& d) {
    std::get<MlaTiled>(d.outputs[0].layout).channels = ChannelStorage::PadTo16;
  };
  const Error required = about(Operand::Params, ErrorCode::ChannelPaddingRequired, 0, 0);
  const Draft int8 = valid_draft(operation_under_test(), {DType::Int8, DType::Int8});
  expect_refused(operation_under_test(), int8, {"no fill", pad16, required, {"int8", "pad16"}});
  expect_refused(operation_under_test(), int8,
                 {"no fill, exact multiple",
                  [&](Draft& d) {
                    pad16(d);
                    set_shape(d, {2, 3, 4, 32});
                    std::get<MlaTiled>(d.outputs[0].layout).tile_shape[3] = 16;
                  },
                  required,
                  {"int8", "pad16"}});
  expect_refused(operation_under_test(), int8,
                 {"no fill, empty",
                  [&](Draft& d) {
                    pad16(d);
                    set_shape(d, {2, 3, 0, 5});
                  },
                  required,
                  {"int8", "pad16"}});
  const Draft bfloat16 = valid_draft(operation_under_test(), {DType::BFloat16, DType::BFloat16});
  for (const auto fill : {std::int8_t{-128}, std::int8_t{0}, std::int8_t{5}})
    expect_refused(operation_under_test(), bfloat16,
                   {"fill of bfloat16",
                    [=](Draft& d) { d.fill = fill; },
                    about(Operand::Params, ErrorCode::ChannelPaddingForbidden, 0, fill),
                    {"bfloat16", std::to_string(fill)}});
  // Int8 Compact takes a fill that it does not use, and none.
  for (const Fill fill : {Fill{}, Fill{std::int8_t{9}}})
    EXPECT_TRUE(std::holds_alternative<Admitted>(
        operation_under_test().check(int8.inputs, int8.outputs, fill)));
}

} // namespace
} // namespace simaai::test
