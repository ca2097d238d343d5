// SPDX-License-Identifier: LGPL-2.1-or-later
// Negotiation, the view rule and the buffers of simaaivideototensor.
#include "video_to_tensor.h"

#include <array>
#include <utility>

#include <simaai/kernels/ops/requirement.h>

#include "common/linear_size.h"
#include "pool_query.h"

namespace simaai::gst {
namespace {

/// Changes of pitch on one set of sink caps that are answered by new source caps.
constexpr int kMaxPitchChanges = 3;

/// A mapped memory a plane. Planes of one memory map it more than once, which costs nothing.
class PlaneMaps {
public:
  PlaneMaps(GstBuffer* buffer, const PlaneLayout& layout, std::size_t planes) {
    for (std::size_t plane = 0; plane < planes; ++plane) {
      guint index = 0;
      guint count = 0;
      gsize skip = 0;
      // plane_layout() has seen that each plane lies in one memory.
      if (gst_buffer_find_memory(buffer, static_cast<gsize>(layout.offset_bytes[plane]), 1, &index,
                                 &count, &skip) == FALSE)
        return;
      maps_[plane].emplace(gst_buffer_peek_memory(buffer, index), GST_MAP_READ);
      if (!*maps_[plane])
        return;
      first[plane] = maps_[plane]->data() + skip;
    }
    ok = true;
  }

  std::array<const std::uint8_t*, GST_VIDEO_MAX_PLANES> first{};
  bool ok = false;

private:
  std::array<std::optional<MapGuard>, GST_VIDEO_MAX_PLANES> maps_;
};

std::string caps_text(const GstCaps* caps) {
  const GTextPtr text(gst_caps_to_string(caps));
  return text.get();
}

} // namespace

BridgeSettings VideoToTensor::settings_copy() const {
  const ObjectLock lock(element_);
  return settings;
}

ViewPitches VideoToTensor::pitches_for(const PictureCaps& picture) const {
  const ObjectLock lock(element_);
  const bool current = video_caps_ != nullptr && picture_ &&
                       gst_video_info_is_equal(&picture.info, &picture_->info) != FALSE;
  return current && seen_pitches_ ? *seen_pitches_ : default_pitches(picture.info, *picture.format);
}

GstPtr<GstCaps> VideoToTensor::transform_caps(GstPadDirection direction,
                                              const GstCaps* caps) const {
  const BridgeSettings now = settings_copy();
  if (direction == GST_PAD_SRC)
    return video_caps_for(caps, now);
  const auto picture = parse_picture(caps);
  if (!picture)
    return open_tensor_caps(caps, now);
  GstCaps* tensors = gst_caps_new_empty();
  for (const auto& candidate : tensor_candidates(*picture, now, pitches_for(*picture)))
    gst_caps_append_structure(tensors, to_structure(candidate.info));
  return GstPtr<GstCaps>(tensors);
}

GstPtr<GstCaps> VideoToTensor::choose(const GstCaps* video, GstPtr<GstCaps> offered) const {
  const auto picture = parse_picture(video);
  if (!picture)
    return GstPtr<GstCaps>(gst_caps_fixate(offered.release()));
  const BridgeSettings now = settings_copy();
  for (const auto& candidate : tensor_candidates(*picture, now, pitches_for(*picture))) {
    const GstPtr<GstCaps> ours(to_caps(candidate.info));
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

bool VideoToTensor::set_caps(const GstCaps* video, const GstCaps* tensor) {
  const BridgeSettings now = settings_copy();
  const auto picture = parse_picture(video);
  const auto parsed = parse_tensor(*tensor);
  std::optional<std::string> refused;
  if (!picture)
    refused = "the video caps are not usable";
  else if (const auto* error = std::get_if<CapsError>(&parsed))
    refused = error->reason;
  else
    refused = plan(*picture, std::get<TensorInfo>(parsed), now);
  if (refused) {
    Report report;
    report.reason = *refused;
    report.sink_caps = video;
    report.src_caps = tensor;
    if (!std::exchange(reported_, true))
      post_error(GST_ELEMENT_CAST(element_), ErrorKind::Negotiation, report);
    return false;
  }
  require_zero_copy_ = now.require_zero_copy;
  const ObjectLock lock(element_);
  if (video_caps_ == nullptr || gst_caps_is_equal(video_caps_.get(), video) == FALSE) {
    video_caps_.reset(gst_caps_copy(video));
    seen_pitches_.reset();
    pitch_changes_ = 0;
  }
  picture_ = picture;
  return true;
}

void VideoToTensor::stop() {
  const ObjectLock lock(element_);
  picture_.reset();
  video_caps_.reset();
  seen_pitches_.reset();
  pitch_changes_ = 0;
  refused_caps_.reset();
}

void VideoToTensor::begin_caps(const GstCaps* sink_caps) {
  // Refused caps are sent again with the next buffer: one error is enough.
  const bool again =
      refused_caps_ != nullptr && gst_caps_is_equal(refused_caps_.get(), sink_caps) != FALSE;
  reported_ = reported_ && again;
  refused_caps_.reset(gst_caps_copy(sink_caps));
  if (!parse_picture(sink_caps) && !std::exchange(reported_, true)) {
    Report report;
    report.reason = "video format: expected RGB, BGR, RGBx, BGRx, RGBP, RGBA, BGRA or GRAY8 in "
                    "system memory; videoconvert makes one of them";
    report.sink_caps = sink_caps;
    post_error(GST_ELEMENT_CAST(element_), ErrorKind::Negotiation, report);
  }
}

void VideoToTensor::explain_refusal(const GstCaps* video) {
  if (std::exchange(reported_, true))
    return;
  const GstPtr<GstCaps> ours = transform_caps(GST_PAD_SINK, video);
  const GstPtr<GstCaps> wanted(
      gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SRC_PAD(element_), nullptr));
  Report report;
  report.reason = "no tensor of this picture is accepted downstream, which accepts " +
                  (wanted ? caps_text(wanted.get()) : std::string("anything"));
  if (!settings_copy().identity())
    report.reason += "; uint8 is not offered while mean or scale is set";
  report.sink_caps = video;
  report.src_caps = ours.get();
  post_error(GST_ELEMENT_CAST(element_), ErrorKind::Negotiation, report);
}

GstFlowReturn VideoToTensor::fail(ErrorKind kind, std::string reason) {
  const GstPtr<GstCaps> sink(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(element_)));
  const GstPtr<GstCaps> src(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SRC_PAD(element_)));
  Report report;
  report.reason = std::move(reason);
  report.sink_caps = sink.get();
  report.src_caps = src.get();
  post_error(GST_ELEMENT_CAST(element_), kind, report);
  return GST_FLOW_ERROR;
}

void VideoToTensor::look_at(GstBuffer* input) {
  if (!picture_ || !uint8_)
    return;
  const auto layout = plane_layout(input, picture_->info, *picture_->format);
  if (!std::holds_alternative<PlaneLayout>(layout))
    return; // prepare_output() says why
  const auto pitches = view_pitches(std::get<PlaneLayout>(layout), *picture_->format);
  if (!pitches || is_view(std::get<PlaneLayout>(layout)) || pitch_changes_ >= kMaxPitchChanges)
    return;
  {
    const ObjectLock lock(element_);
    const ViewPitches offered =
        seen_pitches_.value_or(default_pitches(picture_->info, *picture_->format));
    if (*pitches == offered)
      return; // downstream had these on offer and took something else
    seen_pitches_ = *pitches;
  }
  ++pitch_changes_;
  gst_base_transform_reconfigure_src(element_);
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
  const GstFlowReturn flow = acquire_output(element_, tensor_bytes_, output);
  if (flow != GST_FLOW_OK)
    return flow;
  if (*output == nullptr || gst_buffer_get_size(*output) < tensor_bytes_)
    return fail(ErrorKind::Resource,
                "cannot allocate a tensor of " + std::to_string(tensor_bytes_) + " bytes");
  gst_buffer_set_size(*output, static_cast<gssize>(tensor_bytes_));
  GST_BASE_TRANSFORM_GET_CLASS(element_)->copy_metadata(element_, input, *output);
  return GST_FLOW_OK;
}

GstFlowReturn VideoToTensor::prepare_output(GstBuffer* input, GstBuffer** output) {
  started_ = gst_util_get_timestamp();
  if (!picture_)
    return GST_FLOW_NOT_NEGOTIATED;
  auto layout = plane_layout(input, picture_->info, *picture_->format);
  if (const auto* refused = std::get_if<std::string>(&layout))
    return fail(ErrorKind::Data, *refused);
  layout_ = std::get<PlaneLayout>(layout);
  view_ = false;
  if (!uint8_)
    return allocate(input, output);
  if (is_view(layout_)) {
    *output = share(input, layout_.offset_bytes[0]);
    if (*output != nullptr) {
      view_ = true;
      if (*output != input)
        GST_BASE_TRANSFORM_GET_CLASS(element_)->copy_metadata(element_, input, *output);
      return GST_FLOW_OK;
    }
  }
  if (require_zero_copy_)
    return fail(ErrorKind::Data,
                "require-zero-copy: the picture would have to be copied, for its row pitch of " +
                    std::to_string(layout_.stride_bytes[0]) +
                    " bytes or its planes are not those of the negotiated tensor");
  stats.count_copy();
  return allocate(input, output);
}

bool VideoToTensor::encode(GstBuffer* input, std::byte* into) const {
  const std::size_t planes = picture_->format->planar ? picture_->format->channels : 1;
  const PlaneMaps maps(input, layout_, planes);
  if (!maps.ok)
    return false;
  const auto picture = picture_of<const std::uint8_t>(picture_->extents(), *picture_->format,
                                                      maps.first, layout_.stride_bytes);
  encoder_.encode(picture, into, pitches_);
  return true;
}

GstFlowReturn VideoToTensor::fill(GstBuffer* input, GstBuffer* output) {
  if (!view_) {
    const MapGuard map(gst_buffer_peek_memory(output, 0), GST_MAP_WRITE);
    if (!map || map.size() < tensor_bytes_ ||
        !encode(input, reinterpret_cast<std::byte*>(map.data())))
      return fail(ErrorKind::Resource, "cannot map the buffers");
  }
  stats.count_frame(gst_buffer_get_size(input), gst_buffer_get_size(output),
                    gst_util_get_timestamp() - started_);
  return GST_FLOW_OK;
}

} // namespace simaai::gst
