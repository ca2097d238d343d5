// SPDX-License-Identifier: LGPL-2.1-or-later
// Jobs in flight and the task on the source pad that pushes what they produce, in order, as soon as it is there.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include <gst/gst.h>

#include <simaai/runtime/device.h>

#include "gst_ptr.h"

namespace simaai::gst {

/// The job of one tensor.
struct FlightLeg {
  runtime::Job job; ///< an empty one: there is nothing to wait for
  GstPtr<GstMemory>
      staged_destination;  ///< where the output buffer itself cannot be given to the device
  runtime::JobTimes times; ///< when the job has ended
};

/// Jobs that were submitted for a pair of buffers, which belong to somebody else: one for each tensor.
struct Flight {
  GstBuffer* input = nullptr;
  GstBuffer* output = nullptr;
  FlightLeg first;
  std::vector<FlightLeg> others; ///< of the further tensors of a set
  std::size_t settled = 0;       ///< legs whose jobs have ended and were given back
  std::uint64_t begun_ns = 0;    ///< CLOCK_MONOTONIC
  std::uint64_t held_ns =
      0; ///< that it waited for a place among the jobs in flight, or on the device

  [[nodiscard]] FlightLeg& leg(std::size_t slot) noexcept {
    return slot == 0 ? first : others[slot - 1];
  }
};

/// A queue between the streaming thread, which adds, and the task, which waits for jobs and pushes. Buffers and events
/// leave in the order in which they came.
///
/// mutex_ protects every member but pad_ and owner_; it is never held across a push, a wait for a job or the release of
/// what a job kept. The stream lock of the source pad is the task's while it waits.
class AsyncOutput {
public:
  /// Who knows what a job is worth.
  class Owner {
  public:
    Owner() = default;
    virtual ~Owner() = default;
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    /// Waits for the jobs and completes the output. Called by the task.
    virtual GstFlowReturn land(Flight& flight) noexcept = 0;
  };

  AsyncOutput(GstPad* source_pad, Owner& owner) noexcept : pad_(source_pad), owner_(owner) {}

  // The streaming thread.
  /// Waits until fewer than `depth` buffers are on their way. Not GST_FLOW_OK: what the task met.
  [[nodiscard]] GstFlowReturn reserve(std::size_t depth) noexcept;
  /// Both buffers are those of the flight.
  void add(Flight flight, GstPtr<GstBuffer> input, GstPtr<GstBuffer> output);
  /// False, and nothing is taken, where no buffer is on its way: the caller pushes it himself.
  [[nodiscard]] bool add_event(GstEvent* event);
  /// Waits until everything has been pushed. What the task met since forgive().
  GstFlowReturn drain() noexcept;
  /// After a new segment or stream downstream may want buffers again.
  void forgive() noexcept;

  // Any thread.
  /// Ends every wait, until called with false, which also forgets what is queued: only while the task does not run.
  void set_flushing(bool flushing) noexcept;
  /// Waits for the task to leave its function. Call set_flushing(true) before, and make the push return.
  void pause() noexcept;
  /// The same for good, and forgets what is queued.
  void stop() noexcept;
  [[nodiscard]] std::size_t in_flight() const noexcept;

private:
  /// A buffer, or an event where there is one.
  struct Item {
    GstPtr<GstEvent> event;
    GstPtr<GstBuffer> input;
    GstPtr<GstBuffer> output;
    Flight flight; // after the buffers: the job goes first
  };
  using Lock = std::unique_lock<std::mutex>;

  static void run(gpointer self) noexcept { static_cast<AsyncOutput*>(self)->step(); }
  void step() noexcept;
  [[nodiscard]] GstFlowReturn deliver(Item& item) noexcept;
  [[nodiscard]] std::vector<Item> take_all() noexcept;

  GstPad* const pad_;
  Owner& owner_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Item> items_; ///< oldest first; few, so that taking the first is cheap
  std::size_t buffers_ = 0; ///< queued or being delivered
  bool delivering_ = false;
  bool flushing_ = true;
  bool running_ = false; ///< the task was started
  GstFlowReturn flow_ = GST_FLOW_OK;
};

} // namespace simaai::gst
