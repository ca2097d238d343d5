// SPDX-License-Identifier: LGPL-2.1-or-later
// GObject side of the op elements: short trampolines into TransformCore.
#include "gstsimaaitensortransform.h"

#include <utility>

#include "meta_rule.h"
#include "pool_query.h"
#include "transform_core.h"
#include "transform_trampolines.h"

struct GstSimaaiTensorTransformPrivate {
  simaai::gst::TransformCore* core;
};

G_DEFINE_ABSTRACT_TYPE_WITH_PRIVATE(GstSimaaiTensorTransform, gst_simaai_tensor_transform,
                                    GST_TYPE_BASE_TRANSFORM)

namespace simaai::gst {
namespace {

GstSimaaiTensorTransformPrivate& private_of(gpointer instance) noexcept {
  return *static_cast<GstSimaaiTensorTransformPrivate*>(
      gst_simaai_tensor_transform_get_instance_private(
          static_cast<GstSimaaiTensorTransform*>(instance)));
}

TransformCore& core_of(gpointer instance) noexcept { return *private_of(instance).core; }
using Forward = TransformTrampolines<core_of>;

GstBaseTransformClass* base_class() noexcept {
  return GST_BASE_TRANSFORM_CLASS(gst_simaai_tensor_transform_parent_class);
}

void finalize(GObject* object) noexcept {
  delete private_of(object).core;
  G_OBJECT_CLASS(gst_simaai_tensor_transform_parent_class)->finalize(object);
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) noexcept {
  TransformCore& core = core_of(element);
  const bool starting = transition == GST_STATE_CHANGE_NULL_TO_READY ||
                        transition == GST_STATE_CHANGE_READY_TO_PAUSED;
  if (starting && !core.check_settings())
    return GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !core.check_device())
    return GST_STATE_CHANGE_FAILURE;
  // Before the pads stop: the streaming thread may be waiting for a buffer that never comes back, or for a job.
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    core.cancel_jobs(true);
    core.flights().set_flushing(true);
    set_pool_flushing(GST_BASE_TRANSFORM(element), true);
  }
  const GstStateChangeReturn changed = GST_ELEMENT_CLASS(gst_simaai_tensor_transform_parent_class)
                                           ->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    core.flights().stop();
  return changed;
}

GstCaps* on_transform_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                           GstCaps* filter) noexcept {
  const TransformCore& core = core_of(trans);
  return transform_caps(core.traits(), direction, caps, filter, core.makes_dma_bufs()).release();
}

gboolean on_propose_allocation(GstBaseTransform* trans, GstQuery* /*decide*/,
                               GstQuery* query) noexcept {
  core_of(trans).propose_allocation(query);
  return TRUE;
}

gboolean on_decide_allocation(GstBaseTransform* trans, GstQuery* query) noexcept {
  TransformCore& core = core_of(trans);
  core.decide_allocation(query);
  const gboolean decided = base_class()->decide_allocation(trans, query);
  core.remember_pool(query);
  return decided;
}

GstFlowReturn on_prepare_output_buffer(GstBaseTransform* trans, GstBuffer* input,
                                       GstBuffer** output) noexcept {
  return core_of(trans).prepare_output(base_class(), input, output);
}

gboolean on_transform_meta(GstBaseTransform* /*trans*/, GstBuffer* /*output*/, GstMeta* meta,
                           GstBuffer* /*input*/) noexcept {
  return meta_survives(meta->info);
}

gboolean on_caps_event(GstBaseTransform* trans, GstEvent* event) noexcept {
  TransformCore& core = core_of(trans);
  GstCaps* parsed = nullptr;
  gst_event_parse_caps(event, &parsed);
  const GstPtr<GstCaps> caps(gst_caps_ref(parsed));
  core.begin_attempt();
  (void)core.queue_event(event); // drains
  const gboolean taken = base_class()->sink_event(trans, event);
  if (!taken)
    core.diagnose_refusal(caps.get());
  return taken;
}

gboolean on_sink_event(GstBaseTransform* trans, GstEvent* event) noexcept {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_CAPS)
    return on_caps_event(trans, event);
  TransformCore& core = core_of(trans);
  if (core.queue_event(event))
    return TRUE;
  if (type == GST_EVENT_FLUSH_START) {
    core.cancel_jobs(true);
    core.flights().set_flushing(true);
    set_pool_flushing(trans, true);
  }
  const gboolean handled = base_class()->sink_event(trans, event);
  if (type == GST_EVENT_FLUSH_START)
    core.flights().pause(); // its push has returned: downstream flushes
  if (type == GST_EVENT_FLUSH_STOP) {
    core.flights().set_flushing(false);
    core.cancel_jobs(false);
    set_pool_flushing(trans, false);
  }
  return handled;
}

GstFlowReturn on_submit_input_buffer(GstBaseTransform* trans, gboolean is_discont,
                                     GstBuffer* buffer) noexcept {
  TransformCore& core = core_of(trans);
  if (!core.check_input(buffer)) {
    gst_buffer_unref(buffer);
    return GST_FLOW_ERROR;
  }
  const bool renegotiating = GST_PAD_NEEDS_RECONFIGURE(GST_BASE_TRANSFORM_SRC_PAD(trans));
  if (renegotiating) {
    core.begin_attempt();
    (void)core.flights().drain(); // an ALLOCATION query goes downstream in order too
  }
  const GstFlowReturn flow = base_class()->submit_input_buffer(trans, is_discont, buffer);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED)
    core.note_gap();
  if (renegotiating && flow == GST_FLOW_NOT_NEGOTIATED) {
    const GstPtr<GstCaps> caps(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans)));
    if (caps)
      core.diagnose_refusal(caps.get());
  }
  return flow;
}

GstFlowReturn on_generate_output(GstBaseTransform* trans, GstBuffer** output) noexcept {
  TransformCore& core = core_of(trans);
  if (!core.is_asynchronous())
    return base_class()->generate_output(trans, output);
  *output = nullptr;
  GstPtr<GstBuffer> input(std::exchange(trans->queued_buf, nullptr));
  return input ? core.take_off(std::move(input)) : GST_FLOW_OK;
}

bool is_serialized(GstQuery* query) noexcept {
  return (gst_query_type_get_flags(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED) != 0;
}

gboolean on_query(GstBaseTransform* trans, GstPadDirection direction, GstQuery* query) noexcept {
  TransformCore& core = core_of(trans);
  // The base class waits for caps. Which memory the device needs is known before: elements that gather a set ask early.
  if (direction == GST_PAD_SINK && GST_QUERY_TYPE(query) == GST_QUERY_ALLOCATION &&
      !core.is_negotiated()) {
    core.propose_memory(query);
    return TRUE;
  }
  if (direction == GST_PAD_SINK && is_serialized(query))
    (void)core.flights().drain();
  const gboolean answered = base_class()->query(trans, direction, query);
  if (answered && direction == GST_PAD_SRC && GST_QUERY_TYPE(query) == GST_QUERY_LATENCY)
    core.add_latency(query);
  return answered;
}

GstFlowReturn on_transform(GstBaseTransform* trans, GstBuffer* input, GstBuffer* output) noexcept {
  return core_of(trans).transform(input, output);
}

/// The pad refuses caps outside its template before the element gets the event, so only a probe can
/// say why on the bus.
GstPadProbeReturn watch_caps(GstPad* pad, GstPadProbeInfo* info, gpointer instance) noexcept {
  GstEvent* event = GST_PAD_PROBE_INFO_EVENT(info);
  if (GST_EVENT_TYPE(event) == GST_EVENT_CAPS && !GST_PAD_IS_FLUSHING(pad)) {
    GstCaps* caps = nullptr;
    gst_event_parse_caps(event, &caps);
    core_of(instance).diagnose_template(caps);
  }
  return GST_PAD_PROBE_OK;
}

void add_template(GstElementClass* klass, const OpTraits& traits, GstPadDirection direction) {
  const auto caps = template_caps(traits, direction);
  gst_element_class_add_pad_template(
      klass, gst_pad_template_new(direction == GST_PAD_SINK ? GST_BASE_TRANSFORM_SINK_NAME
                                                            : GST_BASE_TRANSFORM_SRC_NAME,
                                  direction, GST_PAD_ALWAYS, caps.get()));
}

} // namespace

void configure_element(GstSimaaiTensorTransformClass* klass,
                       const ElementDescription& description) {
  klass->traits = &description.traits;
  klass->factory = description.factory;
  klass->device_plan = description.device_plan;
  // GObject clears both in every class that installs properties of its own.
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = Forward::set_property;
  object_class->get_property = Forward::get_property;
  auto* element_class = GST_ELEMENT_CLASS(klass);
  gst_element_class_set_static_metadata(element_class, description.long_name, "Converter/Tensor",
                                        description.description, "SimaKernels developers");
  add_template(element_class, description.traits, GST_PAD_SINK);
  add_template(element_class, description.traits, GST_PAD_SRC);
  install_op_properties(object_class, description.traits);
}

} // namespace simaai::gst

static void gst_simaai_tensor_transform_init(GstSimaaiTensorTransform* self) {
  using namespace simaai::gst;
  auto* trans = GST_BASE_TRANSFORM(self);
  // The class pointer of the instance is the abstract one until the subclass is initialised; the
  // core is made in constructed.
  gst_base_transform_set_prefer_passthrough(trans, FALSE);
  gst_base_transform_set_qos_enabled(trans, TRUE);
  gst_base_transform_set_gap_aware(trans, TRUE); // a GAP stays one
}

static void gst_simaai_tensor_transform_constructed(GObject* object) {
  using namespace simaai::gst;
  auto* klass = G_TYPE_INSTANCE_GET_CLASS(object, GST_TYPE_SIMAAI_TENSOR_TRANSFORM,
                                          GstSimaaiTensorTransformClass);
  private_of(object).core = new TransformCore(GST_BASE_TRANSFORM(object), *klass->traits,
                                              klass->factory, klass->device_plan);
  G_OBJECT_CLASS(gst_simaai_tensor_transform_parent_class)->constructed(object);
  gst_pad_add_probe(GST_BASE_TRANSFORM_SINK_PAD(object), GST_PAD_PROBE_TYPE_EVENT_DOWNSTREAM,
                    watch_caps, object, nullptr);
}

static void gst_simaai_tensor_transform_class_init(GstSimaaiTensorTransformClass* klass) {
  using namespace simaai::gst;
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = Forward::set_property;
  object_class->get_property = Forward::get_property;
  object_class->constructed = gst_simaai_tensor_transform_constructed;
  object_class->finalize = finalize;
  GST_ELEMENT_CLASS(klass)->change_state = change_state;
  auto* base = GST_BASE_TRANSFORM_CLASS(klass);
  base->start = Forward::start;
  base->stop = Forward::stop;
  base->transform_caps = on_transform_caps;
  base->fixate_caps = Forward::fixate_caps;
  base->set_caps = Forward::set_caps;
  base->transform_size = Forward::transform_size;
  base->propose_allocation = on_propose_allocation;
  base->decide_allocation = on_decide_allocation;
  base->prepare_output_buffer = on_prepare_output_buffer;
  base->transform_meta = on_transform_meta;
  base->sink_event = on_sink_event;
  base->submit_input_buffer = on_submit_input_buffer;
  base->generate_output = on_generate_output;
  base->query = on_query;
  base->transform = on_transform;
  install_common_properties(object_class);
}
