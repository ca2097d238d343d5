// SPDX-License-Identifier: LGPL-2.1-or-later
// GObject side of simaaimatmul: properties and trampolines into MatmulCore.
#include "gstsimaaimatmul.h"

#include <limits>
#include <string_view>

#include "matmul_core.h"
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

enum Property : guint { PropWeights = 1, PropMultiplier, PropShift, PropChannelPadding };

constexpr int kPaddingUnset = std::numeric_limits<std::int8_t>::min() - 1;

MatmulCore& core_of(gpointer object) noexcept { return *GST_SIMAAI_MATMUL(object)->core; }

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) noexcept {
  const ObjectLock lock(object);
  MatmulSettings& settings = core_of(object).settings();
  switch (id) {
  case PropWeights: {
    const char* name = g_value_get_string(value);
    settings.weights = name != nullptr ? name : "";
    break;
  }
  case PropMultiplier:
    settings.multiplier = g_value_get_int(value);
    break;
  case PropShift:
    settings.shift = g_value_get_uint(value);
    break;
  case PropChannelPadding: {
    const int padding = g_value_get_int(value);
    settings.fill =
        padding == kPaddingUnset ? std::nullopt : std::optional(static_cast<std::int8_t>(padding));
    break;
  }
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) noexcept {
  const ObjectLock lock(object);
  const MatmulSettings& settings = core_of(object).settings();
  switch (id) {
  case PropWeights:
    g_value_set_string(value, settings.weights.c_str());
    break;
  case PropMultiplier:
    g_value_set_int(value, settings.multiplier);
    break;
  case PropShift:
    g_value_set_uint(value, settings.shift);
    break;
  case PropChannelPadding:
    g_value_set_int(value, settings.fill ? int{*settings.fill} : kPaddingUnset);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_MATMUL(object)->core;
  G_OBJECT_CLASS(gst_simaai_matmul_parent_class)->finalize(object);
}

GstBaseTransformClass* base_class() noexcept {
  return GST_BASE_TRANSFORM_CLASS(gst_simaai_matmul_parent_class);
}

gboolean start(GstBaseTransform* trans) noexcept { return core_of(trans).start(); }

gboolean stop(GstBaseTransform* trans) noexcept {
  core_of(trans).stop();
  return TRUE;
}

GstCaps* on_transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                           GstCaps* filter) noexcept {
  return core_of(trans).transform_caps(direction, caps, filter).release();
}

GstCaps* on_fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                        GstCaps* other_caps) noexcept {
  if (direction != GST_PAD_SINK)
    return gst_caps_fixate(other_caps);
  return core_of(trans).fixate(caps, GstPtr<GstCaps>(other_caps)).release();
}

gboolean on_set_caps(GstBaseTransform* trans, GstCaps* sink_caps, GstCaps* src_caps) noexcept {
  return core_of(trans).set_caps(sink_caps, src_caps);
}

gboolean on_transform_size(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                           gsize /*size*/, GstCaps* other_caps, gsize* other_size) noexcept {
  const auto bytes = core_of(trans).other_size(direction, caps, other_caps);
  *other_size = bytes.value_or(0);
  return bytes.has_value();
}

gboolean on_decide_allocation(GstBaseTransform* trans, GstQuery* query) noexcept {
  core_of(trans).decide_allocation(query);
  return base_class()->decide_allocation(trans, query);
}

/// Passes every meta but those that describe a picture's memory.
gboolean on_transform_meta(GstBaseTransform* /*trans*/, GstBuffer* /*output*/, GstMeta* meta,
                           GstBuffer* /*input*/) noexcept {
  const std::string_view api = g_type_name(meta->info->api);
  return api != "GstVideoMetaAPI" && api != "GstVideoCropMetaAPI" &&
         !gst_meta_api_type_has_tag(meta->info->api, g_quark_from_static_string("memory"));
}

gboolean on_sink_event(GstBaseTransform* trans, GstEvent* event) noexcept {
  if (GST_EVENT_TYPE(event) != GST_EVENT_CAPS)
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
  if (core_of(trans).check_input(buffer))
    return base_class()->submit_input_buffer(trans, is_discont, buffer);
  gst_buffer_unref(buffer);
  return GST_FLOW_ERROR;
}

GstFlowReturn on_transform(GstBaseTransform* trans, GstBuffer* input, GstBuffer* output) noexcept {
  return core_of(trans).transform(input, output);
}

void install_properties(GObjectClass* klass) {
  const auto flags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                              GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      klass, PropWeights,
      g_param_spec_string("weights", "Weights",
                          "TGMX file with an R x C matrix; the last axis of the input is C, that "
                          "of the output R. Read when the element starts",
                          "", flags));
  g_object_class_install_property(
      klass, PropMultiplier,
      g_param_spec_int(
          "multiplier", "Multiplier",
          "Rescale of each sum to int8: (sum * multiplier + half) >> shift, saturated, "
          "a half upwards. 0: not set, the output is the int32 sums",
          G_MININT, G_MAXINT, 0, flags));
  g_object_class_install_property(klass, PropShift,
                                  g_param_spec_uint("shift", "Shift", "Right shift of the rescale",
                                                    0, simaai::kernels::matrix::Requant::kMaxShift,
                                                    0, flags));
  g_object_class_install_property(
      klass, PropChannelPadding,
      g_param_spec_int("int8-channel-padding", "Channel padding of int8",
                       "Raw byte (-128 to 127) that fills the channel padding of a tiled output "
                       "with channel-storage pad16; -129: not set",
                       kPaddingUnset, std::numeric_limits<std::int8_t>::max(), kPaddingUnset,
                       flags));
}

void add_templates(GstElementClass* klass) {
  const auto sink = any_layout_caps();
  auto source = output_layout_caps(simaai::kernels::DType::Int8, true);
  source.reset(gst_caps_merge(source.release(),
                              output_layout_caps(simaai::kernels::DType::Int32, false).release()));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink.get()));
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, source.get()));
}

} // namespace

static void gst_simaai_matmul_class_init(GstSimaaiMatmulClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_properties(object_class);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(
      element_class, "Tensor matrix product", "Filter/Tensor",
      "Multiplies the last axis of int8 tensors of any layout by an int8 matrix, exactly, with an "
      "optional rescale to int8",
      "SimaKernels developers");
  add_templates(element_class);

  auto* base = GST_BASE_TRANSFORM_CLASS(klass);
  base->start = start;
  base->stop = stop;
  base->transform_caps = on_transform_caps;
  base->fixate_caps = on_fixate_caps;
  base->set_caps = on_set_caps;
  base->transform_size = on_transform_size;
  base->decide_allocation = on_decide_allocation;
  base->transform_meta = on_transform_meta;
  base->sink_event = on_sink_event;
  base->submit_input_buffer = on_submit_input_buffer;
  base->transform = on_transform;
}

static void gst_simaai_matmul_init(GstSimaaiMatmul* self) {
  auto* trans = GST_BASE_TRANSFORM(self);
  self->core = new simaai::gst::MatmulCore(trans);
  gst_base_transform_set_prefer_passthrough(trans, FALSE);
  gst_base_transform_set_qos_enabled(trans, TRUE);
}
