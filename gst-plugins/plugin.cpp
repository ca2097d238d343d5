// SPDX-License-Identifier: LGPL-2.1-or-later
// Entry point of the plug-in simaaitensor: registers every element, or fails as a whole.
#include <gst/gst.h>

#include "firmware/model/transport/model_transport.h"

// One line an element; the folder of that name defines its registration function.
#define SIMAAI_ELEMENTS(X)                                                                         \
  X(simaaicast)                                                                                    \
  X(simaaitess)                                                                                    \
  X(simaaicasttess)                                                                                \
  X(simaaidetess)                                                                                  \
  X(simaaidetesscast)                                                                              \
  X(simaainpysrc)                                                                                  \
  X(simaainpysink)                                                                                 \
  X(simaaivideototensor)                                                                           \
  X(simaaitensortovideo)                                                                           \
  X(simaaitensormux)                                                                               \
  X(simaaitensordemux)                                                                             \
  X(simaaitensorbridge)                                                                            \
  X(simaaimatmul)                                                                                  \
  X(simaaitgmxenc)                                                                                 \
  X(simaaitgmxdec)

#define DECLARE(name) GST_ELEMENT_REGISTER_DECLARE(name)
SIMAAI_ELEMENTS(DECLARE)
#undef DECLARE

namespace {

gboolean register_features(GstPlugin* plugin) noexcept {
  simaai::model::register_model_transport();
#define REGISTER(name)                                                                             \
  if (!GST_ELEMENT_REGISTER(name, plugin))                                                         \
    return FALSE;
  SIMAAI_ELEMENTS(REGISTER)
#undef REGISTER
  return plugin != nullptr;
}

} // namespace

GST_PLUGIN_DEFINE(GST_VERSION_MAJOR, GST_VERSION_MINOR, simaaitensor,
                  "Layout and type conversion of inference tensors", register_features,
                  SIMAAI_VERSION, "LGPL", "SimaKernels", "Unknown package origin")
