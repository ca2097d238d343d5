// SPDX-License-Identifier: LGPL-2.1-or-later
// How gapless output is divided into panels and among workers. Freestanding C++17.
#pragma once

#include <cstdint>

#include "firmware/common/partition.h"
#include "firmware/detess/view.h"

namespace simaai::firmware::detess {

/// A job, as its workers see it; lives until all of them have returned.
struct Job {
  View view;
  std::uint32_t workers;
  std::uint32_t panel;     ///< elements of a panel that begins on a granule boundary
  std::uint32_t cut;       ///< workers begin at multiples of this where there are enough
  std::uint32_t least_cut; ///< and of this otherwise
  bool rank_one;
};

/// Output elements [first, first + count).
struct Run {
  std::uint32_t first;
  std::uint32_t count;
};

/// Chooses panels of at most kPanelElements that end with whole tiles, rows or pixels where that
/// costs little, so that the tensor is read once; `fragment_pixels` go into one raw slot (0: the
/// reader has none). Without an aligned output address panels are as large as possible.
void plan_panels(Job& job, std::uint32_t fragment_pixels) noexcept;

/// Workers that are worth launching for `count` elements.
std::uint32_t useful_workers(std::uint32_t count, std::uint32_t offered) noexcept;

/// Elements of one worker.
Share share_of(const Job& job, std::uint32_t index) noexcept;

/// Panels of a share, in order. Panel boundaries inside are granule boundaries.
class PanelCursor {
public:
  PanelCursor(const Job& job, const Share& share) noexcept
      : job_(job), next_(share.begin), end_(share.end) {}

  bool next(Run& panel) noexcept {
    if (next_ >= end_)
      return false;
    std::uint32_t count = end_ - next_;
    if (count > job_.panel) {
      const View& view = job_.view;
      const std::uint32_t past = view.destination + (next_ + job_.panel) * view.width;
      count = job_.panel - past % kGranuleBytes / view.width;
    }
    panel = {next_, count};
    next_ += count;
    return true;
  }

private:
  const Job& job_;
  std::uint32_t next_;
  std::uint32_t end_;
};

} // namespace simaai::firmware::detess
