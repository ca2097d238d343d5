// SPDX-License-Identifier: LGPL-2.1-or-later
// Cast on the device model: generated views of every rank against the oracle.
#include <gtest/gtest.h>

#include "firmware/cast/cast_cases.h"
#include "firmware/effort.h"

namespace simaai::test {
namespace {

/// Cases of all kinds in turn: small views of any rank, then families that reach further panels.
TEST(CastFirmware, GeneratedViewsOnOneToFourWorkersAndLateTransfers) {
  for (std::uint64_t number = 0; number < effort().cases; ++number) {
    DeviceCase c = generated_cast(number);
    ASSERT_TRUE(run_everywhere(c, effort().seeds, number)) << "case number " << number;
  }
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
