// SPDX-License-Identifier: LGPL-2.1-or-later
// EV74 packets of Tess: goldens byte for byte, aperture limits, and the suite of all codecs.
#include <utility>

#include <simaai/kernels/ev74/tess.h>

#include "ev74/codec_suite.h"
#include "ev74/expect_packet.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::MlaTiled;
using kernels::Strided;

struct TessCodec
    : CodecOf<kernels::ops::tess::Request, kernels::ops::tess::Plan,
              kernels::ops::tess::check_inference, kernels::ev74::tess::check_inference,
              kernels::ev74::tess::check_inference, kernels::ev74::tess::encode,
              kernels::ev74::tess::encode_relocatable, kernels::ev74::tess::bind> {
  static constexpr std::uint16_t kNumber = 2;
  static constexpr std::pair<DType, DType> kDTypes[] = {{DType::Int8, DType::Int8},
                                                        {DType::BFloat16, DType::BFloat16}};

  static CaseRules rules() {
    return {.dtypes = kDTypes, .tiled_destination = true, .has_fill = true};
  }
  static GeneratedCase sample() {
    MlaTiled tiles;
    tiles.axes = {0, 1, 2, 3};
    tiles.tile_shape = {1, 2, 2, 3};
    tiles.channels = ChannelStorage::PadTo16;
    return {{{2, 3, 4, 5}, DType::Int8}, {{2, 3, 4, 5}, DType::Int8, tiles}, std::int8_t{-7}};
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Tess, EvCodec, TessCodec);

TEST(EvTessPackets, PaddedInt8CarriesItsFill) {
  expect_packet<TessCodec>({{{2, 17}, DType::Int8},
                            {{2, 17}, DType::Int8, map_wc(2, 16, ChannelStorage::PadTo16)},
                            std::int8_t{-128}},
                           R"(
    45 56 37 34 01 00 02 00  a8 00 00 00 00 00 00 00    magic version operation bytes flags
    01 01 02 02 80 01 00*2                              int8 int8 rank pad16 fill present
    00*8 00*8                                           addresses
    22 00*7  40 00*7                                    capacities 34 64
    02 00*7  11 00*7  00*32                             shape
    01 00*7  01 00*7  02 00*7  10 00*7                  tile shape
    ff*4  ff*4  00*4  01 00*3                           axes
    00*16)");
}

TEST(EvTessPackets, ZeroFillIsStatedToo) {
  expect_packet<TessCodec>({{{2, 17}, DType::Int8},
                            {{2, 17}, DType::Int8, map_wc(2, 16, ChannelStorage::PadTo16)},
                            std::int8_t{0}},
                           R"(
    45 56 37 34 01 00 02 00  a8 00 00 00 00 00 00 00  01 01 02 02 00 01 00*2  00*16
    22 00*7  40 00*7  02 00*7  11 00*7  00*32
    01 00*7  01 00*7  02 00*7  10 00*7  ff*4  ff*4  00*4  01 00*3  00*16)");
}

TEST(EvTessPackets, UnusedFillOfCompactInt8IsNotWritten) {
  expect_packet<TessCodec>({{{2, 17}, DType::Int8},
                            {{2, 17}, DType::Int8, map_wc(2, 16, ChannelStorage::Compact)},
                            std::int8_t{5}},
                           R"(
    45 56 37 34 01 00 02 00  a8 00 00 00 00 00 00 00  01 01 02 01 00 00 00*2  00*16
    22 00*7  30 00*7  02 00*7  11 00*7  00*32
    01 00*7  01 00*7  02 00*7  10 00*7  ff*4  ff*4  00*4  01 00*3  00*16)");
}

TEST(EvTessPackets, PitchedSourceTakesTheLongPacket) {
  expect_packet<TessCodec>({{{2, 17}, DType::BFloat16, Strided{{64, 2}}},
                            {{2, 17}, DType::BFloat16, map_wc(2, 16, ChannelStorage::Compact)},
                            {}},
                           R"(
    45 56 37 34 01 00 02 00  d8 00 00 00 01 00 00 00    216 bytes, STRIDED
    02 02 02 01 00 00 00*2  00*16
    62 00*7  50 00*7                                    spans 98 80
    02 00*7  11 00*7  00*32
    01 00*7  01 00*7  02 00*7  10 00*7  ff*4  ff*4  00*4  01 00*3  00*16
    40 00*7  02 00*7  00*32)");
}

TEST(EvTessPackets, LargestSpansAreExact) {
  const auto check = [](std::int64_t w, std::int64_t c) {
    return TessCodec::check(admitted<TessCodec>(
        {{{w, c}, DType::Int8}, {{w, c}, DType::Int8, map_wc(w, c, ChannelStorage::Compact)}, {}}));
  };
  constexpr std::int64_t kEnd = 4294967296;
  EXPECT_TRUE(check(65536, 65535).ok()); // 2^32 - 2^16 on both sides
  // 65535 * 65537 = 2^32 - 1 fits the linear side; the tile is rounded up to 2^32.
  EXPECT_EQ(check(65535, 65537).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Output, 0, -1, kEnd - 16, kEnd}));
  EXPECT_EQ(check(65536, 65536).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Input, 0, -1, kEnd - 1, kEnd}));
}

} // namespace
} // namespace simaai::test
