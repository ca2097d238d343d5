// SPDX-License-Identifier: LGPL-2.1-or-later
// Cast on the device model: generated views of every rank against the oracle.
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "firmware/cast/cast_cases.h"
#include "firmware/effort.h"
#include "support/shape_table.h"

namespace simaai::test {
namespace {

using kernels::DType;

/// Cases of all kinds in turn: small views of any rank, then families that reach further panels.
TEST(CastFirmware, GeneratedViewsOnOneToFourWorkersAndLateTransfers) {
  for (std::uint64_t number = 0; number < effort().cases; ++number) {
    DeviceCase c = generated_cast(number);
    ASSERT_TRUE(run_everywhere(c, effort().seeds, number)) << "case number " << number;
  }
}

TEST(CastFirmware, ModelShapesAgreeWithTheOracle) {
  constexpr std::uint64_t kLarge = 300000; // elements
  const bool all = effort().seeds > 10;
  std::set<std::vector<std::int64_t>> ran;
  for (const ShapeRow& row : read_shape_table()) {
    const auto extents = row.spec.shape.extents();
    const std::uint64_t elements = oracle::element_count(row.spec.shape);
    if ((!all && elements > kLarge) || !ran.emplace(extents.begin(), extents.end()).second)
      continue;
    for (const auto& [from, to] :
         {std::pair{DType::Float32, DType::BFloat16}, std::pair{DType::BFloat16, DType::Float32}}) {
      DeviceCase c(&encode_cast, {{row.spec.shape, from, {}}, {row.spec.shape, to, {}}, {}, 5});
      const std::uint64_t orders = effort().seeds / (elements > kLarge ? 4 : 1);
      ASSERT_TRUE(run_everywhere(c, orders)) << row.name;
    }
  }
  EXPECT_GE(ran.size(), 10U);
}

TEST(CastFirmware, EveryRouteIsReachedByGeneratedViews) {
  std::map<firmware::Route, std::uint64_t> reached;
  model::DeviceModel device(immediate(4));
  for (std::uint64_t number = 0; number < 300; ++number) {
    DeviceCase c = generated_cast(number);
    ASSERT_TRUE(c.run(device)) << "case number " << number;
    ++reached[c.result().route];
  }
  for (const auto route :
       {firmware::Route::CastDense, firmware::Route::CastSuffix, firmware::Route::CastMatrix,
        firmware::Route::CastGather, firmware::Route::CastScattered})
    EXPECT_GE(reached[route], 15U) << firmware::route_name(route);
}

} // namespace
} // namespace simaai::test
