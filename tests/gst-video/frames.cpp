// SPDX-License-Identifier: LGPL-2.1-or-later
// Frames and tensors of the tests.
#include "frames.h"

#include <cstring>

#include <gtest/gtest.h>

namespace simaai::test {

using kernels::DType;

const Format& format_named(const char* name) {
  for (const auto& format : kFormats)
    if (std::strcmp(format.name, name) == 0)
      return format;
  std::abort();
}

GstPtr<GstBuffer> Frame::buffer(bool meta) const {
  GstPtr<GstBuffer> buffer(gst_buffer_new_allocate(nullptr, bytes.size(), nullptr));
  gst_buffer_fill(buffer.get(), 0, bytes.data(), bytes.size());
  // The function takes its arrays as writable and only reads them.
  auto offsets = offset;
  auto strides = stride;
  if (meta)
    gst_buffer_add_video_meta_full(buffer.get(), GST_VIDEO_FRAME_FLAG_NONE, format->id,
                                   static_cast<guint>(width), static_cast<guint>(height),
                                   format->planar ? 3 : 1, offsets.data(), strides.data());
  return buffer;
}

Frame make_frame(const Format& format, int width, int height, int extra, int rows,
                 std::mt19937& random) {
  Frame frame;
  frame.format = &format;
  frame.width = width;
  frame.height = height;
  const int stride = (width * format.pixel_bytes + 3) / 4 * 4 + extra;
  const int planes = format.planar ? 3 : 1;
  for (std::size_t plane = 0; plane < static_cast<std::size_t>(planes); ++plane) {
    frame.stride[plane] = stride;
    frame.offset[plane] = plane * static_cast<std::size_t>(stride * (height + rows));
  }
  frame.bytes.resize(static_cast<std::size_t>(planes * stride * (height + rows)));
  for (auto& byte : frame.bytes)
    byte = static_cast<std::uint8_t>(random());
  return frame;
}

std::string video_caps(const Format& format, int width, int height, const std::string& more) {
  return std::string("video/x-raw,format=") + format.name + ",width=" + std::to_string(width) +
         ",height=" + std::to_string(height) + ",framerate=25/1" + (more.empty() ? "" : ",") + more;
}

TensorCaps read_tensor_caps(const GstCaps* caps) {
  TensorCaps tensor;
  const GstStructure* fields = gst_caps_get_structure(caps, 0);
  EXPECT_STREQ(gst_structure_get_name(fields), "application/vnd.simaai.tensor");
  tensor.dtype = gst_structure_get_string(fields, "dtype");
  tensor.layout = gst_structure_get_string(fields, "layout");
  const GValue* shape = gst_structure_get_value(fields, "shape");
  for (guint i = 0; i < gst_value_array_get_size(shape); ++i)
    tensor.shape.push_back(g_value_get_int(gst_value_array_get_value(shape, i)));
  constexpr std::array kTypes{DType::UInt8, DType::Int8, DType::Float16, DType::BFloat16,
                              DType::Float32};
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (tensor.dtype == kDTypeNames[i])
      tensor.type = kTypes[i];
  tensor.width = kernels::scalar_bytes(tensor.type);
  tensor.strides.resize(tensor.shape.size());
  auto stride = static_cast<std::int64_t>(tensor.width);
  for (std::size_t axis = tensor.shape.size(); axis-- > 0;) {
    tensor.strides[axis] = stride;
    stride *= tensor.shape[axis];
  }
  if (tensor.layout == "strided") {
    const GValue* strides = gst_structure_get_value(fields, "strides");
    EXPECT_EQ(gst_value_array_get_size(strides), tensor.shape.size());
    for (guint i = 0; i < gst_value_array_get_size(strides); ++i)
      tensor.strides[i] = g_value_get_int64(gst_value_array_get_value(strides, i));
  }
  return tensor;
}

std::uint32_t element(const TensorCaps& caps, const std::uint8_t* data, bool hwc, int h, int w,
                      int c) {
  const std::array<std::int64_t, 4> at =
      hwc ? std::array<std::int64_t, 4>{0, h, w, c} : std::array<std::int64_t, 4>{0, c, h, w};
  std::int64_t offset = 0;
  for (std::size_t axis = 0; axis < 4; ++axis)
    offset += at[axis] * caps.strides[axis];
  std::uint32_t bits = 0;
  std::memcpy(&bits, data + offset, caps.width);
  return bits;
}

} // namespace simaai::test
