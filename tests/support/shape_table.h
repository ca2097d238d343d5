// SPDX-License-Identifier: LGPL-2.1-or-later
// The table of real model tensors in tests/data/shapes.tsv.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <simaai/kernels/tensor_spec.h>

namespace simaai::test {

struct ShapeRow {
  std::string name;
  kernels::TensorSpec spec; ///< the tiled side
  std::uint64_t bytes = 0;  ///< its physical size
};

/// Reads the table. Throws std::runtime_error for a line that it cannot read.
std::vector<ShapeRow> read_shape_table();

} // namespace simaai::test
