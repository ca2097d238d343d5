// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmark of Cast: linear Float32 to BFloat16 and back.
#include <simaai/kernels/a65/cast.h>

#include "common/harness.h"

namespace op = simaai::kernels::a65::cast;

int main(int argc, char** argv) {
  using Operation = simaai::bench::OperationOf<op::Request, op::check_inference, op::execute>;
  return simaai::bench::run_benchmarks(argc, argv,
                                       Operation::describe("cast", simaai::bench::cast_cases));
}
