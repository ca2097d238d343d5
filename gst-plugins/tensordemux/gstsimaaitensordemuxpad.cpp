// SPDX-License-Identifier: LGPL-2.1-or-later
// Properties of source pads of simaaitensordemux.
#include "gstsimaaitensordemuxpad.h"

#include "common/gst_ptr.h"

struct _GstSimaaiTensorDemuxPad {
  GstPad parent;
  simaai::gst::PadChoice* choice; ///< object lock
};

G_DEFINE_FINAL_TYPE(GstSimaaiTensorDemuxPad, gst_simaai_tensor_demux_pad, GST_TYPE_PAD)

namespace simaai::gst {
namespace {

enum Property : guint { PropPosition = 1, PropTensorId };

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) noexcept {
  auto* pad = GST_SIMAAI_TENSOR_DEMUX_PAD(object);
  const ObjectLock lock(object);
  switch (id) {
  case PropPosition:
    pad->choice->position = g_value_get_int(value);
    return;
  case PropTensorId: {
    const gchar* text = g_value_get_string(value);
    pad->choice->tensor_id = text != nullptr ? text : "";
    return;
  }
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) noexcept {
  auto* pad = GST_SIMAAI_TENSOR_DEMUX_PAD(object);
  const ObjectLock lock(object);
  switch (id) {
  case PropPosition:
    g_value_set_int(value, pad->choice->position);
    return;
  case PropTensorId:
    g_value_set_string(value,
                       pad->choice->tensor_id.empty() ? nullptr : pad->choice->tensor_id.c_str());
    return;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_TENSOR_DEMUX_PAD(object)->choice;
  G_OBJECT_CLASS(gst_simaai_tensor_demux_pad_parent_class)->finalize(object);
}

} // namespace

PadChoice choice_of(GstPad* pad) {
  const ObjectLock lock(pad);
  return *GST_SIMAAI_TENSOR_DEMUX_PAD(pad)->choice;
}

} // namespace simaai::gst

static void gst_simaai_tensor_demux_pad_class_init(GstSimaaiTensorDemuxPadClass* klass) {
  using namespace simaai::gst;
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  constexpr auto kFlags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      object_class, PropPosition,
      g_param_spec_int("position", "Position",
                       "Place in the set of the tensor that the pad takes, from 0. Pads have the "
                       "number in their name at first",
                       -1, 15, -1, kFlags));
  g_object_class_install_property(
      object_class, PropTensorId,
      g_param_spec_string("tensor-id", "Tensor id",
                          "Name of the tensor that the pad takes, in place of a position", nullptr,
                          kFlags));
}

static void gst_simaai_tensor_demux_pad_init(GstSimaaiTensorDemuxPad* self) {
  self->choice = new simaai::gst::PadChoice();
}
