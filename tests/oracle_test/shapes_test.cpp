// SPDX-License-Identifier: LGPL-2.1-or-later
// Physical sizes that the oracle walks against the table of model tensors.
#include <gtest/gtest.h>

#include "oracle/tiles.h"
#include "support/shape_table.h"

namespace simaai::oracle {
namespace {

TEST(ShapeTable, SizesAgreeWithTheOracle) {
  const auto rows = test::read_shape_table();
  ASSERT_GE(rows.size(), 35U);
  for (const auto& row : rows)
    EXPECT_EQ(tiled_bytes(row.spec.shape, row.spec.dtype, row.spec.layout), row.bytes) << row.name;
}

} // namespace
} // namespace simaai::oracle
