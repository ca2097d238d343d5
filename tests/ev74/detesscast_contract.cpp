// SPDX-License-Identifier: LGPL-2.1-or-later
// EV74 packets of DetessCast: goldens byte for byte, aperture limits, and the suite of all codecs.
#include <utility>

#include <simaai/kernels/ev74/detesscast.h>

#include "ev74/codec_suite.h"
#include "ev74/expect_packet.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::MlaCBlocked;
using kernels::MlaTiled;
using kernels::Strided;

struct DetessCastCodec
    : CodecOf<kernels::ops::detesscast::Request, kernels::ops::detesscast::Plan,
              kernels::ops::detesscast::check_inference, kernels::ev74::detesscast::check_inference,
              kernels::ev74::detesscast::check_inference, kernels::ev74::detesscast::encode,
              kernels::ev74::detesscast::encode_relocatable, kernels::ev74::detesscast::bind> {
  static constexpr std::uint16_t kNumber = 5;
  static constexpr std::pair<DType, DType> kDTypes[] = {{DType::BFloat16, DType::BFloat16},
                                                        {DType::BFloat16, DType::Float32}};

  static CaseRules rules() { return {.dtypes = kDTypes, .tiled_source = true, .blocked = true}; }
  static GeneratedCase sample() {
    MlaTiled tiles;
    tiles.axes = {0, 1, 2, 3};
    tiles.tile_shape = {1, 2, 2, 3};
    tiles.channels = ChannelStorage::PadTo16;
    return {{{2, 3, 4, 5}, DType::BFloat16, tiles},
            {{2, 3, 4, 5}, DType::Float32, Strided{{512, 128, 24, 4}}},
            {}};
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(DetessCast, EvCodec, DetessCastCodec);

TEST(EvDetessCastPackets, DenseMatrix) {
  expect_packet<DetessCastCodec>({{{2, 3}, DType::BFloat16, map_wc(2, 3, ChannelStorage::Compact)},
                                  {{2, 3}, DType::Float32},
                                  {}},
                                 R"(
    45 56 37 34 01 00 05 00  a8 00 00 00 00 00 00 00    magic version operation bytes flags
    02 03 02 01 00 00 00*2                              bfloat16 float32 rank compact
    00*8 00*8                                           addresses
    10 00*7  18 00*7                                    capacities 16 24
    02 00*7  03 00*7  00*32                             shape
    01 00*7  01 00*7  02 00*7  03 00*7                  tile shape
    ff*4  ff*4  00*4  01 00*3                           axes
    00*16)");
}

TEST(EvDetessCastPackets, PitchedDestination) {
  expect_packet<DetessCastCodec>({{{2, 3}, DType::BFloat16, map_wc(2, 3, ChannelStorage::Compact)},
                                  {{2, 3}, DType::Float32, Strided{{64, 4}}},
                                  {}},
                                 R"(
    45 56 37 34 01 00 05 00  d8 00 00 00 01 00 00 00
    02 03 02 01 00 00 00*2  00*16
    10 00*7  4c 00*7
    02 00*7  03 00*7  00*32
    01 00*7  01 00*7  02 00*7  03 00*7  ff*4  ff*4  00*4  01 00*3  00*16
    40 00*7  04 00*7  00*32)");
}

TEST(EvDetessCastPackets, ChannelBlockedWithSeveralOuterAxes) {
  const kernels::Shape shape{2, 1, 3, 4, 20};
  expect_packet<DetessCastCodec>(
      {{shape, DType::BFloat16, MlaCBlocked{{1, 3, 4, 20}}}, {shape, DType::BFloat16}, {}},
      R"(
    45 56 37 34 01 00 05 00  a8 00 00 00 02 00 00 00
    02 02 05 02 00 00 00*2  00*16
    00 06 00*6  c0 03 00*6                              2 * 2 * 12 * 32 = 1536; 480 * 2 = 960
    02 00*7  01 00*7  03 00*7  04 00*7  14 00*7  00*8
    01 00*7  03 00*7  04 00*7  14 00*7  ff*4  02 00*3  03 00*3  04 00*3  00*16)");
}

TEST(EvDetessCastPackets, TileShapeIsWrittenAsGiven) {
  const auto packet = relocatable_bytes<DetessCastCodec>(
      {{{2, 3}, DType::BFloat16, map_wc(1000000, 2147483647, ChannelStorage::Compact)},
       {{2, 3}, DType::BFloat16},
       {}});
  const PacketFields fields = read_packet(packet);
  EXPECT_EQ(fields.tile_shape, (std::array<std::int64_t, 4>{1, 1, 1000000, 2147483647}));
  EXPECT_EQ(fields.source_capacity, 16U);
}

TEST(EvDetessCastPackets, LargestSpansAreExact) {
  constexpr std::int64_t kEnd = 4294967296;
  const auto check = [](std::int64_t w, std::int64_t c, DType to) {
    return DetessCastCodec::check(admitted<DetessCastCodec>(
        {{{w, c}, DType::BFloat16, map_wc(w, c, ChannelStorage::Compact)}, {{w, c}, to}, {}}));
  };
  EXPECT_TRUE(check(65536, 32760, DType::BFloat16).ok());
  EXPECT_EQ(check(65536, 32768, DType::BFloat16).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Input, 0, -1, kEnd - 16, kEnd}));
  EXPECT_TRUE(check(32768, 32767, DType::Float32).ok());
  EXPECT_EQ(check(32768, 32768, DType::Float32).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Output, 0, -1, kEnd - 4, kEnd}));
}

} // namespace
} // namespace simaai::test
