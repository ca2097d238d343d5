// SPDX-License-Identifier: LGPL-2.1-or-later
// EV74 packets of Detess: goldens byte for byte, aperture limits, and the suite of all codecs.
#include <utility>

#include <simaai/kernels/ev74/detess.h>

#include "ev74/codec_suite.h"
#include "ev74/expect_packet.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::MlaCBlocked;
using kernels::MlaTiled;
using kernels::Strided;

struct DetessCodec
    : CodecOf<kernels::ops::detess::Request, kernels::ops::detess::Plan,
              kernels::ops::detess::check_inference, kernels::ev74::detess::check_inference,
              kernels::ev74::detess::check_inference, kernels::ev74::detess::encode,
              kernels::ev74::detess::encode_relocatable, kernels::ev74::detess::bind> {
  static constexpr std::uint16_t kNumber = 4;
  static constexpr std::pair<DType, DType> kDTypes[] = {{DType::Int8, DType::Int8},
                                                        {DType::BFloat16, DType::BFloat16}};

  static CaseRules rules() { return {.dtypes = kDTypes, .tiled_source = true, .blocked = true}; }
  static GeneratedCase sample() {
    MlaTiled tiles;
    tiles.axes = {3, 0, 1, 2};
    tiles.tile_shape = {1, 2, 2, 3};
    return {{{3, 4, 5, 2}, DType::BFloat16, tiles}, {{3, 4, 5, 2}, DType::BFloat16}, {}};
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Detess, EvCodec, DetessCodec);

TEST(EvDetessPackets, ChannelBlockedInt8) {
  const kernels::Shape shape{1, 80, 80, 64};
  const MlaCBlocked blocked{{1, 1, 80, 64}};
  expect_packet<DetessCodec>({{shape, DType::Int8, blocked}, {shape, DType::Int8}, {}}, R"(
    45 56 37 34 01 00 04 00  a8 00 00 00 02 00 00 00    magic version operation bytes CBLOCKED
    01 01 04 02 00 00 00*2                              int8 int8 rank pad16, no fill
    00*8 00*8                                           addresses
    00 40 06 00*5  00 40 06 00*5                        capacities 409600
    01 00*7  50 00*7  50 00*7  40 00*7  00*16           shape
    01 00*7  01 00*7  50 00*7  40 00*7                  tile shape
    ff*4  01 00*3  02 00*3  03 00*3                     axes
    00*16)");
}

TEST(EvDetessPackets, BlockedAndPaddedDifferByTheFlagOnly) {
  const kernels::Shape shape{2, 3, 5};
  MlaTiled padded;
  padded.axes = {-1, 0, 1, 2};
  padded.tile_shape = {1, 1, 2, 5};
  padded.channels = ChannelStorage::PadTo16;
  auto bytes = relocatable_bytes<DetessCodec>(
      {{shape, DType::BFloat16, padded}, {shape, DType::BFloat16}, {}});
  bytes[12] = std::byte{2};
  EXPECT_EQ(
      relocatable_bytes<DetessCodec>(
          {{shape, DType::BFloat16, MlaCBlocked{{1, 1, 2, 5}}}, {shape, DType::BFloat16}, {}}),
      bytes);
}

TEST(EvDetessPackets, PermutedDestinationOfABlockedSource) {
  const kernels::Shape shape{2, 2, 17};
  const MlaCBlocked blocked{{1, 2, 1, 17}};
  // Channels outermost in memory: 4 bytes for each, then H and W.
  expect_packet<DetessCodec>(
      {{shape, DType::Int8, blocked}, {shape, DType::Int8, Strided{{2, 1, 4}}}, {}}, R"(
    45 56 37 34 01 00 04 00  d8 00 00 00 03 00 00 00    STRIDED and CBLOCKED
    01 01 03 02 00 00 00*2  00*16
    80 00*7  44 00*7                                    2 tiles of 2 blocks of 2 pixels; 68
    02 00*7  02 00*7  11 00*7  00*24
    01 00*7  02 00*7  01 00*7  11 00*7  ff*4  00*4  01 00*3  02 00*3  00*16
    02 00*7  01 00*7  04 00*7  00*24)");
}

TEST(EvDetessPackets, LargestSpansAreExact) {
  constexpr std::int64_t kEnd = 4294967296;
  const auto strided = [](std::int64_t stride) {
    return DetessCodec::check(
        admitted<DetessCodec>({{{2, 1}, DType::Int8, map_wc(2, 1, ChannelStorage::Compact)},
                               {{2, 1}, DType::Int8, Strided{{stride, 0}}},
                               {}}));
  };
  EXPECT_TRUE(strided(kEnd - 2).ok());
  EXPECT_EQ(strided(kEnd - 1).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Output, 0, -1, kEnd - 1, kEnd}));
  // 2^28 pixels of one channel: 2^32 bytes once padded to 16.
  const auto padded = [](std::int64_t pixels) {
    return DetessCodec::check(admitted<DetessCodec>(
        {{{pixels, 1}, DType::Int8, map_wc(pixels, 1, ChannelStorage::PadTo16)},
         {{pixels, 1}, DType::Int8},
         {}}));
  };
  EXPECT_TRUE(padded(kEnd / 16 - 1).ok());
  EXPECT_EQ(padded(kEnd / 16).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Input, 0, -1, kEnd - 16, kEnd}));
}

} // namespace
} // namespace simaai::test
