// SPDX-License-Identifier: LGPL-2.1-or-later
// Seeded video frames with any pitches, and tensors as their caps describe them, read coordinate by coordinate.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gst/gst.h>
#include <gst/video/video.h>

#include <simaai/kernels/tensor_spec.h>

#include "gst-plugins/common/gst_ptr.h"

namespace simaai::test {

using gst::GstPtr;

/// What the tests know about a format on their own account.
struct Format {
  const char* name;
  GstVideoFormat id;
  int channels;
  int pixel_bytes;
  bool planar;
};

inline constexpr std::array kFormats{
    Format{"GRAY8", GST_VIDEO_FORMAT_GRAY8, 1, 1, false},
    Format{"RGB", GST_VIDEO_FORMAT_RGB, 3, 3, false},
    Format{"BGR", GST_VIDEO_FORMAT_BGR, 3, 3, false},
    Format{"RGBx", GST_VIDEO_FORMAT_RGBx, 3, 4, false},
    Format{"BGRx", GST_VIDEO_FORMAT_BGRx, 3, 4, false},
    Format{"RGBP", GST_VIDEO_FORMAT_RGBP, 3, 1, true},
    Format{"RGBA", GST_VIDEO_FORMAT_RGBA, 4, 4, false},
    Format{"BGRA", GST_VIDEO_FORMAT_BGRA, 4, 4, false},
};

const Format& format_named(const char* name);

/// A picture and where it lies: `stride` and `offset` a plane. The bytes between are random too.
struct Frame {
  const Format* format = nullptr;
  int width = 0;
  int height = 0;
  std::array<int, 4> stride{};
  std::array<std::size_t, 4> offset{};
  std::vector<std::uint8_t> bytes;

  std::uint8_t sample(int h, int w, int c) const {
    const auto plane = static_cast<std::size_t>(format->planar ? c : 0);
    const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(offset[plane]) + h * stride[plane] +
                              w * format->pixel_bytes + (format->planar ? 0 : c);
    return bytes[static_cast<std::size_t>(at)];
  }
  /// One memory; GstVideoMeta where `meta`. Offsets and strides of the meta are those of the frame.
  GstPtr<GstBuffer> buffer(bool meta) const;
};

/// `extra` bytes of padding a row over the default of GstVideoInfo, `rows` more rows a plane.
Frame make_frame(const Format& format, int width, int height, int extra, int rows,
                 std::mt19937& random);

/// "video/x-raw, ..." of the frame at 25/1 with more fields appended.
std::string video_caps(const Format& format, int width, int height, const std::string& more = "");

/// The fields of tensor caps, read with GStreamer's functions only.
struct TensorCaps {
  std::string dtype;
  std::string layout;
  std::vector<int> shape;
  std::vector<std::int64_t> strides;
  kernels::DType type = kernels::DType::UInt8;
  std::size_t width = 1; ///< bytes of a scalar
};
TensorCaps read_tensor_caps(const GstCaps* caps);

/// Bits of element <0,h,w,c> (hwc) or <0,c,h,w>.
std::uint32_t element(const TensorCaps& caps, const std::uint8_t* data, bool hwc, int h, int w,
                      int c);

inline constexpr std::array<const char*, 5> kDTypeNames{"uint8", "int8", "float16", "bfloat16",
                                                        "float32"};

} // namespace simaai::test
