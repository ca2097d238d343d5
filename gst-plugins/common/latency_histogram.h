// SPDX-License-Identifier: LGPL-2.1-or-later
// Distribution of durations in fixed storage: recording never allocates, percentiles err by less than 1 %.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace simaai::gst {

/// Log-linear buckets: 64 a power of two, so a bucket is at most 1/64 of its values wide and its
/// middle is within 0.8 % of each. Durations below 64 ns are exact, those above 2^42 ns (73 minutes)
/// share the last bucket; the maximum is exact always.
///
/// One thread records; any thread may read at any time (a reading may miss the latest records).
class LatencyHistogram {
public:
  void record(std::uint64_t duration_ns) noexcept {
    // Single writer: plain load and store are enough, no read-modify-write is needed.
    auto& slot = buckets_[index_of(duration_ns)];
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
        return std::min(middle_of(index), max_ns());
    }
    return max_ns();
  }

private:
  static constexpr unsigned kSubBits = 6;
  static constexpr std::uint64_t kSubBuckets = std::uint64_t{1} << kSubBits;
  static constexpr unsigned kTopBit = 42;
  static constexpr std::size_t kBuckets = (kTopBit - kSubBits + 2) << kSubBits;

  // Value of highest bit b >= 6: octave b - 5, then the six bits below the highest one.
  static std::size_t index_of(std::uint64_t ns) noexcept {
    if (ns < kSubBuckets)
      return static_cast<std::size_t>(ns);
    const auto top = static_cast<unsigned>(std::bit_width(ns)) - 1;
    if (top > kTopBit)
      return kBuckets - 1;
    const std::uint64_t octave = top - kSubBits + 1;
    const std::uint64_t low = (ns >> (top - kSubBits)) & (kSubBuckets - 1);
    return static_cast<std::size_t>((octave << kSubBits) + low);
  }

  static std::uint64_t middle_of(std::size_t index) noexcept {
    const std::uint64_t octave = index >> kSubBits;
    const std::uint64_t low = index & (kSubBuckets - 1);
    if (octave == 0)
      return low;
    const std::uint64_t width = std::uint64_t{1} << (octave - 1);
    return (kSubBuckets + low) * width + width / 2;
  }

  std::array<std::atomic<std::uint64_t>, kBuckets> buckets_{};
  std::atomic<std::uint64_t> count_{0};
  std::atomic<std::uint64_t> max_ns_{0};
};

} // namespace simaai::gst
