// SPDX-License-Identifier: LGPL-2.1-or-later
// One A65 operation behind a common face, so that a suite is written once and run for all five.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

#include <simaai/kernels/buffers.h>
#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/ops/tess.h>
#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>

#include "support/allocation_counter.h"

namespace simaai::test {

using Fill = std::optional<std::int8_t>;
using Specs = std::span<const kernels::TensorSpec>;
using Inputs = std::span<const kernels::ConstHostBuffer>;
using Outputs = std::span<const kernels::HostBuffer>;

struct DTypePair {
  kernels::DType from;
  kernels::DType to;
};

/// An admitted and prepared plan.
struct Admitted {
  kernels::ops::PortRequirement input;
  kernels::ops::PortRequirement output;
  bool empty = false;
  std::function<kernels::Status(Inputs, Outputs)> execute;
};
using Admission = std::variant<Admitted, kernels::Error>;

struct Operation {
  std::string_view name;
  std::vector<DTypePair> dtypes;
  bool tiled_input = false;
  bool tiled_output = false;
  /// a65::<op>::check_inference.
  std::function<Admission(Specs, Specs, Fill)> check;
  /// ops::<op>::check_inference, then a65::<op>::prepare.
  std::function<Admission(Specs, Specs, Fill)> check_in_two_steps;
  /// Heap allocations of a65::<op>::check_inference.
  std::function<std::uint64_t(Specs, Specs, Fill)> allocations_in_check;

  [[nodiscard]] bool is_linear_only() const { return !tiled_input && !tiled_output; }
};

/// The operation that this executable tests.
const Operation& operation_under_test();

namespace detail {

template <class Request> Request make_request(Specs inputs, Specs outputs, Fill fill) {
  if constexpr (std::is_same_v<Request, kernels::ops::tess::Request>)
    return {inputs, outputs, {fill}};
  else
    return {inputs, outputs, {}};
}

template <class Plan>
Admission admitted(const Plan& plan,
                   kernels::Status (*execute)(const Plan&, Inputs, Outputs) noexcept) {
  return Admitted{
      plan.input_requirement(), plan.output_requirement(), plan.empty(),
      [plan, execute](Inputs inputs, Outputs outputs) { return execute(plan, inputs, outputs); }};
}

} // namespace detail

/// Wraps the four functions of an operation.
template <class Request, class Metadata, class Plan>
Operation make_operation(std::string_view name, std::vector<DTypePair> dtypes,
                         std::variant<Metadata, kernels::Error> (*admit)(const Request&) noexcept,
                         Plan (*prepare)(const Metadata&) noexcept,
                         std::variant<Plan, kernels::Error> (*check)(const Request&) noexcept,
                         kernels::Status (*execute)(const Plan&, Inputs, Outputs) noexcept) {
  static_assert(std::is_trivially_copyable_v<Plan>);
  Operation operation;
  operation.name = name;
  operation.dtypes = std::move(dtypes);
  operation.check = [check, execute](Specs inputs, Specs outputs, Fill fill) -> Admission {
    const auto result = check(detail::make_request<Request>(inputs, outputs, fill));
    if (const auto* error = std::get_if<kernels::Error>(&result))
      return *error;
    return detail::admitted(std::get<Plan>(result), execute);
  };
  operation.check_in_two_steps = [admit, prepare, execute](Specs inputs, Specs outputs,
                                                           Fill fill) -> Admission {
    const auto result = admit(detail::make_request<Request>(inputs, outputs, fill));
    if (const auto* error = std::get_if<kernels::Error>(&result))
      return *error;
    return detail::admitted(prepare(std::get<Metadata>(result)), execute);
  };
  operation.allocations_in_check = [check](Specs inputs, Specs outputs, Fill fill) {
    const std::uint64_t before = allocations_of_this_thread();
    const auto result = check(detail::make_request<Request>(inputs, outputs, fill));
    return allocations_of_this_thread() - before + (result.valueless_by_exception() ? 1 : 0);
  };
  return operation;
}

} // namespace simaai::test
