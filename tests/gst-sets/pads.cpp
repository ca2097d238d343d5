// SPDX-License-Identifier: LGPL-2.1-or-later
// Pads without elements.
#include "pads.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace simaai::test {
namespace {

using gst::GstPtr;

constexpr std::chrono::seconds kPatience{10};

} // namespace

Collector::Collector(GstPad* source)
    : source_(GST_PAD_CAST(gst_object_ref(source))), pad_(gst_pad_new("collector", GST_PAD_SINK)) {
  gst_object_ref_sink(pad_);
  gst_pad_set_element_private(pad_, this);
  gst_pad_set_chain_function(pad_, chain);
  gst_pad_set_event_function(pad_, event);
  accept("ANY"); // a pad without a template would accept no other caps than the first
  gst_pad_set_active(pad_, TRUE);
  if (gst_pad_link(source, pad_) != GST_PAD_LINK_OK)
    g_error("pads cannot be linked");
}

Collector::~Collector() {
  gst_pad_set_active(pad_, FALSE);
  gst_pad_unlink(source_.get(), pad_);
  gst_object_unref(pad_);
}

GstFlowReturn Collector::chain(GstPad* pad, GstObject* /*parent*/, GstBuffer* buffer) {
  auto& self = *static_cast<Collector*>(gst_pad_get_element_private(pad));
  const std::lock_guard lock(self.mutex_);
  self.buffers_.emplace_back(buffer);
  self.changed_.notify_all();
  return self.answer_;
}

gboolean Collector::event(GstPad* pad, GstObject* /*parent*/, GstEvent* event) {
  auto& self = *static_cast<Collector*>(gst_pad_get_element_private(pad));
  const std::lock_guard lock(self.mutex_);
  self.events_.emplace_back(event);
  self.changed_.notify_all();
  return TRUE;
}

GstPtr<GstBuffer> Collector::next() {
  std::unique_lock lock(mutex_);
  if (!changed_.wait_for(lock, kPatience, [this] { return !buffers_.empty(); }))
    return nullptr;
  GstPtr<GstBuffer> buffer = std::move(buffers_.front());
  buffers_.erase(buffers_.begin());
  return buffer;
}

std::size_t Collector::waiting() const {
  const std::lock_guard lock(mutex_);
  return buffers_.size();
}

bool Collector::await_event(GstEventType type) const {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPatience, [this, type] {
    return std::any_of(events_.begin(), events_.end(),
                       [type](const auto& one) { return GST_EVENT_TYPE(one.get()) == type; });
  });
}

std::vector<GstEventType> Collector::events() const {
  const std::lock_guard lock(mutex_);
  std::vector<GstEventType> types;
  for (const auto& one : events_)
    types.push_back(GST_EVENT_TYPE(one.get()));
  return types;
}

std::vector<std::pair<GstClockTime, GstClockTime>> Collector::gaps() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::pair<GstClockTime, GstClockTime>> found;
  for (const auto& one : events_) {
    if (GST_EVENT_TYPE(one.get()) != GST_EVENT_GAP)
      continue;
    found.emplace_back();
    gst_event_parse_gap(one.get(), &found.back().first, &found.back().second);
  }
  return found;
}

std::string Collector::caps() const {
  const GstPtr<GstCaps> now(gst_pad_get_current_caps(pad_));
  if (now == nullptr)
    return {};
  const gst::GTextPtr text(gst_caps_to_string(now.get()));
  return text.get();
}

std::string Collector::stream_id() const {
  const gst::GTextPtr id(gst_pad_get_stream_id(pad_));
  return id ? id.get() : "";
}

guint Collector::group_id() const {
  guint id = 0;
  const GstPtr<GstEvent> start(gst_pad_get_sticky_event(pad_, GST_EVENT_STREAM_START, 0));
  if (start != nullptr)
    gst_event_parse_group_id(start.get(), &id);
  return id;
}

void Collector::accept(const std::string& caps) {
  const GstPtr<GstCaps> wanted(gst_caps_from_string(caps.c_str()));
  gst_pad_set_query_function_full(
      pad_,
      [](GstPad* pad, GstObject* parent, GstQuery* query) -> gboolean {
        auto* kept = static_cast<GstCaps*>(pad->querydata);
        if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
          gst_query_set_caps_result(query, kept);
          return TRUE;
        }
        if (GST_QUERY_TYPE(query) == GST_QUERY_ACCEPT_CAPS) {
          GstCaps* offered = nullptr;
          gst_query_parse_accept_caps(query, &offered);
          gst_query_set_accept_caps_result(query, gst_caps_can_intersect(offered, kept));
          return TRUE;
        }
        return gst_pad_query_default(pad, parent, query);
      },
      gst_caps_ref(wanted.get()),
      [](gpointer kept) { gst_caps_unref(static_cast<GstCaps*>(kept)); });
}

Feeder::Feeder(GstPad* sink, bool live)
    : sink_(GST_PAD_CAST(gst_object_ref(sink))), pad_(gst_pad_new("feeder", GST_PAD_SRC)),
      live_(live) {
  gst_object_ref_sink(pad_);
  gst_pad_set_element_private(pad_, this);
  gst_pad_set_query_function(pad_, query);
  gst_pad_set_active(pad_, TRUE);
  if (gst_pad_link(pad_, sink) != GST_PAD_LINK_OK)
    g_error("pads cannot be linked");
}

Feeder::~Feeder() {
  gst_pad_set_active(pad_, FALSE);
  gst_pad_unlink(pad_, sink_.get());
  gst_object_unref(pad_);
}

gboolean Feeder::query(GstPad* pad, GstObject* parent, GstQuery* query) {
  const auto& self = *static_cast<const Feeder*>(gst_pad_get_element_private(pad));
  if (GST_QUERY_TYPE(query) != GST_QUERY_LATENCY)
    return gst_pad_query_default(pad, parent, query);
  gst_query_set_latency(query, self.live_, 0, GST_CLOCK_TIME_NONE);
  return TRUE;
}

bool Feeder::start(const std::string& text, GstClockTime from) {
  gst_pad_push_event(pad_, gst_event_new_stream_start("feeder"));
  const bool taken = caps(text);
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  segment.start = from;
  segment.time = from;
  segment.position = from;
  gst_pad_push_event(pad_, gst_event_new_segment(&segment));
  return taken;
}

bool Feeder::caps(const std::string& text) {
  const GstPtr<GstCaps> parsed(gst_caps_from_string(text.c_str()));
  if (parsed == nullptr)
    g_error("not caps: %s", text.c_str());
  gst_pad_push_event(pad_, gst_event_new_caps(parsed.get()));
  const GstPtr<GstCaps> current(gst_pad_get_current_caps(sink_.get()));
  return current != nullptr && gst_caps_is_equal(current.get(), parsed.get());
}

bool Feeder::event(GstEvent* event) { return gst_pad_push_event(pad_, event) != FALSE; }

GstFlowReturn Feeder::push(GstPtr<GstBuffer> buffer) {
  return gst_pad_push(pad_, buffer.release());
}

GstFlowReturn Feeder::push(GstPtr<GstBuffer> buffer, GstClockTime pts, GstClockTime duration) {
  GST_BUFFER_PTS(buffer.get()) = pts;
  GST_BUFFER_DURATION(buffer.get()) = duration;
  return push(std::move(buffer));
}

} // namespace simaai::test
