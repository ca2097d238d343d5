// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmark of DetessCast: tiles of BFloat16 to linear Float32, BFloat16.
#include <simaai/kernels/a65/detesscast.h>

#include "common/harness.h"

namespace simaai::bench {
namespace {

namespace op = kernels::a65::detesscast;
using kernels::DType;

struct DetessCast {
  using Plan = op::Plan;
  static constexpr std::string_view kName = "detesscast";

  static std::vector<Case> cases(Extent extent) {
    return tiled_cases({kName,
                        Direction::Untile,
                        {{DType::BFloat16, DType::Float32}, {DType::BFloat16, DType::BFloat16}},
                        {Storage::Pad16, Storage::Compact, Storage::CBlocked}},
                       extent);
  }

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
  return simaai::bench::run_benchmarks(
      argc, argv, simaai::bench::OperationOf<simaai::bench::DetessCast>::describe());
}
