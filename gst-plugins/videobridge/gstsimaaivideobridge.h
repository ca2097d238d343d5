// SPDX-License-Identifier: LGPL-2.1-or-later
// Abstract base of the video elements: pictures on one pad, tensors on the other.
#pragma once

#include <memory>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "video_bridge.h"

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_VIDEO_BRIDGE (gst_simaai_video_bridge_get_type())

struct GstSimaaiVideoBridge {
  GstBaseTransform parent;
};

struct GstSimaaiVideoBridgeClass {
  GstBaseTransformClass parent;
  /// Set by each element's class_init through configure_bridge().
  std::unique_ptr<simaai::gst::VideoBridge> (*factory)(GstBaseTransform* element);
};

GType gst_simaai_video_bridge_get_type(void);
G_END_DECLS

namespace simaai::gst {

/// What a concrete element says about itself. Static storage.
struct BridgeDescription {
  const char* long_name;
  const char* classification;
  const char* description;
  const char* sink_caps;
  const char* src_caps;
  BridgePropertyTexts properties;
  std::unique_ptr<VideoBridge> (*factory)(GstBaseTransform* element);
};

/// The tensors that pictures can become, and become of.
inline constexpr const char* kPictureTensorCaps =
    "application/vnd.simaai.tensor, dtype = (string) { float32, float16, bfloat16, int8, uint8 }, "
    "layout = (string) { contiguous, strided }; "
    "application/vnd.simaai.tensor(memory:DMABuf), "
    "dtype = (string) { float32, float16, bfloat16, int8, uint8 }, "
    "layout = (string) { contiguous, strided }";

/// The whole class_init of a concrete element: metadata, pad templates, properties, factory.
void configure_bridge(GstSimaaiVideoBridgeClass* klass, const BridgeDescription& description);

} // namespace simaai::gst
