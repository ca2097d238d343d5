// SPDX-License-Identifier: LGPL-2.1-or-later
// Output with pitches, steps or gaps: one worker gathers panels in walking order and publishes the
// contiguous spans of each. Freestanding C++17.
#pragma once

#include "firmware/common/panels.h"
#include "firmware/detess/elements.h"
#include "firmware/detess/gather.h"
#include "firmware/detess/join_panel.h"
#include "firmware/detess/panel_plan.h"
#include "firmware/detess/slots.h"

namespace simaai::firmware::detess {

/// Spans of a view's output, in walking order.
class SpanPublisher {
public:
  SpanPublisher(Worker& worker, const View& view) noexcept
      : worker_(worker), view_(view), place_(view), suffix_(view.suffix()) {}

  /// Elements of the panel that begins at `first`: whole spans, or part of one that is longer than
  /// a panel, ending on a granule boundary.
  [[nodiscard]] std::uint32_t panel_at(std::uint32_t first) const noexcept;

  /// Writes the panel's converted elements from `local`. Holes are neither read nor written: a span
  /// has its whole granules transferred and the scalars at its ends stored, so that no granule in
  /// flight holds anything else.
  void publish(const Run& panel, std::byte* local, Chain& chain) noexcept;

private:
  [[nodiscard]] std::uint32_t address() const noexcept;
  std::uint32_t publish_values(std::uint32_t most, std::byte* local) noexcept;
  std::uint32_t publish_spans(std::uint32_t most, std::byte* local, Chain& chain) noexcept;

  Worker& worker_;
  const View& view_;
  Place place_;
  View::Suffix suffix_;
};

template <class Element> class StridedSteps {
public:
  using Slots = GeneralSlots<Element>;
  using Panel = Run;

  StridedSteps(Worker& worker, std::byte* local, const View& view) noexcept
      : worker_(worker), local_(local), view_(view), reader_(worker, view, Slots::raw(local)),
        publisher_(worker, view) {}

  bool next(Panel& panel) noexcept {
    if (next_ == view_.count)
      return false;
    panel = {next_, publisher_.panel_at(next_)};
    next_ += panel.count;
    return true;
  }

  void read(const Panel& panel, std::uint32_t slot, Chain& chain) noexcept {
    reader_.read(panel.first, panel.count, Slots::input(local_, slot), chain);
  }

  void convert(const Panel& panel, std::uint32_t slot) noexcept {
    join_panel<Element, Slots>(worker_, local_, slot, panel.count);
  }

  void write(const Panel& panel, std::uint32_t slot, Chain& chain) noexcept {
    publisher_.publish(panel, Slots::output(local_, slot), chain);
  }

private:
  Worker& worker_;
  std::byte* local_;
  const View& view_;
  Gather reader_;
  SpanPublisher publisher_;
  std::uint32_t next_ = 0;
};

template <class Element> void run_strided(Worker& worker, std::byte* local, const Job& job) {
  const View& view = job.view;
  std::uint64_t span = Element::kWidth;
  for (std::uint32_t axis = 0; axis < view.rank; ++axis)
    span += std::uint64_t{view.axes[axis].extent - 1} * view.axes[axis].output_pitch;
  worker.own(view.destination, view.destination + span);
  StridedSteps<Element> steps(worker, local, view);
  run_panels(worker, steps);
}

} // namespace simaai::firmware::detess
