// SPDX-License-Identifier: LGPL-2.1-or-later
// Which tensors simaaivideototensor can make of a picture, and which pictures give a tensor.
#pragma once

#include <optional>
#include <vector>

#include <gst/gst.h>
#include <gst/video/video.h>

#include "common/caps_spec.h"
#include "common/gst_ptr.h"
#include "videobridge/bridge_settings.h"
#include "videobridge/picture_format.h"

namespace simaai::gst {

/// Fixed raw video caps that the bridge understands.
struct PictureCaps {
  GstVideoInfo info;
  const PictureFormat* format = nullptr;
  /// Fields of the caps that travel with the tensor.
  std::optional<std::pair<int, int>> framerate;
  std::optional<std::pair<int, int>> pixel_aspect_ratio;
  std::optional<std::string> colorimetry;

  [[nodiscard]] PictureExtents extents() const noexcept {
    return {GST_VIDEO_INFO_HEIGHT(&info), GST_VIDEO_INFO_WIDTH(&info),
            static_cast<std::int64_t>(format->channels)};
  }
};

[[nodiscard]] std::optional<PictureCaps> parse_picture(const GstCaps* caps);

/// One tensor that can be made.
struct TensorCandidate {
  TensorInfo info;
  AxisOrder order = AxisOrder::Hwc;
};

/// In order of preference: float32, float16, bfloat16, int8, then uint8 as a view with `pitches`, and (unless copies are
/// forbidden) as a copy with the default pitches or without gaps.
[[nodiscard]] std::vector<TensorCandidate> tensor_candidates(const PictureCaps& picture,
                                                             const BridgeSettings& settings,
                                                             const ViewPitches& pitches);

/// Caps for a caps query with unfixed video: dtypes and frame rate, no shape, in DMA-BUFs too where wanted.
[[nodiscard]] GstPtr<GstCaps> open_tensor_caps(const GstCaps* video, const BridgeSettings& settings,
                                               bool dma_bufs);

/// Video caps that give tensors such as `tensors` describes: size, formats and frame rate follow from shape and hints
/// where they are fixed.
[[nodiscard]] GstPtr<GstCaps> video_caps_for(const GstCaps* tensors,
                                             const BridgeSettings& settings);

} // namespace simaai::gst
