// SPDX-License-Identifier: LGPL-2.1-or-later
// Cast over consecutive elements in destination order: panels of rows or of gathered values.
#include "firmware/cast/convert.h"
#include "firmware/cast/steps.h"
#include "firmware/common/panels.h"
#include "firmware/common/partition.h"
#include "firmware/common/publish.h"

namespace simaai::firmware::cast {
namespace {

/// First element at or after `element` that shares no granule with the element before it.
std::uint32_t granule_cut(const Plan& plan, std::uint32_t element) noexcept {
  if (element == 0)
    return 0;
  Walk walk(plan);
  walk.seek(element - 1);
  for (; element < plan.count; ++element) {
    const std::uint32_t last = (walk.dst() + plan.dst_width - 1) / kGranuleBytes;
    walk.advance(1);
    if (walk.dst() / kGranuleBytes != last)
      break;
  }
  return element;
}

/// Where worker `index` begins. Whole rows where there are several a worker.
std::uint32_t worker_cut(const Plan& plan, std::uint32_t index) noexcept {
  if (index == plan.workers)
    return plan.count;
  const std::uint32_t row = plan.inner().extent;
  const bool by_rows = plan.count / row >= plan.workers * kWholePanelsAWorker;
  const std::uint32_t unit = by_rows ? row : 1;
  return granule_cut(plan, even_cut(plan.count / unit, plan.workers, index) * unit);
}

Share worker_share(const Plan& plan, std::uint32_t index) noexcept {
  if (plan.dst_run == plan.count)
    return dense_share(plan.destination, plan.dst_width, plan.count, plan.workers, index);
  return {worker_cut(plan, index), worker_cut(plan, index + 1)};
}

class SpanSteps {
public:
  struct Panel {
    std::uint32_t begin;
    std::uint32_t count;
  };

  SpanSteps(Worker& worker, std::byte* local, const Plan& plan, const Share& share) noexcept
      : worker_(worker), local_(local), plan_(plan), next_(share.begin), end_(share.end),
        most_(plan.packed_pairs ? kPanelElements / 2 : kPanelElements) {}

  bool next(Panel& panel) noexcept {
    if (next_ >= end_)
      return false;
    panel = {next_, at_most(end_ - next_, most_)};
    if (next_ + panel.count < end_ && plan_.dst_run > 1)
      panel.count = end_on_granule(panel);
    next_ += panel.count;
    return true;
  }

  void read(const Panel& panel, std::uint32_t slot, Chain& chain) noexcept {
    Walk walk(plan_);
    walk.seek(panel.begin);
    std::byte* to = input(slot);
    for (std::uint32_t left = panel.count; left != 0;) {
      const std::uint32_t elements = read_some(walk, left, to, chain);
      to += std::size_t{elements} * local_step();
      left -= elements;
    }
  }

  void convert(const Panel& panel, std::uint32_t slot) noexcept {
    std::byte* const from = input(slot);
    worker_.writes(output(slot), panel.count * plan_.dst_width);
    if (plan_.packed_pairs)
      declare_pairs(panel, from);
    else
      worker_.reads(from, panel.count * plan_.src_width);
    convert_run(from, local_step(), output(slot), panel.count, plan_.widens());
  }

  void write(const Panel& panel, std::uint32_t slot, Chain& chain) noexcept {
    Walk walk(plan_);
    walk.seek(panel.begin);
    std::byte* from = output(slot);
    for (std::uint32_t left = panel.count; left != 0;) {
      const std::uint32_t elements = write_some(walk, left, from, chain);
      from += std::size_t{elements} * plan_.dst_width;
      left -= elements;
    }
  }

private:
  /// Shortens a panel that would end within a contiguous run to end on a granule boundary, so that
  /// only the ends of the run are stored as scalars.
  [[nodiscard]] std::uint32_t end_on_granule(const Panel& panel) const noexcept {
    const std::uint32_t end = panel.begin + panel.count;
    if (end % plan_.dst_run == 0)
      return panel.count;
    Walk walk(plan_);
    walk.seek(end);
    const std::uint32_t beyond = walk.dst() % kGranuleBytes / plan_.dst_width;
    // Not across the start of the run, which is a boundary of its own.
    return panel.count - at_most(beyond, end % plan_.dst_run);
  }

  /// Bytes between neighbours in the input slot.
  [[nodiscard]] std::uint32_t local_step() const noexcept {
    return plan_.packed_pairs ? 2 * plan_.src_width : plan_.src_width;
  }

  [[nodiscard]] bool whole_rows(const Walk& walk, std::uint32_t left) const noexcept {
    return walk.at(plan_.rank - 1) == 0 && left >= plan_.inner().extent && plan_.rank > 1;
  }
  /// Whole inner axes that can be taken from here without leaving the next axis.
  [[nodiscard]] std::uint32_t rows_ahead(const Walk& walk, std::uint32_t left) const noexcept {
    const std::uint32_t next = plan_.rank - 2;
    return at_most(left / plan_.inner().extent, plan_.axes[next].extent - walk.at(next));
  }

  /// What conversion reads of packed pairs: each run up to its last value, not the slot behind it.
  void declare_pairs(const Panel& panel, const std::byte* from) noexcept {
    Walk walk(plan_);
    walk.seek(panel.begin);
    for (std::uint32_t left = panel.count; left != 0;) {
      const std::uint32_t count = at_most(left, plan_.inner().extent - walk.at(plan_.rank - 1));
      worker_.reads(from, (count - 1) * local_step() + plan_.src_width);
      walk.advance(count);
      from += std::size_t{count} * local_step();
      left -= count;
    }
  }

  /// Submits one transfer from `walk` on and returns how many elements it brings.
  std::uint32_t read_some(Walk& walk, std::uint32_t left, std::byte* to, Chain& chain) noexcept {
    const Axis& inner = plan_.inner();
    if (inner.src == plan_.src_width && whole_rows(walk, left) &&
        plan_.axes[plan_.rank - 2].src <= kMaxPitchBytes) {
      const std::uint32_t rows = rows_ahead(walk, left);
      const std::uint32_t row_bytes = inner.extent * plan_.src_width;
      worker_.read(chain,
                   {walk.src(), to, row_bytes, rows, plan_.axes[plan_.rank - 2].src, row_bytes});
      walk.advance_rows(rows);
      return rows * inner.extent;
    }
    const std::uint32_t count = at_most(left, inner.extent - walk.at(plan_.rank - 1));
    read_run(walk.src(), count, to, chain);
    walk.advance(count);
    return count;
  }

  /// A run of the inner axis.
  void read_run(std::uint32_t src, std::uint32_t count, std::byte* to, Chain& chain) noexcept {
    const std::uint32_t width = plan_.src_width;
    const std::uint32_t step = plan_.inner().src;
    if (step == width)
      worker_.read(chain, {src, to, count * width});
    else if (plan_.packed_pairs) // the whole span; conversion picks every other value
      worker_.read(chain, {src, to, (count - 1) * step + width});
    else if (step <= kMaxPitchBytes)
      worker_.read(chain, {src, to, width, count, step, width});
    else
      worker_.load(src, step, to, count, width);
  }

  std::uint32_t write_some(Walk& walk, std::uint32_t left, std::byte* from, Chain& chain) noexcept {
    const Axis& inner = plan_.inner();
    if (plan_.route == Route::CastScattered) {
      const std::uint32_t count = at_most(left, inner.extent - walk.at(plan_.rank - 1));
      worker_.store(walk.dst(), inner.dst, from, count, plan_.dst_width);
      walk.advance(count);
      return count;
    }
    if (plan_.dst_run == inner.extent && whole_rows(walk, left) && rows_align())
      return write_rows(walk, rows_ahead(walk, left), from, chain);
    return write_run(walk, left, from, chain);
  }

  /// True where rows of the destination have whole granules at one distance.
  [[nodiscard]] bool rows_align() const noexcept {
    const std::uint32_t pitch = plan_.axes[plan_.rank - 2].dst;
    return pitch % kGranuleBytes == 0 && pitch <= kMaxPitchBytes;
  }

  std::uint32_t write_rows(Walk& walk, std::uint32_t rows, std::byte* from, Chain& chain) noexcept {
    const std::uint32_t row_bytes = plan_.inner().extent * plan_.dst_width;
    publish_runs(worker_, chain, walk.dst(), plan_.axes[plan_.rank - 2].dst, rows, from, row_bytes,
                 plan_.dst_width);
    walk.advance_rows(rows);
    return rows * plan_.inner().extent;
  }

  std::uint32_t write_run(Walk& walk, std::uint32_t left, std::byte* from, Chain& chain) noexcept {
    const std::uint32_t device = walk.dst();
    std::uint32_t done = 0;
    do { // to the end of the contiguous run or of the panel, in steps of the inner axis
      const std::uint32_t step =
          at_most(left - done, plan_.inner().extent - walk.at(plan_.rank - 1));
      walk.advance(step);
      done += step;
    } while (done < left && walk.dst() == device + done * plan_.dst_width);
    publish_run(worker_, chain, device, from, done * plan_.dst_width, plan_.dst_width);
    return done;
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
  std::uint32_t next_;
  std::uint32_t end_;
  std::uint32_t most_;
};

} // namespace

void run_spans(Worker& worker, std::byte* local, const Plan& plan) {
  const Share share = worker_share(plan, worker.index());
  if (share.empty())
    return;
  Walk walk(plan);
  walk.seek(share.begin);
  const std::uint64_t first = walk.dst();
  walk.seek(share.end - 1);
  worker.own(first, std::uint64_t{walk.dst()} + plan.dst_width);
  SpanSteps steps(worker, local, plan, share);
  run_panels(worker, steps);
}

} // namespace simaai::firmware::cast
