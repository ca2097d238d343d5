// SPDX-License-Identifier: LGPL-2.1-or-later
// What is Detess's own: readers of one-byte scalars, their padding and staging, and route selection.
#include <ostream>

#include <gtest/gtest.h>

#include "firmware/detess/reader_cases.h"
#include "oracle/tiles.h"

namespace simaai::test {
namespace {

using firmware::Route;
using kernels::ChannelStorage;
using kernels::DType;

constexpr DTypePair kInt8{DType::Int8, DType::Int8};
constexpr DTypePair kBFloat16{DType::BFloat16, DType::BFloat16};

struct RouteRow {
  const char* name;
  Case request;
  Route route;
  std::uint32_t staging_kib;
};
void PrintTo(const RouteRow& row, std::ostream* out) { *out << row.name; }

class DetessRoutes : public ::testing::TestWithParam<RouteRow> {};

TEST_P(DetessRoutes, SelectionStagingAndBytes) {
  const RouteRow& row = GetParam();
  for (const std::uint32_t phase : {0U, 2U, 7U}) {
    DeviceCase c(&encode_detess, row.request, {0, phase});
    EXPECT_TRUE(run_everywhere(c, 1));
    EXPECT_EQ(c.result().route, row.route) << firmware::route_name(c.result().route);
    EXPECT_EQ(c.result().counters.local_bytes, row.staging_kib * 1024);
  }
}

Case image(DTypePair dtypes, std::int64_t channels, std::int64_t tile_channels) {
  return tiled_case(dtypes, {1, 12, 32, channels}, {-1, 1, 2, 3}, {1, 4, 16, tile_channels});
}

INSTANTIATE_TEST_SUITE_P(
    Int8, DetessRoutes,
    ::testing::Values(
        RouteRow{"C16", image(kInt8, 16, 16), Route::DetessRawRow, 16},
        RouteRow{"C21", image(kInt8, 21, 21), Route::DetessRawRow, 16},
        RouteRow{"C3", image(kInt8, 3, 3), Route::DetessGather, 20},
        RouteRow{"C48 in C16", image(kInt8, 48, 16), Route::DetessGather, 20},
        RouteRow{"channels only", tiled_case(kInt8, {1, 1000}, {-1, -1, -1, 1}, {1, 1, 1, 1000}),
                 Route::DetessPlanar, 20},
        RouteRow{"rank one", tiled_case(kInt8, {1000}, {-1, -1, -1, 0}, {1, 1, 1, 64}),
                 Route::DetessPlanar, 20},
        RouteRow{"blocks", blocked_case(kInt8, {6, 8, 40}, {1, 4, 8, 40}), Route::DetessBlocked,
                 20},
        RouteRow{"pitched", strided_case(image(kInt8, 16, 16), {0, 999, 20, 1}),
                 Route::DetessStrided, 20},
        RouteRow{
            "C first, channels inner",
            strided_case(tiled_case(kInt8, {20, 6, 9}, {-1, 1, 2, 0}, {1, 4, 5, 16}), {1, 300, 21}),
            Route::DetessStridedInner, 20}));

INSTANTIATE_TEST_SUITE_P(
    BFloat16, DetessRoutes,
    ::testing::Values(RouteRow{"C16", image(kBFloat16, 16, 16), Route::DetessRawRow, 24},
                      RouteRow{"C48 in C16", image(kBFloat16, 48, 16), Route::DetessGather, 36},
                      RouteRow{"rank one",
                               tiled_case(kBFloat16, {1000}, {-1, -1, -1, 0}, {1, 1, 1, 64}),
                               Route::DetessPlanar, 36}));

TEST(DetessFirmware, EveryBytePatternOnEveryRoute) {
  for (const Case& shape : {image(kInt8, 21, 21), image(kInt8, 48, 16), image(kInt8, 3, 3),
                            tiled_case(kInt8, {5000}, {-1, -1, -1, 0}, {1, 1, 1, 700}),
                            blocked_case(kInt8, {6, 8, 40}, {1, 4, 8, 40})}) {
    oracle::Tensor values{shape.input.shape, DType::Int8, {}};
    for (std::uint64_t i = 0; i < oracle::element_count(values.shape); ++i)
      values.bits.push_back(static_cast<std::uint32_t>(i * 7 % 256));
    DeviceCase c(&encode_detess, shape, golden_of(shape, values), {});
    EXPECT_TRUE(run_everywhere(c, 1));
  }
}

/// Whatever the producer filled padded channels with is dropped.
TEST(DetessFirmware, ChannelPaddingIsDropped) {
  for (const Case& shape : {image(kInt8, 21, 21), image(kInt8, 35, 16), image(kInt8, 3, 3),
                            blocked_case(kInt8, {6, 8, 21}, {1, 4, 8, 21})}) {
    const oracle::Tensor values = oracle::random_tensor(shape.input.shape, DType::Int8, 3);
    for (const oracle::Padding fill : {oracle::Padding{0, 0}, oracle::Padding{0x80, 0x7f}}) {
      Golden golden = golden_of(shape, values);
      golden.input = oracle::tile(values, shape.input.layout, fill);
      DeviceCase c(&encode_detess, shape, golden, {});
      EXPECT_TRUE(run_everywhere(c, 1));
    }
  }
}

/// Pitches of 65,535 bytes, which only one-byte scalars reach, and one more.
TEST(DetessFirmware, LargestPitchIsOneTransfer) {
  const auto calls = [](std::int64_t width) {
    DeviceCase c(&encode_detess, tiled_case(kInt8, {width, 3, 1}, {-1, 1, 0, 2}, {1, 3, width, 1},
                                            ChannelStorage::Compact));
    model::DeviceModel device(immediate(1));
    EXPECT_TRUE(c.run(device));
    return c.result().counters.dma_calls_in;
  };
  EXPECT_EQ(calls(65535), 65535U);
  EXPECT_EQ(calls(65536), 3U * 65536);
}

} // namespace
} // namespace simaai::test
