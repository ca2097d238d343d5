// SPDX-License-Identifier: LGPL-2.1-or-later
// Tables and byte arithmetic of pictures.
#include "picture_format.h"

#include <simaai/kernels/ops/requirement.h>

#include "common/linear_size.h"

namespace simaai::gst {
namespace {

constexpr std::array kFormats{
    PictureFormat{GST_VIDEO_FORMAT_RGB, ChannelMeaning::Rgb, 3, 3, false},
    PictureFormat{GST_VIDEO_FORMAT_BGR, ChannelMeaning::Bgr, 3, 3, false},
    PictureFormat{GST_VIDEO_FORMAT_RGBx, ChannelMeaning::Rgb, 3, 4, false},
    PictureFormat{GST_VIDEO_FORMAT_BGRx, ChannelMeaning::Bgr, 3, 4, false},
    PictureFormat{GST_VIDEO_FORMAT_RGBP, ChannelMeaning::Rgb, 3, 1, true},
    PictureFormat{GST_VIDEO_FORMAT_RGBA, ChannelMeaning::Rgba, 4, 4, false},
    PictureFormat{GST_VIDEO_FORMAT_BGRA, ChannelMeaning::Bgra, 4, 4, false},
    PictureFormat{GST_VIDEO_FORMAT_GRAY8, ChannelMeaning::Gray, 1, 1, false},
};

struct AxisIndices {
  std::size_t h;
  std::size_t w;
  std::size_t c;
};

constexpr AxisIndices axis_indices(std::size_t rank, AxisOrder order) {
  const std::size_t first = rank - 3;
  return order == AxisOrder::Hwc ? AxisIndices{first, first + 1, first + 2}
                                 : AxisIndices{first + 1, first + 2, first};
}

std::string layout_text(const char* what, std::int64_t width, std::int64_t height) {
  return std::string(what) + " of " + std::to_string(width) + " x " + std::to_string(height) +
         " pixels";
}

/// Empty where every sample lies inside the buffer.
std::string check_bounds(GstBuffer* buffer, const GstVideoInfo& info, const PictureFormat& format,
                         const PlaneLayout& layout) {
  const PictureExtents extents{GST_VIDEO_INFO_HEIGHT(&info), GST_VIDEO_INFO_WIDTH(&info),
                               static_cast<std::int64_t>(format.channels)};
  const auto found = static_cast<std::int64_t>(gst_buffer_get_size(buffer));
  for (std::size_t plane = 0; plane < format.planes(); ++plane) {
    const ByteSpan span = plane_span(extents, format, layout, plane);
    if (span.offset < 0 || span.offset + span.bytes > found)
      return "the buffer is shorter than its caps say: plane " + std::to_string(plane) + " needs " +
             std::to_string(span.bytes) + " bytes at offset " + std::to_string(span.offset) +
             ", found " + std::to_string(found) + " bytes in all";
  }
  return {};
}

} // namespace

std::span<const PictureFormat> picture_formats() noexcept { return kFormats; }

const PictureFormat* find_picture_format(GstVideoFormat format) noexcept {
  for (const auto& known : kFormats)
    if (known.format == format)
      return &known;
  return nullptr;
}

kernels::Shape tensor_shape(const PictureExtents& extents, AxisOrder order) noexcept {
  if (order == AxisOrder::Hwc)
    return {1, extents.height, extents.width, extents.channels};
  return {1, extents.channels, extents.height, extents.width};
}

std::optional<PictureExtents> picture_extents(const kernels::Shape& shape,
                                              AxisOrder order) noexcept {
  if (shape.rank() != 3 && (shape.rank() != 4 || shape[0] != 1))
    return std::nullopt;
  const auto axis = axis_indices(shape.rank(), order);
  const PictureExtents extents{shape[axis.h], shape[axis.w], shape[axis.c]};
  const bool channels_known =
      extents.channels == 1 || extents.channels == 3 || extents.channels == 4;
  if (!channels_known || extents.height < 1 || extents.width < 1)
    return std::nullopt;
  return extents;
}

std::optional<TensorPitches> tensor_pitches(const kernels::TensorSpec& spec,
                                            AxisOrder order) noexcept {
  if (spec.shape.rank() != 3 && spec.shape.rank() != 4)
    return std::nullopt;
  const auto axis = axis_indices(spec.shape.rank(), order);
  if (const auto* strided = std::get_if<kernels::Strided>(&spec.layout))
    return TensorPitches{strided->strides_bytes[axis.h], strided->strides_bytes[axis.w],
                         strided->strides_bytes[axis.c]};
  const auto dense = row_major_strides(spec.shape, spec.dtype);
  if (!std::holds_alternative<kernels::Contiguous>(spec.layout) || !dense)
    return std::nullopt;
  return TensorPitches{(*dense)[axis.h], (*dense)[axis.w], (*dense)[axis.c]};
}

ByteSpan plane_span(const PictureExtents& extents, const PictureFormat& format,
                    const PlaneLayout& layout, std::size_t plane) noexcept {
  const std::int64_t last_pixel = format.planar ? 1 : static_cast<std::int64_t>(format.channels);
  const std::int64_t stride = layout.stride_bytes[plane];
  const std::int64_t rows = (extents.height - 1) * (stride < 0 ? -stride : stride);
  return {layout.offset_bytes[plane] - (stride < 0 ? rows : 0),
          rows + (extents.width - 1) * format.pixel_bytes + last_pixel};
}

bool lies_in_one_memory(GstBuffer* buffer, const ByteSpan& span) noexcept {
  guint index = 0;
  guint count = 0;
  gsize skip = 0;
  return gst_buffer_find_memory(buffer, static_cast<gsize>(span.offset),
                                static_cast<gsize>(span.bytes), &index, &count, &skip) != FALSE &&
         count == 1;
}

std::variant<PlaneLayout, std::string> plane_layout(GstBuffer* buffer, const GstVideoInfo& info,
                                                    const PictureFormat& format) {
  PlaneLayout layout;
  const std::int64_t width = GST_VIDEO_INFO_WIDTH(&info);
  const std::int64_t height = GST_VIDEO_INFO_HEIGHT(&info);
  const GstVideoMeta* meta = gst_buffer_get_video_meta(buffer);
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(buffer);
  const std::int64_t left = crop != nullptr ? std::int64_t{crop->x} : 0;
  const std::int64_t top = crop != nullptr ? std::int64_t{crop->y} : 0;
  if (crop != nullptr && (crop->width != width || crop->height != height))
    return layout_text("GstVideoCropMeta", crop->width, crop->height) + "; the caps say " +
           layout_text("a picture", width, height);
  if (meta != nullptr && meta->format != format.format)
    return std::string("GstVideoMeta says format ") + gst_video_format_to_string(meta->format) +
           "; the caps say " + format.name();
  if (meta != nullptr && (meta->n_planes != format.planes() || left + width > meta->width ||
                          top + height > meta->height))
    return layout_text("GstVideoMeta", meta->width, meta->height) +
           " does not hold the picture of the caps, " + layout_text("a rectangle", width, height) +
           " at " + std::to_string(left) + ", " + std::to_string(top);
  for (std::size_t plane = 0; plane < format.planes(); ++plane) {
    layout.stride_bytes[plane] =
        meta != nullptr ? std::int64_t{meta->stride[plane]} : std::int64_t{info.stride[plane]};
    layout.offset_bytes[plane] = meta != nullptr ? static_cast<std::int64_t>(meta->offset[plane])
                                                 : static_cast<std::int64_t>(info.offset[plane]);
    layout.offset_bytes[plane] += top * layout.stride_bytes[plane] + left * format.pixel_bytes;
  }
  std::string refused = check_bounds(buffer, info, format, layout);
  if (!refused.empty())
    return refused;
  return layout;
}

std::optional<ViewPitches> view_pitches(const PlaneLayout& layout,
                                        const PictureFormat& format) noexcept {
  ViewPitches pitches{layout.stride_bytes[0], 0};
  if (pitches.row_bytes < 0)
    return std::nullopt;
  if (!format.planar)
    return pitches;
  pitches.plane_bytes = layout.offset_bytes[1] - layout.offset_bytes[0];
  for (std::size_t plane = 1; plane < format.channels; ++plane)
    if (layout.stride_bytes[plane] != pitches.row_bytes ||
        layout.offset_bytes[plane] - layout.offset_bytes[plane - 1] != pitches.plane_bytes)
      return std::nullopt;
  return pitches;
}

ViewPitches default_pitches(const GstVideoInfo& info, const PictureFormat& format) noexcept {
  ViewPitches pitches{info.stride[0], 0};
  if (format.planar)
    pitches.plane_bytes = static_cast<std::int64_t>(info.offset[1] - info.offset[0]);
  return pitches;
}

std::optional<kernels::TensorSpec> view_spec(const PictureExtents& extents,
                                             const PictureFormat& format,
                                             const ViewPitches& pitches, AxisOrder order) {
  kernels::TensorSpec spec{tensor_shape(extents, order), kernels::DType::UInt8,
                           kernels::Contiguous{}};
  const auto axis = axis_indices(spec.shape.rank(), order);
  const auto dense = row_major_strides(spec.shape, spec.dtype);
  if (!dense)
    return std::nullopt;
  kernels::Strided strided;
  strided.strides_bytes[0] = (*dense)[0];
  strided.strides_bytes[axis.h] = pitches.row_bytes;
  strided.strides_bytes[axis.w] = format.pixel_bytes;
  strided.strides_bytes[axis.c] = format.planar ? pitches.plane_bytes : 1;
  spec.layout = strided;
  if (is_dense(spec)) {
    spec.layout = kernels::Contiguous{};
    return spec;
  }
  const auto need = kernels::ops::port_requirement(spec);
  if (!std::holds_alternative<kernels::ops::PortRequirement>(need))
    return std::nullopt;
  return spec;
}

} // namespace simaai::gst
