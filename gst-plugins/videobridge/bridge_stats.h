// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters of the video elements behind their `stats` property.
#pragma once

#include <atomic>
#include <cstdint>

#include <gst/gst.h>

#include "common/latency_histogram.h"

namespace simaai::gst {

/// Written by the streaming thread, read by any.
class BridgeStats {
public:
  void count_frame(std::uint64_t bytes_in, std::uint64_t bytes_out, std::uint64_t ns) noexcept {
    frames_.fetch_add(1, std::memory_order_relaxed);
    bytes_in_.fetch_add(bytes_in, std::memory_order_relaxed);
    bytes_out_.fetch_add(bytes_out, std::memory_order_relaxed);
    processing_.record(ns);
  }
  /// The samples of a frame were written anew, converted or copied.
  void count_pass() noexcept { passes_.fetch_add(1, std::memory_order_relaxed); }
  /// A pass that converted nothing.
  void count_copy() noexcept { copies_.fetch_add(1, std::memory_order_relaxed); }
  /// Only while no data flows.
  void reset() noexcept {
    frames_ = 0;
    bytes_in_ = 0;
    bytes_out_ = 0;
    copies_ = 0;
    passes_ = 0;
    processing_.reset();
  }
  /// Fields as in the op elements, as far as they apply. Transfer full.
  [[nodiscard]] GstStructure* structure() const {
    const std::uint64_t passes = passes_.load();
    const std::uint64_t copies = copies_.load(); // counted before its pass: may be one ahead
    const std::uint64_t conversions = passes > copies ? passes - copies : 0;
    return gst_structure_new("simaai-stats", "frames", G_TYPE_UINT64, guint64{frames_.load()},
                             "bytes-in", G_TYPE_UINT64, guint64{bytes_in_.load()}, "bytes-out",
                             G_TYPE_UINT64, guint64{bytes_out_.load()}, "copies", G_TYPE_UINT64,
                             guint64{copies}, "conversions", G_TYPE_UINT64, guint64{conversions},
                             "p50-ns", G_TYPE_UINT64, guint64{processing_.percentile_ns(50)},
                             "p95-ns", G_TYPE_UINT64, guint64{processing_.percentile_ns(95)},
                             "p99-ns", G_TYPE_UINT64, guint64{processing_.percentile_ns(99)},
                             "max-ns", G_TYPE_UINT64, guint64{processing_.max_ns()}, nullptr);
  }

private:
  std::atomic<std::uint64_t> frames_{0};
  std::atomic<std::uint64_t> bytes_in_{0};
  std::atomic<std::uint64_t> bytes_out_{0};
  std::atomic<std::uint64_t> copies_{0};
  std::atomic<std::uint64_t> passes_{0};
  LatencyHistogram processing_;
};

} // namespace simaai::gst
