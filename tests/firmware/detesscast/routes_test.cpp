// SPDX-License-Identifier: LGPL-2.1-or-later
// Which reader DetessCast selects, from a table, and that each gives the bytes of the oracle.
#include <ostream>

#include <gtest/gtest.h>

#include "firmware/detess/reader_cases.h"

namespace simaai::test {
namespace {

using firmware::Route;
using kernels::ChannelStorage;
using kernels::DType;

constexpr DTypePair kToFloat32{DType::BFloat16, DType::Float32};
constexpr DTypePair kToBFloat16{DType::BFloat16, DType::BFloat16};
constexpr auto kCompact = ChannelStorage::Compact;
constexpr auto kPad16 = ChannelStorage::PadTo16;

struct RouteRow {
  const char* name;
  Case request;
  Route route;
  std::uint32_t phase = 0; ///< of the output address
};
void PrintTo(const RouteRow& row, std::ostream* out) { *out << row.name; }

Case image(DTypePair dtypes, std::int64_t channels, std::int64_t tile_channels,
           ChannelStorage storage = kPad16) {
  return tiled_case(dtypes, {1, 12, 32, channels}, {-1, 1, 2, 3}, {1, 4, 16, tile_channels},
                    storage);
}

Case bands(DTypePair dtypes, std::initializer_list<std::int64_t> shape,
           std::initializer_list<std::int32_t> axes, std::initializer_list<std::int64_t> tile) {
  return tiled_case(dtypes, shape, axes, tile);
}

class DetessCastRoutes : public ::testing::TestWithParam<RouteRow> {};

TEST_P(DetessCastRoutes, SelectionAndBytes) {
  const RouteRow& row = GetParam();
  DeviceCase c(&encode_detesscast, row.request, {0, row.phase});
  EXPECT_TRUE(run_everywhere(c, 1));
  EXPECT_EQ(c.result().route, row.route) << firmware::route_name(c.result().route);
}

INSTANTIATE_TEST_SUITE_P(
    WholePixels, DetessCastRoutes,
    ::testing::Values(
        RouteRow{"aligned C16 pad16", image(kToFloat32, 16, 16), Route::DetessCastFullPixel},
        RouteRow{"aligned C16 compact", image(kToFloat32, 16, 16, kCompact),
                 Route::DetessCastFullPixel},
        RouteRow{"aligned C32 pad16", image(kToFloat32, 32, 32), Route::DetessCastFullPixel},
        RouteRow{"aligned C32 compact", image(kToFloat32, 32, 99, kCompact),
                 Route::DetessCastFullPixel},
        RouteRow{"C16 at 4", image(kToFloat32, 16, 16), Route::DetessCastRawRow, 4},
        RouteRow{"C32 at 12", image(kToFloat32, 32, 32), Route::DetessCastRawRow, 12},
        RouteRow{"C16 at 16", image(kToFloat32, 16, 16), Route::DetessCastFullPixel, 16},
        RouteRow{"C16 to BFloat16", image(kToBFloat16, 16, 16), Route::DetessCastRawRow},
        RouteRow{"C32 to BFloat16", image(kToBFloat16, 32, 32), Route::DetessCastRawRow}));

INSTANTIATE_TEST_SUITE_P(
    NeighbouringChannelCounts, DetessCastRoutes,
    ::testing::Values(RouteRow{"C15", image(kToFloat32, 15, 15), Route::DetessCastRawRow},
                      RouteRow{"C17", image(kToFloat32, 17, 17), Route::DetessCastRawRow},
                      RouteRow{"C31", image(kToFloat32, 31, 31, kCompact), Route::DetessCastRawRow},
                      RouteRow{"C33", image(kToFloat32, 33, 33, kCompact), Route::DetessCastRawRow},
                      RouteRow{"C48", image(kToFloat32, 48, 48), Route::DetessCastRawRow},
                      RouteRow{"C8", image(kToFloat32, 8, 8), Route::DetessCastRawRow},
                      RouteRow{"C7", image(kToFloat32, 7, 7), Route::DetessCastGather},
                      RouteRow{"C3", image(kToBFloat16, 3, 3, kCompact), Route::DetessCastGather}));

INSTANTIATE_TEST_SUITE_P(
    SplitChannelTiles, DetessCastRoutes,
    ::testing::Values(
        RouteRow{"C33 in C16", image(kToFloat32, 33, 16), Route::DetessCastChannelBand},
        RouteRow{"C48 in C16", image(kToFloat32, 48, 16, kCompact), Route::DetessCastChannelBand},
        RouteRow{"C64 in C16", image(kToFloat32, 64, 16), Route::DetessCastChannelBand},
        RouteRow{"C65 in C32", image(kToFloat32, 65, 32), Route::DetessCastChannelBand},
        RouteRow{"C65 in C32 compact", image(kToFloat32, 65, 32, kCompact),
                 Route::DetessCastChannelBand},
        RouteRow{"C49 in C16 compact", image(kToFloat32, 49, 16, kCompact),
                 Route::DetessCastChannelBand},
        RouteRow{"C127 in C32", image(kToFloat32, 127, 32), Route::DetessCastChannelBand},
        RouteRow{"two tiles: C33 in C32", image(kToFloat32, 33, 32), Route::DetessCastGather},
        RouteRow{"five tiles: C65 in C16", image(kToFloat32, 65, 16), Route::DetessCastGather},
        RouteRow{"C48 in C24", image(kToFloat32, 48, 24), Route::DetessCastGather},
        RouteRow{"bands to BFloat16", image(kToBFloat16, 48, 16), Route::DetessCastGather},
        RouteRow{"bands at 4", image(kToFloat32, 48, 16), Route::DetessCastGather, 4},
        RouteRow{"C16 in C8", image(kToFloat32, 16, 8), Route::DetessCastGather}));

INSTANTIATE_TEST_SUITE_P(
    BandConditions, DetessCastRoutes,
    ::testing::Values(
        RouteRow{"rank three", bands(kToFloat32, {6, 16, 48}, {-1, 0, 1, 2}, {1, 3, 16, 16}),
                 Route::DetessCastChannelBand},
        RouteRow{"depth in tiles of one",
                 bands(kToFloat32, {2, 3, 4, 16, 40}, {1, 2, 3, 4}, {1, 2, 16, 16}),
                 Route::DetessCastChannelBand},
        RouteRow{"outer axes before depth",
                 bands(kToFloat32, {2, 2, 3, 4, 16, 40}, {2, 3, 4, 5}, {1, 4, 16, 16}),
                 Route::DetessCastChannelBand},
        RouteRow{"depth in tiles of two",
                 bands(kToFloat32, {2, 4, 4, 16, 40}, {1, 2, 3, 4}, {2, 2, 16, 16}),
                 Route::DetessCastGather},
        RouteRow{"depth outside an outer axis",
                 bands(kToFloat32, {3, 2, 4, 16, 40}, {0, 2, 3, 4}, {1, 2, 16, 16}),
                 Route::DetessCastGather},
        RouteRow{"partial H", bands(kToFloat32, {7, 16, 48}, {-1, 0, 1, 2}, {1, 3, 16, 16}),
                 Route::DetessCastGather},
        RouteRow{"partial W", bands(kToFloat32, {6, 24, 48}, {-1, 0, 1, 2}, {1, 3, 16, 16}),
                 Route::DetessCastGather},
        RouteRow{"W of 24", bands(kToFloat32, {6, 48, 48}, {-1, 0, 1, 2}, {1, 3, 24, 16}),
                 Route::DetessCastGather},
        RouteRow{"row that fills both slots",
                 bands(kToFloat32, {4, 64, 64}, {-1, 0, 1, 2}, {1, 2, 64, 16}),
                 Route::DetessCastChannelBand},
        RouteRow{"row beyond the raw slot",
                 bands(kToFloat32, {4, 80, 96}, {-1, 0, 1, 2}, {1, 2, 80, 32}),
                 Route::DetessCastGather},
        RouteRow{"row beyond the output slot",
                 bands(kToFloat32, {4, 80, 64}, {-1, 0, 1, 2}, {1, 2, 80, 16}),
                 Route::DetessCastGather},
        RouteRow{"W and H exchanged", bands(kToFloat32, {16, 6, 48}, {-1, 1, 0, 2}, {1, 3, 16, 16}),
                 Route::DetessCastGather}));

INSTANTIATE_TEST_SUITE_P(
    OtherLayouts, DetessCastRoutes,
    ::testing::Values(
        RouteRow{"rank one", tiled_case(kToFloat32, {213}, {-1, -1, -1, 0}, {1, 1, 1, 64}),
                 Route::DetessCastPlanar},
        RouteRow{"rank one in one tile",
                 tiled_case(kToBFloat16, {213}, {-1, -1, -1, 0}, {1, 1, 1, 213}),
                 Route::DetessCastPlanar},
        RouteRow{"channels only at rank two",
                 tiled_case(kToFloat32, {1, 213}, {-1, -1, -1, 1}, {1, 1, 1, 64}),
                 Route::DetessCastPlanar},
        RouteRow{"outer axis and C",
                 tiled_case(kToFloat32, {5, 40}, {-1, -1, -1, 1}, {1, 1, 1, 40}),
                 Route::DetessCastPlanar},
        RouteRow{"outer axis between W and C",
                 tiled_case(kToFloat32, {6, 3, 24}, {-1, -1, 0, 2}, {1, 1, 6, 24}),
                 Route::DetessCastPlanar},
        RouteRow{"H between W and C",
                 tiled_case(kToBFloat16, {6, 5, 24}, {-1, 1, 0, 2}, {1, 2, 4, 24}),
                 Route::DetessCastPlanar},
        RouteRow{"H between W and few C",
                 tiled_case(kToBFloat16, {6, 5, 6}, {-1, 1, 0, 2}, {1, 2, 4, 6}),
                 Route::DetessCastGather},
        RouteRow{"H between W and split C",
                 tiled_case(kToBFloat16, {6, 5, 24}, {-1, 1, 0, 2}, {1, 2, 4, 16}),
                 Route::DetessCastGather},
        RouteRow{"C first", tiled_case(kToFloat32, {20, 6, 9}, {-1, 1, 2, 0}, {1, 4, 5, 16}),
                 Route::DetessCastGather},
        RouteRow{"pixel of 4096 bytes",
                 tiled_case(kToFloat32, {3, 2048}, {-1, -1, 0, 1}, {1, 1, 3, 2048}, kCompact),
                 Route::DetessCastRawRow},
        RouteRow{"pixel beyond 4096 bytes",
                 tiled_case(kToFloat32, {3, 2049}, {-1, -1, 0, 1}, {1, 1, 3, 2049}, kCompact),
                 Route::DetessCastPlanar},
        RouteRow{"padded pixel beyond 4096 bytes",
                 tiled_case(kToFloat32, {3, 2049}, {-1, -1, 0, 1}, {1, 1, 3, 4000}, kPad16),
                 Route::DetessCastPlanar},
        RouteRow{"channel blocks", blocked_case(kToFloat32, {8, 16, 48}, {1, 4, 16, 48}),
                 Route::DetessCastBlocked},
        RouteRow{"channel blocks of C16", blocked_case(kToFloat32, {8, 16, 16}, {1, 4, 16, 16}),
                 Route::DetessCastBlocked},
        RouteRow{"pitched rows", strided_case(image(kToFloat32, 16, 16), {0, 4096, 128, 4}),
                 Route::DetessCastStrided},
        RouteRow{"C outer in both orders",
                 strided_case(tiled_case(kToFloat32, {20, 6, 9}, {-1, 1, 2, 0}, {1, 4, 5, 16}),
                              {512, 64, 4}),
                 Route::DetessCastStrided},
        RouteRow{"C first, channels inner",
                 strided_case(tiled_case(kToFloat32, {20, 6, 9}, {-1, 1, 2, 0}, {1, 4, 5, 16}),
                              {4, 1024, 80}),
                 Route::DetessCastStridedInner},
        RouteRow{"channel blocks, W outside H",
                 strided_case(blocked_case(kToFloat32, {4, 5, 20}, {1, 4, 5, 20}), {80, 400, 4}),
                 Route::DetessCastStrided}));

} // namespace
} // namespace simaai::test
