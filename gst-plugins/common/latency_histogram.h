// SPDX-License-Identifier: LGPL-2.1-or-later
// Distribution of durations in fixed storage: recording never allocates, percentiles err by less than 1 %.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "log_buckets.h"

namespace simaai::gst {

/// Percentiles come from the middles of LogBuckets; the maximum is exact always.
///
/// One thread records; any thread may read at any time (a reading may miss the latest records).
class LatencyHistogram {
public:
  void record(std::uint64_t duration_ns) noexcept {
    // Single writer: plain load and store are enough, no read-modify-write is needed.
    auto& slot = buckets_[LogBuckets::index_of(duration_ns)];
    slot.store(slot.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    if (duration_ns > max_ns_.load(std::memory_order_relaxed))
      max_ns_.store(duration_ns, std::memory_order_relaxed);
    count_.store(count_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }

  /// Only while no thread records.
  void reset() noexcept {
    for (auto& slot : buckets_)
      slot.store(0, std::memory_order_relaxed);
    max_ns_.store(0, std::memory_order_relaxed);
    count_.store(0, std::memory_order_relaxed);
  }

  [[nodiscard]] std::uint64_t count() const noexcept {
    return count_.load(std::memory_order_relaxed);
  }
  [[nodiscard]] std::uint64_t max_ns() const noexcept {
    return max_ns_.load(std::memory_order_relaxed);
  }

  /// Nearest-rank percentile, `percent` from 1 to 100; 0 where nothing was recorded.
  [[nodiscard]] std::uint64_t percentile_ns(std::uint64_t percent) const noexcept {
    const std::uint64_t total = count();
    const std::uint64_t rank = (total * percent + 99) / 100;
    std::uint64_t seen = 0;
    for (std::size_t index = 0; index < kBuckets; ++index) {
      seen += buckets_[index].load(std::memory_order_relaxed);
      if (seen >= rank && seen != 0)
        return std::min(LogBuckets::middle_of(index), max_ns());
    }
    return max_ns();
  }

private:
  static constexpr std::size_t kBuckets = LogBuckets::kCount;

  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> max_ns_{0};
};

} // namespace simaai::gst
