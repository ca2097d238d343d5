// SPDX-License-Identifier: LGPL-2.1-or-later
// Gapless output by the general readers: each worker owns an interval of it and moves it panel by
// panel. Freestanding C++17.
#pragma once

#include "firmware/common/panels.h"
#include "firmware/common/publish.h"
#include "firmware/detess/elements.h"
#include "firmware/detess/join_panel.h"
#include "firmware/detess/panel_plan.h"
#include "firmware/detess/planar.h"
#include "firmware/detess/slots.h"

namespace simaai::firmware::detess {

template <class Element, class Reader> class DenseSteps {
public:
  using Slots = GeneralSlots<Element>;
  using Panel = Run;

  DenseSteps(Worker& worker, std::byte* local, const Job& job, const Share& share) noexcept
      : worker_(worker), local_(local), view_(job.view), cursor_(job, share),
        reader_(worker, job.view, Slots::raw(local)) {}

  bool next(Panel& panel) noexcept { return cursor_.next(panel); }

  void read(const Panel& panel, std::uint32_t slot, Chain& chain) noexcept {
    reader_.read(panel.first, panel.count, Slots::input(local_, slot), chain);
  }

  void convert(const Panel& panel, std::uint32_t slot) noexcept {
    join_panel<Element, Slots>(worker_, local_, slot, panel.count);
  }

  void write(const Panel& panel, std::uint32_t slot, Chain& chain) noexcept {
    publish_run(worker_, chain, view_.destination + panel.first * Element::kWidth,
                Slots::output(local_, slot), panel.count * Element::kWidth, Element::kWidth);
  }

private:
  Worker& worker_;
  std::byte* local_;
  const View& view_;
  PanelCursor cursor_;
  Reader reader_;
};

/// Few values at an end of a tensor of rank one: exact scalar loads in place of transfers.
template <class Element> void copy_boundary(Worker& worker, const View& view, const Run& run) {
  std::byte planes[2][kGranuleBytes] = {};
  std::byte out[kGranuleBytes * Element::kWidth] = {};
  for (std::uint32_t done = 0; done < run.count;) {
    const PlaneSpan span = channel_span(view.tiles, run.first + done, run.count - done);
    for (std::uint32_t plane = 0; plane < Element::kPlanes; ++plane)
      worker.load(span.device + plane * span.plane_pitch, 1, planes[plane] + done, span.count, 1);
    done += span.count;
  }
  Element::join(planes[0], planes[1], out, run.count);
  worker.store(view.destination + run.first * Element::kWidth, Element::kWidth, out, run.count,
               Element::kWidth);
}

/// The two ends of a rank-one output that are no whole granules, by the workers that own them. What
/// is left of the share is returned.
template <class Element>
Share copy_boundaries(Worker& worker, const View& view, const Share& share) noexcept {
  const RunParts parts = split_run(view.destination, view.count * Element::kWidth);
  const std::uint32_t head = parts.head_bytes / Element::kWidth;
  const std::uint32_t tail = parts.tail_bytes / Element::kWidth;
  Share left = share;
  if (share.begin == 0 && head != 0) {
    copy_boundary<Element>(worker, view, {0, head});
    left.begin = head;
  }
  if (share.end == view.count && tail != 0) {
    copy_boundary<Element>(worker, view, {view.count - tail, tail});
    left.end = view.count - tail;
  }
  return left;
}

template <class Element, class Reader>
void run_dense(Worker& worker, std::byte* local, const Job& job) {
  Share share = share_of(job, worker.index());
  if (share.empty())
    return;
  const View& view = job.view;
  worker.own(view.destination + std::uint64_t{share.begin} * Element::kWidth,
             view.destination + std::uint64_t{share.end} * Element::kWidth);
  if (job.rank_one)
    share = copy_boundaries<Element>(worker, view, share);
  DenseSteps<Element, Reader> steps(worker, local, job, share);
  run_panels(worker, steps);
}

} // namespace simaai::firmware::detess
