// SPDX-License-Identifier: LGPL-2.1-or-later
// Ordinary C++ behind simaaitensormux: which buffers belong together, the caps of the set, the set itself.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gst/base/gstaggregator.h>
#include <gst/gst.h>

#include "common/caps_spec.h"
#include "common/element_stats.h"
#include "common/gst_ptr.h"

namespace simaai::gst {

struct MuxInput;

template <> struct GstRelease<GstAggregatorPad> {
  void operator()(GstAggregatorPad* pad) const noexcept { gst_object_unref(pad); }
};

/// State of one mux. Bound to the thread that aggregates, except where a member says otherwise; settings are atomics, and so
/// are counters, with one writer.
class MuxCore {
public:
  explicit MuxCore(GstAggregator* mux) noexcept : mux_(mux) {}

  // Properties; any thread.
  void set_match_time(bool match);
  [[nodiscard]] bool match_time() const;
  void set_require_zero_copy(bool required);
  [[nodiscard]] bool require_zero_copy() const;
  [[nodiscard]] GstStructure* stats() const;

  void start();
  void stop();
  /// After a flush of everything.
  void flush();

  /// Caps of a pad. False, with an error posted, where they are refused.
  [[nodiscard]] bool set_pad_caps(GstAggregatorPad* pad, GstCaps* caps);
  void set_pad_segment(GstAggregatorPad* pad, const GstSegment& segment);
  /// Caps of the set, null where a pad has none yet. `allowed` is what downstream takes.
  [[nodiscard]] GstFlowReturn update_caps(const GstCaps* allowed, GstPtr<GstCaps>& caps);
  /// Passes on which memory downstream needs.
  void propose_allocation(GstQuery* query);
  /// What downstream said about the sets: upstream asks again where that is news.
  void decide_allocation(GstQuery* query);
  /// One step: a set, a gap, or nothing yet.
  [[nodiscard]] GstFlowReturn aggregate(bool timeout);
  /// Running time of the oldest buffer that waits. Any thread.
  [[nodiscard]] GstClockTime next_time() const;

private:
  /// The buffer at the head of a pad, and the time for which it holds.
  struct Head {
    GstPtr<GstAggregatorPad> pad;
    GstPtr<GstBuffer> buffer;                 ///< null: none yet
    GstClockTime time = GST_CLOCK_TIME_NONE;  ///< running time
    GstClockTime start = GST_CLOCK_TIME_NONE; ///< running time, where times are matched; NONE: any
    GstClockTime end = GST_CLOCK_TIME_NONE;   ///< running time; NONE: not known
    GstClockTime hold = GST_CLOCK_TIME_NONE;  ///< for how much running time; NONE: not known
    GstClockTime slack = 0; ///< what `end` may be too late by: times and durations are rounded
    bool is_gap = false;
    bool is_outside = false; ///< of its segment
  };
  struct Heads {
    std::array<Head, kMaxTensors> all;
    std::size_t count = 0;
    Head* begin() noexcept { return all.data(); }
    Head* end() noexcept { return all.data() + count; }
  };

  static void set_span(Head& head, const MuxInput& input);
  [[nodiscard]] static Head head_of(GstPtr<GstAggregatorPad> pad, bool match_time);
  [[nodiscard]] Heads heads(bool match_time) const;
  static void take(Head& head);
  [[nodiscard]] std::optional<GstFlowReturn> check_heads(Heads& now, bool timeout);
  [[nodiscard]] bool drop_early(Heads& now, GstClockTime at);
  [[nodiscard]] GstFlowReturn give_up(Heads& now);
  [[nodiscard]] GstFlowReturn push_gap(Heads& now, GstClockTime at);
  [[nodiscard]] GstFlowReturn push_set(Heads& now, GstClockTime at);
  [[nodiscard]] static const Head* first_timed(Heads& now);
  static void stamp(GstBuffer* set, Heads& now, GstClockTime at, GstSegment& segment);
  [[nodiscard]] bool append_tensors(GstBuffer* set, Heads& now, std::uint64_t& bytes);
  [[nodiscard]] GstPtr<GstMemory> tensor_memory(const Head& head, std::size_t tensor);
  void send_gap(GstClockTime at, GstClockTime duration);
  void arrange(const GstCaps* allowed, const std::vector<GstStructure*>& tensors);
  void fail(std::string reason, const GstCaps* sink_caps, bool is_data = false,
            std::optional<std::uint64_t> needed = {}, std::optional<std::uint64_t> found = {});

  GstAggregator* const mux_;
  std::atomic<bool> match_time_{true};
  std::atomic<bool> require_zero_copy_{false};
  std::vector<std::size_t>
      order_;          ///< tensor of the inputs, one behind the other, at each place of the set
  bool began_ = false; ///< a set was pushed
  GstPtr<GstAllocator> proposed_; ///< to upstream, at last
  ElementStats stats_;
  std::atomic<std::uint64_t> dropped_{0};
  std::atomic<std::uint64_t> gaps_{0};
};

} // namespace simaai::gst
