// SPDX-License-Identifier: LGPL-2.1-or-later
// Refusals of MlaCBlocked inputs; for operations that take them.
#include <gtest/gtest.h>

#include "a65/refusals.h"

namespace simaai::test {
namespace {

using kernels::ErrorCode;
using kernels::MlaCBlocked;
using kernels::Operand;
using kernels::Shape;

TEST(BlockRefusals, RankDepthAndExtents) {
  const auto blocked = [](std::array<std::int64_t, 4> tile, Shape shape) {
    return [=](Draft& d) {
      set_shape(d, shape);
      d.inputs[0].layout = MlaCBlocked{tile};
    };
  };
  const auto input = [](ErrorCode code, std::int64_t expected, std::int64_t found,
                        std::int16_t axis = -1) {
    return about(Operand::Input, code, expected, found, axis);
  };
  expect_all_refused(operation_under_test(), {{"rank two",
                                               blocked({1, 1, 4, 5}, {4, 5}),
                                               input(ErrorCode::RankTooSmall, 3, 2),
                                               {"3", "2"}},
                                              {"depth",
                                               blocked({2, 1, 4, 5}, {2, 3, 4, 5}),
                                               input(ErrorCode::BlockedTileDepth, 1, 2),
                                               {"D", "1", "2"}},
                                              {"zero",
                                               blocked({1, 0, 4, 5}, {2, 3, 4, 5}),
                                               input(ErrorCode::NonPositiveTile, 1, 0, 1),
                                               {"H", "0"}},
                                              {"negative",
                                               blocked({1, 1, 4, -16}, {2, 3, 4, 5}),
                                               input(ErrorCode::NonPositiveTile, 1, -16, 3),
                                               {"C", "-16"}}});
}

} // namespace
} // namespace simaai::test
