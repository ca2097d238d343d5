// SPDX-License-Identifier: LGPL-2.1-or-later
// GstHarness with its bus.
#include "harness.h"

#include <gtest/gtest.h>

namespace simaai::test {

ElementHarness::ElementHarness(const char* factory, const std::vector<Setting>& settings)
    : bus_(gst_bus_new()) {
  const GstPtr<GstElement> element(
      GST_ELEMENT(gst_object_ref_sink(gst_element_factory_make(factory, nullptr))));
  for (const auto& [name, value] : settings)
    gst_util_set_object_arg(G_OBJECT(element.get()), name, value.c_str());
  gst_element_set_bus(element.get(), bus_.get());
  harness_ = gst_harness_new_with_element(element.get(), "sink", "src");
}

ElementHarness::~ElementHarness() {
  gst_element_set_bus(harness_->element, nullptr);
  gst_harness_teardown(harness_);
}

void ElementHarness::accept(const std::string& caps) {
  gst_harness_set_sink_caps_str(harness_, caps.c_str());
}

bool ElementHarness::push_caps(const std::string& caps) {
  gst_harness_push_event(harness_, gst_event_new_stream_start("test"));
  const GstPtr<GstCaps> parsed(gst_caps_from_string(caps.c_str()));
  gst_harness_push_event(harness_, gst_event_new_caps(parsed.get()));
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness_, gst_event_new_segment(&segment));
  // Pushing a sticky event always succeeds; the peer keeps the caps only where it took them.
  const GstPtr<GstPad> peer(gst_pad_get_peer(harness_->srcpad));
  const GstPtr<GstCaps> kept(gst_pad_get_current_caps(peer.get()));
  return kept != nullptr && gst_caps_is_equal(kept.get(), parsed.get()) != FALSE;
}

GstFlowReturn ElementHarness::push(GstPtr<GstBuffer> buffer) {
  return gst_harness_push(harness_, buffer.release());
}

GstPtr<GstBuffer> ElementHarness::pull() {
  return GstPtr<GstBuffer>(gst_harness_try_pull(harness_));
}

GstPtr<GstCaps> ElementHarness::caps() const {
  return GstPtr<GstCaps>(gst_pad_get_current_caps(harness_->sinkpad));
}

unsigned ElementHarness::caps_events() {
  while (GstEvent* event = gst_harness_try_pull_event(harness_)) {
    caps_events_ += GST_EVENT_TYPE(event) == GST_EVENT_CAPS ? 1 : 0;
    gst_event_unref(event);
  }
  return caps_events_;
}

std::string ElementHarness::error() {
  const GstPtr<GstMessage> message(gst_bus_pop_filtered(bus_.get(), GST_MESSAGE_ERROR));
  if (message == nullptr)
    return {};
  GError* error = nullptr;
  gst_message_parse_error(message.get(), &error, nullptr);
  std::string text = error->message;
  g_error_free(error);
  return text;
}

guint64 ElementHarness::stat(const char* field) const {
  GstStructure* stats = nullptr;
  g_object_get(harness_->element, "stats", &stats, nullptr);
  guint64 value = G_MAXUINT64;
  EXPECT_TRUE(gst_structure_get_uint64(stats, field, &value)) << field;
  gst_structure_free(stats);
  return value;
}

} // namespace simaai::test
