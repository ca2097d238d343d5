// SPDX-License-Identifier: LGPL-2.1-or-later
// Which pictures simaaitensortovideo can make of a tensor, and which tensors give a picture.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gst/gst.h>

#include "common/caps_spec.h"
#include "common/gst_ptr.h"
#include "videobridge/bridge_settings.h"
#include "videobridge/picture_format.h"

namespace simaai::gst {

/// A tensor that holds one picture.
struct PictureTensor {
  TensorInfo info;
  AxisOrder order = AxisOrder::Hwc;
  PictureExtents extents;
  TensorPitches pitches;
};

/// Different pictures that one tensor may hold, the preferred one first: one, or two where nothing that is known of the tensor
/// tells the order of its axes.
using PictureTensors = std::vector<PictureTensor>;

/// Reads tensor caps in each axis order that is allowed and gives the channels of `video-format`, or says which field does not
/// fit and what would.
[[nodiscard]] std::variant<PictureTensors, std::string>
picture_readings(const GstCaps* caps, const BridgeSettings& settings);

/// Refusal of a shape with several readings.
[[nodiscard]] std::string ambiguity_text(const PictureTensors& readings);

/// Offsets and strides of the planes of `format`, if its samples lie in memory as those of the uint8 tensor do.
[[nodiscard]] std::optional<PlaneLayout> shared_layout(const PictureTensor& tensor,
                                                       const PictureFormat& format);

/// Formats that the tensor can become, in order of preference: the format that the tensor came from, formats that need no
/// copy, then the others. Channels keep their meaning where the tensor says it. Only the first two where copies are forbidden.
[[nodiscard]] std::vector<const PictureFormat*> video_formats(const PictureTensor& tensor,
                                                              bool require_zero_copy);

/// Caps of one such picture; the frame rate is open where the tensor has none.
[[nodiscard]] GstStructure* video_structure(const PictureTensor& tensor,
                                            const PictureFormat& format);

/// Tensor caps that give pictures such as `video` describes.
[[nodiscard]] GstPtr<GstCaps> tensor_caps_for(const GstCaps* video, const BridgeSettings& settings);

} // namespace simaai::gst
