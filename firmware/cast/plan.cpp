// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of a Cast route.
#include "firmware/cast/plan.h"

#include "firmware/common/dma.h"
#include "firmware/common/partition.h"

namespace simaai::firmware::cast {
namespace {

using kernels::wire::Descriptor;

/// Work that is worth a worker: less costs more in launching than it saves.
constexpr std::uint32_t kLeastShare = 256;

/// Columns that one vector group covers; the least block of columns where there are as many.
constexpr std::uint32_t kColumnGroup = 16;

constexpr std::uint32_t divide_up(std::uint32_t value, std::uint32_t by) noexcept {
  return value / by + (value % by != 0 ? 1 : 0);
}

/// Adds an axis in front of the axes with smaller destination strides.
void insert_axis(Plan& plan, const Axis& axis) noexcept {
  std::uint32_t slot = plan.rank++;
  for (; slot > 0 && plan.axes[slot - 1].dst < axis.dst; --slot)
    plan.axes[slot] = plan.axes[slot - 1];
  plan.axes[slot] = axis;
}

constexpr bool continues(const Axis& outer, const Axis& inner) noexcept {
  return outer.src == std::uint64_t{inner.extent} * inner.src &&
         outer.dst == std::uint64_t{inner.extent} * inner.dst;
}

/// Joins neighbours that both ports walk like one axis.
void merge_axes(Plan& plan) noexcept {
  std::uint32_t kept = 0;
  for (std::uint32_t axis = 1; axis < plan.rank; ++axis) {
    Axis& outer = plan.axes[kept];
    const Axis inner = plan.axes[axis];
    if (continues(outer, inner))
      outer = {outer.extent * inner.extent, inner.src, inner.dst};
    else
      plan.axes[++kept] = inner;
  }
  plan.rank = kept + 1;
}

void take_axes(Plan& plan, const Descriptor& d) noexcept {
  for (std::uint32_t axis = 0; axis < d.rank; ++axis)
    if (d.shape[axis] != 1)
      insert_axis(plan, {static_cast<std::uint32_t>(d.shape[axis]),
                         static_cast<std::uint32_t>(d.source_strides_bytes[axis]),
                         static_cast<std::uint32_t>(d.destination_strides_bytes[axis])});
  if (plan.rank == 0)
    insert_axis(plan, {1, plan.src_width, plan.dst_width});
  merge_axes(plan);
  plan.count = 1;
  for (std::uint32_t axis = 0; axis < plan.rank; ++axis)
    plan.count *= plan.axes[axis].extent;
}

/// Elements of the longest suffix of axes without gaps in the destination.
std::uint32_t contiguous_run(const Plan& plan) noexcept {
  std::uint32_t run = 1;
  for (std::uint32_t axis = plan.rank; axis-- > 0;) {
    if (plan.axes[axis].dst != std::uint64_t{run} * plan.dst_width)
      break;
    run *= plan.axes[axis].extent;
  }
  return run;
}

/// The axis that is contiguous in the source; the rank where there is none.
std::uint32_t source_axis(const Plan& plan) noexcept {
  std::uint32_t axis = 0;
  while (axis < plan.rank && plan.axes[axis].src != plan.src_width)
    ++axis;
  return axis;
}

/// Columns in which owners may share so that each share begins and ends on a granule boundary at
/// every outer coordinate; 0 where the addresses do not prove that.
std::uint32_t proven_column_unit(const Plan& plan) noexcept {
  if (plan.destination % kGranuleBytes != 0)
    return 0;
  for (std::uint32_t axis = 0; axis + 1 < plan.rank; ++axis)
    if (axis != plan.column_axis && plan.axes[axis].dst % kGranuleBytes != 0)
      return 0;
  std::uint32_t unit = 1;
  while (unit * plan.axes[plan.column_axis].dst % kGranuleBytes != 0)
    unit *= 2;
  return unit;
}

/// Without the proof: whether one owner of all columns is better than parallel gathering owners.
bool serial_columns_pay(const Plan& plan, std::uint32_t workers) noexcept {
  const std::uint32_t column = plan.inner().extent;
  if (workers > 1)
    return column >= divide_up(kPanelElements, workers);
  const std::uint32_t group = at_most(plan.axes[plan.column_axis].extent, kColumnGroup);
  return column >= kPanelElements || column <= kPanelElements / group;
}

/// Decides between matrix columns and gathered runs. `workers` could be used by the latter.
void choose_columns(Plan& plan, std::uint32_t workers) noexcept {
  plan.route = Route::CastGather;
  plan.workers = workers;
  plan.column_axis = source_axis(plan);
  const std::uint32_t pair = 2 * plan.src_width;
  plan.packed_pairs = plan.widens() && plan.inner().src == pair;
  if (plan.column_axis == plan.rank)
    return;
  const std::uint32_t columns = plan.axes[plan.column_axis].extent;
  const std::uint32_t unit = proven_column_unit(plan);
  const std::uint32_t owners = unit == 0 ? 1 : at_most(workers, divide_up(columns, unit));
  if (unit == 0 && !serial_columns_pay(plan, workers))
    return;
  if (plan.packed_pairs && columns == 2 && owners < workers)
    return;
  plan.matrix = true;
  plan.column_unit = unit == 0 ? columns : unit;
  plan.workers = owners;
  // Rows that the pitch field cannot describe are gathered one by one.
  if (plan.inner().src <= kMaxPitchBytes)
    plan.route = Route::CastMatrix;
}

} // namespace

Plan make_plan(const Descriptor& d, std::uint32_t workers) noexcept {
  Plan plan;
  plan.source = static_cast<std::uint32_t>(d.source_address);
  plan.destination = static_cast<std::uint32_t>(d.destination_address);
  plan.src_width = kernels::wire::scalar_bytes(d.source_dtype);
  plan.dst_width = kernels::wire::scalar_bytes(d.destination_dtype);
  take_axes(plan, d);
  plan.dst_run = contiguous_run(plan);
  const std::uint32_t useful = at_most(workers, divide_up(plan.count, kLeastShare));
  plan.workers = useful;
  const bool packed_src = plan.inner().src == plan.src_width;
  const bool packed_dst = plan.inner().dst == plan.dst_width;
  if (!packed_dst)
    plan.route = Route::CastScattered;
  else if (!packed_src)
    choose_columns(plan, useful);
  else
    plan.route = plan.rank == 1 ? Route::CastDense : Route::CastSuffix;
  return plan;
}

} // namespace simaai::firmware::cast
