// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties and state of sink pads of simaaitensormux.
#include "gstsimaaitensormuxpad.h"

#include <atomic>
#include <mutex>

namespace simaai::gst {
namespace {

struct PadState {
  std::mutex mutex;
  std::string tensor_id; ///< mutex
  MuxInput input;
};

} // namespace
} // namespace simaai::gst

struct _GstSimaaiTensorMuxPad {
  GstAggregatorPad parent;
  /// Made by the thread that requests the pad, used by the one that aggregates.
  std::atomic<simaai::gst::PadState*> state;
};

G_DEFINE_FINAL_TYPE(GstSimaaiTensorMuxPad, gst_simaai_tensor_mux_pad, GST_TYPE_AGGREGATOR_PAD)

namespace simaai::gst {
namespace {

enum Property : guint { PropTensorId = 1 };

PadState& state_of(gpointer pad) noexcept {
  return *GST_SIMAAI_TENSOR_MUX_PAD(pad)->state.load(std::memory_order_acquire);
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) noexcept {
  if (id != PropTensorId) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  const gchar* text = g_value_get_string(value);
  PadState& state = state_of(object);
  const std::lock_guard lock(state.mutex);
  state.tensor_id = text != nullptr ? text : "";
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) noexcept {
  if (id != PropTensorId) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  PadState& state = state_of(object);
  const std::lock_guard lock(state.mutex);
  g_value_set_string(value, state.tensor_id.empty() ? nullptr : state.tensor_id.c_str());
}

void finalize(GObject* object) noexcept {
  delete &state_of(object);
  G_OBJECT_CLASS(gst_simaai_tensor_mux_pad_parent_class)->finalize(object);
}

GstFlowReturn flush(GstAggregatorPad* pad, GstAggregator* /*mux*/) noexcept {
  input_of(pad).forget_times();
  return GST_FLOW_OK;
}

} // namespace

MuxInput& input_of(GstAggregatorPad* pad) noexcept { return state_of(pad).input; }

std::string tensor_id_of(GstAggregatorPad* pad) {
  PadState& state = state_of(pad);
  const std::lock_guard lock(state.mutex);
  return state.tensor_id;
}

} // namespace simaai::gst

static void gst_simaai_tensor_mux_pad_class_init(GstSimaaiTensorMuxPadClass* klass) {
  using namespace simaai::gst;
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  GST_AGGREGATOR_PAD_CLASS(klass)->flush = flush;
  g_object_class_install_property(
      object_class, PropTensorId,
      g_param_spec_string("tensor-id", "Tensor id",
                          "Name that the tensor of this pad gets in the set, in place of that in "
                          "its caps. Not for pads that take sets",
                          nullptr,
                          static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_MUTABLE_READY)));
}

static void gst_simaai_tensor_mux_pad_init(GstSimaaiTensorMuxPad* self) {
  self->state.store(new simaai::gst::PadState(), std::memory_order_release);
}
