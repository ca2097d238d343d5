// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensordemux: a source pad for each tensor of a set; memory is shared, never copied.
#include "gstsimaaitensordemux.h"

#include "common/child_pads.h"
#include "common/tensor_part.h"
#include "demux_core.h"
#include "gstsimaaitensordemuxpad.h"

struct _GstSimaaiTensorDemux {
  GstElement parent;
  GstPad* sink;
  simaai::gst::DemuxCore* core;
};

G_DEFINE_FINAL_TYPE_WITH_CODE(GstSimaaiTensorDemux, gst_simaai_tensor_demux, GST_TYPE_ELEMENT,
                              G_IMPLEMENT_INTERFACE(GST_TYPE_CHILD_PROXY,
                                                    simaai::gst::init_child_pads<GST_PAD_SRC>))
GST_ELEMENT_REGISTER_DEFINE(simaaitensordemux, "simaaitensordemux", GST_RANK_NONE,
                            GST_TYPE_SIMAAI_TENSOR_DEMUX)

namespace {

using namespace simaai::gst;

DemuxCore& core_of(gpointer element) noexcept { return *GST_SIMAAI_TENSOR_DEMUX(element)->core; }

enum Property : guint { PropStats = 1 };

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) noexcept {
  if (id == PropStats)
    g_value_take_boxed(value, core_of(object).stats());
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

GstFlowReturn chain(GstPad* /*pad*/, GstObject* parent, GstBuffer* buffer) noexcept {
  return core_of(parent).chain(GstPtr<GstBuffer>(buffer));
}

gboolean sink_event(GstPad* /*pad*/, GstObject* parent, GstEvent* event) noexcept {
  return core_of(parent).handle_event(event);
}

gboolean sink_query(GstPad* pad, GstObject* parent, GstQuery* query) noexcept {
  if (GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION)
    return core_of(parent).propose_allocation(query);
  return gst_pad_query_default(pad, parent, query);
}

GstPad* request_new_pad(GstElement* element, GstPadTemplate* pad_template, const gchar* name,
                        const GstCaps* /*caps*/) noexcept {
  GstPad* pad = core_of(element).add_requested(pad_template, name);
  if (pad != nullptr)
    gst_child_proxy_child_added(GST_CHILD_PROXY(element), G_OBJECT(pad), GST_OBJECT_NAME(pad));
  return pad;
}

void release_pad(GstElement* element, GstPad* pad) noexcept {
  const GstPtr<GstPad> kept(GST_PAD_CAST(gst_object_ref(pad)));
  core_of(element).release(pad);
  gst_child_proxy_child_removed(GST_CHILD_PROXY(element), G_OBJECT(pad), GST_OBJECT_NAME(pad));
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) noexcept {
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED)
    core_of(element).start();
  const GstStateChangeReturn changed =
      GST_ELEMENT_CLASS(gst_simaai_tensor_demux_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    core_of(element).stop();
  return changed;
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_TENSOR_DEMUX(object)->core;
  G_OBJECT_CLASS(gst_simaai_tensor_demux_parent_class)->finalize(object);
}

} // namespace

static void gst_simaai_tensor_demux_class_init(GstSimaaiTensorDemuxClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->finalize = finalize;
  object_class->get_property = get_property;
  install_stats_property(
      object_class, PropStats,
      "Counters since the element was started: frames (sets), bytes-in (of sets), bytes-out (of "
      "tensors, on all pads), copies and allocations (0, always), p50-ns, p95-ns, p99-ns and "
      "max-ns "
      "of splitting a set, without what pads do with the tensors (all uint64); memory (string) of "
      "the sets");
  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = change_state;
  element_class->request_new_pad = request_new_pad;
  element_class->release_pad = release_pad;
  gst_element_class_set_static_metadata(
      element_class, "Tensor demultiplexer", "Demuxer/Tensor",
      "Splits sets of tensors: a pad for each tensor, by position (src_0, src_1, ...) or as "
      "requested (tensor_0, ...: by its properties position or tensor-id). Shares memory",
      "SimaKernels developers");
  const auto sets = any_set_caps();
  const auto tensors = any_tensor_caps();
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sets.get()));
  gst_element_class_add_pad_template(
      element_class,
      gst_pad_template_new_with_gtype("src_%u", GST_PAD_SRC, GST_PAD_SOMETIMES, tensors.get(),
                                      GST_TYPE_SIMAAI_TENSOR_DEMUX_PAD));
  gst_element_class_add_pad_template(
      element_class,
      gst_pad_template_new_with_gtype("tensor_%u", GST_PAD_SRC, GST_PAD_REQUEST, tensors.get(),
                                      GST_TYPE_SIMAAI_TENSOR_DEMUX_PAD));
}

static void gst_simaai_tensor_demux_init(GstSimaaiTensorDemux* self) {
  GstPadTemplate* sink = gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), "sink");
  self->sink = gst_pad_new_from_template(sink, "sink");
  gst_pad_set_chain_function(self->sink, chain);
  gst_pad_set_event_function(self->sink, sink_event);
  gst_pad_set_query_function(self->sink, sink_query);
  gst_element_add_pad(GST_ELEMENT_CAST(self), self->sink);
  self->core = new simaai::gst::DemuxCore(GST_ELEMENT_CAST(self), self->sink);
}
