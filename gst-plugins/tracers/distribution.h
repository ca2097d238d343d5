// SPDX-License-Identifier: LGPL-2.1-or-later
// Distribution of durations that any number of threads record into without a lock.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/log_buckets.h"

namespace simaai::latency {

/// Figures of one distribution, in nanoseconds. Percentiles are nearest-rank.
struct Stat {
  std::uint64_t count = 0;
  std::uint64_t min = 0;
  std::uint64_t mean = 0;
  std::uint64_t p50 = 0;
  std::uint64_t p90 = 0;
  std::uint64_t p95 = 0;
  std::uint64_t p99 = 0;
  std::uint64_t max = 0;
  bool exact = false; ///< from samples; otherwise percentiles err by up to 0.8 %
};

/// Figures of samples, which are sorted in place.
[[nodiscard]] Stat exact_stat(std::vector<std::uint64_t>& samples);

/// Recording never allocates and never waits. Readings taken meanwhile may miss the latest records.
class Distribution {
public:
  void record(std::uint64_t ns) noexcept {
    buckets_[gst::LogBuckets::index_of(ns)].fetch_add(1, std::memory_order_relaxed);
    sum_.fetch_add(ns, std::memory_order_relaxed);
    std::uint64_t seen = max_.load(std::memory_order_relaxed);
    while (ns > seen && !max_.compare_exchange_weak(seen, ns, std::memory_order_relaxed)) {
    }
    seen = min_.load(std::memory_order_relaxed);
    while (ns < seen && !min_.compare_exchange_weak(seen, ns, std::memory_order_relaxed)) {
    }
  }

  /// All records of several distributions together.
  [[nodiscard]] static Stat stat_of(std::span<const Distribution* const> parts) noexcept;

  /// Records in each bucket, for a histogram; zero buckets included.
  [[nodiscard]] std::uint64_t bucket(std::size_t index) const noexcept {
    return buckets_[index].load(std::memory_order_relaxed);
  }

private:
  std::array<std::atomic<std::uint64_t>, gst::LogBuckets::kCount> buckets_{};
  std::atomic<std::uint64_t> sum_{0};
  std::atomic<std::uint64_t> max_{0};
  std::atomic<std::uint64_t> min_{~std::uint64_t{0}};
};

} // namespace simaai::latency
