// SPDX-License-Identifier: LGPL-2.1-or-later
// Refusals of tile axes, tile extents and padded sizes; for operations with an MlaTiled port.
#include <gtest/gtest.h>

#include "a65/refusals.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::DType;
using kernels::ErrorCode;
using kernels::MlaTiled;
using kernels::Operand;

Operand tiled_port() {
  return operation_under_test().tiled_input ? Operand::Input : Operand::Output;
}

/// A refusal by one field of the valid tiling {-1,1,2,3}, {1,2,4,5}.
Refusal tile_refusal(std::string name, const std::function<void(MlaTiled&)>& change, ErrorCode code,
                     std::int16_t axis, std::int64_t expected, std::int64_t found,
                     std::vector<std::string> words) {
  return {std::move(name),
          [change](Draft& d) { change(std::get<MlaTiled>(port(d, tiled_port()).layout)); },
          about(tiled_port(), code, expected, found, axis), std::move(words)};
}

TEST(TileRefusals, TileAxes) {
  expect_all_refused(
      operation_under_test(),
      {tile_refusal("missing C", [](MlaTiled& t) { t.axes[3] = -1; }, ErrorCode::MissingChannelAxis,
                    -1, 0, -1, {"C", "-1"}),
       tile_refusal("axis above the rank", [](MlaTiled& t) { t.axes[2] = 4; },
                    ErrorCode::AxisOutOfRange, 2, 4, 4, {"W", "4"}),
       tile_refusal("axis below minus one", [](MlaTiled& t) { t.axes[1] = -2; },
                    ErrorCode::AxisOutOfRange, 1, 4, -2, {"H", "-2"}),
       tile_refusal("channel axis below minus one", [](MlaTiled& t) { t.axes[3] = -7; },
                    ErrorCode::AxisOutOfRange, 3, 4, -7, {"C", "-7"}),
       tile_refusal("far axis", [](MlaTiled& t) { t.axes[3] = INT32_MAX; },
                    ErrorCode::AxisOutOfRange, 3, 4, INT32_MAX, {"C", "2147483647"}),
       tile_refusal("repeated axis", [](MlaTiled& t) { t.axes[3] = 1; }, ErrorCode::AxisRepeated, 3,
                    1, 1, {"C", "H", "1"}),
       tile_refusal("repeated spatial axis", [](MlaTiled& t) { t.axes[0] = 2; },
                    ErrorCode::AxisRepeated, 2, 0, 2, {"W", "D", "2"})});
}

TEST(TileRefusals, TileExtents) {
  std::vector<Refusal> refusals{
      tile_refusal("zero", [](MlaTiled& t) { t.tile_shape[3] = 0; }, ErrorCode::NonPositiveTile, 3,
                   1, 0, {"C", "0"}),
      tile_refusal("negative", [](MlaTiled& t) { t.tile_shape[1] = -8; },
                   ErrorCode::NonPositiveTile, 1, 1, -8, {"H", "-8"}),
      tile_refusal("zero of an absent axis", [](MlaTiled& t) { t.tile_shape[0] = 0; },
                   ErrorCode::NonPositiveTile, 0, 1, 0, {"D", "0"}),
      tile_refusal("two of an absent axis", [](MlaTiled& t) { t.tile_shape[0] = 2; },
                   ErrorCode::AbsentAxisTile, 0, 1, 2, {"D", "1", "2"}),
      tile_refusal("unknown storage",
                   [](MlaTiled& t) { t.channels = static_cast<ChannelStorage>(9); },
                   ErrorCode::UnknownChannelStorage, -1, 0, 9, {"9"})};
  for (Refusal refusal : std::vector<Refusal>(refusals)) {
    refusal.name += ", empty tensor";
    refusal.change = [inner = refusal.change](Draft& d) {
      set_shape(d, {2, 0, 4, 5});
      inner(d);
    };
    refusals.push_back(std::move(refusal));
  }
  expect_all_refused(operation_under_test(), refusals);
}

/// Channel padding can overflow where the linear side fits.
TEST(TileRefusals, PaddedSizeOutsideOf63Bits) {
  const Operation& operation = operation_under_test();
  const Operand tiled_port = operation.tiled_input ? Operand::Input : Operand::Output;
  for (const DTypePair dtypes : operation.dtypes) {
    Draft draft = valid_draft(operation, dtypes);
    set_shape(draft, {std::int64_t{1} << 60, 1});
    MlaTiled tiled{{-1, -1, 0, 1}, {1, 1, 1, 1}, kernels::ChannelStorage::PadTo16};
    port(draft, tiled_port).layout = tiled;
    if (dtypes.to == DType::Int8 && operation.tiled_output)
      draft.fill = std::int8_t{0};
    expect_refused(
        operation, draft,
        {"padded", [](Draft&) {}, about(tiled_port, ErrorCode::SizeOverflow, 0, 0), {"size"}});
  }
}

} // namespace
} // namespace simaai::test
