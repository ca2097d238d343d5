// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmark of Cast: linear Float32 to BFloat16 and back.
#include <simaai/kernels/a65/cast.h>

#include "common/harness.h"

namespace simaai::bench {
namespace {

namespace op = kernels::a65::cast;

struct Cast {
  using Plan = op::Plan;
  static constexpr std::string_view kName = "cast";

  static std::vector<Case> cases(Extent extent) { return cast_cases(extent); }

  static std::variant<Plan, kernels::Error> check(const Case& bench_case) {
    return op::check_inference({{&bench_case.input, 1}, {&bench_case.output, 1}, {}});
  }

  static kernels::Status execute(const Plan& plan, std::span<const kernels::ConstHostBuffer> inputs,
                                 std::span<const kernels::HostBuffer> outputs) {
    return op::execute(plan, inputs, outputs);
  }
};

} // namespace
} // namespace simaai::bench

int main(int argc, char** argv) {
  return simaai::bench::run_benchmarks(argc, argv,
                                       simaai::bench::OperationOf<simaai::bench::Cast>::describe());
}
