// SPDX-License-Identifier: LGPL-2.1-or-later
// Entry point of the plug-in simaaitracers.
#include "gstsimaailatencytracer.h"

namespace {

gboolean register_features(GstPlugin* plugin) noexcept {
  return gst_tracer_register(plugin, "simaailatency", GST_TYPE_SIMAAI_LATENCY_TRACER);
}

} // namespace

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, simaaitracers,
                  "Latency of each element and of whole pipelines", register_features,
                  SIMAAI_VERSION, "LGPL", "SimaKernels", "Unknown package origin")
