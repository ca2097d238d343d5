// SPDX-License-Identifier: LGPL-2.1-or-later
// The only door to Plan construction: admission builds plans, nobody else does.
#pragma once

#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/tensor_spec.h>

namespace simaai::kernels::ops::detail {

struct PlanAccess {
  /// Builds the shared part of a plan from admitted specs.
  [[nodiscard]] static constexpr PortPlan
  ports(const TensorSpec& input, const TensorSpec& output, const PortRequirement& input_requirement,
        const PortRequirement& output_requirement) noexcept {
    return OpenPortPlan(input, output, input_requirement, output_requirement);
  }

  /// Builds an operation's plan.
  template <class Plan, class Params>
  [[nodiscard]] static constexpr Plan plan(const PortPlan& ports, const Params& params) noexcept {
    return Plan(ports, params);
  }

private:
  struct OpenPortPlan : PortPlan {
    constexpr OpenPortPlan(const TensorSpec& input, const TensorSpec& output,
                           const PortRequirement& input_requirement,
                           const PortRequirement& output_requirement) noexcept
        : PortPlan(input, output, input_requirement, output_requirement) {}
  };
};

} // namespace simaai::kernels::ops::detail
