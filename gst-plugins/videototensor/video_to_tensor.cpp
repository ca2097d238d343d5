// SPDX-License-Identifier: LGPL-2.1-or-later
// Negotiation, the view rule and the buffers of simaaivideototensor.
#include "video_to_tensor.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <gst/video/video.h>

#include <simaai/kernels/ops/requirement.h>

#include "common/linear_size.h"
#include "common/negotiation.h"
#include "common/pool_query.h"

namespace simaai::gst {
namespace {

/// Changes of pitch on one set of sink caps that are answered by new source caps.
constexpr int kMaxPitchChanges = 3;

/// The first samples of the planes, in mapped memory. Planes of one memory map it more than once, which costs nothing.
class PlaneMaps {
public:
  /// A plane that is spread over memories is brought together in `room`, which holds as many bytes.
  PlaneMaps(GstBuffer* buffer, const PlaneLayout& layout, std::span<const ByteSpan> planes,
            std::span<std::uint8_t> room) {
    for (std::size_t plane = 0; plane < planes.size(); ++plane) {
      const ByteSpan& span = planes[plane];
      const auto above = layout.offset_bytes[plane] - span.offset; // rows that run upwards
      const auto bytes = static_cast<gsize>(span.bytes);
      guint index = 0;
      guint count = 0;
      gsize skip = 0;
      if (gst_buffer_find_memory(buffer, static_cast<gsize>(span.offset), bytes, &index, &count,
                                 &skip) == FALSE)
        return;
      if (count == 1) {
        maps_[plane].emplace(gst_buffer_peek_memory(buffer, index), GST_MAP_READ);
        if (!*maps_[plane])
          return;
        first[plane] = maps_[plane]->data() + skip + above;
        continue;
      }
      if (gst_buffer_extract(buffer, static_cast<gsize>(span.offset), room.data(), bytes) != bytes)
        return;
      first[plane] = room.data() + above;
      room = room.subspan(bytes);
    }
    ok = true;
  }

  std::array<const std::uint8_t*, GST_VIDEO_MAX_PLANES> first{};
  bool ok = false;

private:
  std::array<std::optional<MapGuard>, GST_VIDEO_MAX_PLANES> maps_;
};

} // namespace

ViewPitches VideoToTensor::pitches_for(const PictureCaps& picture) const {
  const ObjectLock lock(element());
  const bool current = video_caps_ != nullptr && picture_ &&
                       gst_video_info_is_equal(&picture.info, &picture_->info) != FALSE;
  return current && seen_pitches_ ? *seen_pitches_ : default_pitches(picture.info, *picture.format);
}

/// A view is in the memory that upstream has, and only its caps tell which that will be.
bool VideoToTensor::promises_dma_bufs(const TensorCandidate& candidate,
                                      const GstCaps* video) const {
  const bool may_be_view = candidate.info.spec.dtype == kernels::DType::UInt8;
  return makes_dma_bufs() && (!may_be_view || has_dma_bufs(video));
}

GstPtr<GstCaps> VideoToTensor::transform_caps(GstPadDirection direction,
                                              const GstCaps* caps) const {
  const BridgeSettings now = settings_copy();
  if (direction == GST_PAD_SRC)
    return video_caps_for(caps, now);
  const auto picture = parse_picture(caps);
  if (!picture)
    return open_tensor_caps(caps, now, makes_dma_bufs());
  GstCaps* tensors = gst_caps_new_empty();
  for (const auto& candidate : tensor_candidates(*picture, now, pitches_for(*picture)))
    append_in_memories(tensors, to_structure(candidate.info), promises_dma_bufs(candidate, caps));
  return GstPtr<GstCaps>(tensors);
}

GstPtr<GstCaps> VideoToTensor::choose(const GstCaps* video, GstPtr<GstCaps> offered) const {
  const auto picture = parse_picture(video);
  if (!picture)
    return GstPtr<GstCaps>(gst_caps_fixate(offered.release()));
  const BridgeSettings now = settings_copy();
  for (const auto& candidate : tensor_candidates(*picture, now, pitches_for(*picture))) {
    const GstPtr<GstCaps> ours(gst_caps_new_empty());
    append_in_memories(ours.get(), to_structure(candidate.info),
                       promises_dma_bufs(candidate, video));
    GstPtr<GstCaps> both(gst_caps_intersect(ours.get(), offered.get()));
    if (gst_caps_is_empty(both.get()) == FALSE)
      return GstPtr<GstCaps>(gst_caps_fixate(both.release()));
  }
  return GstPtr<GstCaps>(gst_caps_fixate(offered.release()));
}

std::optional<std::string> VideoToTensor::plan(const PictureCaps& picture, const TensorInfo& tensor,
                                               const BridgeSettings& now) {
  const auto params = now.params(picture.format->channels, false);
  if (const auto* refused = std::get_if<std::string>(&params))
    return *refused;
  for (const AxisOrder order : now.orders(picture.format->natural_order())) {
    if (tensor.spec.shape != tensor_shape(picture.extents(), order))
      continue;
    const auto pitches = tensor_pitches(tensor.spec, order);
    const auto need = kernels::ops::port_requirement(tensor.spec);
    const bool uint8 = tensor.spec.dtype == kernels::DType::UInt8;
    if (const auto* refused = std::get_if<kernels::Error>(&need))
      return refused->message();
    if (!pitches || (!uint8 && !is_dense(tensor.spec)))
      return std::string("layout: expected contiguous") + (uint8 ? " or strided" : "") +
             ", found " + layout_name(tensor.spec.layout);
    tensor_ = tensor.spec;
    order_ = order;
    pitches_ = *pitches;
    uint8_ = uint8;
    tensor_bytes_ = std::get<kernels::ops::PortRequirement>(need).bytes;
    encoder_ = PixelEncoder(tensor.spec.dtype, std::get<PixelParams>(params));
    return std::nullopt;
  }
  return "shape: the tensor does not hold the picture in an axis order that is allowed";
}

std::optional<std::string> VideoToTensor::negotiate(const GstCaps* video, const GstCaps* tensor,
                                                    const BridgeSettings& now) {
  const auto picture = parse_picture(video);
  if (!picture)
    return "the video caps are not usable";
  const auto parsed = parse_tensor(*tensor);
  if (const auto* error = std::get_if<CapsError>(&parsed))
    return error->reason;
  if (auto refused = plan(*picture, std::get<TensorInfo>(parsed), now))
    return refused;
  const ObjectLock lock(element());
  if (video_caps_ == nullptr || gst_caps_is_equal(video_caps_.get(), video) == FALSE) {
    video_caps_.reset(gst_caps_copy(video));
    seen_pitches_.reset();
    pitch_changes_ = 0;
  }
  picture_ = picture;
  return std::nullopt;
}

void VideoToTensor::stop() {
  VideoBridge::stop();
  const ObjectLock lock(element());
  picture_.reset();
  video_caps_.reset();
  seen_pitches_.reset();
  pitch_changes_ = 0;
}

std::optional<std::string> VideoToTensor::refuse_sink(const GstCaps* video) const {
  if (parse_picture(video))
    return std::nullopt;
  return "video format: expected RGB, BGR, RGBx, BGRx, RGBP, RGBA, BGRA or GRAY8 in system memory "
         "or DMA-BUFs; "
         "videoconvert makes one of them";
}

std::string VideoToTensor::offer_remark() const {
  return settings_copy().identity() ? "" : "; uint8 is not offered while mean or scale is set";
}

std::optional<std::uint64_t> VideoToTensor::other_size(GstPadDirection direction) const {
  // The size of a video buffer does not follow from its caps.
  if (direction != GST_PAD_SINK)
    return std::nullopt;
  return tensor_bytes_;
}

void VideoToTensor::propose_allocation(GstQuery* query) const {
  gst_query_add_allocation_meta(query, GST_VIDEO_META_API_TYPE, nullptr);
  gst_query_add_allocation_meta(query, GST_VIDEO_CROP_META_API_TYPE, nullptr);
  // For producers that fill memory of others (v4l2src io-mode=dmabuf-import): a device can be given what they filled.
  GstCaps* caps = nullptr;
  gboolean needs_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &needs_pool);
  GstVideoInfo info;
  if (needs_pool != FALSE && caps != nullptr && makes_dma_bufs() &&
      gst_video_info_from_caps(&info, caps) != FALSE)
    propose_dma_buf_pool(query, static_cast<guint>(GST_VIDEO_INFO_SIZE(&info)));
}

void VideoToTensor::look_at(GstBuffer* input) {
  if (!picture_ || !uint8_)
    return;
  const auto layout = plane_layout(input, picture_->info, *picture_->format);
  if (!std::holds_alternative<PlaneLayout>(layout))
    return; // make_output() says why
  const auto pitches = view_pitches(std::get<PlaneLayout>(layout), *picture_->format);
  if (!pitches || is_view(std::get<PlaneLayout>(layout)) || pitch_changes_ >= kMaxPitchChanges)
    return;
  {
    const ObjectLock lock(element());
    const ViewPitches offered =
        seen_pitches_.value_or(default_pitches(picture_->info, *picture_->format));
    if (*pitches == offered)
      return; // downstream had these on offer and took something else
    seen_pitches_ = *pitches;
  }
  ++pitch_changes_;
  gst_base_transform_reconfigure_src(element());
}

bool VideoToTensor::is_view(const PlaneLayout& layout) const {
  const auto pitches = view_pitches(layout, *picture_->format);
  if (!pitches)
    return false;
  const auto spec = view_spec(picture_->extents(), *picture_->format, *pitches, order_);
  return spec && equivalent(*spec, tensor_);
}

GstBuffer* VideoToTensor::share(GstBuffer* input, std::int64_t offset) const {
  if (offset == 0 && gst_buffer_n_memory(input) == 1)
    return input; // the base class passes it on as it is
  guint index = 0;
  guint count = 0;
  gsize skip = 0;
  if (gst_buffer_find_memory(input, static_cast<gsize>(offset), tensor_bytes_, &index, &count,
                             &skip) == FALSE ||
      count != 1)
    return nullptr;
  GstMemory* memory = gst_buffer_peek_memory(input, index);
  GstMemory* part = gst_memory_share(memory, static_cast<gssize>(skip), -1);
  if (part == nullptr)
    return nullptr;
  GstBuffer* output = gst_buffer_new();
  gst_buffer_append_memory(output, part);
  // The producer must not reuse the memory before the view is gone.
  gst_buffer_add_parent_buffer_meta(output, input);
  return output;
}

GstFlowReturn VideoToTensor::allocate(GstBuffer* input, GstBuffer** output) {
  const GstFlowReturn flow = allocate_output(input, "tensor", output);
  if (flow == GST_FLOW_OK)
    gst_buffer_set_size(*output, static_cast<gssize>(tensor_bytes_));
  return flow;
}

GstFlowReturn VideoToTensor::make_output(GstBuffer* input, GstBuffer** output) {
  if (!picture_)
    return GST_FLOW_NOT_NEGOTIATED;
  auto layout = plane_layout(input, picture_->info, *picture_->format);
  if (const auto* refused = std::get_if<std::string>(&layout))
    return fail(ErrorKind::Data, *refused);
  layout_ = std::get<PlaneLayout>(layout);
  spread_bytes_ = spread_bytes(input);
  if (spread_bytes_ > 0 && !allow_spread(spread_bytes_, !uint8_))
    return GST_FLOW_ERROR;
  if (!uint8_ || spread_bytes_ > 0)
    return allocate(input, output);
  if (is_view(layout_)) {
    *output = share(input, layout_.offset_bytes[0]);
    if (*output != nullptr) {
      mark_view();
      if (*output != input)
        copy_metadata(input, *output);
      return GST_FLOW_OK;
    }
  }
  if (require_zero_copy())
    return fail(ErrorKind::Data,
                "require-zero-copy: the picture would have to be copied, for its row pitch of " +
                    std::to_string(layout_.stride_bytes[0]) +
                    " bytes or its planes are not those of the negotiated tensor");
  mark_copy("row pitch or planes are not those of the negotiated tensor");
  return allocate(input, output);
}

std::uint64_t VideoToTensor::spread_bytes(GstBuffer* input) const {
  std::int64_t bytes = 0;
  if (gst_buffer_n_memory(input) == 1)
    return 0;
  for (std::size_t plane = 0; plane < picture_->format->planes(); ++plane) {
    const ByteSpan span = plane_span(picture_->extents(), *picture_->format, layout_, plane);
    bytes += lies_in_one_memory(input, span) ? 0 : span.bytes;
  }
  return static_cast<std::uint64_t>(bytes);
}

bool VideoToTensor::encode(GstBuffer* input, std::byte* into) {
  // What would be a view in one memory is copied as it is.
  if (uint8_ && spread_bytes_ > 0 && is_view(layout_))
    return gst_buffer_extract(input, static_cast<gsize>(layout_.offset_bytes[0]), into,
                              tensor_bytes_) == tensor_bytes_;
  std::array<ByteSpan, GST_VIDEO_MAX_PLANES> spans{};
  const std::size_t planes = picture_->format->planes();
  for (std::size_t plane = 0; plane < planes; ++plane)
    spans[plane] = plane_span(picture_->extents(), *picture_->format, layout_, plane);
  const PlaneMaps maps(input, layout_, std::span(spans).first(planes), room(spread_bytes_));
  if (!maps.ok)
    return false;
  const auto picture = picture_of<const std::uint8_t>(picture_->extents(), *picture_->format,
                                                      maps.first, layout_.stride_bytes);
  encoder_.encode(picture, into, pitches_);
  return true;
}

bool VideoToTensor::convert(GstBuffer* input, GstBuffer* output) {
  const MapGuard map(gst_buffer_peek_memory(output, 0), GST_MAP_WRITE);
  return map && map.size() >= tensor_bytes_ &&
         encode(input, reinterpret_cast<std::byte*>(map.data()));
}

} // namespace simaai::gst
