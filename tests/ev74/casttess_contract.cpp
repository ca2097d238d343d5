// SPDX-License-Identifier: LGPL-2.1-or-later
// EV74 packets of CastTess: goldens byte for byte, aperture limits, and the suite of all codecs.
#include <utility>

#include <simaai/kernels/ev74/casttess.h>

#include "ev74/codec_suite.h"
#include "ev74/expect_packet.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::MlaTiled;
using kernels::Strided;

struct CastTessCodec
    : CodecOf<kernels::ops::casttess::Request, kernels::ops::casttess::Plan,
              kernels::ops::casttess::check_inference, kernels::ev74::casttess::check_inference,
              kernels::ev74::casttess::check_inference, kernels::ev74::casttess::encode,
              kernels::ev74::casttess::encode_relocatable, kernels::ev74::casttess::bind> {
  static constexpr std::uint16_t kNumber = 3;
  static constexpr std::pair<DType, DType> kDTypes[] = {{DType::Float32, DType::BFloat16},
                                                        {DType::Float16, DType::BFloat16},
                                                        {DType::BFloat16, DType::BFloat16}};

  static CaseRules rules() { return {.dtypes = kDTypes, .tiled_destination = true}; }
  static GeneratedCase sample() {
    MlaTiled tiles;
    tiles.axes = {0, 1, 2, 3};
    tiles.tile_shape = {1, 2, 2, 3};
    return {{{2, 3, 4, 5}, DType::Float16, Strided{{160, 52, 12, 2}}},
            {{2, 3, 4, 5}, DType::BFloat16, tiles},
            {}};
  }
};

INSTANTIATE_TYPED_TEST_SUITE_P(CastTess, EvCodec, CastTessCodec);

TEST(EvCastTessPackets, SixAxes) {
  MlaTiled tiles;
  tiles.axes = {2, 3, 4, 5};
  tiles.tile_shape = {1, 1, 2, 3};
  const kernels::Shape shape{1, 1, 1, 1, 2, 3};
  expect_packet<CastTessCodec>({{shape, DType::Float32}, {shape, DType::BFloat16, tiles}, {}}, R"(
    45 56 37 34 01 00 03 00  a8 00 00 00 00 00 00 00    magic version operation bytes flags
    03 02 06 01 00 00 00*2                              float32 bfloat16 rank compact
    00*8 00*8                                           addresses
    18 00*7  10 00*7                                    capacities 24 16
    01 00*7  01 00*7  01 00*7  01 00*7  02 00*7  03 00*7
    01 00*7  01 00*7  02 00*7  03 00*7                  tile shape
    02 00*3  03 00*3  04 00*3  05 00*3                  axes
    00*16)");
}

TEST(EvCastTessPackets, ChannelFirstSourceTakesTheLongPacket) {
  // Logical W, C over planes of 8 bytes: channel stride 8, pixel stride 2. The unit axis is zeroed.
  MlaTiled tiles;
  tiles.axes = {-1, -1, 1, 2};
  tiles.tile_shape = {1, 1, 4, 3};
  tiles.channels = ChannelStorage::PadTo16;
  const kernels::Shape shape{1, 4, 3};
  expect_packet<CastTessCodec>(
      {{shape, DType::Float16, Strided{{66, 2, 8}}}, {shape, DType::BFloat16, tiles}, {}}, R"(
    45 56 37 34 01 00 03 00  d8 00 00 00 01 00 00 00
    04 02 03 02 00 00 00*2  00*16
    18 00*7  80 00*7
    01 00*7  04 00*7  03 00*7  00*24
    01 00*7  01 00*7  04 00*7  03 00*7  ff*4  ff*4  01 00*3  02 00*3  00*16
    00*8  02 00*7  08 00*7  00*24)");
}

TEST(EvCastTessPackets, RowMajorStridesTakeTheShortPacket) {
  MlaTiled tiles;
  tiles.axes = {-1, -1, 1, 2};
  tiles.tile_shape = {1, 1, 4, 3};
  const kernels::Shape shape{1, 4, 3};
  const TensorSpec tiled{shape, DType::BFloat16, tiles};
  const auto dense = relocatable_bytes<CastTessCodec>({{shape, DType::BFloat16}, tiled, {}});
  EXPECT_EQ(dense.size(), 168U);
  EXPECT_EQ(
      relocatable_bytes<CastTessCodec>({{shape, DType::BFloat16, Strided{{998, 6, 2}}}, tiled, {}}),
      dense);
  EXPECT_EQ(
      relocatable_bytes<CastTessCodec>({{shape, DType::BFloat16, Strided{{998, 8, 2}}}, tiled, {}})
          .size(),
      216U);
}

TEST(EvCastTessPackets, LargestSpansAreExact) {
  constexpr std::int64_t kEnd = 4294967296;
  const auto check = [](DType from, std::int64_t w, std::int64_t c) {
    return CastTessCodec::check(admitted<CastTessCodec>(
        {{{w, c}, from}, {{w, c}, DType::BFloat16, map_wc(w, c, ChannelStorage::Compact)}, {}}));
  };
  EXPECT_TRUE(check(DType::Float32, 32768, 32767).ok());
  EXPECT_EQ(check(DType::Float32, 32768, 32768).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Input, 0, -1, kEnd - 4, kEnd}));
  // 2^31 - 1 values of two bytes fit the linear side; the tile is rounded up to 2^32.
  EXPECT_EQ(check(DType::BFloat16, 1, 2147483647).error(),
            (Error{ErrorCode::SpanTooLarge, Operand::Output, 0, -1, kEnd - 16, kEnd}));
}

} // namespace
} // namespace simaai::test
