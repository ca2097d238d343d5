// SPDX-License-Identifier: LGPL-2.1-or-later
// Where the time of jobs went: waiting for the processor, on it, on the way back; and the times of the last one.
#pragma once

#include <cstdint>
#include <mutex>

#include <gst/gst.h>

#include <simaai/runtime/device.h>

#include "latency_histogram.h"

namespace simaai::gst {

/// One thread records; any thread may read at any time.
class JobStatistics {
public:
  /// A buffer's last job.
  struct Last {
    GstClockTime pts = GST_CLOCK_TIME_NONE;
    runtime::JobTimes times;
  };

  void record(GstClockTime pts, const runtime::JobTimes& times) noexcept {
    // A device that does not say when it worked adds nothing to the parts.
    if (times.started_ns != 0 && times.done_ns >= times.started_ns) {
      queued_.record(difference(times.submitted_ns, times.started_ns));
      device_.record(times.done_ns - times.started_ns);
      return_.record(difference(times.done_ns, times.retired_ns));
    }
    const std::lock_guard lock(mutex_);
    last_ = {pts, times};
  }
  /// Only while no thread records.
  void reset() noexcept {
    queued_.reset();
    device_.reset();
    return_.reset();
    const std::lock_guard lock(mutex_);
    last_ = {};
  }

  [[nodiscard]] Last last() const noexcept {
    const std::lock_guard lock(mutex_);
    return last_;
  }
  [[nodiscard]] const LatencyHistogram& queued() const noexcept { return queued_; }
  [[nodiscard]] const LatencyHistogram& device() const noexcept { return device_; }
  [[nodiscard]] const LatencyHistogram& way_back() const noexcept { return return_; }

private:
  static constexpr std::uint64_t difference(std::uint64_t from, std::uint64_t to) noexcept {
    return to > from ? to - from : 0;
  }

  LatencyHistogram queued_;  ///< submitted to started
  LatencyHistogram device_;  ///< started to done
  LatencyHistogram return_;  ///< done to retired
  mutable std::mutex mutex_; ///< last_
  Last last_;
};

} // namespace simaai::gst
