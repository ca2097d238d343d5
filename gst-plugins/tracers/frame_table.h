// SPDX-License-Identifier: LGPL-2.1-or-later
// How many buffers carry each of the latest frames, so that the end of a frame is seen.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "entry_table.h"

namespace simaai::latency {

/// Fixed storage; a frame is forgotten when so many later ones have begun: 8192, or four windows of an element.
class FrameTable {
public:
  explicit FrameTable(std::size_t window)
      : frames_(std::max<std::uint64_t>(8192, 4 * std::bit_ceil(window))),
        slots_(new Word[frames_]{}) {}

  /// One more buffer carries the frame.
  void add(std::uint64_t id) noexcept {
    Word& slot = slots_[id & (frames_ - 1)];
    std::uint64_t state = slot.load(std::memory_order_acquire);
    for (;;) {
      if (state >> kCountBits > id)
        return; // forgotten: a later frame has the place
      const std::uint64_t next = state >> kCountBits == id ? state + 1 : (id << kCountBits) + 1;
      if (!slot.compare_exchange_weak(state, next, std::memory_order_acq_rel))
        continue;
      if (state >> kCountBits != id && (state & kCountMask) != 0)
        forgotten_.fetch_add(1, std::memory_order_relaxed);
      return;
    }
  }

  /// One buffer less. True where it was the last one.
  [[nodiscard]] bool remove(std::uint64_t id) noexcept {
    Word& slot = slots_[id & (frames_ - 1)];
    std::uint64_t state = slot.load(std::memory_order_acquire);
    while (state >> kCountBits == id && (state & kCountMask) != 0) {
      if (slot.compare_exchange_weak(state, state - 1, std::memory_order_acq_rel))
        return (state & kCountMask) == 1;
    }
    return false;
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return frames_; }
  /// Frames that were forgotten while buffers carried them: their end is not seen.
  [[nodiscard]] std::uint64_t forgotten() const noexcept { return get(forgotten_); }

private:
  static constexpr unsigned kCountBits = 16;
  static constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;

  std::uint64_t frames_; // a power of two
  std::unique_ptr<Word[]> slots_;
  Word forgotten_{0};
};

} // namespace simaai::latency
