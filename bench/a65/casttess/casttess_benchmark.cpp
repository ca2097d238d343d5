// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmark of CastTess: linear Float32, Float16, BFloat16 to tiles of BFloat16.
#include <simaai/kernels/a65/casttess.h>

#include "common/harness.h"

namespace {

namespace op = simaai::kernels::a65::casttess;
using simaai::bench::Case;
using simaai::bench::Direction;
using simaai::bench::Extent;
using simaai::bench::OperationOf;
using simaai::bench::Storage;
using simaai::kernels::DType;

std::vector<Case> cases(Extent extent) {
  return simaai::bench::tiled_cases({"casttess",
                                     Direction::Tile,
                                     {{DType::Float32, DType::BFloat16},
                                      {DType::Float16, DType::BFloat16},
                                      {DType::BFloat16, DType::BFloat16}},
                                     3,
                                     {Storage::Pad16, Storage::Compact}},
                                    extent);
}

} // namespace

int main(int argc, char** argv) {
  using Operation = OperationOf<op::Request, op::check_inference, op::execute>;
  return simaai::bench::run_benchmarks(argc, argv, Operation::describe("casttess", cases));
}
