// SPDX-License-Identifier: LGPL-2.1-or-later
// Errors, statistics and the frame of negotiation of the video elements.
#include "video_bridge.h"

#include <algorithm>
#include <utility>

#include "common/fd_memory.h"
#include "common/pool_query.h"

namespace simaai::gst {

BridgeSettings VideoBridge::settings_copy() const {
  const ObjectLock lock(element_);
  return settings;
}

GstStructure* VideoBridge::stats() const {
  GstStructure* stats = stats_.structure_with_conversions();
  outputs_.describe(stats);
  gst_structure_set(stats, "allocations", G_TYPE_UINT64,
                    guint64{outputs_.allocations() + stats_.allocations()}, nullptr);
  return stats;
}

bool VideoBridge::start() {
  Report report;
  report.reason = settings_copy().pool.problem();
  if (!report.reason.empty()) {
    post_error(GST_ELEMENT_CAST(element_), ErrorKind::Settings, report);
    return false;
  }
  stats_.reset();
  outputs_.start();
  allocator_ = shared_fd_allocator();
  makes_dma_bufs_.store(gives_dma_bufs(allocator_.get()), std::memory_order_release);
  return true;
}

void VideoBridge::stop() {
  refused_caps_.reset();
  taken_sink_caps_.reset();
  taken_src_caps_.reset();
  room_ = {};
  outputs_.stop();
  allocator_.reset();
  makes_dma_bufs_.store(true, std::memory_order_release);
}

void VideoBridge::report_once(std::string reason, const GstCaps* sink_caps,
                              const GstCaps* src_caps) {
  if (std::exchange(reported_, true))
    return;
  Report report;
  report.reason = std::move(reason);
  report.sink_caps = sink_caps;
  report.src_caps = src_caps;
  post_error(GST_ELEMENT_CAST(element_), ErrorKind::Negotiation, report);
}

bool VideoBridge::set_caps(const GstCaps* sink_caps, const GstCaps* src_caps) {
  const BridgeSettings now = settings_copy();
  if (auto refused = negotiate(sink_caps, src_caps, now)) {
    // GstBaseTransform goes on with the caps before, if they come again, without setting them.
    if (taken_sink_caps_)
      (void)negotiate(taken_sink_caps_.get(), taken_src_caps_.get(), now);
    report_once(*std::move(refused), sink_caps, src_caps);
    return false;
  }
  taken_sink_caps_.reset(gst_caps_copy(sink_caps));
  taken_src_caps_.reset(gst_caps_copy(src_caps));
  require_zero_copy_ = now.require_zero_copy;
  stats_.announce_again();
  return true;
}

void VideoBridge::begin_caps(const GstCaps* sink_caps) {
  // Refused caps are sent again with the next buffer: one error is enough.
  const bool again =
      refused_caps_ != nullptr && gst_caps_is_equal(refused_caps_.get(), sink_caps) != FALSE;
  reported_ = reported_ && again;
  refused_caps_.reset(gst_caps_copy(sink_caps));
  if (auto refused = refuse_sink(sink_caps))
    report_once(*std::move(refused), sink_caps, nullptr);
}

void VideoBridge::explain_refusal(const GstCaps* sink_caps) {
  if (reported_)
    return;
  if (auto refused = refuse_sink(sink_caps)) {
    report_once(*std::move(refused), sink_caps, nullptr);
    return;
  }
  const GstPtr<GstCaps> ours = transform_caps(GST_PAD_SINK, sink_caps);
  const GstPtr<GstCaps> wanted(
      gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SRC_PAD(element_), nullptr));
  if (auto refused = refuse_choice(sink_caps, wanted.get())) {
    report_once(*std::move(refused), sink_caps, wanted.get());
    return;
  }
  const GTextPtr text(gst_caps_to_string(wanted.get()));
  report_once(std::string("no ") + offer_name() + " is accepted downstream, which accepts " +
                  text.get() + offer_remark(),
              sink_caps, ours.get());
}

GstFlowReturn VideoBridge::fail(ErrorKind kind, std::string reason,
                                std::optional<std::uint64_t> needed,
                                std::optional<std::uint64_t> found) {
  const GstPtr<GstCaps> sink(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(element_)));
  const GstPtr<GstCaps> src(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SRC_PAD(element_)));
  Report report;
  report.reason = std::move(reason);
  report.sink_caps = sink.get();
  report.src_caps = src.get();
  report.needed_bytes = needed;
  report.found_bytes = found;
  post_error(GST_ELEMENT_CAST(element_), kind, report);
  return GST_FLOW_ERROR;
}

void VideoBridge::copy_metadata(GstBuffer* input, GstBuffer* output) const {
  GST_BASE_TRANSFORM_GET_CLASS(element_)->copy_metadata(element_, input, output);
}

bool VideoBridge::decide_allocation(GstQuery* query) {
  const char* option = read_allocation(query);
  const auto bytes = static_cast<guint>(std::min<std::uint64_t>(output_bytes(), G_MAXUINT));
  if (!negotiate_pool(query, bytes, settings_copy().pool, option))
    return false;
  outputs_.remember(query);
  return true;
}

void VideoBridge::mark_copy(const char* why) {
  copy_ = true;
  stats_.note_copy(GST_ELEMENT_CAST(element_), "input", why, output_bytes());
}

bool VideoBridge::allow_spread(std::uint64_t bytes, bool converts) {
  const GstPtr<GstCaps> sink(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(element_)));
  Report context;
  context.sink_caps = sink.get();
  copy_ = !converts;
  return stats_.allow_copy(GST_ELEMENT_CAST(element_), "input",
                           "its bytes are spread over several memories", bytes, require_zero_copy_,
                           std::move(context));
}

std::span<std::uint8_t> VideoBridge::room(std::size_t bytes) {
  if (room_.size() < bytes) {
    room_.resize(bytes);
    stats_.count_allocation();
  }
  return std::span(room_).first(bytes);
}

GstFlowReturn VideoBridge::allocate_output(GstBuffer* input, const char* what, GstBuffer** output) {
  const std::uint64_t bytes = output_bytes();
  const GstFlowReturn flow = acquire_output(element_, bytes, output);
  if (flow == GST_FLOW_ERROR || (flow == GST_FLOW_OK && *output == nullptr)) {
    post_no_output(GST_ELEMENT_CAST(element_), bytes);
    return GST_FLOW_ERROR;
  }
  if (flow != GST_FLOW_OK)
    return flow;
  if (gst_buffer_get_size(*output) < bytes)
    return fail(ErrorKind::Resource,
                std::string("the buffer of the pool is too short for a ") + what, bytes,
                gst_buffer_get_size(*output));
  copy_metadata(input, *output);
  return GST_FLOW_OK;
}

GstFlowReturn VideoBridge::prepare_output(GstBuffer* input, GstBuffer** output) {
  started_ = gst_util_get_timestamp();
  view_ = false;
  copy_ = false;
  return make_output(input, output);
}

GstFlowReturn VideoBridge::fill(GstBuffer* input, GstBuffer* output) {
  if (!view_ && !convert(input, output))
    return fail(ErrorKind::Resource, "cannot map the buffers");
  if (!view_ && !copy_)
    stats_.count_conversion();
  stats_.count_frame(gst_buffer_get_size(input), gst_buffer_get_size(output),
                     gst_util_get_timestamp() - started_);
  return GST_FLOW_OK;
}

} // namespace simaai::gst
