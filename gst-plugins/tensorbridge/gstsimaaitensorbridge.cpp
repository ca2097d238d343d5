// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitensorbridge: our caps and those of others for the same memory.
#include "gstsimaaitensorbridge.h"

#include "bridge_core.h"

struct _GstSimaaiTensorBridge {
  GstBaseTransform parent;
  simaai::gst::BridgeCore* core;
};

G_DEFINE_FINAL_TYPE(GstSimaaiTensorBridge, gst_simaai_tensor_bridge, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(simaaitensorbridge, "simaaitensorbridge", GST_RANK_NONE,
                            GST_TYPE_SIMAAI_TENSOR_BRIDGE)

namespace {

using namespace simaai::gst;

BridgeCore& core_of(gpointer bridge) noexcept { return *GST_SIMAAI_TENSOR_BRIDGE(bridge)->core; }

GstBaseTransformClass* base_class() noexcept {
  return GST_BASE_TRANSFORM_CLASS(gst_simaai_tensor_bridge_parent_class);
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_TENSOR_BRIDGE(object)->core;
  G_OBJECT_CLASS(gst_simaai_tensor_bridge_parent_class)->finalize(object);
}

enum Property : guint { PropStats = 1 };

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) noexcept {
  if (id == PropStats)
    g_value_take_boxed(value, core_of(object).stats());
  else
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

gboolean on_start(GstBaseTransform* trans) noexcept {
  core_of(trans).start();
  return TRUE;
}

gboolean on_stop(GstBaseTransform* trans) noexcept {
  core_of(trans).stop();
  return TRUE;
}

GstCaps* on_transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                           GstCaps* filter) noexcept {
  return core_of(trans).transform_caps(direction, caps, filter).release();
}

gboolean on_set_caps(GstBaseTransform* trans, GstCaps* sink_caps, GstCaps* src_caps) noexcept {
  return core_of(trans).set_caps(sink_caps, src_caps);
}

gboolean on_sink_event(GstBaseTransform* trans, GstEvent* event) noexcept {
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
    return base_class()->sink_event(trans, event);
  GstCaps* parsed = nullptr;
  gst_event_parse_caps(event, &parsed);
  const GstPtr<GstCaps> caps(gst_caps_ref(parsed));
  const gboolean taken = base_class()->sink_event(trans, event);
  if (!taken)
    core_of(trans).diagnose_refusal(caps.get());
  return taken;
}

GstPadProbeReturn watch_caps(GstPad* pad, GstPadProbeInfo* info, gpointer instance) noexcept {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && !GST_PAD_IS_FLUSHING(pad)) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    core_of(instance).look_at_caps(caps);
  }
  return GST_PAD_PROBE_OK;
}

/// Outputs are made of the memories of inputs: there is nothing to allocate.
gboolean on_decide_allocation(GstBaseTransform* /*trans*/, GstQuery* query) noexcept {
  while (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_remove_nth_allocation_pool(query, 0);
  return TRUE;
}

GstFlowReturn on_prepare_output_buffer(GstBaseTransform* trans, GstBuffer* input,
                                       GstBuffer** output) noexcept {
  return core_of(trans).convert(input, output);
}

GstFlowReturn on_transform(GstBaseTransform* /*trans*/, GstBuffer* /*input*/,
                           GstBuffer* /*output*/) noexcept {
  return GST_FLOW_OK; // the output is the input by another name
}

} // namespace

static void gst_simaai_tensor_bridge_class_init(GstSimaaiTensorBridgeClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->finalize = finalize;
  object_class->get_property = get_property;
  install_stats_property(
      object_class, PropStats,
      "Counters since the element was started: frames, bytes-in, bytes-out, copies and allocations "
      "(0, always), p50-ns, p95-ns, p99-ns and max-ns of the processing time (all uint64); memory "
      "(string) that passes");
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element_class, "Tensor caps bridge", "Converter/Tensor",
      "Lets linear tensors and sets pass to and from elements that spell tensors otherwise: "
      "other/tensors (nnstreamer, static) and flat tensor/strided. Copies nothing",
      "SimaKernels developers");
  for (const GstPadDirection direction : {GST_PAD_SINK, GST_PAD_SRC}) {
    auto caps = our_caps(direction == GST_PAD_SINK);
    gst_caps_append(caps.get(), their_caps().release());
    gst_element_class_add_pad_template(
        element_class, gst_pad_template_new(direction == GST_PAD_SINK ? "sink" : "src", direction,
                                            GST_PAD_ALWAYS, caps.get()));
  }
  auto* base = GST_BASE_TRANSFORM_CLASS(klass);
  base->start = on_start;
  base->stop = on_stop;
  base->transform_caps = on_transform_caps;
  base->set_caps = on_set_caps;
  base->sink_event = on_sink_event;
  base->decide_allocation = on_decide_allocation;
  base->prepare_output_buffer = on_prepare_output_buffer;
  base->transform = on_transform;
}

static void gst_simaai_tensor_bridge_init(GstSimaaiTensorBridge* self) {
  self->core = new simaai::gst::BridgeCore(GST_BASE_TRANSFORM(self));
  gst_base_transform_set_prefer_passthrough(GST_BASE_TRANSFORM(self), FALSE);
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(self), TRUE); // a GAP stays one
  gst_pad_add_probe(GST_BASE_TRANSFORM_SINK_PAD(self), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    watch_caps, self, nullptr);
}
