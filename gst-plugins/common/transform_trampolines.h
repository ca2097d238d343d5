// SPDX-License-Identifier: LGPL-2.1-or-later
// Entry points of GObject and GstBaseTransform that only forward to the C++ behind an element.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "gst_ptr.h"

namespace simaai::gst {

/// `CoreOf(gpointer instance)` gives the element's core, which has the functions that are called
/// here. An element takes the entry points that it wants.
template <auto CoreOf> struct TransformTrampolines {
  static void set_property(GObject* object, guint id, const GValue* value,
                           GParamSpec* spec) noexcept {
    if (!CoreOf(object).set_property(id, value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  static void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) noexcept {
    if (!CoreOf(object).get_property(id, value))
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
  static gboolean start(GstBaseTransform* trans) noexcept { return CoreOf(trans).start(); }
  static gboolean stop(GstBaseTransform* trans) noexcept {
    CoreOf(trans).stop();
    return TRUE;
  }
  static GstCaps* fixate_caps(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                              GstCaps* other_caps) noexcept {
    if (direction != GST_PAD_SINK)
      return gst_caps_fixate(other_caps);
    return CoreOf(trans).fixate(caps, GstPtr<GstCaps>(other_caps)).release();
  }
  static gboolean set_caps(GstBaseTransform* trans, GstCaps* sink_caps,
                           GstCaps* src_caps) noexcept {
    return CoreOf(trans).set_caps(sink_caps, src_caps);
  }
  static gboolean transform_size(GstBaseTransform* trans, GstPadDirection direction, GstCaps* caps,
                                 gsize /*size*/, GstCaps* other_caps, gsize* other_size) noexcept {
    const auto bytes = CoreOf(trans).other_size(direction, caps, other_caps);
    *other_size = bytes.value_or(0);
    return bytes.has_value();
  }
};

} // namespace simaai::gst
