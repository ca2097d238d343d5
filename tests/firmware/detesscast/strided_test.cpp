// SPDX-License-Identifier: LGPL-2.1-or-later
// DetessCast to output with pitches, steps and holes, and physical traversal.
#include <gtest/gtest.h>

#include "firmware/detess/reader_cases.h"

namespace simaai::test {
namespace {

using firmware::Route;
using kernels::ChannelStorage;
using kernels::DType;

struct Output {
  DTypePair dtypes;
  std::int64_t width;
};
constexpr Output kOutputs[] = {{{DType::BFloat16, DType::BFloat16}, 2},
                               {{DType::BFloat16, DType::Float32}, 4}};

/// A view at several phases of its address, with late transfers.
void expect_view(const Case& c, Route route) {
  for (const std::uint32_t phase : {0U, 2U, 4U, 14U, 28U}) {
    DeviceCase on_device(&encode_detesscast, c, {16 * phase, phase});
    ASSERT_TRUE(run_everywhere(on_device, 2, phase));
    EXPECT_EQ(on_device.result().route, route);
    EXPECT_EQ(on_device.result().counters.workers, 1U); // one owner, whatever was offered
  }
}

TEST(DetessCastStrided, PitchedRows) {
  for (const Output& to : kOutputs)
    for (const std::int64_t pad : {1, 8, 16})
      expect_view(strided_case(tiled_case(to.dtypes, {7, 9, 20}, {-1, 0, 1, 2}, {1, 3, 4, 16}),
                               {(180 + pad) * to.width, 20 * to.width, to.width}),
                  Route::DetessCastStrided);
}

TEST(DetessCastStrided, SteppedScalars) {
  for (const Output& to : kOutputs)
    expect_view(strided_case(tiled_case(to.dtypes, {5, 9, 20}, {-1, 0, 1, 2}, {1, 3, 4, 16}),
                             {2000 * to.width, 61 * to.width, 3 * to.width}),
                Route::DetessCastStrided);
}

TEST(DetessCastStrided, PermutedAxes) {
  for (const Output& to : kOutputs)
    expect_view(strided_case(tiled_case(to.dtypes, {5, 9, 20}, {-1, 0, 1, 2}, {1, 3, 4, 16}),
                             {9 * to.width, to.width, 5 * 9 * to.width}),
                Route::DetessCastStrided);
}

TEST(DetessCastStrided, SingletonStridesDoNotCount) {
  for (const Output& to : kOutputs)
    expect_view(strided_case(tiled_case(to.dtypes, {1, 9, 1, 20}, {0, 1, 2, 3}, {1, 3, 1, 20}),
                             {0, 24 * to.width, 0, to.width}),
                Route::DetessCastStrided);
}

TEST(DetessCastStrided, SpansLongerThanAPanel) {
  for (const Output& to : kOutputs)
    expect_view(strided_case(tiled_case(to.dtypes, {3, 150, 33}, {-1, 0, 1, 2}, {1, 3, 40, 33}),
                             {4961 * to.width, 33 * to.width, to.width}),
                Route::DetessCastStrided);
}

TEST(DetessCastStrided, CompilerBlocks) {
  for (const Output& to : kOutputs)
    expect_view(strided_case(blocked_case(to.dtypes, {5, 9, 40}, {1, 3, 4, 40}),
                             {400 * to.width, 43 * to.width, to.width}),
                Route::DetessCastStrided);
}

// H/C family: channels inner, H next, W outermost, and the depth family likewise; channel tails,
// C-first shapes, holes between pixels and rows.
TEST(DetessCastStrided, ChannelInnerHeightTraversal) {
  for (const Output& to : kOutputs)
    for (const std::int64_t channels : {3, 16, 21})
      for (const std::int64_t hole : {0, 5})
        expect_view(
            strided_case(tiled_case(to.dtypes, {channels, 7, 9}, {-1, 1, 2, 0}, {1, 5, 4, 16}),
                         {to.width, (channels + hole) * to.width,
                          ((channels + hole) * 7 + hole) * to.width}),
            Route::DetessCastStridedInner);
}

TEST(DetessCastStrided, ChannelInnerDepthTraversal) {
  for (const Output& to : kOutputs)
    for (const std::int64_t channels : {3, 16, 21})
      for (const std::int64_t hole : {0, 5})
        expect_view(
            strided_case(tiled_case(to.dtypes, {6, 4, 5, channels}, {0, 1, 2, 3}, {4, 3, 5, 16}),
                         {(channels + hole) * to.width, ((channels + hole) * 6 + hole) * to.width,
                          ((channels + hole) * 6 + hole) * 4 * to.width, to.width}),
            Route::DetessCastStridedInner);
}

TEST(DetessCastStrided, OuterAxesFollowThePermutation) {
  for (const Output& to : kOutputs)
    expect_view(strided_case(tiled_case(to.dtypes, {3, 20, 2, 6}, {-1, -1, 3, 1}, {1, 1, 4, 16}),
                             {20 * to.width, to.width, 500 * to.width, 60 * to.width}),
                Route::DetessCastStridedInner);
}

TEST(DetessCastStrided, PhysicalTraversalLeavesFewBytesToTypedStores) {
  // Channel-first shape, gapless channel-last memory: one span, so only its ends are stored.
  for (const Output& to : kOutputs) {
    const Case c = strided_case(tiled_case(to.dtypes, {16, 30, 31}, {-1, 1, 2, 0}, {1, 30, 31, 16}),
                                {to.width, 31 * 16 * to.width, 16 * to.width});
    DeviceCase on_device(&encode_detesscast, c);
    model::DeviceModel device(immediate(1));
    ASSERT_TRUE(on_device.run(device));
    EXPECT_EQ(on_device.result().route, Route::DetessCastStridedInner);
    EXPECT_EQ(on_device.result().counters.typed_store_bytes, 0U);
    EXPECT_EQ(on_device.result().counters.dma_bytes_out,
              static_cast<std::uint64_t>(16 * 30 * 31 * to.width));
  }
}

} // namespace
} // namespace simaai::test
