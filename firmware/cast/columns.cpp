// SPDX-License-Identifier: LGPL-2.1-or-later
// Cast of a matrix whose source rows are columns of the destination: blocks are read row by row and
// published column by column.
#include "firmware/cast/convert.h"
#include "firmware/cast/steps.h"
#include "firmware/common/panels.h"
#include "firmware/common/partition.h"
#include "firmware/common/publish.h"

namespace simaai::firmware::cast {
namespace {

/// Columns that one vector group covers; blocks of long columns have as many.
constexpr std::uint32_t kColumnGroup = 16;

/// Columns [begin, end) of a worker.
Share column_share(const Plan& plan, std::uint32_t index) noexcept {
  const std::uint32_t columns = plan.axes[plan.column_axis].extent;
  const std::uint32_t units = (columns - 1) / plan.column_unit + 1;
  const Share share = even_share(units, plan.workers, index);
  return {at_most(share.begin * plan.column_unit, columns),
          at_most(share.end * plan.column_unit, columns)};
}

class ColumnSteps {
public:
  /// `rows` values of each of `columns` columns, at source and destination of the first.
  struct Panel {
    std::uint32_t src;
    std::uint32_t dst;
    std::uint32_t rows;
    std::uint32_t columns;
  };

  ColumnSteps(Worker& worker, std::byte* local, const Plan& plan, const Share& share) noexcept
      : worker_(worker), local_(local), plan_(plan), share_(share),
        across_(plan.axes[plan.column_axis]), along_(plan.inner()), column_(share.begin) {
    for (std::uint32_t axis = 0; axis + 1 < plan.rank; ++axis)
      if (axis != plan.column_axis)
        outer_left_ *= plan.axes[axis].extent;
    const std::uint32_t columns = share.end - share.begin;
    const bool whole =
        std::uint64_t{along_.extent} * at_most(columns, kColumnGroup) <= kPanelElements;
    block_columns_ =
        whole ? at_most(columns, kPanelElements / along_.extent) : at_most(columns, kColumnGroup);
    block_rows_ = whole ? along_.extent : kPanelElements / block_columns_ / kRowUnit * kRowUnit;
  }

  bool next(Panel& panel) noexcept {
    if (outer_left_ == 0)
      return false;
    panel.columns = at_most(block_columns_, share_.end - column_);
    panel.src = plan_.source + outer_src_ + column_ * across_.src + row_ * along_.src;
    panel.dst = plan_.destination + outer_dst_ + column_ * across_.dst + row_ * along_.dst;
    panel.rows = at_most(block_rows_, along_.extent - row_);
    if (row_ + panel.rows < along_.extent) // the next block begins on a granule boundary
      panel.rows -= (panel.dst + panel.rows * plan_.dst_width) % kGranuleBytes / plan_.dst_width;
    advance(panel);
    return true;
  }

  void read(const Panel& panel, std::uint32_t slot, Chain& chain) noexcept {
    const std::uint32_t row_bytes = panel.columns * plan_.src_width;
    if (plan_.route == Route::CastMatrix) {
      worker_.read(chain, {panel.src, input(slot), row_bytes, panel.rows, along_.src, row_bytes});
      return;
    }
    for (std::uint32_t row = 0; row < panel.rows; ++row)
      worker_.read(chain, {panel.src + row * along_.src, input(slot) + std::size_t{row} * row_bytes,
                           row_bytes});
  }

  void convert(const Panel& panel, std::uint32_t slot) noexcept {
    const std::uint32_t elements = panel.rows * panel.columns;
    worker_.reads(input(slot), elements * plan_.src_width);
    worker_.writes(output(slot), elements * plan_.dst_width);
    for (std::uint32_t column = 0; column < panel.columns; ++column)
      convert_run(input(slot) + std::size_t{column} * plan_.src_width,
                  panel.columns * plan_.src_width,
                  output(slot) + std::size_t{column} * panel.rows * plan_.dst_width, panel.rows,
                  plan_.widens());
  }

  void write(const Panel& panel, std::uint32_t slot, Chain& chain) noexcept {
    const std::uint32_t bytes = panel.rows * plan_.dst_width;
    if (across_.dst == bytes) { // whole columns without gaps
      publish_run(worker_, chain, panel.dst, output(slot), panel.columns * bytes, plan_.dst_width);
      return;
    }
    if (across_.dst % kGranuleBytes == 0 && across_.dst <= kMaxPitchBytes) {
      publish_runs(worker_, chain, panel.dst, across_.dst, panel.columns, output(slot), bytes,
                   plan_.dst_width);
      return;
    }
    for (std::uint32_t column = 0; column < panel.columns; ++column)
      publish_run(worker_, chain, panel.dst + column * across_.dst,
                  output(slot) + std::size_t{column} * bytes, bytes, plan_.dst_width);
  }

private:
  /// Rows of a block that is not a whole column: granules of either output type.
  static constexpr std::uint32_t kRowUnit = kGranuleBytes / 2;

  /// Rows first, then columns, then the outer coordinates.
  void advance(const Panel& panel) noexcept {
    row_ += panel.rows;
    if (row_ < along_.extent)
      return;
    row_ = 0;
    column_ += panel.columns;
    if (column_ < share_.end)
      return;
    column_ = share_.begin;
    --outer_left_;
    for (std::uint32_t axis = plan_.rank - 1; axis-- > 0;) {
      if (axis == plan_.column_axis)
        continue;
      const Axis& a = plan_.axes[axis];
      outer_src_ += a.src;
      outer_dst_ += a.dst;
      if (++outer_[axis] < a.extent)
        return;
      outer_[axis] = 0;
      outer_src_ -= a.extent * a.src;
      outer_dst_ -= a.extent * a.dst;
    }
  }

  [[nodiscard]] std::byte* input(std::uint32_t slot) const noexcept {
    return Slots::at(local_, slot);
  }
  [[nodiscard]] std::byte* output(std::uint32_t slot) const noexcept {
    return Slots::at(local_, slot) + plan_.input_bytes();
  }

  Worker& worker_;
  std::byte* local_;
  const Plan& plan_;
  const Share share_;
  const Axis& across_; ///< columns; contiguous in the source
  const Axis& along_;  ///< rows; contiguous in the destination
  std::uint32_t block_rows_ = 0;
  std::uint32_t block_columns_ = 0;
  std::uint32_t row_ = 0;
  std::uint32_t column_;
  std::uint32_t outer_[kernels::wire::kMaxRank] = {};
  std::uint32_t outer_src_ = 0;
  std::uint32_t outer_dst_ = 0;
  std::uint32_t outer_left_ = 1;
};

/// All that a worker's columns may cover: whole columns interleave with those of other workers, so
/// the interval is exact only where there is one owner or no outer axis around the columns.
void own_columns(Worker& worker, const Plan& plan, const Share& share) noexcept {
  std::uint64_t last = plan.destination;
  for (std::uint32_t axis = 0; axis < plan.rank; ++axis) {
    const Axis& a = plan.axes[axis];
    const std::uint32_t index = axis == plan.column_axis ? share.end - 1 : a.extent - 1;
    last += std::uint64_t{index} * a.dst;
  }
  const std::uint64_t first =
      plan.destination + std::uint64_t{share.begin} * plan.axes[plan.column_axis].dst;
  worker.own(first, last + plan.dst_width);
}

} // namespace

void run_columns(Worker& worker, std::byte* local, const Plan& plan) {
  const Share share = column_share(plan, worker.index());
  if (share.empty())
    return;
  own_columns(worker, plan, share);
  ColumnSteps steps(worker, local, plan, share);
  run_panels(worker, steps);
}

} // namespace simaai::firmware::cast
