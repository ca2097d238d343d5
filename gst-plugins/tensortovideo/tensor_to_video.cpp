// SPDX-License-Identifier: LGPL-2.1-or-later
// Negotiation and buffers of simaaitensortovideo.
#include "tensor_to_video.h"

#include <algorithm>
#include <array>
#include <utility>

#include <simaai/kernels/ops/requirement.h>

#include "common/negotiation.h"
#include "common/pool_query.h"

namespace simaai::gst {
namespace {

/// Elements are at the start of the buffer, and of its first memory unless that is too short.
bool lies_in_first_memory(GstBuffer* buffer, std::uint64_t bytes) noexcept {
  return gst_buffer_n_memory(buffer) > 0 && gst_buffer_peek_memory(buffer, 0)->size >= bytes;
}

/// A frame mapped for writing; planes and strides as GstVideoMeta or the caps say.
class FrameMap {
public:
  FrameMap(const GstVideoInfo& info, GstBuffer* buffer) noexcept
      : mapped_(gst_video_frame_map(&frame_, &info, buffer, GST_MAP_WRITE) != FALSE) {}
  ~FrameMap() {
    if (mapped_)
      gst_video_frame_unmap(&frame_);
  }
  FrameMap(const FrameMap&) = delete;
  FrameMap& operator=(const FrameMap&) = delete;

  [[nodiscard]] explicit operator bool() const noexcept { return mapped_; }
  [[nodiscard]] const GstVideoFrame& frame() const noexcept { return frame_; }

private:
  GstVideoFrame frame_{};
  bool mapped_;
};

} // namespace

/// The template of the source pad, without DMA-BUFs where this machine has none.
GstPtr<GstCaps> TensorToVideo::any_picture_caps() const {
  GstPtr<GstCaps> caps(gst_pad_get_pad_template_caps(GST_BASE_TRANSFORM_SRC_PAD(element())));
  if (!makes_dma_bufs()) {
    caps.reset(gst_caps_make_writable(caps.release()));
    gst_caps_filter_and_map_in_place(
        caps.get(),
        [](GstCapsFeatures* features, GstStructure*, gpointer) -> gboolean {
          return gst_caps_features_contains(features, kDmaBufFeature) == FALSE;
        },
        nullptr);
  }
  return caps;
}

/// A uint8 tensor may become a picture as it is, in the memory that upstream has.
bool TensorToVideo::promises_dma_bufs(const PictureTensor& picture, const GstCaps* tensor) const {
  const bool may_be_view = picture.info.spec.dtype == kernels::DType::UInt8;
  return makes_dma_bufs() && (!may_be_view || has_dma_bufs(tensor));
}

GstPtr<GstCaps> TensorToVideo::transform_caps(GstPadDirection direction,
                                              const GstCaps* caps) const {
  const BridgeSettings now = settings_copy();
  if (direction == GST_PAD_SRC)
    return tensor_caps_for(caps, now);
  GstCaps* video = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    const GstPtr<GstCaps> one(gst_caps_copy_nth(caps, i));
    // Without a shape the caps are those of a query: any picture may follow.
    if (gst_caps_is_fixed(one.get()) == FALSE ||
        gst_structure_has_field(gst_caps_get_structure(one.get(), 0), field::kShape) == FALSE)
      return GstPtr<GstCaps>(gst_caps_merge(video, any_picture_caps().release()));
    append_pictures(video, one.get(), now);
  }
  return GstPtr<GstCaps>(video);
}

/// Pictures of every reading, those of the preferred one first.
void TensorToVideo::append_pictures(GstCaps* video, const GstCaps* tensor,
                                    const BridgeSettings& now) const {
  const auto readings = picture_readings(tensor, now);
  if (const auto* pictures = std::get_if<PictureTensors>(&readings))
    for (const PictureTensor& picture : *pictures)
      append_pictures(video, tensor, picture, now);
}

void TensorToVideo::append_pictures(GstCaps* video, const GstCaps* tensor,
                                    const PictureTensor& picture, const BridgeSettings& now) const {
  for (const auto* format : video_formats(picture, now.require_zero_copy))
    append_in_memories(video, video_structure(picture, *format),
                       promises_dma_bufs(picture, tensor));
}

/// The pictures of the first reading that `wanted` allows, and how many readings it does.
std::pair<GstPtr<GstCaps>, std::size_t> TensorToVideo::pictures_in(const GstCaps* tensor,
                                                                   GstCaps* wanted) const {
  const BridgeSettings now = settings_copy();
  std::pair<GstPtr<GstCaps>, std::size_t> found(gst_caps_new_empty(), 0);
  const auto readings = picture_readings(tensor, now);
  const auto* pictures = std::get_if<PictureTensors>(&readings);
  for (std::size_t i = 0; pictures != nullptr && i < pictures->size(); ++i) {
    const GstPtr<GstCaps> ours(gst_caps_new_empty());
    append_pictures(ours.get(), tensor, (*pictures)[i], now);
    GstPtr<GstCaps> both(gst_caps_intersect_full(ours.get(), wanted, GST_CAPS_INTERSECT_FIRST));
    if (gst_caps_is_empty(both.get()) == FALSE && found.second++ == 0)
      found.first = std::move(both);
  }
  return found;
}

GstPtr<GstCaps> TensorToVideo::choose(const GstCaps* tensor, GstPtr<GstCaps> offered) const {
  auto [both, readings] = pictures_in(tensor, offered.get());
  if (readings > 1)
    return GstPtr<GstCaps>(gst_caps_new_empty()); // refuse_choice() says why
  if (readings == 0)
    return GstPtr<GstCaps>(gst_caps_fixate(offered.release()));
  GstCaps* first = gst_caps_truncate(both.release());
  GstStructure* video = gst_caps_get_structure(first, 0);
  // No rate is what a tensor without one stands for.
  if (gst_structure_has_field(video, "framerate") != FALSE)
    gst_structure_fixate_field_nearest_fraction(video, "framerate", 0, 1);
  return GstPtr<GstCaps>(gst_caps_fixate(first));
}

std::optional<std::string> TensorToVideo::refuse_choice(const GstCaps* tensor,
                                                        GstCaps* wanted) const {
  if (pictures_in(tensor, wanted).second < 2)
    return std::nullopt;
  return ambiguity_text(std::get<PictureTensors>(picture_readings(tensor, settings_copy())));
}

std::optional<std::string> TensorToVideo::negotiate(const GstCaps* tensor, const GstCaps* video,
                                                    const BridgeSettings& now) {
  tensor_.reset();
  auto parsed = picture_readings(tensor, now);
  if (const auto* refused = std::get_if<std::string>(&parsed))
    return *refused;
  const auto& readings = std::get<PictureTensors>(parsed);
  if (gst_video_info_from_caps(&info_, video) == FALSE)
    return "the video caps are not usable";
  format_ = find_picture_format(GST_VIDEO_INFO_FORMAT(&info_));
  const PictureExtents extents{GST_VIDEO_INFO_HEIGHT(&info_), GST_VIDEO_INFO_WIDTH(&info_),
                               format_ != nullptr ? static_cast<std::int64_t>(format_->channels)
                                                  : 0};
  const auto fits = [&](const PictureTensor& reading) { return reading.extents == extents; };
  const auto reading = std::find_if(readings.begin(), readings.end(), fits);
  if (reading == readings.end())
    return "the video caps are those of another picture";
  if (std::count_if(readings.begin(), readings.end(), fits) > 1)
    return ambiguity_text(readings);
  const PictureTensor& picture = *reading;
  auto params = now.params(format_->channels, true);
  if (const auto* refused = std::get_if<std::string>(&params))
    return *refused;
  auto& values = std::get<PixelParams>(params);
  // Caps win over properties.
  values.quant_scale = static_cast<float>(picture.info.quant_scale.value_or(now.quant_scale));
  values.quant_zero_point = picture.info.quant_zero_point.value_or(now.quant_zero_point);
  decoder_ = PixelDecoder(picture.info.spec.dtype, values);
  shared_ = shared_layout(picture, *format_);
  usual_layout_ = shared_.has_value();
  for (std::size_t plane = 0; shared_ && plane < format_->planes(); ++plane)
    usual_layout_ = usual_layout_ && shared_->stride_bytes[plane] == info_.stride[plane] &&
                    shared_->offset_bytes[plane] == static_cast<std::int64_t>(info_.offset[plane]);
  const auto need = kernels::ops::port_requirement(picture.info.spec);
  tensor_bytes_ = std::get<kernels::ops::PortRequirement>(need).bytes;
  tensor_ = picture;
  return std::nullopt;
}

void TensorToVideo::stop() {
  VideoBridge::stop();
  tensor_.reset();
}

std::optional<std::string> TensorToVideo::refuse_sink(const GstCaps* tensor) const {
  auto parsed = picture_readings(tensor, settings_copy());
  if (auto* refused = std::get_if<std::string>(&parsed))
    return std::move(*refused);
  return std::nullopt;
}

std::optional<std::uint64_t> TensorToVideo::other_size(GstPadDirection direction) const {
  return direction == GST_PAD_SINK ? video_bytes() : tensor_bytes_;
}

const char* TensorToVideo::read_allocation(GstQuery* query) {
  downstream_reads_meta_ =
      gst_query_find_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr) != FALSE;
  return downstream_reads_meta_ ? GST_BUFFER_POOL_OPTION_VIDEO_META : nullptr;
}

bool TensorToVideo::can_share(GstBuffer* input) const {
  if (!shared_ || is_spread_)
    return false;
  const auto bytes = static_cast<std::int64_t>(gst_buffer_peek_memory(input, 0)->size);
  if (usual_layout_ && bytes >= static_cast<std::int64_t>(video_bytes()))
    return true;
  if (!downstream_reads_meta_)
    return false;
  // Readers of video take whole rows, the last one of each plane with its padding.
  const std::size_t last = format_->planes() - 1;
  return shared_->offset_bytes[last] + shared_->stride_bytes[last] * tensor_->extents.height <=
         bytes;
}

bool TensorToVideo::has_shared_layout(const GstVideoMeta& meta) const {
  if (meta.format != format_->format || std::int64_t{meta.width} != tensor_->extents.width ||
      std::int64_t{meta.height} != tensor_->extents.height || meta.n_planes != format_->planes())
    return false;
  for (std::size_t plane = 0; plane < format_->planes(); ++plane)
    if (static_cast<std::int64_t>(meta.offset[plane]) != shared_->offset_bytes[plane] ||
        meta.stride[plane] != shared_->stride_bytes[plane])
      return false;
  return true;
}

void TensorToVideo::describe(GstBuffer* buffer) const {
  std::array<gsize, GST_VIDEO_MAX_PLANES> offset{};
  std::array<gint, GST_VIDEO_MAX_PLANES> stride{};
  for (std::size_t plane = 0; plane < format_->planes(); ++plane) {
    offset[plane] = static_cast<gsize>(shared_->offset_bytes[plane]);
    stride[plane] = static_cast<gint>(shared_->stride_bytes[plane]);
  }
  gst_buffer_add_video_meta_full(buffer, GST_VIDEO_FRAME_FLAG_NONE, format_->format,
                                 static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info_)),
                                 static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info_)),
                                 static_cast<guint>(format_->planes()), offset.data(),
                                 stride.data());
}

GstBuffer* TensorToVideo::share(GstBuffer* input) const {
  const GstVideoMeta* meta = gst_buffer_get_video_meta(input);
  // Readers that map the whole buffer would merge what lies behind the picture.
  const bool cropped =
      gst_buffer_get_video_crop_meta(input) != nullptr || gst_buffer_n_memory(input) > 1;
  if (!cropped && (meta != nullptr ? has_shared_layout(*meta) : usual_layout_))
    return input; // the base class passes it on as it is
  if (!cropped && meta == nullptr && gst_buffer_is_writable(input) != FALSE) {
    describe(input);
    return input;
  }
  GstBuffer* output = gst_buffer_new();
  gst_buffer_append_memory(output, gst_buffer_get_memory(input, 0));
  gst_buffer_add_parent_buffer_meta(output, input);
  describe(output);
  copy_metadata(input, output);
  return output;
}

GstFlowReturn TensorToVideo::allocate(GstBuffer* input, GstBuffer** output) {
  const GstFlowReturn flow = allocate_output(input, "picture", output);
  if (flow != GST_FLOW_OK || !downstream_reads_meta_ ||
      gst_buffer_get_video_meta(*output) != nullptr)
    return flow;
  // Stays with the buffer when that goes back to its pool.
  GstVideoMeta* meta =
      gst_buffer_add_video_meta_full(*output, GST_VIDEO_FRAME_FLAG_NONE, format_->format,
                                     static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info_)),
                                     static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info_)),
                                     GST_VIDEO_INFO_N_PLANES(&info_), info_.offset, info_.stride);
  meta->meta.flags = static_cast<GstMetaFlags>(meta->meta.flags | GST_META_FLAG_POOLED);
  return flow;
}

GstFlowReturn TensorToVideo::make_output(GstBuffer* input, GstBuffer** output) {
  if (!tensor_)
    return GST_FLOW_NOT_NEGOTIATED;
  const std::uint64_t found = gst_buffer_get_size(input);
  if (found < tensor_bytes_)
    return fail(ErrorKind::Data, "the buffer is shorter than its caps say", tensor_bytes_, found);
  is_spread_ = !lies_in_first_memory(input, tensor_bytes_);
  if (can_share(input)) {
    mark_view();
    *output = share(input);
    return GST_FLOW_OK;
  }
  const bool is_raw = tensor_->info.spec.dtype == kernels::DType::UInt8;
  if (is_spread_) {
    if (!allow_spread(tensor_bytes_, !is_raw))
      return GST_FLOW_ERROR;
  } else if (is_raw) {
    if (require_zero_copy())
      return fail(ErrorKind::Data,
                  "require-zero-copy: the tensor would have to be copied, for downstream does not "
                  "read GstVideoMeta or the buffer ends before the last row does");
    mark_copy("rows or planes are not those of a picture that downstream reads");
  }
  return allocate(input, output);
}

bool TensorToVideo::decode(const std::byte* from, GstBuffer* output) {
  const FrameMap map(info_, output);
  if (!map)
    return false;
  std::array<std::uint8_t*, GST_VIDEO_MAX_PLANES> planes{};
  std::array<std::int64_t, GST_VIDEO_MAX_PLANES> strides{};
  for (std::size_t plane = 0; plane < format_->planes(); ++plane) {
    planes[plane] = static_cast<std::uint8_t*>(map.frame().data[plane]);
    strides[plane] = map.frame().info.stride[plane];
  }
  const auto picture = picture_of<std::uint8_t>(tensor_->extents, *format_, planes, strides);
  decoder_.decode(from, tensor_->pitches, picture);
  return true;
}

bool TensorToVideo::convert(GstBuffer* input, GstBuffer* output) {
  if (!is_spread_) {
    const MapGuard map(gst_buffer_peek_memory(input, 0), GST_MAP_READ);
    return map && decode(reinterpret_cast<const std::byte*>(map.data()), output);
  }
  const auto whole = room(tensor_bytes_);
  return gst_buffer_extract(input, 0, whole.data(), whole.size()) == whole.size() &&
         decode(reinterpret_cast<const std::byte*>(whole.data()), output);
}

} // namespace simaai::gst
