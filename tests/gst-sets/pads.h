// SPDX-License-Identifier: LGPL-2.1-or-later
// Pads of tests: what an element with many pads is fed by, and what it feeds.
#pragma once

#include <condition_variable>
#include <mutex>
#include <string>
#include <vector>

#include <gst/gst.h>

#include "common/gst_ptr.h"
#include "gst/element_harness.h"

namespace simaai::test {

/// A sink pad that keeps everything. Its element lives longer.
class Collector {
public:
  explicit Collector(GstPad* source);
  ~Collector();
  Collector(const Collector&) = delete;
  Collector& operator=(const Collector&) = delete;

  /// The oldest buffer that was not taken; waits up to ten seconds where there is none, and null then.
  gst::GstPtr<GstBuffer> next();
  /// Buffers that wait.
  [[nodiscard]] std::size_t waiting() const;
  /// Until an event of this type came; false after ten seconds.
  [[nodiscard]] bool await_event(GstEventType type) const;
  [[nodiscard]] std::vector<GstEventType> events() const;
  /// Starts and durations of GAP events.
  [[nodiscard]] std::vector<std::pair<GstClockTime, GstClockTime>> gaps() const;
  [[nodiscard]] std::string caps() const;
  [[nodiscard]] std::string stream_id() const;
  [[nodiscard]] guint group_id() const;
  void answer(GstFlowReturn flow) { answer_ = flow; }
  /// Caps that a query finds here.
  void accept(const std::string& caps);

private:
  static GstFlowReturn chain(GstPad* pad, GstObject* parent, GstBuffer* buffer);
  static gboolean event(GstPad* pad, GstObject* parent, GstEvent* event);

  gst::GstPtr<GstPad> source_;
  GstPad* pad_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<gst::GstPtr<GstBuffer>> buffers_;
  std::vector<gst::GstPtr<GstEvent>> events_;
  GstFlowReturn answer_ = GST_FLOW_OK;
};

/// A source pad that feeds a sink pad of an element. Not live unless told so.
class Feeder {
public:
  explicit Feeder(GstPad* sink, bool live = false);
  ~Feeder();
  Feeder(const Feeder&) = delete;
  Feeder& operator=(const Feeder&) = delete;

  /// stream-start, caps and a segment of time that begins there.
  bool start(const std::string& caps, GstClockTime from = 0);
  bool caps(const std::string& caps);
  bool event(GstEvent* event);
  GstFlowReturn push(gst::GstPtr<GstBuffer> buffer);
  GstFlowReturn push(gst::GstPtr<GstBuffer> buffer, GstClockTime pts,
                     GstClockTime duration = GST_CLOCK_TIME_NONE);

private:
  static gboolean query(GstPad* pad, GstObject* parent, GstQuery* query);

  gst::GstPtr<GstPad> sink_;
  GstPad* pad_;
  bool live_;
};

} // namespace simaai::test
