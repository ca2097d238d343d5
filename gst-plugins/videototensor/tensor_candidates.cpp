// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of the two pads of simaaivideototensor.
#include "tensor_candidates.h"

#include <array>

#include "common/linear_size.h"
#include "common/negotiation.h"

namespace simaai::gst {
namespace {

using kernels::DType;

constexpr std::array kConverted{DType::Float32, DType::Float16, DType::BFloat16, DType::Int8};

std::optional<std::pair<int, int>> fraction_of(const GstStructure* structure, const char* name) {
  int numerator = 0;
  int denominator = 1;
  if (gst_structure_get_fraction(structure, name, &numerator, &denominator) == FALSE)
    return std::nullopt;
  return std::pair(numerator, denominator);
}

/// Appends `info` unless an equivalent tensor is there already.
void add_candidate(std::vector<TensorCandidate>& list, TensorInfo info, AxisOrder order) {
  for (const auto& known : list)
    if (equivalent(known.info.spec, info.spec) && known.order == order)
      return;
  list.push_back({std::move(info), order});
}

void add_uint8(std::vector<TensorCandidate>& list, const TensorInfo& hints,
               const PictureCaps& picture, const BridgeSettings& settings,
               const ViewPitches& pitches, AxisOrder order) {
  TensorInfo info = hints;
  if (auto view = view_spec(picture.extents(), *picture.format, pitches, order)) {
    info.spec = *view;
    add_candidate(list, info, order);
  }
  if (settings.require_zero_copy)
    return;
  const ViewPitches usual = default_pitches(picture.info, *picture.format);
  if (auto padded = view_spec(picture.extents(), *picture.format, usual, order)) {
    info.spec = *padded;
    add_candidate(list, info, order);
  }
  info.spec = {tensor_shape(picture.extents(), order), DType::UInt8, kernels::Contiguous{}};
  add_candidate(list, info, order);
}

/// A fixed shape of caps; nothing where it is missing or not fixed.
std::optional<kernels::Shape> fixed_shape(const GstStructure* structure) {
  const GValue* array = gst_structure_get_value(structure, field::kShape);
  if (array == nullptr || !GST_VALUE_HOLDS_ARRAY(array))
    return std::nullopt;
  std::array<std::int64_t, kernels::kMaxRank> extents{};
  const guint rank = gst_value_array_get_size(array);
  if (rank > extents.size())
    return std::nullopt;
  for (guint axis = 0; axis < rank; ++axis) {
    const GValue* item = gst_value_array_get_value(array, axis);
    if (!G_VALUE_HOLDS_INT(item))
      return std::nullopt;
    extents[axis] = g_value_get_int(item);
  }
  return kernels::Shape(std::span<const std::int64_t>(extents.data(), rank));
}

void copy_field(GstStructure* to, const GstStructure* from, const char* name) {
  if (const GValue* value = gst_structure_get_value(from, name))
    gst_structure_set_value(to, name, value);
}

void append_unique(GValue* list, const char* word) {
  GValue item = G_VALUE_INIT;
  g_value_init(&item, G_TYPE_STRING);
  g_value_set_string(&item, word);
  gst_value_list_append_and_take_value(list, &item);
}

/// Formats with this many channels, of those that the hint (a name, a list of names or null) allows.
GValue format_list(std::int64_t channels, const GValue* hint) {
  GValue list = G_VALUE_INIT;
  gst_value_list_init(&list, 8);
  for (const auto& format : picture_formats()) {
    GValue name = G_VALUE_INIT;
    g_value_init(&name, G_TYPE_STRING);
    g_value_set_static_string(&name, format.name());
    const bool allowed = hint == nullptr || gst_value_can_intersect(hint, &name) != FALSE;
    g_value_unset(&name);
    if (allowed && static_cast<std::int64_t>(format.channels) == channels)
      append_unique(&list, format.name());
  }
  return list;
}

GstStructure* video_structure(const GstStructure* tensor) {
  GstStructure* video = gst_structure_new_empty("video/x-raw");
  copy_field(video, tensor, field::kFramerate);
  copy_field(video, tensor, field::kPixelAspectRatio);
  copy_field(video, tensor, field::kColorimetry);
  return video;
}

void append_video(GstCaps* caps, const GstStructure* tensor, const BridgeSettings& settings) {
  const GValue* hint = gst_structure_get_value(tensor, field::kVideoFormat);
  const auto shape = fixed_shape(tensor);
  if (!shape) {
    GstStructure* video = video_structure(tensor);
    if (hint != nullptr)
      gst_structure_set_value(video, "format", hint);
    append_in_memories(caps, video, true);
    return;
  }
  for (const AxisOrder order : settings.orders(AxisOrder::Hwc)) {
    const auto extents = picture_extents(*shape, order);
    if (!extents || shape->rank() != 4)
      continue;
    GValue formats = format_list(extents->channels, hint);
    if (gst_value_list_get_size(&formats) > 0) {
      GstStructure* video = video_structure(tensor);
      gst_structure_set(video, "width", G_TYPE_INT, static_cast<int>(extents->width), "height",
                        G_TYPE_INT, static_cast<int>(extents->height), nullptr);
      gst_structure_set_value(video, "format", &formats);
      append_in_memories(caps, video, true);
    }
    g_value_unset(&formats);
  }
}

} // namespace

std::optional<PictureCaps> parse_picture(const GstCaps* caps) {
  PictureCaps picture;
  if (gst_caps_is_fixed(caps) == FALSE || gst_video_info_from_caps(&picture.info, caps) == FALSE)
    return std::nullopt;
  picture.format = find_picture_format(GST_VIDEO_INFO_FORMAT(&picture.info));
  if (picture.format == nullptr)
    return std::nullopt;
  const GstStructure* structure = gst_caps_get_structure(caps, 0);
  picture.framerate = fraction_of(structure, "framerate");
  picture.pixel_aspect_ratio = fraction_of(structure, "pixel-aspect-ratio");
  if (const char* colorimetry = gst_structure_get_string(structure, "colorimetry"))
    picture.colorimetry = colorimetry;
  return picture;
}

std::vector<TensorCandidate> tensor_candidates(const PictureCaps& picture,
                                               const BridgeSettings& settings,
                                               const ViewPitches& pitches) {
  std::vector<TensorCandidate> list;
  TensorInfo hints;
  hints.framerate = picture.framerate;
  hints.video_format = picture.format->name();
  hints.pixel_aspect_ratio = picture.pixel_aspect_ratio;
  hints.colorimetry = picture.colorimetry;
  const auto orders = settings.orders(picture.format->natural_order());
  for (const DType dtype : kConverted)
    for (const AxisOrder order : orders) {
      TensorInfo info = hints;
      info.spec = {tensor_shape(picture.extents(), order), dtype, kernels::Contiguous{}};
      if (dtype == DType::Int8) {
        info.quant_scale = settings.quant_scale;
        info.quant_zero_point = settings.quant_zero_point;
      }
      add_candidate(list, std::move(info), order);
    }
  // mean and scale would be without effect on bare samples.
  if (settings.identity())
    for (const AxisOrder order : orders)
      add_uint8(list, hints, picture, settings, pitches, order);
  return list;
}

GstPtr<GstCaps> open_tensor_caps(const GstCaps* video, const BridgeSettings& settings,
                                 bool dma_bufs) {
  GstCaps* caps = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(video); ++i) {
    GValue dtypes = G_VALUE_INIT;
    gst_value_list_init(&dtypes, 5);
    for (const DType dtype : kConverted)
      append_unique(&dtypes, dtype_name(dtype));
    if (settings.identity())
      append_unique(&dtypes, dtype_name(DType::UInt8));
    GValue layouts = G_VALUE_INIT;
    gst_value_list_init(&layouts, 2);
    append_unique(&layouts, word::kContiguous);
    append_unique(&layouts, word::kStrided);
    GstStructure* tensor = gst_structure_new_empty(kTensorCapsName);
    gst_structure_take_value(tensor, field::kDtype, &dtypes);
    gst_structure_take_value(tensor, field::kLayout, &layouts);
    copy_field(tensor, gst_caps_get_structure(video, i), field::kFramerate);
    append_in_memories(caps, tensor, dma_bufs);
  }
  return GstPtr<GstCaps>(gst_caps_simplify(caps));
}

GstPtr<GstCaps> video_caps_for(const GstCaps* tensors, const BridgeSettings& settings) {
  GstCaps* caps = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(tensors); ++i)
    append_video(caps, gst_caps_get_structure(tensors, i), settings);
  return GstPtr<GstCaps>(gst_caps_simplify(caps));
}

} // namespace simaai::gst
