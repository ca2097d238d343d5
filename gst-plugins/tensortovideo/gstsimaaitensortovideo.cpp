// SPDX-License-Identifier: LGPL-2.1-or-later
// GObject side of simaaitensortovideo: trampolines from GstBaseTransform.
#include "gstsimaaitensortovideo.h"

#include "tensor_to_video.h"
#include "videototensor/bridge_meta.h"
#include "videototensor/bridge_settings.h"
#include "videototensor/pool_query.h"

GST_DEBUG_CATEGORY_STATIC(gst_simaai_tensor_to_video_debug);
#define GST_CAT_DEFAULT gst_simaai_tensor_to_video_debug

struct _GstSimaaiTensorToVideo {
  GstBaseTransform parent;
  simaai::gst::TensorToVideo* core;
};

#define gst_simaai_tensor_to_video_parent_class parent_class
G_DEFINE_FINAL_TYPE(GstSimaaiTensorToVideo, gst_simaai_tensor_to_video, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(simaaitensortovideo, "simaaitensortovideo", GST_RANK_NONE,
                                      GST_TYPE_SIMAAI_TENSOR_TO_VIDEO,
                                      GST_DEBUG_CATEGORY_INIT(gst_simaai_tensor_to_video_debug,
                                                              "simaaitensortovideo", 0,
                                                              "tensors to raw video"))

namespace {

using namespace simaai::gst;

GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE(
    "sink", GST_PAD_SINK, GST_PAD_ALWAYS,
    GST_STATIC_CAPS("application/vnd.simaai.tensor, dtype = (string) { float32, float16, bfloat16, "
                    "int8, uint8 }, layout = (string) { contiguous, strided }"));
GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS,
                            GST_STATIC_CAPS(GST_VIDEO_CAPS_MAKE(SIMAAI_PICTURE_FORMATS)));

constexpr BridgePropertyTexts kTexts{
    "Mean to add after the division by scale: one number, or one a channel in memory order, as "
    "simaaivideototensor had it. Values are binary32",
    "Divisor of the elements, not 0: one number, or one a channel in memory order, as "
    "simaaivideototensor had it. Values are binary32",
    "Step of int8 elements where the caps do not say it: value = quant-scale * (code - "
    "quant-zero-point)",
    "Code of the value 0 in int8 elements where the caps do not say it",
    "Axes of the tensor behind the batch axis. auto takes what the shape allows, and hwc or the "
    "order of the video format it came from where it allows both",
    "Fail instead of copying where a uint8 tensor cannot be passed on as a picture",
};

TensorToVideo& core_of(gpointer object) noexcept {
  return *GST_SIMAAI_TENSOR_TO_VIDEO(object)->core;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) noexcept {
  bool known = false;
  {
    const ObjectLock lock(object);
    known = set_bridge_property(core_of(object).settings, id, value);
  }
  if (!known) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) noexcept {
  if (id == PropBridgeStats) {
    g_value_take_boxed(value, core_of(object).stats.structure());
    return;
  }
  bool known = false;
  {
    const ObjectLock lock(object);
    known = get_bridge_property(core_of(object).settings, id, value);
  }
  if (!known) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

GstCaps* transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                        GstCaps* filter) noexcept {
  GstPtr<GstCaps> ours = core_of(trans).transform_caps(direction, caps);
  if (filter == nullptr)
    return ours.release();
  return gst_caps_intersect_full(filter, ours.get(), GST_CAPS_INTERSECT_FIRST);
}

GstCaps* fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                     GstCaps* othercaps) noexcept {
  if (direction == GST_PAD_SRC)
    return gst_caps_fixate(othercaps);
  return core_of(trans).choose(caps, GstPtr<GstCaps>(othercaps)).release();
}

gboolean set_caps(GstBaseTransform* trans, GstCaps* incaps, GstCaps* outcaps) noexcept {
  return core_of(trans).set_caps(incaps, outcaps) ? TRUE : FALSE;
}

/// Only asked by default implementations that are replaced here.
gboolean transform_size(GstBaseTransform* trans, GstPadDirection direction, GstCaps*, gsize,
                        GstCaps*, gsize* othersize) noexcept {
  const TensorToVideo& core = core_of(trans);
  *othersize =
      static_cast<gsize>(direction == GST_PAD_SINK ? core.video_bytes() : core.tensor_bytes());
  return TRUE;
}

gboolean start(GstBaseTransform* trans) noexcept {
  core_of(trans).stats.reset();
  return TRUE;
}

gboolean stop(GstBaseTransform* trans) noexcept {
  core_of(trans).stop();
  return TRUE;
}

/// The pad may refuse caps before sink_event() sees them: what is wrong with them as such is said here.
GstPadProbeReturn look_at_event(GstPad* pad, GstPadProbeInfo* probe, gpointer trans) noexcept {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(probe);
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && !GST_PAD_IS_FLUSHING(pad)) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    core_of(trans).begin_caps(caps);
  }
  return GST_PAD_PROBE_OK;
}

gboolean sink_event(GstBaseTransform* trans, GstEvent* event) noexcept {
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START ||
      GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP)
    set_pool_flushing(trans, GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_START);
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
    return GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(trans, event);
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  const GstPtr<GstCaps> kept(gst_caps_ref(caps));
  const gboolean handled = GST_BASE_TRANSFORM_CLASS(parent_class)->sink_event(trans, event);
  if (handled == FALSE && !GST_PAD_IS_FLUSHING(GST_BASE_TRANSFORM_SINK_PAD(trans)))
    core_of(trans).explain_refusal(kept.get());
  return handled;
}

gboolean decide_allocation(GstBaseTransform* trans, GstQuery* query) noexcept {
  return core_of(trans).decide_allocation(query) ? TRUE : FALSE;
}

GstFlowReturn submit_input_buffer(GstBaseTransform* trans, gboolean is_discont,
                                  GstBuffer* input) noexcept {
  const GstFlowReturn flow =
      GST_BASE_TRANSFORM_CLASS(parent_class)->submit_input_buffer(trans, is_discont, input);
  if (flow == GST_FLOW_NOT_NEGOTIATED) {
    const GstPtr<GstCaps> caps(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans)));
    if (caps != nullptr)
      core_of(trans).explain_refusal(caps.get());
  }
  return flow;
}

GstFlowReturn prepare_output_buffer(GstBaseTransform* trans, GstBuffer* input,
                                    GstBuffer** output) noexcept {
  return core_of(trans).prepare_output(input, output);
}

GstFlowReturn transform(GstBaseTransform* trans, GstBuffer* input, GstBuffer* output) noexcept {
  return core_of(trans).fill(input, output);
}

gboolean transform_meta(GstBaseTransform*, GstBuffer*, GstMeta* meta, GstBuffer*) noexcept {
  return meta_survives(meta->info) ? TRUE : FALSE;
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) noexcept {
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    set_pool_flushing(GST_BASE_TRANSFORM(element), true);
  return GST_ELEMENT_CLASS(parent_class)->change_state(element, transition);
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_TENSOR_TO_VIDEO(object)->core;
  G_OBJECT_CLASS(parent_class)->finalize(object);
}

} // namespace

static void gst_simaai_tensor_to_video_class_init(GstSimaaiTensorToVideoClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_bridge_properties(object_class, kTexts);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  gst_element_class_add_static_pad_template(element_class, &src_template);
  gst_element_class_set_static_metadata(
      element_class, "Tensor to video", "Filter/Converter/Tensor/Video",
      "Makes raw video of tensors <1,H,W,C> and <1,C,H,W>: uint8 without a copy, others as element "
      "/ scale + mean, rounded and clamped to 0..255",
      "SimaKernels");

  element_class->change_state = change_state;

  auto* base_class = GST_BASE_TRANSFORM_CLASS(klass);
  base_class->transform_caps = transform_caps;
  base_class->fixate_caps = fixate_caps;
  base_class->set_caps = set_caps;
  base_class->transform_size = transform_size;
  base_class->start = start;
  base_class->stop = stop;
  base_class->sink_event = sink_event;
  base_class->decide_allocation = decide_allocation;
  base_class->submit_input_buffer = submit_input_buffer;
  base_class->prepare_output_buffer = prepare_output_buffer;
  base_class->transform = transform;
  base_class->transform_meta = transform_meta;
  base_class->passthrough_on_same_caps = FALSE;
}

static void gst_simaai_tensor_to_video_init(GstSimaaiTensorToVideo* self) {
  self->core = new TensorToVideo(GST_BASE_TRANSFORM(self));
  gst_pad_add_probe(GST_BASE_TRANSFORM_SINK_PAD(self), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    look_at_event, self, nullptr);
  gst_base_transform_set_prefer_passthrough(GST_BASE_TRANSFORM(self), FALSE);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}
