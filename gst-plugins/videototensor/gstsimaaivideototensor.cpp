// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaivideototensor: raw video to tensors.
#include "gstsimaaivideototensor.h"

#include <gst/video/video.h>

#include "video_to_tensor.h"
#include "videobridge/gstsimaaivideobridge.h"

struct GstSimaaiVideoToTensor {
  GstSimaaiVideoBridge parent;
};
struct GstSimaaiVideoToTensorClass {
  GstSimaaiVideoBridgeClass parent;
};

G_DEFINE_TYPE(GstSimaaiVideoToTensor, gst_simaai_video_to_tensor, GST_TYPE_SIMAAI_VIDEO_BRIDGE)
GST_ELEMENT_REGISTER_DEFINE(simaaivideototensor, "simaaivideototensor", GST_RANK_NONE,
                            GST_TYPE_SIMAAI_VIDEO_TO_TENSOR)

namespace {

using namespace simaai::gst;

constexpr BridgeDescription kDescription{
    "Video to tensor",
    "Filter/Converter/Video/Tensor",
    "Makes tensors of raw video: a uint8 view without a copy, or (sample - mean) * scale as "
    "float32, float16, bfloat16 or quantised int8, as the caps downstream ask",
    GST_VIDEO_CAPS_MAKE(SIMAAI_PICTURE_FORMATS) "; " GST_VIDEO_CAPS_MAKE_WITH_FEATURES(
        "memory:DMABuf", SIMAAI_PICTURE_FORMATS),
    kPictureTensorCaps,
    {
        "Mean to subtract from the samples (0 to 255): one number, or one a channel in memory "
        "order. Values are binary32. Anything but 0 excludes the uint8 form",
        "Factor for what the mean leaves: one number, or one a channel in memory order. Values are "
        "binary32. Anything but 1 excludes the uint8 form",
        "Step of int8 elements: value = quant-scale * (code - quant-zero-point)",
        "Code of the value 0 in int8 elements; with the default mean, scale and quant-scale, -128 "
        "keeps every sample",
        "Axes of the tensor behind the batch axis. auto prefers the order of the samples in memory "
        "and lets the caps decide",
        "Fail instead of copying where the uint8 form cannot be a view of the video memory, or "
        "where "
        "a plane is spread over several memories",
    },
    [](GstBaseTransform* element) -> std::unique_ptr<VideoBridge> {
      return std::make_unique<VideoToTensor>(element);
    },
};

} // namespace

static void gst_simaai_video_to_tensor_class_init(GstSimaaiVideoToTensorClass* klass) {
  configure_bridge(reinterpret_cast<GstSimaaiVideoBridgeClass*>(klass), kDescription);
}

static void gst_simaai_video_to_tensor_init(GstSimaaiVideoToTensor* /*self*/) {}
