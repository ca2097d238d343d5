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

  /// Removes the axis at `slot`, 0 to count - 1.
  Axis take(std::size_t slot) noexcept {
    const Axis axis = axes[slot];
    for (--count; slot < count; ++slot)
      axes[slot] = axes[slot + 1];
    return axis;
  }
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

/// The kernels of one direction.
struct LinearKernels {
  LinearRowFn linear;
  LinearRowFn stream;
  LinearRowFn strided;
  LinearRowFn transposed;
  LinearRowFn spread;
};

LinearKernels kernels_of(const RowTable& rows, DType from) noexcept {
  if (from == DType::Float32)
    return {rows.f32_bf16_linear, rows.f32_bf16_stream, rows.f32_bf16_strided,
            rows.f32_bf16_transposed, rows.f32_bf16_spread};
  return {rows.bf16_f32_linear, rows.bf16_f32_stream, rows.bf16_f32_strided,
          rows.bf16_f32_transposed, rows.bf16_f32_spread};
}

/// Slot of the axis whose elements are neighbours in the input, or the number of axes.
std::size_t find_input_neighbours(const AxisList& list, std::int64_t src_bytes) noexcept {
  std::size_t slot = 0;
  while (slot < list.count && list.axes[slot].src_stride_bytes != src_bytes)
    ++slot;
  return slot;
}

void choose_strided(const LinearKernels& kernels, std::int64_t src_bytes, bool packed_output,
                    AxisList* list, LinearState* state) noexcept {
  const std::size_t neighbours = find_input_neighbours(*list, src_bytes);
  std::size_t rows = list->count - 1; // the next axis outside, if there is one
  if (packed_output && neighbours != list->count) {
    state->kernel = kernels.transposed;
    rows = neighbours;
  } else if (packed_output && state->row.src_stride_bytes == 2 * src_bytes) {
    state->kernel = kernels.spread;
  } else {
    state->kernel = kernels.strided;
  }
  if (list->count == 0)
    return;
  const Axis axis = list->take(rows);
  state->row.rows = axis.extent;
  state->row.src_row_stride_bytes = axis.src_stride_bytes;
  state->row.dst_row_stride_bytes = axis.dst_stride_bytes;
}

} // namespace

LinearState prepare_linear(const ops::PortPlan& plan, const RowTable& rows) noexcept {
  const LinearKernels kernels = kernels_of(rows, plan.input().dtype);
  const std::int64_t src_bytes = scalar_bytes(plan.input().dtype);
  const std::int64_t dst_bytes = scalar_bytes(plan.output().dtype);
  LinearState state;
  state.row = {nullptr, nullptr, 1, src_bytes, dst_bytes};
  state.kernel = kernels.linear;
  AxisList list;
  if (!plan.empty())
    list = merge_axes(order_axes(plan));
  if (list.count == 0)
    return state;
  const Axis inner = list.take(list.count - 1);
  state.row.count = inner.extent;
  state.row.src_stride_bytes = inner.src_stride_bytes;
  state.row.dst_stride_bytes = inner.dst_stride_bytes;
  const bool packed_output = inner.dst_stride_bytes == dst_bytes;
  if (!packed_output || inner.src_stride_bytes != src_bytes)
    choose_strided(kernels, src_bytes, packed_output, &list, &state);
  else
    state.stores = choose_stores(plan);
  state.stream = kernels.stream;
  state.dst_bytes = plan.output_requirement().bytes;
  std::copy_n(list.axes.begin(), list.count, state.outer.begin());
  state.outer_count = list.count;
  return state;
}

void run_linear(const LinearState& state, const void* src, void* dst) noexcept {
  LinearRow row = state.row;
  row.src = static_cast<const std::byte*>(src);
  row.dst = static_cast<std::byte*>(dst);
  const LinearRowFn kernel =
      streams(state.stores, row.dst, state.dst_bytes) ? state.stream : state.kernel;
  if (state.outer_count == 0) {
    kernel(row);
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
    kernel(row);
  } while (cursor.advance());
}

} // namespace simaai::kernels::a65::detail
