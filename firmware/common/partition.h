// SPDX-License-Identifier: LGPL-2.1-or-later
// Division of work among 1 to 4 workers, so that no two of them write into one granule.
// Freestanding C++17.
#pragma once

#include <cstdint>

#include "firmware/common/publish.h"
#include "firmware/common/slots.h"

namespace simaai::firmware {

constexpr std::uint32_t at_most(std::uint32_t value, std::uint32_t bound) noexcept {
  return value < bound ? value : bound;
}

inline constexpr std::uint32_t kMaxWorkers = 4;

/// Work items [begin, end).
struct Share {
  std::uint32_t begin;
  std::uint32_t end;
  [[nodiscard]] constexpr bool empty() const noexcept { return begin >= end; }
};

/// Where worker `index` of `workers` begins in `items`: shares differ by at most one.
constexpr std::uint32_t even_cut(std::uint32_t items, std::uint32_t workers,
                                 std::uint32_t index) noexcept {
  const std::uint32_t extra = items % workers;
  return items / workers * index + (index < extra ? index : extra);
}
constexpr Share even_share(std::uint32_t items, std::uint32_t workers,
                           std::uint32_t index) noexcept {
  return {even_cut(items, workers, index), even_cut(items, workers, index + 1)};
}

/// With at least this many panels a worker, shares are whole panels: the uneven rest is small then.
inline constexpr std::uint32_t kWholePanelsAWorker = 8;

/// Elements of worker `index` in a contiguous output of `count` elements of `width` bytes at
/// `device`. Cuts fall on granule boundaries of the actual address, on panel boundaries where there
/// are enough panels. Shares are in order and cover everything; some may be empty.
constexpr Share dense_share(std::uint32_t device, std::uint32_t width, std::uint32_t count,
                            std::uint32_t workers, std::uint32_t index) noexcept {
  const std::uint32_t to_granule = bytes_to_granule(device) / width;
  const std::uint32_t head = count < to_granule ? count : to_granule;
  const bool whole_panels = (count - head) / kPanelElements >= workers * kWholePanelsAWorker;
  const std::uint32_t unit = whole_panels ? kPanelElements : kGranuleBytes / width;
  const std::uint32_t units = (count - head) / unit;
  const Share share = even_share(units, workers, index);
  return {index == 0 ? 0 : head + share.begin * unit,
          index + 1 == workers ? count : head + share.end * unit};
}

} // namespace simaai::firmware
