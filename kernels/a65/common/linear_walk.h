// SPDX-License-Identifier: LGPL-2.1-or-later
// Execution of element-wise conversions between two linear views.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <simaai/kernels/ops/plan.h>
#include <simaai/kernels/tensor_spec.h>

#include "a65/common/store_choice.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {

/// Axes that are left after singletons are dropped and axes that continue each other on both ports
/// are merged. `row` holds the innermost one, for strided kernels also a second one, with null
/// pointers.
struct LinearState {
  struct Axis {
    std::int64_t extent;
    std::int64_t src_stride_bytes;
    std::int64_t dst_stride_bytes;
  };
  std::array<Axis, kMaxRank> outer{};
  std::size_t outer_count = 0;
  LinearRow row{};
  LinearRowFn kernel = nullptr;
  LinearRowFn stream = nullptr; ///< instead of `kernel` where a call's stores bypass the cache
  Stores stores = Stores::Cached;
  std::size_t dst_bytes = 0; ///< of the output port
};

/// Chooses axes and kernel for an admitted, linear to linear plan.
[[nodiscard]] LinearState prepare_linear(const ops::PortPlan& plan, const RowTable& rows) noexcept;

/// Converts all elements. The plan has work and the buffers are checked.
void run_linear(const LinearState& state, const void* src, void* dst) noexcept;

} // namespace simaai::kernels::a65::detail
