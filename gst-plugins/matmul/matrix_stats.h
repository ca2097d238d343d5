// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters of the matrix elements behind `stats`, and the rule of `require-zero-copy`.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include <gst/gst.h>

#include "common/latency_histogram.h"

namespace simaai::gst {

/// One streaming thread counts; any thread may read at any time.
class MatrixStats {
public:
  /// Only while no data flows.
  void reset() noexcept;
  void count_frame(std::uint64_t bytes_in, std::uint64_t bytes_out,
                   std::chrono::steady_clock::time_point begun) noexcept;
  /// Elements changed their layout on the way into or out of the product.
  void count_conversion() noexcept { conversions_.fetch_add(1, std::memory_order_relaxed); }
  void count_copy() noexcept { copies_.fetch_add(1, std::memory_order_relaxed); }
  /// Counts a copy that only the memory of a buffer makes necessary and announces the first. Posts an
  /// error and returns false where it is `forbidden`.
  [[nodiscard]] bool allow_copy(GstElement* element, const char* port, const char* why,
                                std::uint64_t bytes, bool forbidden);
  /// Fields as in the op elements, as far as they apply. Transfer full.
  [[nodiscard]] GstStructure* structure() const;

private:
  std::atomic<std::uint64_t> frames_{0};
  std::atomic<std::uint64_t> bytes_in_{0};
  std::atomic<std::uint64_t> bytes_out_{0};
  std::atomic<std::uint64_t> copies_{0};
  std::atomic<std::uint64_t> conversions_{0};
  bool copy_announced_ = false; ///< streaming thread
  LatencyHistogram processing_;
};

/// Why memory cannot be used in place, for allow_copy().
inline constexpr const char* kSeveralMemories = "several memories";
inline constexpr const char* kMisaligned = "misaligned memory";

void install_stats_property(GObjectClass* klass, guint id);
void install_zero_copy_property(GObjectClass* klass, guint id);

} // namespace simaai::gst
