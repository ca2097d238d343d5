// SPDX-License-Identifier: LGPL-2.1-or-later
// Storage that one tensor needs, whatever operation it is meant for.
#pragma once

#include <variant>

#include <simaai/kernels/export.h>
#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/status.h>
#include <simaai/kernels/tensor_spec.h>

namespace simaai::kernels::ops {

/// Validates `spec` alone (rank, extents, strides, tile geometry, overflow; any dtype with any layout) and derives
/// its storage. Alignment is 16 bytes for the tiled layouts, else the scalar width. Errors name Operand::Input, index
/// 0. Does not allocate. Reentrant.
[[nodiscard]] SIMAAI_KERNELS_API std::variant<PortRequirement, Error>
port_requirement(const TensorSpec& spec) noexcept;

} // namespace simaai::kernels::ops
