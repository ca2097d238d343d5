// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of TransformCore that keeps several jobs in flight: buffers that take off, events among them, latency.
#include <algorithm>
#include <utility>

#include "transform_core.h"

namespace simaai::gst {
namespace {

/// A latency is announced with so much to spare, and anew only where that was not enough: each announcement makes the
/// whole pipeline ask again.
constexpr std::uint64_t kLeastStepNs = 1'000'000;

/// Events that change what buffers mean, or end them: everything before them is pushed first.
bool drains(GstEventType type) noexcept {
  return type == GST_EVENT_EOS || type == GST_EVENT_CAPS || type == GST_EVENT_SEGMENT ||
         type == GST_EVENT_STREAM_START;
}

} // namespace

bool TransformCore::is_asynchronous() const noexcept {
  return device_ && async_depth_ > 1 &&
         GST_PAD_MODE(GST_BASE_TRANSFORM_SRC_PAD(element_)) == GST_PAD_MODE_PUSH;
}

GstFlowReturn TransformCore::take_off(GstPtr<GstBuffer> input) {
  const GstClockTime came = gst_util_get_timestamp();
  GstFlowReturn flow = flights_.reserve(async_depth_);
  if (flow != GST_FLOW_OK)
    return flow;
  const std::uint64_t held = gst_util_get_timestamp() - came;
  GstBuffer* made = nullptr;
  flow =
      GST_BASE_TRANSFORM_GET_CLASS(element_)->prepare_output_buffer(element_, input.get(), &made);
  GstPtr<GstBuffer> output(made);
  if (flow != GST_FLOW_OK || !output)
    return flow == GST_FLOW_OK ? GST_FLOW_ERROR : flow;
  if (!fit_output(output.get()))
    return GST_FLOW_ERROR;
  // The base class marks what it pushes itself only.
  if (std::exchange(gap_, false))
    GST_BUFFER_FLAG_SET(output.get(), GST_BUFFER_FLAG_DISCONT);
  Flight flight;
  flight.held_ns = held;
  flow = launch(input.get(), output.get(), runtime::AfterSubmit::Anything, flight);
  if (flow == GST_FLOW_OK)
    flights_.add(std::move(flight), std::move(input), std::move(output));
  return flow;
}

bool TransformCore::queue_event(GstEvent* event) {
  const GstEventType type = GST_EVENT_TYPE(event);
  const bool is_serialized = (gst_event_type_get_flags(type) & GST_EVENT_TYPE_SERIALIZED) != 0;
  if (!is_serialized || type == GST_EVENT_FLUSH_STOP)
    return false;
  if (!drains(type))
    return flights_.add_event(event);
  const GstFlowReturn flow = flights_.drain();
  // Upstream learns of a failed push from the next buffer; at the end there is none.
  if (type == GST_EVENT_EOS && (flow == GST_FLOW_NOT_LINKED || flow < GST_FLOW_EOS))
    GST_ELEMENT_FLOW_ERROR(element_, flow);
  if (type == GST_EVENT_SEGMENT || type == GST_EVENT_STREAM_START)
    flights_.forgive();
  return false;
}

void TransformCore::remember_frame_time(const GstCaps& src_caps) {
  int numerator = 0;
  int denominator = 0;
  const GstStructure* fields = gst_caps_get_structure(&src_caps, 0);
  const bool known = is_asynchronous() &&
                     gst_structure_get_fraction(fields, "framerate", &numerator, &denominator) &&
                     numerator > 0;
  held_ns_.store(
      known ? async_depth_ * gst_util_uint64_scale_int(GST_SECOND, denominator, numerator) : 0,
      std::memory_order_relaxed);
}

void TransformCore::announce_latency(std::uint64_t taken_ns) {
  if (!is_asynchronous() || taken_ns <= latency_ns_.load(std::memory_order_relaxed))
    return;
  latency_ns_.store(taken_ns + std::max(taken_ns / 4, kLeastStepNs), std::memory_order_relaxed);
  (void)gst_element_post_message(element(), gst_message_new_latency(GST_OBJECT_CAST(element_)));
}

void TransformCore::add_latency(GstQuery* query) const {
  gboolean live = FALSE;
  GstClockTime least = 0;
  GstClockTime most = GST_CLOCK_TIME_NONE;
  gst_query_parse_latency(query, &live, &least, &most);
  const std::uint64_t taken = latency_ns_.load(std::memory_order_relaxed);
  const std::uint64_t kept = held_ns_.load(std::memory_order_relaxed);
  least += taken;
  if (GST_CLOCK_TIME_IS_VALID(most))
    most += std::max(taken, kept);
  gst_query_set_latency(query, live, least, most);
}

} // namespace simaai::gst
