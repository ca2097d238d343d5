// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile readers on the device model: generated tensors and those of deployed models against the
// oracle.
#include <gtest/gtest.h>

#include "firmware/detess/reader_under_test.h"
#include "firmware/effort.h"
#include "support/shape_table.h"

namespace simaai::test {
namespace {

TEST(TileReader, GeneratedTensorsOnOneToFourWorkersAndLateTransfers) {
  for (std::uint64_t number = 0; number < effort().cases; ++number) {
    DeviceCase c = generated_case(reader_under_test(), number);
    ASSERT_TRUE(run_everywhere(c, effort().seeds, number)) << "case number " << number;
  }
}

/// Tensors of the table that the operation reads, to each output type: the smaller ones always, all
/// of them in the long suite, with a hundred late orders a number of workers or, for large ones, in
/// all.
TEST(TileReader, ModelShapesAgreeWithTheOracle) {
  constexpr std::uint64_t kLarge = 700000; // bytes
  const bool all = effort().seeds > 10;
  std::uint64_t ran = 0;
  for (const ShapeRow& row : read_shape_table())
    for (const DTypePair dtypes : reader_under_test().dtypes) {
      if (row.spec.dtype != dtypes.from || (!all && row.bytes > kLarge))
        continue;
      DeviceCase c(reader_under_test().encode,
                   {row.spec, {row.spec.shape, dtypes.to, {}}, {}, ++ran});
      if (all) {
        const std::uint64_t orders = row.bytes > kLarge ? effort().seeds / 4 : effort().seeds;
        ASSERT_TRUE(run_everywhere(c, orders)) << row.name;
        continue;
      }
      model::DeviceModel device(deferred(4, 11));
      ASSERT_TRUE(c.run(device)) << row.name;
    }
  EXPECT_GE(ran, 20U);
}

} // namespace
} // namespace simaai::test
