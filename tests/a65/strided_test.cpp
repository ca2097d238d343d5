// SPDX-License-Identifier: LGPL-2.1-or-later
// Named families of strided views on the linear side of an operation.
#include <string>

#include <gtest/gtest.h>

#include "a65/contract_case.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::Contiguous;
using kernels::Layout;
using kernels::MlaTiled;
using kernels::Shape;
using kernels::Strided;

/// Strides in scalars; multiplied by the scalar width when used.
struct View {
  const char* name;
  Shape shape;
  std::array<std::int64_t, 6> strides;
};

constexpr std::int64_t kFar = std::int64_t{1} << 60;

// Shapes are N, H, W, C unless the name says otherwise.
const View kViews[] = {{"dense-equivalent", {2, 3, 5, 7}, {105, 35, 7, 1}},
                       {"dense-equivalent with unused slots", {5, 7}, {7, 1, -1, 3, 5, 1}},
                       {"row pitch", {2, 3, 5, 7}, {160, 40, 7, 1}},
                       {"pixel pitch", {2, 3, 5, 7}, {200, 60, 8, 1}},
                       {"RGBx as RGB", {1, 4, 33, 3}, {0, 132, 4, 1}},
                       {"channels first", {2, 3, 5, 7}, {105, 5, 1, 15}},
                       {"channels first, pitched", {2, 3, 5, 7}, {300, 8, 1, 24}},
                       {"transposed H and W", {2, 3, 5, 7}, {105, 7, 21, 1}},
                       {"fully reversed", {2, 3, 5, 7}, {1, 2, 6, 30}},
                       {"channel step of two", {2, 3, 5, 7}, {210, 70, 14, 2}},
                       {"channel step of three, wide", {1, 2, 9, 33}, {0, 900, 100, 3}},
                       {"zero strides of singletons", {1, 1, 9, 1}, {0, 0, 1, 0}},
                       {"far strides of singletons", {1, 3, 1, 20}, {kFar, 20, kFar, 1}},
                       {"wide pixels, pitched", {1, 3, 5, 48}, {0, 400, 50, 1}},
                       {"one channel, row pitch", {1, 6, 37, 1}, {0, 40, 1, 1}},
                       {"six axes, permuted", {2, 1, 3, 2, 2, 5}, {60, 0, 1, 3, 6, 12}},
                       {"wide channels first", {1, 3, 37, 40}, {0, 37, 1, 111}},
                       {"three planes, wide", {2, 2, 85, 3}, {510, 85, 1, 170}},
                       {"two wide planes, pitched", {1, 3, 67, 2}, {0, 70, 1, 211}},
                       {"channels first, two pixels", {1, 5, 2, 21}, {0, 2, 1, 10}},
                       {"channel step of two, wide", {1, 3, 7, 53}, {0, 742, 106, 2}},
                       {"channel step of two, pitched", {1, 3, 7, 19}, {0, 300, 41, 2}},
                       {"channel step of two, narrow", {2, 3, 37, 3}, {666, 222, 6, 2}},
                       {"channel step of two, thousands", {1, 1, 2, 4101}, {0, 0, 8300, 2}},
                       {"channel step of two, one pixel", {1, 1, 1, 45}, {0, 0, 0, 2}},
                       {"empty", {2, 0, 5, 7}, {35, 35, 7, 1}},
                       {"empty axis of stride zero", {2, 0, 5, 7}, {35, 0, 7, 1}}};

Strided in_bytes(const View& view, kernels::DType dtype) {
  Strided layout;
  for (std::size_t axis = 0; axis < 6; ++axis)
    layout.strides_bytes[axis] =
        view.strides[axis] * static_cast<std::int64_t>(kernels::scalar_bytes(dtype));
  return layout;
}

std::vector<Layout> other_layouts(const Operation& operation, const View& view, DTypePair dtypes) {
  if (operation.is_linear_only())
    return {Contiguous{}, in_bytes(view, dtypes.to)};
  MlaTiled tiled;
  std::size_t role = 4;
  for (std::size_t axis = view.shape.rank(); axis-- > 0 && role > 1;)
    tiled.axes[--role] = static_cast<std::int32_t>(axis);
  std::vector<Layout> layouts;
  for (const std::array<std::int64_t, 4>& tile :
       {std::array<std::int64_t, 4>{1, 2, 4, 16}, std::array<std::int64_t, 4>{1, 2, 90, 64}}) {
    tiled.tile_shape = tile;
    for (std::size_t absent = 0; absent < role; ++absent)
      tiled.tile_shape[absent] = 1;
    for (const auto storage : {ChannelStorage::Compact, ChannelStorage::PadTo16}) {
      tiled.channels = storage;
      layouts.emplace_back(tiled);
    }
  }
  if (operation.tiled_input && view.shape.rank() >= 3)
    layouts.emplace_back(kernels::MlaCBlocked{{1, 2, 4, 20}});
  return layouts;
}

TEST(Strided, NamedViewsAgreeWithTheOracle) {
  const Operation& operation = operation_under_test();
  for (const View& view : kViews)
    for (const DTypePair dtypes : operation.dtypes) {
      SCOPED_TRACE(view.name);
      const auto linear = in_bytes(view, operation.tiled_input ? dtypes.to : dtypes.from);
      for (const Layout& other : other_layouts(operation, view, dtypes))
        ASSERT_TRUE(
            run_case(operation, make_case(operation, view.shape, dtypes, linear, other, 7)));
    }
}

/// Planes of pixels, with and without gaps between lines and planes, in tiles around vector lengths.
TEST(Strided, ChannelsFirstOfEveryWidth) {
  const Operation& operation = operation_under_test();
  for (const std::int64_t channels : {1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 33, 64, 65, 80})
    for (const std::int64_t width : {7, 8, 15, 16, 20, 31, 32, 33, 48, 64, 67, 130})
      for (const std::int64_t tile_width :
           {width, std::int64_t{2}, std::int64_t{4}, std::int64_t{5}, std::int64_t{16}}) {
        const std::int64_t pitch = width + (width % 16 == 0 ? 0 : 3);
        const View view{"planes", {2, width, channels}, {pitch, 1, 2 * pitch + width % 2}};
        for (const DTypePair dtypes : operation.dtypes) {
          const auto planes = in_bytes(view, operation.tiled_input ? dtypes.to : dtypes.from);
          const std::int64_t tile = channels == 64 ? 16 : channels == 33 ? 32 : channels;
          MlaTiled tiled{{-1, 0, 1, 2}, {1, 2, tile_width, tile}};
          std::vector<Layout> others = {tiled};
          tiled.channels = ChannelStorage::PadTo16;
          others.emplace_back(tiled);
          if (operation.is_linear_only())
            others = {Contiguous{}};
          else if (operation.tiled_input)
            others.emplace_back(kernels::MlaCBlocked{{1, 2, tile_width, tile}});
          for (const Layout& other : others)
            ASSERT_TRUE(
                run_case(operation, make_case(operation, view.shape, dtypes, planes, other, 7)))
                << channels << " channels, " << width << " in tiles of " << tile_width;
        }
      }
}

/// Every second scalar of few channels, packed, in tiles of every width that is one of theirs.
TEST(Strided, EverySecondScalarOfFewChannels) {
  const Operation& operation = operation_under_test();
  for (std::int64_t channels = 1; channels <= 5; ++channels)
    for (const std::int64_t width : {1, 2, 3, 4, 8, 13, 33})
      for (const std::int64_t tile_width :
           {std::int64_t{1}, std::int64_t{2}, std::int64_t{4}, width})
        for (const std::int64_t tile_height : {1, 2, 16}) {
          const View view{"packed",
                          {tile_height + 1, width, channels},
                          {2 * width * channels + tile_height % 4, 2 * channels, 2}};
          for (const DTypePair dtypes : operation.dtypes) {
            const auto linear = in_bytes(view, operation.tiled_input ? dtypes.to : dtypes.from);
            const Layout other = operation.is_linear_only()
                                     ? Layout{Contiguous{}}
                                     : Layout{MlaTiled{{-1, 0, 1, 2},
                                                       {1, tile_height, tile_width, channels},
                                                       ChannelStorage::PadTo16}};
            ASSERT_TRUE(
                run_case(operation, make_case(operation, view.shape, dtypes, linear, other, 9)))
                << channels << " channels, " << width << " in tiles of " << tile_height << " x "
                << tile_width;
          }
        }
}

/// The span that the contract works out: FP32 [2,3] with byte strides 32 and 8 needs 52 bytes.
TEST(Strided, RequirementIsTheSpanAndNotThePayload) {
  const Operation& operation = operation_under_test();
  for (const DTypePair dtypes : operation.dtypes) {
    const std::int64_t scalar =
        kernels::scalar_bytes(operation.tiled_input ? dtypes.to : dtypes.from);
    const View view{"", {2, 3}, {8, 2}};
    const Layout other = other_layouts(operation, view, dtypes).front();
    const Strided linear{{8 * scalar, 2 * scalar}};
    const Case c = make_case(operation, view.shape, dtypes, linear, other, 1);
    const std::array inputs{c.input};
    const std::array outputs{c.output};
    const Admission admission = operation.check(inputs, outputs, c.fill);
    const auto* plan = std::get_if<Admitted>(&admission);
    ASSERT_NE(plan, nullptr);
    const auto& requirement = operation.tiled_input ? plan->output : plan->input;
    EXPECT_EQ(requirement.bytes, static_cast<std::uint64_t>(13 * scalar));
    EXPECT_EQ(requirement.alignment, static_cast<std::uint32_t>(scalar));
  }
}

// One more step along W would leave the signed 64-bit range; only sanitizers see a product of it.
TEST(Strided, ViewsUpToTheEndOfTheRangeArePrepared) {
  const Operation& operation = operation_under_test();
  for (const DTypePair& dtypes : operation.dtypes) {
    const kernels::DType linear = operation.tiled_input ? dtypes.to : dtypes.from;
    const auto width = 8 / static_cast<std::int64_t>(kernels::scalar_bytes(linear));
    const View view{"far", {2, width, 1}, {1, kFar, 1}};
    MlaTiled tiled;
    tiled.axes = {-1, 0, 1, 2};
    tiled.tile_shape = {1, 2, width, 1};
    const kernels::TensorSpec far{view.shape, linear, in_bytes(view, linear)};
    const kernels::TensorSpec near{view.shape, operation.tiled_input ? dtypes.from : dtypes.to,
                                   operation.is_linear_only() ? Layout{Contiguous{}} : tiled};
    const auto& input = operation.tiled_input ? near : far;
    const auto& output = operation.tiled_input ? far : near;
    const Admission admission = operation.check({&input, 1}, {&output, 1}, std::nullopt);
    const auto* plan = std::get_if<Admitted>(&admission);
    ASSERT_NE(plan, nullptr) << std::get<kernels::Error>(admission).message();
    const auto& needs = operation.tiled_input ? plan->output : plan->input;
    EXPECT_GT(needs.bytes, static_cast<std::uint64_t>(INT64_MAX / 2));
  }
}

} // namespace
} // namespace simaai::test
