// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensormux: one set of the tensors that several pads have for the same time; memory is shared, not copied.
#include "gstsimaaitensormux.h"

#include "common/child_pads.h"
#include "common/errors.h"
#include "common/tensor_part.h"
#include "gstsimaaitensormuxpad.h"
#include "mux_core.h"

GST_DEBUG_CATEGORY_STATIC(gst_simaai_tensor_mux_debug);
#define GST_CAT_DEFAULT gst_simaai_tensor_mux_debug

struct _GstSimaaiTensorMux {
  GstAggregator parent;
  simaai::gst::MuxCore* core;
};

G_DEFINE_FINAL_TYPE_WITH_CODE(GstSimaaiTensorMux, gst_simaai_tensor_mux, GST_TYPE_AGGREGATOR,
                              G_IMPLEMENT_INTERFACE(GST_TYPE_CHILD_PROXY,
                                                    simaai::gst::init_child_pads<GST_PAD_SINK>))
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(simaaitensormux, "simaaitensormux", GST_RANK_NONE,
                                      GST_TYPE_SIMAAI_TENSOR_MUX,
                                      GST_DEBUG_CATEGORY_INIT(gst_simaai_tensor_mux_debug,
                                                              "simaaitensormux", 0,
                                                              "tensor multiplexer"))

namespace {

using namespace simaai::gst;

enum Property : guint { PropMatchTime = 1, PropRequireZeroCopy, PropStats };

MuxCore& core_of(gpointer mux) noexcept { return *GST_SIMAAI_TENSOR_MUX(mux)->core; }

GstAggregatorClass* base_class() noexcept {
  return GST_AGGREGATOR_CLASS(gst_simaai_tensor_mux_parent_class);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) noexcept {
  switch (id) {
  case PropMatchTime:
    core_of(object).set_match_time(g_value_get_boolean(value) != FALSE);
    return;
  case PropRequireZeroCopy:
    core_of(object).set_require_zero_copy(g_value_get_boolean(value) != FALSE);
    return;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) noexcept {
  switch (id) {
  case PropMatchTime:
    g_value_set_boolean(value, core_of(object).match_time());
    return;
  case PropRequireZeroCopy:
    g_value_set_boolean(value, core_of(object).require_zero_copy());
    return;
  case PropStats:
    g_value_take_boxed(value, core_of(object).stats());
    return;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

gboolean start(GstAggregator* mux) noexcept {
  core_of(mux).start();
  return TRUE;
}

gboolean stop(GstAggregator* mux) noexcept {
  core_of(mux).stop();
  return TRUE;
}

GstFlowReturn flush(GstAggregator* mux) noexcept {
  core_of(mux).flush();
  return GST_FLOW_OK;
}

gboolean sink_event(GstAggregator* mux, GstAggregatorPad* pad, GstEvent* event) noexcept {
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    const gboolean taken = core_of(mux).set_pad_caps(pad, caps);
    gst_event_unref(event);
    return taken;
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_SEGMENT) {
    GstSegment segment;
    gst_event_copy_segment(event, &segment);
    core_of(mux).set_pad_segment(pad, segment);
  }
  return base_class()->sink_event(mux, pad, event);
}

GstFlowReturn update_src_caps(GstAggregator* mux, GstCaps* allowed, GstCaps** caps) noexcept {
  GstPtr<GstCaps> made;
  const GstFlowReturn flow = core_of(mux).update_caps(allowed, made);
  *caps = made.release();
  return flow;
}

gboolean decide_allocation(GstAggregator* mux, GstQuery* query) noexcept {
  core_of(mux).decide_allocation(query);
  return TRUE;
}

gboolean propose_allocation(GstAggregator* mux, GstAggregatorPad* /*pad*/, GstQuery* /*decide*/,
                            GstQuery* query) noexcept {
  core_of(mux).propose_allocation(query);
  return TRUE;
}

GstFlowReturn aggregate(GstAggregator* mux, gboolean timeout) noexcept {
  return core_of(mux).aggregate(timeout != FALSE);
}

GstClockTime next_time(GstAggregator* mux) noexcept { return core_of(mux).next_time(); }

GstPad* request_new_pad(GstElement* element, GstPadTemplate* pad_template, const gchar* name,
                        const GstCaps* caps) noexcept {
  if (element->numsinkpads >= kMaxTensors) {
    // gst-launch gives up before it looks at messages: only the log reaches its user.
    constexpr const char* kReason =
        "there is no place for a 17th pad: expected at most 16, for a buffer merges its memories "
        "beyond that number";
    GST_ERROR_OBJECT(element, "%s", kReason);
    Report report;
    report.reason = kReason;
    post_warning(element, ErrorKind::Settings, report, nullptr);
    return nullptr;
  }
  GstPad* pad = GST_ELEMENT_CLASS(gst_simaai_tensor_mux_parent_class)
                    ->request_new_pad(element, pad_template, name, caps);
  if (pad != nullptr)
    gst_child_proxy_child_added(GST_CHILD_PROXY(element), G_OBJECT(pad), GST_OBJECT_NAME(pad));
  return pad;
}

void release_pad(GstElement* element, GstPad* pad) noexcept {
  const GstPtr<GstPad> kept(GST_PAD_CAST(gst_object_ref(pad)));
  gst_child_proxy_child_removed(GST_CHILD_PROXY(element), G_OBJECT(pad), GST_OBJECT_NAME(pad));
  GST_ELEMENT_CLASS(gst_simaai_tensor_mux_parent_class)->release_pad(element, pad);
  gst_pad_mark_reconfigure(GST_AGGREGATOR(element)->srcpad);
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_TENSOR_MUX(object)->core;
  G_OBJECT_CLASS(gst_simaai_tensor_mux_parent_class)->finalize(object);
}

void install_properties(GObjectClass* klass) {
  constexpr auto kFlags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      klass, PropMatchTime,
      g_param_spec_boolean("match-time", "Match time",
                           "Combine tensors of the same time: the slowest pad decides when there "
                           "is a set, buffers of others that have ended by then are dropped. "
                           "False: the n-th buffer of each pad, whatever their times",
                           TRUE, kFlags));
  g_object_class_install_property(
      klass, PropRequireZeroCopy,
      g_param_spec_boolean("require-zero-copy", "Require zero copy",
                           "Stop with an error where a tensor would have to be copied (its bytes "
                           "are spread over several memories) instead of copying it and counting "
                           "the copy in stats",
                           FALSE, kFlags));
  install_stats_property(
      klass, PropStats,
      "Counters since the element was started: frames (sets), bytes-in and bytes-out (of tensors "
      "in "
      "sets), bytes (the same), copies (of tensors), allocations (of those copies), p50-ns, "
      "p95-ns, "
      "p99-ns and max-ns of combining a set, without the wait for its tensors, dropped (buffers "
      "that were part of no set), gaps (sets that were missing because of a gap or a late pad), "
      "all "
      "uint64; memory (string) of the sets");
}

} // namespace

static void gst_simaai_tensor_mux_class_init(GstSimaaiTensorMuxClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->request_new_pad = request_new_pad;
  element_class->release_pad = release_pad;
  gst_element_class_set_static_metadata(
      element_class, "Tensor multiplexer", "Muxer/Tensor",
      "Combines tensors of several pads into sets, in the order of the pads or in that in which "
      "downstream names them (tensor-id), by time. Shares memory",
      "SimaKernels developers");
  auto inputs = any_tensor_caps();
  gst_caps_append(inputs.get(), any_set_caps().release());
  const auto sets = any_set_caps();
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new_with_gtype("sink_%u", GST_PAD_SINK, GST_PAD_REQUEST,
                                                     inputs.get(), GST_TYPE_SIMAAI_TENSOR_MUX_PAD));
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new_with_gtype("src", GST_PAD_SRC, GST_PAD_ALWAYS, sets.get(),
                                                     GST_TYPE_AGGREGATOR_PAD));
  auto* base = GST_AGGREGATOR_CLASS(klass);
  base->start = start;
  base->stop = stop;
  base->flush = flush;
  base->sink_event = sink_event;
  base->update_src_caps = update_src_caps;
  base->decide_allocation = decide_allocation;
  base->propose_allocation = propose_allocation;
  base->aggregate = aggregate;
  base->get_next_time = next_time;
}

static void gst_simaai_tensor_mux_init(GstSimaaiTensorMux* self) {
  self->core = new simaai::gst::MuxCore(GST_AGGREGATOR(self));
}
