// SPDX-License-Identifier: LGPL-2.1-or-later
// Admission shared by all operations: a table of what an op accepts, and the checks in the order
// arity, dtypes, ranks, layout kinds, shapes, layout fields, parameters, sizes.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <variant>

#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>

#include "ops/common/plan_access.h"
#include "ops/common/spec_geometry.h"

namespace simaai::kernels::ops::detail {

/// Set of dtypes: bit 1 << DType.
using DTypeMask = std::uint32_t;
/// Set of layouts: bit 1 << LayoutIndex.
using LayoutMask = std::uint32_t;

[[nodiscard]] constexpr DTypeMask dtype_bit(DType dtype) noexcept {
  return 1U << static_cast<std::uint32_t>(dtype);
}

inline constexpr LayoutMask kLinearLayouts = 1U << kContiguousIndex | 1U << kStridedIndex;
inline constexpr LayoutMask kTiledOnly = 1U << kMlaTiledIndex;
inline constexpr LayoutMask kTiledLayouts = kTiledOnly | 1U << kMlaCBlockedIndex;

/// One admitted input dtype and the output dtypes that go with it.
struct DTypeRow {
  DType input;
  DTypeMask outputs;
};

/// What an operation admits.
struct OpRule {
  std::span<const DTypeRow> dtypes;
  LayoutMask input_layouts;
  LayoutMask output_layouts;
  std::size_t min_rank;
};

/// All checks up to the layout fields.
[[nodiscard]] std::optional<Error> check_ports(const OpRule& rule,
                                               std::span<const TensorSpec> inputs,
                                               std::span<const TensorSpec> outputs) noexcept;

/// Size computations and the shared plan of ports that passed check_ports().
[[nodiscard]] std::variant<PortPlan, Error> finish_ports(const TensorSpec& input,
                                                         const TensorSpec& output) noexcept;

/// Admission of an operation without parameters of its own.
template <class Plan, class Request>
[[nodiscard]] std::variant<Plan, Error>
admit(const OpRule& rule, const Request& request,
      std::optional<Error> (*check_params)(const Request&) noexcept = nullptr) noexcept {
  if (const auto refused = check_ports(rule, request.inputs, request.outputs))
    return *refused;
  if (check_params != nullptr)
    if (const auto refused = check_params(request))
      return *refused;
  const auto ports = finish_ports(request.inputs[0], request.outputs[0]);
  if (const auto* refused = std::get_if<Error>(&ports))
    return *refused;
  return PlanAccess::plan<Plan>(*std::get_if<PortPlan>(&ports), request.params);
}

} // namespace simaai::kernels::ops::detail
