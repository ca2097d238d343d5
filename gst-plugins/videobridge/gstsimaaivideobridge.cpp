// SPDX-License-Identifier: LGPL-2.1-or-later
// GObject side of the video elements: short trampolines into VideoBridge.
#include "gstsimaaivideobridge.h"

#include "common/meta_rule.h"
#include "common/pool_query.h"

struct GstSimaaiVideoBridgePrivate {
  simaai::gst::VideoBridge* bridge;
};

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(GstSimaaiVideoBridge, gst_simaai_video_bridge,
                                    GST_TYPE_BASE_TRANSFORM)

namespace {

using namespace simaai::gst;

GstSimaaiVideoBridgePrivate& private_of(gpointer instance) noexcept {
  return *static_cast<GstSimaaiVideoBridgePrivate*>(
      gst_simaai_video_bridge_get_instance_private(static_cast<GstSimaaiVideoBridge*>(instance)));
}

VideoBridge& bridge_of(gpointer instance) noexcept { return *private_of(instance).bridge; }

GstBaseTransformClass* base_class() noexcept {
  return GST_BASE_TRANSFORM_CLASS(gst_simaai_video_bridge_parent_class);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) noexcept {
  bool known = false;
  {
    const ObjectLock lock(object);
    known = set_bridge_property(bridge_of(object).settings, id, value);
  }
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) noexcept {
  if (id == PropBridgeStats) {
    g_value_take_boxed(value, bridge_of(object).stats());
    return;
  }
  bool known = false;
  {
    const ObjectLock lock(object);
    known = get_bridge_property(bridge_of(object).settings, id, value);
  }
  if (!known)
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
}

GstCaps* on_transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                           GstCaps* filter) noexcept {
  GstPtr<GstCaps> ours = bridge_of(trans).transform_caps(direction, caps);
  if (filter == nullptr)
    return ours.release();
  return gst_caps_intersect_full(filter, ours.get(), GST_CAPS_INTERSECT_FIRST);
}

GstCaps* on_fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                        GstCaps* other_caps) noexcept {
  if (direction == GST_PAD_SRC)
    return gst_caps_fixate(other_caps);
  return bridge_of(trans).choose(caps, GstPtr<GstCaps>(other_caps)).release();
}

gboolean on_set_caps(GstBaseTransform* trans, GstCaps* sink_caps, GstCaps* src_caps) noexcept {
  return bridge_of(trans).set_caps(sink_caps, src_caps);
}

/// Only asked by default implementations that are replaced here.
gboolean on_transform_size(GstBaseTransform* trans, GstPadDirection direction, GstCaps* /*caps*/,
                           gsize /*size*/, GstCaps* /*other_caps*/, gsize* other_size) noexcept {
  const auto bytes = bridge_of(trans).other_size(direction);
  *other_size = static_cast<gsize>(bytes.value_or(0));
  return bytes.has_value();
}

gboolean start(GstBaseTransform* trans) noexcept { return bridge_of(trans).start(); }

gboolean stop(GstBaseTransform* trans) noexcept {
  bridge_of(trans).stop();
  return TRUE;
}

/// The pad may refuse caps before on_sink_event() sees them: what is wrong with them as such is said
/// here.
GstPadProbeReturn look_at_event(GstPad* pad, GstPadProbeInfo* probe, gpointer trans) noexcept {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(probe);
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && !GST_PAD_IS_FLUSHING(pad)) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    bridge_of(trans).begin_caps(caps);
  }
  return GST_PAD_PROBE_OK;
}

gboolean on_sink_event(GstBaseTransform* trans, GstEvent* event) noexcept {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_FLUSH_START || type == GST_EVENT_FLUSH_STOP)
    set_pool_flushing(trans, type == GST_EVENT_FLUSH_START);
  if (type != GST_EVENT_CAPS)
    return base_class()->sink_event(trans, event);
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  const GstPtr<GstCaps> kept(gst_caps_ref(caps));
  const gboolean handled = base_class()->sink_event(trans, event);
  if (handled == FALSE && !GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SINK_PAD(trans)))
    bridge_of(trans).explain_refusal(kept.get());
  return handled;
}

gboolean on_propose_allocation(GstBaseTransform* trans, GstQuery* decide_query,
                               GstQuery* query) noexcept {
  if (base_class()->propose_allocation(trans, decide_query, query) == FALSE)
    return FALSE;
  bridge_of(trans).propose_allocation(query);
  return TRUE;
}

gboolean on_decide_allocation(GstBaseTransform* trans, GstQuery* query) noexcept {
  return bridge_of(trans).decide_allocation(query);
}

GstFlowReturn on_submit_input_buffer(GstBaseTransform* trans, gboolean is_discont,
                                     GstBuffer* input) noexcept {
  bridge_of(trans).look_at(input);
  const GstFlowReturn flow = base_class()->submit_input_buffer(trans, is_discont, input);
  if (flow == GST_FLOW_NOT_NEGOTIATED) {
    const GstPtr<GstCaps> caps(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans)));
    if (caps != nullptr)
      bridge_of(trans).explain_refusal(caps.get());
  }
  return flow;
}

GstFlowReturn on_prepare_output_buffer(GstBaseTransform* trans, GstBuffer* input,
                                       GstBuffer** output) noexcept {
  return bridge_of(trans).prepare_output(input, output);
}

GstFlowReturn on_transform(GstBaseTransform* trans, GstBuffer* input, GstBuffer* output) noexcept {
  return bridge_of(trans).fill(input, output);
}

gboolean on_transform_meta(GstBaseTransform* /*trans*/, GstBuffer* /*output*/, GstMeta* meta,
                           GstBuffer* /*input*/) noexcept {
  return meta_survives(meta->info);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) noexcept {
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    set_pool_flushing(GST_BASE_TRANSFORM(element), true);
  return GST_ELEMENT_CLASS(gst_simaai_video_bridge_parent_class)->change_state(element, transition);
}

void constructed(GObject* object) noexcept {
  auto* klass =
      G_TYPE_INSTANCE_GET_CLASS(object, GST_TYPE_SIMAAI_VIDEO_BRIDGE, GstSimaaiVideoBridgeClass);
  private_of(object).bridge = klass->factory(GST_BASE_TRANSFORM(object)).release();
  G_OBJECT_CLASS(gst_simaai_video_bridge_parent_class)->constructed(object);
  gst_pad_add_probe(GST_BASE_TRANSFORM_SINK_PAD(object), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    look_at_event, object, nullptr);
}

void finalize(GObject* object) noexcept {
  delete private_of(object).bridge;
  G_OBJECT_CLASS(gst_simaai_video_bridge_parent_class)->finalize(object);
}

void add_template(GstElementClass* klass, GstPadDirection direction, const char* text) {
  const GstPtr<GstCaps> caps(gst_caps_from_string(text));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new(direction == GST_PAD_SINK ? GST_BASE_TRANSFORM_SINK_NAME
                                                            : GST_BASE_TRANSFORM_SRC_NAME,
                                  direction, GST_PAD_ALWAYS, caps.get()));
}

} // namespace

namespace simaai::gst {

void configure_bridge(GstSimaaiVideoBridgeClass* klass, const BridgeDescription& description) {
  klass->factory = description.factory;
  // GObject clears both in every class that installs properties of its own.
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, description.long_name,
                                        description.classification, description.description,
                                        "SimaKernels developers");
  add_template(element_class, GST_PAD_SINK, description.sink_caps);
  add_template(element_class, GST_PAD_SRC, description.src_caps);
  install_bridge_properties(object_class, description.properties);
}

} // namespace simaai::gst

static void gst_simaai_video_bridge_init(GstSimaaiVideoBridge* self) {
  // The class pointer of the instance is the abstract one until the subclass is initialised; the
  // bridge is made in constructed().
  gst_base_transform_set_prefer_passthrough(GST_BASE_TRANSFORM(self), FALSE);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
  gst_base_transform_set_gap_aware(GST_BASE_TRANSFORM(self), TRUE); // a GAP stays one
}

static void gst_simaai_video_bridge_class_init(GstSimaaiVideoBridgeClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->constructed = constructed;
  object_class->finalize = finalize;
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
  auto* base = GST_BASE_TRANSFORM_CLASS(klass);
  base->transform_caps = on_transform_caps;
  base->fixate_caps = on_fixate_caps;
  base->set_caps = on_set_caps;
  base->transform_size = on_transform_size;
  base->start = start;
  base->stop = stop;
  base->sink_event = on_sink_event;
  base->propose_allocation = on_propose_allocation;
  base->decide_allocation = on_decide_allocation;
  base->submit_input_buffer = on_submit_input_buffer;
  base->prepare_output_buffer = on_prepare_output_buffer;
  base->transform = on_transform;
  base->transform_meta = on_transform_meta;
  base->passthrough_on_same_caps = FALSE;
}
