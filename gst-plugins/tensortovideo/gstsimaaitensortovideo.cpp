// SPDX-License-Identifier: LGPL-2.1-or-later
// Element simaaitensortovideo: tensors to raw video.
#include "gstsimaaitensortovideo.h"

#include <gst/video/video.h>

#include "tensor_to_video.h"
#include "videobridge/gstsimaaivideobridge.h"

struct GstSimaaiTensorToVideo {
  GstSimaaiVideoBridge parent;
};
struct GstSimaaiTensorToVideoClass {
  GstSimaaiVideoBridgeClass parent;
};

G_DEFINE_TYPE(GstSimaaiTensorToVideo, gst_simaai_tensor_to_video, GST_TYPE_SIMAAI_VIDEO_BRIDGE)
GST_ELEMENT_REGISTER_DEFINE(simaaitensortovideo, "simaaitensortovideo", GST_RANK_NONE,
                            GST_TYPE_SIMAAI_TENSOR_TO_VIDEO)

namespace {

using namespace simaai::gst;

constexpr BridgeDescription kDescription{
    "Tensor to video",
    "Filter/Converter/Tensor/Video",
    "Makes raw video of tensors <1,H,W,C> and <1,C,H,W>: uint8 without a copy, others as element / "
    "scale + mean, rounded and clamped to 0..255",
    kPictureTensorCaps,
    GST_VIDEO_CAPS_MAKE(SIMAAI_PICTURE_FORMATS) ";" GST_VIDEO_CAPS_MAKE_WITH_FEATURES(
        "memory:DMABuf", SIMAAI_PICTURE_FORMATS),
    {
        "Mean to add after the division by scale: one number, or one a channel in memory order, as "
        "simaaivideototensor had it. Values are binary32",
        "Divisor of the elements, not 0: one number, or one a channel in memory order, as "
        "simaaivideototensor had it. Values are binary32",
        "Step of int8 elements where the caps do not say it: value = quant-scale * (code - "
        "quant-zero-point)",
        "Code of the value 0 in int8 elements where the caps do not say it",
        "Axes of the tensor behind the batch axis. auto takes what the shape, the video format "
        "it came from and the caps downstream allow, and refuses where they allow both",
        "Fail instead of copying where a uint8 tensor cannot be passed on as a picture, or where a "
        "tensor is spread over several memories",
    },
    [](GstBaseTransform* element) -> std::unique_ptr<VideoBridge> {
      return std::make_unique<TensorToVideo>(element);
    },
};

} // namespace

static void gst_simaai_tensor_to_video_class_init(GstSimaaiTensorToVideoClass* klass) {
  configure_bridge(reinterpret_cast<GstSimaaiVideoBridgeClass*>(klass), kDescription);
}

static void gst_simaai_tensor_to_video_init(GstSimaaiTensorToVideo* /*self*/) {}
