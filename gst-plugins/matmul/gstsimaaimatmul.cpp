// SPDX-License-Identifier: LGPL-2.1-or-later
// GObject side of simaaimatmul: properties and trampolines into MatmulCore.
#include "gstsimaaimatmul.h"

#include <limits>

#include "common/meta_rule.h"
#include "common/pool_query.h"
#include "common/transform_trampolines.h"
#include "matmul_core.h"
#include "matrix_properties.h"
#include "port_caps.h"

GST_DEBUG_CATEGORY_STATIC(gst_simaai_matmul_debug);
#define GST_CAT_DEFAULT gst_simaai_matmul_debug

struct _GstSimaaiMatmul {
  GstBaseTransform parent;
  simaai::gst::MatmulCore* core;
};

#define gst_simaai_matmul_parent_class parent_class
G_DEFINE_FINAL_TYPE(GstSimaaiMatmul, gst_simaai_matmul, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(
    simaaimatmul, "simaaimatmul", GST_RANK_NONE, GST_TYPE_SIMAAI_MATMUL,
    GST_DEBUG_CATEGORY_INIT(gst_simaai_matmul_debug, "simaaimatmul", 0, "integer matrix product"))

namespace {

using namespace simaai::gst;

MatmulCore& core_of(gpointer object) noexcept { return *GST_SIMAAI_MATMUL(object)->core; }
using Forward = TransformTrampolines<core_of>;

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_MATMUL(object)->core;
  G_OBJECT_CLASS(gst_simaai_matmul_parent_class)->finalize(object);
}

GstBaseTransformClass* base_class() noexcept {
  return GST_BASE_TRANSFORM_CLASS(gst_simaai_matmul_parent_class);
}

GstCaps* on_transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                           GstCaps* filter) noexcept {
  return core_of(trans).transform_caps(direction, caps, filter).release();
}

gboolean on_decide_allocation(GstBaseTransform* trans, GstQuery* query) noexcept {
  return core_of(trans).decide_allocation(query);
}

GstFlowReturn on_prepare_output_buffer(GstBaseTransform* trans, GstBuffer* input,
                                       GstBuffer** output) noexcept {
  return prepare_pooled_output(base_class(), trans, input, output, core_of(trans).output_bytes());
}

gboolean on_transform_meta(GstBaseTransform* /*trans*/, GstBuffer* /*output*/, GstMeta* meta,
                           GstBuffer* /*input*/) noexcept {
  return meta_survives(meta->info);
}

gboolean on_sink_event(GstBaseTransform* trans, GstEvent* event) noexcept {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_FLUSH_START || type == GST_EVENT_FLUSH_STOP)
    set_pool_flushing(trans, type == GST_EVENT_FLUSH_START);
  if (type != GST_EVENT_CAPS)
    return base_class()->sink_event(trans, event);
  GstCaps* parsed = nullptr;
  gst_event_parse_caps(event, &parsed);
  const GstPtr<GstCaps> caps(gst_caps_ref(parsed));
  core_of(trans).begin_attempt();
  const gboolean taken = base_class()->sink_event(trans, event);
  if (!taken)
    core_of(trans).diagnose_refusal(caps.get());
  return taken;
}

GstFlowReturn on_submit_input_buffer(GstBaseTransform* trans, gboolean is_discont,
                                     GstBuffer* buffer) noexcept {
  MatmulCore& core = core_of(trans);
  if (!core.check_input(buffer)) {
    gst_buffer_unref(buffer);
    return GST_FLOW_ERROR;
  }
  const bool renegotiating = GST_PAD_NEEDS_RECONFIGURE(GST_BASE_TRANSFORM_SRC_PAD(trans));
  core.begin_attempt();
  const GstFlowReturn flow = base_class()->submit_input_buffer(trans, is_discont, buffer);
  if (!renegotiating || flow != GST_FLOW_NOT_NEGOTIATED)
    return flow;
  const GstPtr<GstCaps> caps(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans)));
  if (caps)
    core.diagnose_refusal(caps.get());
  return flow;
}

GstFlowReturn on_transform(GstBaseTransform* trans, GstBuffer* input, GstBuffer* output) noexcept {
  return core_of(trans).transform(input, output);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) noexcept {
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    set_pool_flushing(GST_BASE_TRANSFORM(element), true);
  return GST_ELEMENT_CLASS(gst_simaai_matmul_parent_class)->change_state(element, transition);
}

void install_properties(GObjectClass* klass) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      klass, MatmulCore::PropWeights,
      g_param_spec_string("weights", "Weights",
                          "TGMX file with an R x C matrix; the last axis of the input is C, that "
                          "of the output R. Read when the element starts",
                          "", flags));
  g_object_class_install_property(
      klass, MatmulCore::PropMultiplier,
      g_param_spec_int(
          "multiplier", "Multiplier",
          "Rescale of each sum to int8: (sum * multiplier + half) >> shift, saturated, "
          "a half upwards. 0: not set, the output is the int32 sums",
          G_MININT, G_MAXINT, 0, flags));
  g_object_class_install_property(klass, MatmulCore::PropShift,
                                  g_param_spec_uint("shift", "Shift", "Right shift of the rescale",
                                                    0, simaai::kernels::matrix::Requant::kMaxShift,
                                                    0, flags));
  g_object_class_install_property(
      klass, MatmulCore::PropChannelPadding,
      g_param_spec_int("int8-channel-padding", "Channel padding of int8",
                       "Raw byte (-128 to 127) that fills the channel padding of a tiled output "
                       "with channel-storage pad16; -129: not set",
                       MatmulCore::kPaddingUnset, std::numeric_limits<std::int8_t>::max(),
                       MatmulCore::kPaddingUnset, flags));
  install_zero_copy_property(klass, MatmulCore::PropRequireZeroCopy);
  install_matrix_stats_property(klass, MatmulCore::PropStats);
  install_pool_limits(klass, MatmulCore::PropMinBuffers, MatmulCore::PropMaxBuffers);
}

void add_templates(GstElementClass* klass) {
  const auto sink = any_layout_caps();
  auto source = output_layout_caps(simaai::kernels::DType::Int8, true, true);
  source.reset(gst_caps_merge(
      source.release(), output_layout_caps(simaai::kernels::DType::Int32, false, true).release()));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink.get()));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, source.get()));
}

} // namespace

static void gst_simaai_matmul_class_init(GstSimaaiMatmulClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = Forward::set_property;
  object_class->get_property = Forward::get_property;
  object_class->finalize = finalize;
  install_properties(object_class);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = change_state;
  gst_element_class_set_static_metadata(
      element_class, "Tensor matrix product", "Filter/Tensor",
      "Multiplies the last axis of int8 tensors of any layout by an int8 matrix, exactly, with an "
      "optional rescale to int8",
      "SimaKernels developers");
  add_templates(element_class);

  auto* base = GST_BASE_TRANSFORM_CLASS(klass);
  base->start = Forward::start;
  base->stop = Forward::stop;
  base->transform_caps = on_transform_caps;
  base->fixate_caps = Forward::fixate_caps;
  base->set_caps = Forward::set_caps;
  base->transform_size = Forward::transform_size;
  base->decide_allocation = on_decide_allocation;
  base->prepare_output_buffer = on_prepare_output_buffer;
  base->transform_meta = on_transform_meta;
  base->sink_event = on_sink_event;
  base->submit_input_buffer = on_submit_input_buffer;
  base->transform = on_transform;
}

static void gst_simaai_matmul_init(GstSimaaiMatmul* self) {
  auto* trans = GST_BASE_TRANSFORM(self);
  self->core = new simaai::gst::MatmulCore(trans);
  self->core->watch(GST_BASE_TRANSFORM_SINK_PAD(trans));
  gst_base_transform_set_prefer_passthrough(trans, FALSE);
  gst_base_transform_set_qos_enabled(trans, TRUE);
  gst_base_transform_set_gap_aware(trans, TRUE); // a GAP stays one
}
