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
#include "word.h"

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

/// Recording never allocates and never waits. A thread that records with Access::Own is the only one that does. Readings taken meanwhile may miss the latest records.
class Distribution {
public:
  void record(std::uint64_t ns, Access access = Access::Shared) noexcept {
    add(buckets_[gst::LogBuckets::index_of(ns)], 1, access);
    add(sum_, ns, access);
    std::uint64_t seen = get(max_);
    while (ns > seen && !max_.compare_exchange_weak(seen, ns, std::memory_order_relaxed)) {
    }
    seen = get(min_);
    while (ns < seen && !min_.compare_exchange_weak(seen, ns, std::memory_order_relaxed)) {
    }
  }

  /// All records of several distributions together.
  [[nodiscard]] static Stat stat_of(std::span<const Distribution* const> parts) noexcept;

  /// Records in each bucket, for a histogram; zero buckets included.
  [[nodiscard]] std::uint64_t bucket(std::size_t index) const noexcept {
    return get(buckets_[index]);
  }

private:
  std::array<Word, gst::LogBuckets::kCount> buckets_{};
  Word sum_{0};
  Word max_{0};
  Word min_{~std::uint64_t{0}};
};

} // namespace simaai::latency
