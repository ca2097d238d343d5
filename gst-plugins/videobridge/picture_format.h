// SPDX-License-Identifier: LGPL-2.1-or-later
// Video formats of the bridge, the tensor shapes of a picture, and where its samples lie in a buffer.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>

#include <gst/video/video.h>

#include <simaai/kernels/tensor_spec.h>

#include "pixel_codec.h"

namespace simaai::gst {

/// Order of the picture's axes behind the leading batch axis of one.
enum class AxisOrder { Hwc, Chw };

/// What the channels of a format mean, in memory order.
enum class ChannelMeaning { Gray, Rgb, Bgr, Rgba, Bgra };

/// A format with 8-bit samples. Packed formats store channel c of a pixel at byte c, a planar one in plane c.
struct PictureFormat {
  GstVideoFormat format = GST_VIDEO_FORMAT_UNKNOWN;
  ChannelMeaning meaning = ChannelMeaning::Gray;
  std::size_t channels = 0;
  std::int64_t pixel_bytes = 0;
  bool planar = false;

  [[nodiscard]] const char* name() const noexcept { return gst_video_format_to_string(format); }
  [[nodiscard]] std::size_t planes() const noexcept { return planar ? channels : 1; }
  /// Whether a pixel ends with a byte that is no channel.
  [[nodiscard]] bool has_filler() const noexcept {
    return !planar && pixel_bytes > static_cast<std::int64_t>(channels);
  }
  /// The order in which the samples lie in memory.
  [[nodiscard]] AxisOrder natural_order() const noexcept {
    return planar ? AxisOrder::Chw : AxisOrder::Hwc;
  }
};

/// Formats of the pad templates.
#define SIMAAI_PICTURE_FORMATS "{ RGB, BGR, RGBx, BGRx, RGBP, RGBA, BGRA, GRAY8 }"

/// The same formats, in order of preference.
[[nodiscard]] std::span<const PictureFormat> picture_formats() noexcept;
/// Null for a format that the bridge does not know.
[[nodiscard]] const PictureFormat* find_picture_format(GstVideoFormat format) noexcept;

/// Extents of one picture.
struct PictureExtents {
  std::int64_t height = 0;
  std::int64_t width = 0;
  std::int64_t channels = 0;
  friend constexpr bool operator==(const PictureExtents&, const PictureExtents&) noexcept = default;
};

/// <1,H,W,C> or <1,C,H,W>.
[[nodiscard]] kernels::Shape tensor_shape(const PictureExtents& extents, AxisOrder order) noexcept;

/// The picture that a shape of rank 3, or 4 with a leading 1, holds in this order; nothing where the channel count is not
/// 1, 3 or 4, or an extent is not positive.
[[nodiscard]] std::optional<PictureExtents> picture_extents(const kernels::Shape& shape,
                                                            AxisOrder order) noexcept;

/// Byte strides of H, W, C of a linear tensor of rank 3 or 4. Nothing for a tiled layout.
[[nodiscard]] std::optional<TensorPitches> tensor_pitches(const kernels::TensorSpec& spec,
                                                          AxisOrder order) noexcept;

/// Where the samples of one picture lie in a buffer: byte offset of the first sample of the first row of each plane, and
/// byte strides of the rows (negative: rows run upwards).
struct PlaneLayout {
  std::array<std::int64_t, GST_VIDEO_MAX_PLANES> offset_bytes{};
  std::array<std::int64_t, GST_VIDEO_MAX_PLANES> stride_bytes{};
};

/// Row pitch and, for planar formats, plane pitch of a picture that one uint8 tensor can describe.
struct ViewPitches {
  std::int64_t row_bytes = 0;
  std::int64_t plane_bytes = 0; ///< 0 for packed formats
  friend constexpr bool operator==(const ViewPitches&, const ViewPitches&) noexcept = default;
};

/// Layout of `info`'s picture in `buffer`: GstVideoMeta or else the default, moved by GstVideoCropMeta. A sentence where
/// metas contradict the caps or the buffer is too short. Planes may be spread over memories.
[[nodiscard]] std::variant<PlaneLayout, std::string>
plane_layout(GstBuffer* buffer, const GstVideoInfo& info, const PictureFormat& format);

/// Pitches of a view; nothing where rows run upwards or planes do not follow one another evenly.
[[nodiscard]] std::optional<ViewPitches> view_pitches(const PlaneLayout& layout,
                                                      const PictureFormat& format) noexcept;
[[nodiscard]] ViewPitches default_pitches(const GstVideoInfo& info,
                                          const PictureFormat& format) noexcept;

/// The uint8 tensor that describes such a picture, contiguous where it is dense; nothing where the stride proof does not
/// admit it.
[[nodiscard]] std::optional<kernels::TensorSpec> view_spec(const PictureExtents& extents,
                                                           const PictureFormat& format,
                                                           const ViewPitches& pitches,
                                                           AxisOrder order);

/// Bytes of a buffer.
struct ByteSpan {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
};

/// One plane from the lowest address of a sample to the highest.
[[nodiscard]] ByteSpan plane_span(const PictureExtents& extents, const PictureFormat& format,
                                  const PlaneLayout& layout, std::size_t plane) noexcept;

/// Whether bytes that the buffer has lie in one of its memories.
[[nodiscard]] bool lies_in_one_memory(GstBuffer* buffer, const ByteSpan& span) noexcept;

/// Samples of a mapped picture. `planes` are the addresses of the first samples.
template <typename Byte>
[[nodiscard]] Picture<Byte> picture_of(const PictureExtents& extents, const PictureFormat& format,
                                       std::span<Byte* const> planes,
                                       std::span<const std::int64_t> strides) noexcept {
  Picture<Byte> picture;
  picture.width = extents.width;
  picture.height = extents.height;
  picture.channels = format.channels;
  picture.pixel_bytes = static_cast<std::ptrdiff_t>(format.pixel_bytes);
  for (std::size_t c = 0; c < format.channels; ++c) {
    const std::size_t plane = format.planar ? c : 0;
    picture.channel[c] = planes[plane] + (format.planar ? 0 : c);
    picture.row_bytes[c] = static_cast<std::ptrdiff_t>(strides[plane]);
  }
  if (format.has_filler())
    picture.filler = planes[0] + format.channels;
  return picture;
}

} // namespace simaai::gst
