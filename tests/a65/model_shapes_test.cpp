// SPDX-License-Identifier: LGPL-2.1-or-later
// The tensors of tests/data/shapes.tsv.
#include <gtest/gtest.h>

#include "a65/contract_case.h"
#include "support/shape_table.h"

namespace simaai::test {
namespace {

TEST(ModelShapes, AgreeWithTheOracleAndTheTable) {
  const Operation& operation = operation_under_test();
  int run = 0;
  for (const ShapeRow& row : read_shape_table()) {
    const bool blocked = std::holds_alternative<kernels::MlaCBlocked>(row.spec.layout);
    if (blocked && !operation.tiled_input)
      continue;
    for (const DTypePair dtypes : operation.dtypes) {
      if ((operation.tiled_input ? dtypes.from : dtypes.to) != row.spec.dtype)
        continue;
      const Case c = make_case(operation, row.spec.shape, dtypes, kernels::Contiguous{},
                               row.spec.layout, static_cast<std::uint64_t>(run));
      const Golden golden = golden_of(c);
      EXPECT_EQ(operation.tiled_input ? golden.input.size() : golden.output.size(), row.bytes);
      ASSERT_TRUE(run_case(operation, c, golden)) << row.name;
      ++run;
    }
  }
  EXPECT_GE(run, 19);
}

} // namespace
} // namespace simaai::test
