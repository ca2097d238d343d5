// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmark of Tess: linear to tiles of the same dtype.
#include <simaai/kernels/a65/tess.h>

#include "common/harness.h"

namespace {

namespace op = simaai::kernels::a65::tess;
using simaai::bench::Case;
using simaai::bench::Direction;
using simaai::bench::Extent;
using simaai::bench::OperationOf;
using simaai::bench::Storage;
using simaai::kernels::DType;

std::vector<Case> cases(Extent extent) {
  return simaai::bench::tiled_cases(
      {"tess",
       Direction::Tile,
       {{DType::BFloat16, DType::BFloat16}, {DType::Int8, DType::Int8}},
       2,
       {Storage::Pad16, Storage::Compact}},
      extent);
}

} // namespace

int main(int argc, char** argv) {
  using Operation = OperationOf<op::Request, op::check_inference, op::execute>;
  return simaai::bench::run_benchmarks(argc, argv, Operation::describe("tess", cases));
}
