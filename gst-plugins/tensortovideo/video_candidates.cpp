// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of the two pads of simaaitensortovideo.
#include "video_candidates.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <iterator>
#include <span>
#include <utility>

#include <gst/video/video.h>

#include <simaai/kernels/ops/requirement.h>

#include "common/linear_size.h"
#include "common/negotiation.h"

namespace simaai::gst {
namespace {

using kernels::DType;

std::string shape_text(const kernels::Shape& shape) {
  std::string text = "<";
  for (const std::int64_t extent : shape.extents())
    text += (text.size() > 1 ? "," : "") + std::to_string(extent);
  return text + ">";
}

/// The format that the tensor came from; null where it is not known.
const PictureFormat* named_format(const TensorInfo& info) {
  return info.video_format
             ? find_picture_format(gst_video_format_from_string(info.video_format->c_str()))
             : nullptr;
}

/// The same, if the tensor still has as many channels.
const PictureFormat* hinted_format(const PictureTensor& tensor) {
  const auto* format = named_format(tensor.info);
  const bool fits =
      format != nullptr && static_cast<std::int64_t>(format->channels) == tensor.extents.channels;
  return fits ? format : nullptr;
}

bool is_same_picture(const PictureTensor& a, const PictureTensor& b) {
  return a.extents == b.extents && (a.extents.height == 1 || a.pitches.h == b.pitches.h) &&
         (a.extents.width == 1 || a.pitches.w == b.pitches.w) &&
         (a.extents.channels == 1 || a.pitches.c == b.pitches.c);
}

/// Adds the picture that the tensor holds in this order, if it is one.
void add_reading(PictureTensors& readings, const TensorInfo& info, AxisOrder order) {
  const auto extents = picture_extents(info.spec.shape, order);
  const auto pitches = tensor_pitches(info.spec, order);
  if (!extents || !pitches)
    return;
  PictureTensor reading{info, order, *extents, *pitches};
  if (readings.empty() || !is_same_picture(readings.front(), reading))
    readings.push_back(std::move(reading));
}

/// Leaves the readings with the channels of `video-format`, where there are some.
void keep_hinted(PictureTensors& readings) {
  const auto is_hinted = [](const PictureTensor& reading) {
    return hinted_format(reading) != nullptr;
  };
  if (std::any_of(readings.begin(), readings.end(), is_hinted))
    std::erase_if(readings, [&](const auto& reading) { return !is_hinted(reading); });
}

void append_word(GValue* list, const char* word) {
  GValue item = G_VALUE_INIT;
  g_value_init(&item, G_TYPE_STRING);
  g_value_set_string(&item, word);
  gst_value_list_append_and_take_value(list, &item);
}

/// Everything that this side does not depend on the picture for.
GstStructure* open_structure(const BridgeSettings& settings) {
  GValue dtypes = G_VALUE_INIT;
  gst_value_list_init(&dtypes, 5);
  for (const DType dtype : {DType::Float32, DType::Float16, DType::BFloat16, DType::Int8})
    append_word(&dtypes, dtype_name(dtype));
  if (settings.identity())
    append_word(&dtypes, dtype_name(DType::UInt8));
  GValue layouts = G_VALUE_INIT;
  gst_value_list_init(&layouts, 2);
  append_word(&layouts, word::kContiguous);
  append_word(&layouts, word::kStrided);
  GstStructure* tensor = gst_structure_new_empty(kTensorCapsName);
  gst_structure_take_value(tensor, field::kDtype, &dtypes);
  gst_structure_take_value(tensor, field::kLayout, &layouts);
  return tensor;
}

void set_shape(GstStructure* structure, const kernels::Shape& shape) {
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, static_cast<guint>(shape.rank()));
  for (const std::int64_t extent : shape.extents()) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_INT);
    g_value_set_int(&item, static_cast<int>(extent));
    gst_value_array_append_and_take_value(&array, &item);
  }
  gst_structure_take_value(structure, field::kShape, &array);
}

/// Formats that a structure allows.
std::vector<const PictureFormat*> allowed_formats(const GstStructure* video) {
  std::vector<const PictureFormat*> formats;
  for (const auto& format : picture_formats()) {
    GstStructure* probe =
        gst_structure_new("video/x-raw", "format", G_TYPE_STRING, format.name(), nullptr);
    if (gst_structure_can_intersect(video, probe) != FALSE)
      formats.push_back(&format);
    gst_structure_free(probe);
  }
  return formats;
}

/// Lets upstream choose a format that downstream can have back: those with a meaning that is allowed
/// here. A tensor that does not name its format is not restricted by this field.
void set_video_format(GstStructure* tensor, std::span<const PictureFormat* const> allowed) {
  GValue names = G_VALUE_INIT;
  gst_value_list_init(&names, 8);
  for (const auto& format : picture_formats())
    if (std::any_of(allowed.begin(), allowed.end(),
                    [&](const auto* other) { return other->meaning == format.meaning; }))
      append_word(&names, format.name());
  if (gst_value_list_get_size(&names) < picture_formats().size())
    gst_structure_set_value(tensor, field::kVideoFormat, &names);
  g_value_unset(&names);
}

void append_tensors(GstCaps* caps, const GstStructure* video, const BridgeSettings& settings) {
  int width = 0;
  int height = 0;
  const auto allowed = allowed_formats(video);
  // Frame rate and aspect ratio restrict nothing: a tensor without them is accepted too.
  if (gst_structure_get_int(video, "width", &width) == FALSE ||
      gst_structure_get_int(video, "height", &height) == FALSE) {
    GstStructure* tensor = open_structure(settings);
    set_video_format(tensor, allowed);
    gst_caps_append_structure(caps, tensor);
    return;
  }
  for (const std::size_t channels : {std::size_t{3}, std::size_t{4}, std::size_t{1}}) {
    std::vector<const PictureFormat*> formats;
    std::copy_if(allowed.begin(), allowed.end(), std::back_inserter(formats),
                 [channels](const auto* format) { return format->channels == channels; });
    if (formats.empty())
      continue;
    for (const AxisOrder order : settings.orders(AxisOrder::Hwc)) {
      const kernels::Shape shape =
          tensor_shape({height, width, static_cast<std::int64_t>(channels)}, order);
      for (const auto extents : {shape.extents(), shape.extents().subspan(1)}) {
        GstStructure* tensor = open_structure(settings);
        set_shape(tensor, kernels::Shape(extents));
        set_video_format(tensor, formats);
        gst_caps_append_structure(caps, tensor);
      }
    }
  }
}

/// Takes uint8 out of the dtypes of open_structure().
void drop_uint8(GstStructure* tensor) {
  GValue dtypes = G_VALUE_INIT;
  const GValue* all = gst_structure_get_value(tensor, field::kDtype);
  GValue uint8 = G_VALUE_INIT;
  g_value_init(&uint8, G_TYPE_STRING);
  g_value_set_static_string(&uint8, dtype_name(DType::UInt8));
  if (gst_value_subtract(&dtypes, all, &uint8) != FALSE)
    gst_structure_take_value(tensor, field::kDtype, &dtypes);
  g_value_unset(&uint8);
}

bool names_format(const GValue* names, const PictureFormat& format) {
  GValue name = G_VALUE_INIT;
  g_value_init(&name, G_TYPE_STRING);
  g_value_set_static_string(&name, format.name());
  const bool named = gst_value_can_intersect(names, &name) != FALSE;
  g_value_unset(&name);
  return named;
}

/// Where the shape is known, all formats with as many channels restrict nothing. Complete caps must
/// then stay fixed: a capsfilter that completes the caps of filesrc asks for that.
void drop_idle_formats(GstStructure* tensor) {
  const GValue* names = gst_structure_get_value(tensor, field::kVideoFormat);
  if (names == nullptr || gst_structure_has_field(tensor, field::kShape) == FALSE)
    return;
  const auto formats = picture_formats();
  const bool idle = std::all_of(formats.begin(), formats.end(), [&](const auto& format) {
    return names_format(names, format) ||
           std::none_of(formats.begin(), formats.end(), [&](const auto& other) {
             return other.channels == format.channels && names_format(names, other);
           });
  });
  if (idle)
    gst_structure_remove_field(tensor, field::kVideoFormat);
}

/// What is wrong with the quantization that int8 caps state; the ranges are those of the properties.
std::optional<std::string> quantization_fault(const TensorInfo& info) {
  if (const auto& scale = info.quant_scale; scale && !(*scale >= FLT_MIN && *scale <= FLT_MAX)) {
    std::array<gchar, G_ASCII_DTOSTR_BUF_SIZE> digits{};
    const gchar* text = g_ascii_dtostr(digits.data(), static_cast<gint>(digits.size()), *scale);
    return std::string("caps field 'quant-scale' is ") + text +
           "; expected a number above 0 within binary32";
  }
  if (const auto& zero = info.quant_zero_point; zero && (*zero < -128 || *zero > 127))
    return std::string("caps field 'quant-zero-point' is ") + std::to_string(*zero) +
           "; expected -128 to 127";
  return std::nullopt;
}

} // namespace

std::variant<PictureTensors, std::string> picture_readings(const GstCaps* caps,
                                                           const BridgeSettings& settings) {
  auto parsed = parse_tensor(*caps);
  if (const auto* refused = std::get_if<CapsError>(&parsed))
    return refused->reason;
  const auto& info = std::get<TensorInfo>(parsed);
  const kernels::TensorSpec& spec = info.spec;
  if (spec.dtype == DType::Int32)
    return std::string("dtype is int32; expected uint8, int8, float16, bfloat16 or float32");
  if (spec.dtype == DType::UInt8 && !settings.identity())
    return std::string("dtype is uint8, whose elements are the samples, but property mean or scale "
                       "is set");
  if (auto fault = spec.dtype == DType::Int8 ? quantization_fault(info) : std::nullopt)
    return std::move(*fault);
  const auto need = kernels::ops::port_requirement(spec);
  if (const auto* refused = std::get_if<kernels::Error>(&need))
    return refused->message();
  const auto* named = named_format(info);
  PictureTensors readings;
  for (const AxisOrder order :
       settings.orders(named != nullptr ? named->natural_order() : AxisOrder::Hwc))
    add_reading(readings, info, order);
  keep_hinted(readings);
  if (!readings.empty())
    return readings;
  if (!tensor_pitches(spec, AxisOrder::Hwc) && (spec.shape.rank() == 3 || spec.shape.rank() == 4))
    return std::string("layout is ") + layout_name(spec.layout) +
           "; expected contiguous or strided";
  const bool both = !settings.axis_order;
  const bool hwc = settings.axis_order == AxisOrder::Hwc;
  return "shape is " + shape_text(spec.shape) + "; expected " +
         (both || hwc ? "<1,H,W,C> or <H,W,C>" : "") + (both ? ", " : "") +
         (both || !hwc ? "<1,C,H,W> or <C,H,W>" : "") + " with C of 1, 3 or 4";
}

std::string ambiguity_text(const PictureTensors& readings) {
  std::string text = "shape " + shape_text(readings.front().info.spec.shape) + " can be read as";
  for (const PictureTensor& reading : readings) {
    const PictureExtents& extents = reading.extents;
    text += std::string(&reading == &readings.front() ? " " : ", or ") +
            (reading.order == AxisOrder::Hwc ? "H, W, C" : "C, H, W") + " with " +
            std::to_string(extents.width) + " x " + std::to_string(extents.height) + " pixels of " +
            std::to_string(extents.channels) + (extents.channels == 1 ? " channel" : " channels");
  }
  return text +
         ", and neither video-format nor the caps downstream decide; set property axis-order";
}

std::optional<PlaneLayout> shared_layout(const PictureTensor& tensor, const PictureFormat& format) {
  const TensorPitches& at = tensor.pitches;
  const bool wide = tensor.extents.width > 1;
  const bool tall = tensor.extents.height > 1;
  if (tensor.info.spec.dtype != DType::UInt8 || (wide && at.w != format.pixel_bytes) ||
      at.h > G_MAXINT || static_cast<std::int64_t>(format.channels) != tensor.extents.channels)
    return std::nullopt;
  // The row pitch of a single row is free; that of several must hold a whole row with its filler.
  const std::int64_t row = tall ? at.h : tensor.extents.width * format.pixel_bytes;
  if (row < tensor.extents.width * format.pixel_bytes)
    return std::nullopt;
  PlaneLayout layout;
  layout.stride_bytes[0] = row;
  if (!format.planar)
    return format.channels == 1 || at.c == 1 ? std::optional(layout) : std::nullopt;
  for (std::size_t plane = 0; plane < format.channels; ++plane) {
    layout.offset_bytes[plane] = static_cast<std::int64_t>(plane) * at.c;
    layout.stride_bytes[plane] = row;
  }
  return at.c >= row * tensor.extents.height ? std::optional(layout) : std::nullopt;
}

std::vector<const PictureFormat*> video_formats(const PictureTensor& tensor,
                                                bool require_zero_copy) {
  std::vector<const PictureFormat*> formats;
  const PictureFormat* hint = hinted_format(tensor);
  const bool raw = tensor.info.spec.dtype == DType::UInt8;
  for (const auto& format : picture_formats()) {
    const bool fits = static_cast<std::int64_t>(format.channels) == tensor.extents.channels;
    if (!fits || (hint != nullptr && hint->meaning != format.meaning))
      continue;
    if (raw && require_zero_copy && !shared_layout(tensor, format))
      continue;
    formats.push_back(&format);
  }
  const auto rank = [&](const PictureFormat* format) {
    return format == hint ? 0 : raw && shared_layout(tensor, *format) ? 1 : 2;
  };
  std::stable_sort(formats.begin(), formats.end(),
                   [&](const auto* a, const auto* b) { return rank(a) < rank(b); });
  return formats;
}

GstStructure* video_structure(const PictureTensor& tensor, const PictureFormat& format) {
  GstStructure* video =
      gst_structure_new("video/x-raw", "format", G_TYPE_STRING, format.name(), "width", G_TYPE_INT,
                        static_cast<int>(tensor.extents.width), "height", G_TYPE_INT,
                        static_cast<int>(tensor.extents.height), nullptr);
  if (const auto& rate = tensor.info.framerate)
    gst_structure_set(video, "framerate", GST_TYPE_FRACTION, rate->first, rate->second, nullptr);
  else
    gst_structure_set(video, "framerate", GST_TYPE_FRACTION_RANGE, 0, 1, G_MAXINT, 1, nullptr);
  if (const auto& ratio = tensor.info.pixel_aspect_ratio)
    gst_structure_set(video, "pixel-aspect-ratio", GST_TYPE_FRACTION, ratio->first, ratio->second,
                      nullptr);
  if (const auto& colorimetry = tensor.info.colorimetry)
    gst_structure_set(video, "colorimetry", G_TYPE_STRING, colorimetry->c_str(), nullptr);
  return video;
}

GstPtr<GstCaps> tensor_caps_for(const GstCaps* video, const BridgeSettings& settings) {
  GstCaps* caps = gst_caps_new_empty();
  GstCaps* views = gst_caps_new_empty(); // only in the memory of the picture
  for (guint i = 0; i < gst_caps_get_size(video); ++i) {
    const bool in_dma_bufs =
        gst_caps_features_contains(gst_caps_get_features(video, i), kDmaBufFeature) != FALSE;
    append_tensors(in_dma_bufs ? views : caps, gst_caps_get_structure(video, i), settings);
  }
  GstCaps* dma_bufs = gst_caps_copy(caps);
  gst_caps_append(dma_bufs, gst_caps_copy(views));
  for (guint i = 0; i < gst_caps_get_size(views); ++i)
    drop_uint8(gst_caps_get_structure(views, i));
  gst_caps_append(caps, views);
  for (GstCaps** of : {&caps, &dma_bufs}) {
    *of = gst_caps_simplify(*of);
    for (guint i = 0; i < gst_caps_get_size(*of); ++i)
      drop_idle_formats(gst_caps_get_structure(*of, i));
  }
  // DMA-BUFs are mapped like any other memory.
  gst_caps_set_features_simple(dma_bufs, gst_caps_features_new(kDmaBufFeature, nullptr));
  gst_caps_append(caps, dma_bufs);
  return GstPtr<GstCaps>(caps);
}

} // namespace simaai::gst
