// SPDX-License-Identifier: LGPL-2.1-or-later
// Checks of the buffers bound to a plan, shared by every operation.
#pragma once

#include <span>

#include <simaai/kernels/buffers.h>
#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>

namespace simaai::kernels::a65::detail {

/// Checks arity, then per port null pointer, capacity, alignment and address wrap-around, then
/// overlap of the two ranges that the plan accesses. Plans without work need the arity only.
Status check_binding(const ops::PortPlan& plan, std::span<const ConstHostBuffer> inputs,
                     std::span<const HostBuffer> outputs) noexcept;

} // namespace simaai::kernels::a65::detail
