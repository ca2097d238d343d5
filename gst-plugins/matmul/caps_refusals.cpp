// SPDX-License-Identifier: LGPL-2.1-or-later
// Errors of negotiation.
#include "caps_refusals.h"

#include <utility>

#include "common/caps_spec.h"
#include "common/errors.h"
#include "common/negotiation.h"
#include "common/same_caps.h"

namespace simaai::gst {
namespace {

GstPtr<GstCaps> copied(const GstCaps* caps) {
  return GstPtr<GstCaps>(caps != nullptr ? gst_caps_copy(caps) : nullptr);
}

} // namespace

void CapsRefusals::watch(GstPad* sink) {
  gst_pad_add_probe(sink, GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM, on_event, this, nullptr);
}

GstPadProbeReturn CapsRefusals::on_event(GstPad* pad, GstPadProbeInfo* info,
                                         gpointer refusals) noexcept {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS || GST_PAD_IS_FLUSHING(pad))
    return GST_PAD_PROBE_OK;
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  const GstPtr<GstCaps> accepted(gst_pad_get_pad_template_caps(pad));
  if (!gst_caps_can_intersect(caps, accepted.get()))
    static_cast<CapsRefusals*>(refusals)->report(
        "these sink caps do not suit the element: " +
            explain_mismatch(accepted.get(), caps, "found", "accepted"),
        caps, nullptr);
  return GST_PAD_PROBE_OK;
}

void CapsRefusals::clear() {
  reason_.clear();
  sink_caps_.reset();
  src_caps_.reset();
}

void CapsRefusals::report(std::string reason, const GstCaps* sink_caps, const GstCaps* src_caps) {
  reported_ = true;
  if (reason == reason_ && same_caps(sink_caps_.get(), sink_caps) &&
      same_caps(src_caps_.get(), src_caps))
    return;
  reason_ = reason;
  sink_caps_ = copied(sink_caps);
  src_caps_ = copied(src_caps);
  Report report;
  report.reason = std::move(reason);
  report.sink_caps = sink_caps;
  report.src_caps = src_caps;
  post_error(element_, ErrorKind::Negotiation, report);
}

void CapsRefusals::explain(GstPad* src, const GstCaps* sink_caps, const GstCaps* ours) {
  if (reported_ || GST_PAD_IS_FLUSHING(src) || GST_PAD_IS_EOS(src))
    return;
  const auto parsed = parse_tensor(*sink_caps);
  if (const auto* refused = std::get_if<CapsError>(&parsed)) {
    report("sink caps: " + refused->reason, sink_caps, nullptr);
    return;
  }
  const GstPtr<GstCaps> theirs(gst_pad_peer_query_caps(src, nullptr));
  const GTextPtr offered(gst_caps_to_string(ours));
  report(std::string("downstream takes none of what this element produces: ") + offered.get(),
         sink_caps, theirs.get());
}

} // namespace simaai::gst
