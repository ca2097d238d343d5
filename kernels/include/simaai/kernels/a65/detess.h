// SPDX-License-Identifier: LGPL-2.1-or-later
// Detess on the host CPU: preparation and synchronous execution.
#pragma once

#include <span>
#include <variant>

#include <simaai/kernels/a65/prepared_plan.h>
#include <simaai/kernels/buffers.h>
#include <simaai/kernels/export.h>
#include <simaai/kernels/ops/detess.h>
#include <simaai/kernels/status.h>

namespace simaai::kernels::a65::detess {

using ops::detess::Params;
using ops::detess::Request;

/// Admitted metadata plus the code path chosen for it. Thread-safe to share: execute() only reads
/// it.
using Plan = PreparedPlan<ops::detess::Plan>;

/// Chooses the code path for this machine. Cannot fail, does not allocate. Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API Plan prepare(const ops::detess::Plan& metadata) noexcept;

/// ops::detess::check_inference() followed by prepare(). Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<Plan, Error>
check_inference(const Request& request) noexcept;

/// Runs the operation: one input view, one output view, in port order.
///
/// Validates arity, null pointers, capacities, alignment, address wrap-around and overlap of the
/// accessed ranges (not of the whole capacities) before the first write; a refused call leaves the
/// output untouched. Synchronous: no allocation, no thread, no scratch tensor, floating-point
/// environment neither read nor changed. Extra capacity is neither read nor written; empty plans
/// accept null views. Reentrant; one plan may serve many threads as long as their output buffers
/// differ.
SIMAAI_KERNELS_API Status execute(const Plan& plan, std::span<const ConstHostBuffer> inputs,
                                  std::span<const HostBuffer> outputs) noexcept;

} // namespace simaai::kernels::a65::detess
