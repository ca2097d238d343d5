// SPDX-License-Identifier: LGPL-2.1-or-later
// How many buffers carry each of the latest frames, so that the end of a frame is seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "entry_table.h"

namespace simaai::latency {

/// Fixed storage; a frame is forgotten when `kFrames` later ones have begun.
class FrameTable {
public:
  static constexpr std::uint64_t kFrames = 8192;

  /// One more buffer carries the frame.
  void add(std::uint64_t id) noexcept {
    Word& slot = slots_[id % kFrames];
    std::uint64_t state = slot.load(std::memory_order_acquire);
    for (;;) {
      if (state >> kCountBits > id)
        return; // forgotten: a later frame has the place
      const std::uint64_t next = state >> kCountBits == id ? state + 1 : (id << kCountBits) + 1;
      if (slot.compare_exchange_weak(state, next, std::memory_order_acq_rel))
        return;
    }
  }

  /// One buffer less. True where it was the last one.
  [[nodiscard]] bool remove(std::uint64_t id) noexcept {
    Word& slot = slots_[id % kFrames];
    std::uint64_t state = slot.load(std::memory_order_acquire);
    while (state >> kCountBits == id && (state & kCountMask) != 0) {
      if (slot.compare_exchange_weak(state, state - 1, std::memory_order_acq_rel))
        return (state & kCountMask) == 1;
    }
    return false;
  }

private:
  static constexpr unsigned kCountBits = 16;
  static constexpr std::uint64_t kCountMask = (std::uint64_t{1} << kCountBits) - 1;

  std::unique_ptr<Word[]> slots_{new Word[kFrames]{}};
};

} // namespace simaai::latency
