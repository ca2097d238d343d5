// SPDX-License-Identifier: LGPL-2.1-or-later
// Errors, statistics and the frame of negotiation of the video elements.
#include "video_bridge.h"

#include <utility>

#include "common/fd_memory.h"

namespace simaai::gst {

BridgeSettings VideoBridge::settings_copy() const {
  const ObjectLock lock(element_);
  return settings;
}

void VideoBridge::start() {
  allocator_ = shared_fd_allocator();
  makes_dma_bufs_.store(gives_dma_bufs(allocator_.get()), std::memory_order_release);
}

void VideoBridge::stop() {
  refused_caps_.reset();
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
    report_once(*std::move(refused), sink_caps, src_caps);
    return false;
  }
  require_zero_copy_ = now.require_zero_copy;
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

GstFlowReturn VideoBridge::prepare_output(GstBuffer* input, GstBuffer** output) {
  started_ = gst_util_get_timestamp();
  view_ = false;
  return make_output(input, output);
}

GstFlowReturn VideoBridge::fill(GstBuffer* input, GstBuffer* output) {
  if (!view_ && !convert(input, output))
    return fail(ErrorKind::Resource, "cannot map the buffers");
  if (!view_)
    stats.count_pass();
  stats.count_frame(gst_buffer_get_size(input), gst_buffer_get_size(output),
                    gst_util_get_timestamp() - started_);
  return GST_FLOW_OK;
}

} // namespace simaai::gst
