// SPDX-License-Identifier: LGPL-2.1-or-later
// Counters behind the property `stats` of every element that has one, and the rule of `require-zero-copy`.
#pragma once

#include <atomic>
#include <cstdint>

#include <gst/gst.h>

#include "errors.h"
#include "export.h"
#include "latency_histogram.h"

namespace simaai::gst {

/// One thread counts frames; copies, conversions and allocations may be counted by several. Any thread may read at any time.
class SIMAAI_GST_API ElementStats {
public:
  /// Only while no data flows.
  void reset() noexcept;
  void count_frame(std::uint64_t bytes_in, std::uint64_t bytes_out,
                   std::uint64_t duration_ns) noexcept {
    add(frames_, 1);
    add(bytes_in_, bytes_in);
    add(bytes_out_, bytes_out);
    processing_.record(duration_ns);
  }
  /// Elements were written anew in another type or layout: what the element is there for.
  void count_conversion() noexcept { conversions_.fetch_add(1, std::memory_order_relaxed); }
  /// Memory beside the output pool.
  void count_allocation() noexcept { allocations_.fetch_add(1, std::memory_order_relaxed); }
  /// Looks at the memory of a buffer that the element passes on or takes in, where it has no pool that would know. An empty
  /// buffer says nothing.
  void note_memory(GstBuffer* buffer) noexcept;
  /// A copy that nobody need be told of.
  void count_copy() noexcept { copies_.fetch_add(1, std::memory_order_relaxed); }
  /// A copy that only the memory of a buffer makes necessary: counts it, announces the first (`simaai-copy`).
  void note_copy(GstElement* element, const char* port, const char* why, std::uint64_t bytes);
  /// The same, unless it is `forbidden`: then false, with an error posted that has the caps and the backend of `context`.
  [[nodiscard]] bool allow_copy(GstElement* element, const char* port, const char* why,
                                std::uint64_t bytes, bool forbidden, Report context = {});
  /// The next copy is announced again: for each pair of caps.
  void announce_again() noexcept { announced_ = false; }

  [[nodiscard]] std::uint64_t allocations() const noexcept {
    return allocations_.load(std::memory_order_relaxed);
  }
  /// `simaai-stats` with frames, bytes-in, bytes-out, copies, allocations (those counted here), p50-ns, p95-ns, p99-ns and max-ns. Transfer full.
  [[nodiscard]] GstStructure* structure() const;
  /// The same with conversions.
  [[nodiscard]] GstStructure* structure_with_conversions() const;
  /// Adds memory: of the last buffer that was noted, "none" before the first.
  void describe_memory(GstStructure* stats) const;

private:
  /// One writer: plain load and store, which readers on other threads see whole.
  static void add(std::atomic<std::uint64_t>& counter, std::uint64_t amount) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + amount, std::memory_order_relaxed);
  }

  std::atomic<std::uint64_t> frames_{0};
  std::atomic<std::uint64_t> bytes_in_{0};
  std::atomic<std::uint64_t> bytes_out_{0};
  std::atomic<std::uint64_t> copies_{0};
  std::atomic<std::uint64_t> conversions_{0};
  std::atomic<std::uint64_t> allocations_{0};
  std::atomic<const char*> memory_{nullptr};
  std::atomic<bool> announced_{false};
  LatencyHistogram processing_;
};

/// Installs the read-only property `stats`.
SIMAAI_GST_API void install_stats_property(GObjectClass* klass, guint id, const char* blurb);

} // namespace simaai::gst
