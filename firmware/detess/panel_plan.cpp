// SPDX-License-Identifier: LGPL-2.1-or-later
// Sizes of panels and shares.
#include "firmware/detess/panel_plan.h"

#include "firmware/common/publish.h"
#include "firmware/common/slots.h"

namespace simaai::firmware::detess {
namespace {

/// Work that is worth a worker: less costs more in launching than it saves.
constexpr std::uint32_t kLeastShare = 256;

/// Smaller panels than these would publish too often.
constexpr std::uint32_t kLeastPanel = kPanelElements / 4 * 3;

constexpr std::uint32_t greatest_divisor(std::uint32_t a, std::uint32_t b) noexcept {
  while (b != 0) {
    const std::uint32_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/// Least common multiple with a power of two up to 16; 0 beyond a panel.
constexpr std::uint32_t common_multiple(std::uint64_t elements, std::uint32_t granule) noexcept {
  if (elements > kPanelElements)
    return 0;
  const auto small = static_cast<std::uint32_t>(elements);
  const std::uint32_t multiple = small / greatest_divisor(small, granule) * granule;
  return multiple <= kPanelElements ? multiple : 0;
}

/// Elements along an axis before the tile changes.
std::uint32_t run_of(const View& view, const ViewAxis& axis) noexcept {
  return axis.role == Role::Outer ? axis.extent : view.tiles.tile[slot_of(axis.role)];
}

bool take_panel(Job& job, std::uint64_t elements, std::uint32_t granule) noexcept {
  const std::uint32_t unit = common_multiple(elements, granule);
  if (unit == 0 || kPanelElements / unit * unit < kLeastPanel)
    return false;
  job.panel = kPanelElements / unit * unit;
  return true;
}

/// Equal parts of a line of pixels that are whole pixels and granules. At the end of a line reading begins anew, so a panel
/// across it costs one more read than one that ends with it; smaller panels cost as much more for writing. Against
/// panels of full size, parts save calls where 2 * parts * (1 - size of a part in panels) is below one, even for readers
/// with one transfer a piece.
bool take_part_of_line(Job& job, std::uint64_t line, std::uint64_t pixel,
                       std::uint32_t granule) noexcept {
  const std::uint64_t parts = (line - 1) / kPanelElements + 1;
  const std::uint64_t part = line / parts;
  if (line % parts != 0 || part % pixel != 0 || part % granule != 0 ||
      2 * parts * (kPanelElements - part) >= kPanelElements)
    return false;
  job.panel = static_cast<std::uint32_t>(part);
  return true;
}

} // namespace

void plan_panels(Job& job, std::uint32_t fragment_pixels) noexcept {
  const View& view = job.view;
  const std::uint32_t granule = kGranuleBytes / view.width;
  const std::uint64_t row = view.inner().extent;
  job.panel = kPanelElements;
  job.least_cut = row <= 32 && row % granule == 0 ? static_cast<std::uint32_t>(row) : granule;
  job.cut = common_multiple(row, granule);
  if (job.cut == 0)
    job.cut = job.least_cut;
  if (bytes_to_granule(view.destination) != 0 || view.rank < 2)
    return;
  const ViewAxis& across = view.axes[view.rank - 2];
  const std::uint32_t run = run_of(view, across);
  const bool tiled = run < across.extent;
  if (tiled &&
      (take_panel(job, row * across.extent, granule) || take_panel(job, row * run, granule)))
    return;
  if (fragment_pixels != 0 && take_panel(job, row * fragment_pixels, granule))
    return;
  if (!take_part_of_line(job, row * run, row, granule))
    (void)take_panel(job, row, granule);
}

std::uint32_t useful_workers(std::uint32_t count, std::uint32_t offered) noexcept {
  const std::uint32_t worth = (count - 1) / kLeastShare + 1;
  return worth < offered ? worth : offered;
}

Share share_of(const Job& job, std::uint32_t index) noexcept {
  const View& view = job.view;
  if (view.destination % kGranuleBytes != 0)
    return dense_share(view.destination, view.width, view.count, job.workers, index);
  std::uint32_t unit = job.panel;
  if (view.count / unit < job.workers * kWholePanelsAWorker)
    unit = job.cut;
  if (view.count / unit < job.workers)
    unit = job.least_cut;
  const Share share = even_share(view.count / unit, job.workers, index);
  return {share.begin * unit, index + 1 == job.workers ? view.count : share.end * unit};
}

} // namespace simaai::firmware::detess
