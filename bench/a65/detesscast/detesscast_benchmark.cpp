// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmark of DetessCast: tiles of BFloat16 to linear Float32, BFloat16.
#include <simaai/kernels/a65/detesscast.h>

#include "common/harness.h"

namespace {

namespace op = simaai::kernels::a65::detesscast;
using simaai::bench::Case;
using simaai::bench::Direction;
using simaai::bench::Extent;
using simaai::bench::OperationOf;
using simaai::bench::Storage;
using simaai::kernels::DType;

std::vector<Case> cases(Extent extent) {
  return simaai::bench::tiled_cases(
      {"detesscast",
       Direction::Untile,
       {{DType::BFloat16, DType::Float32}, {DType::BFloat16, DType::BFloat16}},
       1,
       {Storage::Pad16, Storage::Compact, Storage::CBlocked}},
      extent);
}

} // namespace

int main(int argc, char** argv) {
  using Operation = OperationOf<op::Request, op::check_inference, op::execute>;
  return simaai::bench::run_benchmarks(argc, argv, Operation::describe("detesscast", cases));
}
