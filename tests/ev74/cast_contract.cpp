// SPDX-License-Identifier: LGPL-2.1-or-later
// EV74 packets of Cast: goldens byte for byte, aperture limits, and the suite of all codecs.
#include <utility>

#include <simaai/kernels/ev74/cast.h>

#include "ev74/codec_suite.h"
#include "ev74/expect_packet.h"

namespace simaai::test {
namespace {

using kernels::Strided;

struct CastCodec
    : CodecOf<kernels::ops::cast::Request, kernels::ops::cast::Plan,
              kernels::ops::cast::check_inference, kernels::ev74::cast::check_inference,
              kernels::ev74::cast::check_inference, kernels::ev74::cast::encode,
              kernels::ev74::cast::encode_relocatable, kernels::ev74::cast::bind> {
  static constexpr std::uint16_t kNumber = 1;
  static constexpr std::pair<DType, DType> kDTypes[] = {{DType::Float32, DType::BFloat16},
                                                        {DType::BFloat16, DType::Float32}};

  static CaseRules rules() { return {.dtypes = kDTypes, .least_rank = 0}; }
  static GeneratedCase sample() {
    return {{{4, 3, 5}, DType::Float32, Strided{{128, 40, 8}}}, {{4, 3, 5}, DType::BFloat16}, {}};
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Cast, EvCodec, CastCodec);

TEST(EvCastPackets, DenseMatrix) {
  expect_packet<CastCodec>({{{2, 3}, DType::Float32}, {{2, 3}, DType::BFloat16}, {}}, R"(
    45 56 37 34 01 00 01 00  d0 00 00 00 00 00 00 00    magic version operation bytes flags
    03 02 02 00 00 00 00*2                              float32 bfloat16 rank
    00*8 00*8                                           addresses
    18 00*7  0c 00*7                                    capacities 24 12
    02 00*7  03 00*7  00*32                             shape
    0c 00*7  04 00*7  00*32                             source strides
    06 00*7  02 00*7  00*32                             destination strides
    00*8)");
}

TEST(EvCastPackets, ScalarBecomesOneElement) {
  expect_packet<CastCodec>({{{}, DType::BFloat16}, {{}, DType::Float32}, {}}, R"(
    45 56 37 34 01 00 01 00  d0 00 00 00 00 00 00 00
    02 03 01 00 00 00 00*2  00*8 00*8
    02 00*7  04 00*7
    01 00*7  00*40
    02 00*7  00*40
    04 00*7  00*40
    00*8)");
}

TEST(EvCastPackets, StridesAreKeptAndUnitAxesNormalised) {
  // Source: rows 32 bytes apart, values 8 bytes apart. Destination: columns of two values.
  const Strided from{{32, 400, 8}};
  const Strided to{{2, 0, 4}};
  expect_packet<CastCodec>(
      {{{2, 1, 3}, DType::Float32, from}, {{2, 1, 3}, DType::BFloat16, to}, {}},
      R"(
    45 56 37 34 01 00 01 00  d0 00 00 00 00 00 00 00
    03 02 03 00 00 00 00*2  00*8 00*8
    34 00*7  0c 00*7                                    spans 52 12
    02 00*7  01 00*7  03 00*7  00*24
    20 00*7  0c 00*7  08 00*7  00*24
    02 00*7  06 00*7  04 00*7  00*24
    00*8)");
}

TEST(EvCastPackets, LargestSpansAreExact) {
  constexpr std::int64_t kEnd = 4294967296;
  const auto check = [](std::int64_t count, DType from, DType to) {
    return CastCodec::check(admitted<CastCodec>({{{count}, from}, {{count}, to}, {}}));
  };
  EXPECT_TRUE(check(kEnd / 4 - 1, DType::Float32, DType::BFloat16).ok());
  EXPECT_EQ(check(kEnd / 4, DType::Float32, DType::BFloat16).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Input, 0, -1, kEnd - 4, kEnd}));
  EXPECT_TRUE(check(kEnd / 4 - 1, DType::BFloat16, DType::Float32).ok());
  EXPECT_EQ(check(kEnd / 4, DType::BFloat16, DType::Float32).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Output, 0, -1, kEnd - 4, kEnd}));

  const auto strided = [](std::int64_t stride) {
    return CastCodec::check(admitted<CastCodec>(
        {{{2}, DType::BFloat16, Strided{{stride}}}, {{2}, DType::Float32}, {}}));
  };
  EXPECT_TRUE(strided(kEnd - 4).ok());
  EXPECT_EQ(strided(kEnd - 2).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Input, 0, -1, kEnd - 2, kEnd}));
}

TEST(EvCastPackets, LargestSpanIsBoundAtTheLeastAddress) {
  constexpr std::uint64_t kSpan = kAperture - 4;
  const GeneratedCase request{
      {{2}, DType::Float32, Strided{{kSpan - 4}}}, {{2}, DType::BFloat16}, {}};
  const auto plan = admitted<CastCodec>(request);
  // Nothing is left for the other port, so the two always overlap.
  EXPECT_EQ(refusal(CastCodec::encode(plan, {4, kSpan}, {kAperture - 4, 4})),
            (Error{ErrorCode::BuffersOverlap, Operand::Output, 0, -1, 0, 4}));
  EXPECT_EQ(refusal(CastCodec::encode(plan, {8, kSpan}, {2, 4})).code, ErrorCode::ApertureExceeded);
}

} // namespace
} // namespace simaai::test
