// SPDX-License-Identifier: LGPL-2.1-or-later
// Coalescing of linear views and the walk over the rows that remain.
#include "a65/common/linear_walk.h"

#include <algorithm>

#include "core/coord_cursor.h"
#include "core/stride_proof.h"
#include "ops/common/spec_geometry.h"

namespace simaai::kernels::a65::detail {
namespace {

using Axis = LinearState::Axis;

struct AxisList {
  std::array<Axis, kMaxRank> axes{};
  std::size_t count = 0;
};

/// Axes of extent above one by falling output stride: elements are independent, so the output's
/// physical order is as good as the logical one and lets more axes merge.
AxisList order_axes(const ops::PortPlan& plan) noexcept {
  const auto src_strides = ops::detail::linear_strides(plan.input());
  const auto dst_strides = ops::detail::linear_strides(plan.output());
  AxisList list;
  for (std::size_t axis = 0; axis < plan.input().shape.rank(); ++axis) {
    const std::int64_t extent = plan.input().shape[axis];
    if (extent == 1)
      continue;
    std::size_t slot = list.count++;
    for (; slot > 0 && list.axes[slot - 1].dst_stride_bytes < dst_strides[axis]; --slot)
      list.axes[slot] = list.axes[slot - 1];
    list.axes[slot] = {extent, src_strides[axis], dst_strides[axis]};
  }
  return list;
}

bool continues(const Axis& outer, const Axis& inner) noexcept {
  return core::strides_continue(outer.src_stride_bytes, inner.extent, inner.src_stride_bytes) &&
         core::strides_continue(outer.dst_stride_bytes, inner.extent, inner.dst_stride_bytes);
}

AxisList merge_axes(const AxisList& list) noexcept {
  AxisList merged;
  for (std::size_t slot = 0; slot < list.count; ++slot) {
    const Axis& axis = list.axes[slot];
    if (merged.count != 0 && continues(merged.axes[merged.count - 1], axis)) {
      Axis& last = merged.axes[merged.count - 1];
      last = {last.extent * axis.extent, axis.src_stride_bytes, axis.dst_stride_bytes};
    } else {
      merged.axes[merged.count++] = axis;
    }
  }
  return merged;
}

} // namespace

LinearState prepare_linear(const ops::PortPlan& plan, const RowTable& rows) noexcept {
  const std::int64_t src_bytes = scalar_bytes(plan.input().dtype);
  const std::int64_t dst_bytes = scalar_bytes(plan.output().dtype);
  LinearState state;
  Axis inner{1, src_bytes, dst_bytes};
  if (!plan.empty()) {
    AxisList list = merge_axes(order_axes(plan));
    if (list.count != 0)
      inner = list.axes[--list.count];
    std::copy_n(list.axes.begin(), list.count, state.outer.begin());
    state.outer_count = list.count;
  }
  state.row = {nullptr, nullptr, inner.extent, inner.src_stride_bytes, inner.dst_stride_bytes};
  const bool contiguous =
      inner.src_stride_bytes == src_bytes && inner.dst_stride_bytes == dst_bytes;
  if (plan.input().dtype == DType::Float32)
    state.kernel = contiguous ? rows.f32_bf16_linear : rows.f32_bf16_strided;
  else
    state.kernel = contiguous ? rows.bf16_f32_linear : rows.bf16_f32_strided;
  return state;
}

void run_linear(const LinearState& state, const void* src, void* dst) noexcept {
  LinearRow row = state.row;
  row.src = static_cast<const std::byte*>(src);
  row.dst = static_cast<std::byte*>(dst);
  if (state.outer_count == 0) {
    state.kernel(row);
    return;
  }
  core::CoordCursor cursor;
  for (std::size_t slot = 0; slot < state.outer_count; ++slot) {
    const Axis& axis = state.outer[slot];
    cursor.add_axis(axis.extent, axis.src_stride_bytes, axis.dst_stride_bytes);
  }
  do {
    row.src = static_cast<const std::byte*>(src) + cursor.first_offset();
    row.dst = static_cast<std::byte*>(dst) + cursor.second_offset();
    state.kernel(row);
  } while (cursor.advance());
}

} // namespace simaai::kernels::a65::detail
