// SPDX-License-Identifier: LGPL-2.1-or-later
// One element between two pads, for tests.
#include "element_harness.h"

#include <algorithm>

namespace simaai::test {

using gst::GstPtr;

ElementHarness::ElementHarness(const char* factory,
                               const std::vector<std::pair<const char*, const char*>>& properties)
    : harness_(nullptr), bus_(gst_bus_new()) {
  GstElement* made = gst_element_factory_make(factory, nullptr);
  if (made == nullptr)
    g_error("element %s cannot be created", factory);
  gst_object_ref_sink(made);
  for (const auto& [name, value] : properties)
    gst_util_set_object_arg(G_OBJECT(made), name, value);
  gst_element_set_bus(made, bus_.get());
  harness_ = gst_harness_new_with_element(made, "sink", "src");
  gst_object_unref(made);
}

ElementHarness::~ElementHarness() {
  gst_element_set_bus(element(), nullptr);
  gst_harness_teardown(harness_);
}

void ElementHarness::accept_downstream(const char* caps) {
  gst_harness_set_sink_caps_str(harness_, caps);
}

bool ElementHarness::send_caps(const std::string& text) {
  if (!started_) {
    gst_harness_play(harness_);
    started_ = true;
    gst_harness_push_event(harness_, gst_event_new_stream_start("test"));
  }
  const GstPtr<GstCaps> caps(gst_caps_from_string(text.c_str()));
  if (!caps)
    g_error("not caps: %s", text.c_str());
  // Pushing a sticky event says nothing about the peer; caps that it took are current there.
  gst_harness_push_event(harness_, gst_event_new_caps(caps.get()));
  const GstPtr<GstPad> sink(gst_pad_get_peer(harness_->srcpad));
  const GstPtr<GstCaps> current(gst_pad_get_current_caps(sink.get()));
  const bool taken = current && gst_caps_is_equal(current.get(), caps.get());
  GstSegment segment;
  gst_segment_init(&segment, GST_FORMAT_TIME);
  gst_harness_push_event(harness_, gst_event_new_segment(&segment));
  return taken;
}

std::string ElementHarness::output_caps() const {
  const GstPtr<GstCaps> caps(gst_pad_get_current_caps(harness_->sinkpad));
  if (!caps)
    return {};
  const gst::GTextPtr text(gst_caps_to_string(caps.get()));
  return text.get();
}

GstFlowReturn ElementHarness::push(const Bytes& bytes) { return push(buffer_of(bytes)); }

GstFlowReturn ElementHarness::push(GstPtr<GstBuffer> buffer) {
  return gst_harness_push(harness_, buffer.release());
}

GstPtr<GstBuffer> ElementHarness::pull_buffer() {
  return GstPtr<GstBuffer>(gst_harness_try_pull(harness_));
}

Bytes ElementHarness::pull() {
  const auto buffer = pull_buffer();
  return buffer ? bytes_of(buffer.get()) : Bytes{};
}

std::vector<GstPtr<GstMessage>> ElementHarness::take_messages() {
  std::vector<GstPtr<GstMessage>> messages;
  while (GstMessage* message = gst_bus_pop(bus_.get()))
    messages.emplace_back(message);
  return messages;
}

std::vector<std::string> ElementHarness::take_errors() {
  std::vector<std::string> errors;
  for (const auto& message : take_messages())
    if (GST_MESSAGE_TYPE(message.get()) == GST_MESSAGE_ERROR)
      errors.push_back(error_text(message.get()));
  return errors;
}

std::uint64_t ElementHarness::stat(const char* field) const {
  GstStructure* raw = nullptr;
  g_object_get(element(), "stats", &raw, nullptr);
  const GstPtr<GstStructure> stats(raw);
  guint64 value = 0;
  if (!gst_structure_get_uint64(stats.get(), field, &value))
    g_error("stats has no uint64 field %s", field);
  return value;
}

GstPtr<GstBuffer> buffer_of(const Bytes& bytes, std::size_t offset) {
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = 63;
  GstPtr<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, bytes.size() + offset, &params));
  gst_buffer_fill(buffer.get(), offset, bytes.data(), bytes.size());
  if (offset != 0)
    gst_buffer_resize(buffer.get(), static_cast<gssize>(offset), static_cast<gssize>(bytes.size()));
  return buffer;
}

Bytes bytes_of(GstBuffer* buffer) {
  Bytes bytes(gst_buffer_get_size(buffer));
  if (!bytes.empty())
    gst_buffer_extract(buffer, 0, bytes.data(), bytes.size());
  return bytes;
}

std::string error_text(GstMessage* message) {
  GError* raw = nullptr;
  gst_message_parse_error(message, &raw, nullptr);
  const GstPtr<GError> error(raw);
  return error->message;
}

bool mentions(const std::string& text, const std::vector<std::string>& parts) {
  return std::all_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return text.find(part) != std::string::npos; });
}

} // namespace simaai::test
