// SPDX-License-Identifier: LGPL-2.1-or-later
// Benchmark of CastTess: linear Float32, Float16, BFloat16 to tiles of BFloat16.
#include <simaai/kernels/a65/casttess.h>

#include "common/harness.h"

namespace simaai::bench {
namespace {

namespace op = kernels::a65::casttess;
using kernels::DType;

struct CastTess {
  using Plan = op::Plan;
  static constexpr std::string_view kName = "casttess";

  static std::vector<Case> cases(Extent extent) {
    return tiled_cases({kName,
                        Direction::Tile,
                        {{DType::Float32, DType::BFloat16},
                         {DType::Float16, DType::BFloat16},
                         {DType::BFloat16, DType::BFloat16}},
                        {Storage::Pad16, Storage::Compact}},
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
      argc, argv, simaai::bench::OperationOf<simaai::bench::CastTess>::describe());
}
