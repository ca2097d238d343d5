// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading and writing of tensor caps, field by field.
#include "caps_spec.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>
#include <string_view>

#include "gst_ptr.h"
#include "linear_size.h"

namespace simaai::gst {
namespace {

using kernels::DType;
using kernels::kMaxRank;

constexpr std::int64_t kLargestExtent = std::numeric_limits<std::int32_t>::max();

constexpr std::array<std::pair<DType, const char*>, 6> kDTypes{{
    {DType::Int8, "int8"},
    {DType::UInt8, "uint8"},
    {DType::Int32, "int32"},
    {DType::Float16, "float16"},
    {DType::BFloat16, "bfloat16"},
    {DType::Float32, "float32"},
}};

std::string named(const char* name) { return "caps field '" + std::string(name) + "'"; }

/// Reads fields of one structure and keeps the first refusal.
class Reader {
public:
  explicit Reader(const GstStructure& structure) noexcept : structure_(&structure) {}

  [[nodiscard]] bool ok() const noexcept { return reason_.empty(); }
  [[nodiscard]] std::string take_reason() noexcept { return std::move(reason_); }
  void refuse(std::string reason) {
    if (ok())
      reason_ = std::move(reason);
  }

  [[nodiscard]] bool has(const char* name) const noexcept {
    return gst_structure_has_field(structure_, name) != FALSE;
  }

  const GValue* required(const char* name, const char* expected) {
    const GValue* value = gst_structure_get_value(structure_, name);
    if (value == nullptr)
      refuse(named(name) + " is missing; expected " + expected);
    return value;
  }

  const char* text(const char* name, const char* expected) {
    const GValue* value = required(name, expected);
    if (value == nullptr)
      return nullptr;
    if (!G_VALUE_HOLDS_STRING(value) || g_value_get_string(value) == nullptr) {
      wrong_type(name, expected, value);
      return nullptr;
    }
    return g_value_get_string(value);
  }

  std::optional<std::string> optional_text(const char* name) {
    if (!has(name))
      return std::nullopt;
    const char* found = text(name, "a string");
    return found != nullptr ? std::optional<std::string>(found) : std::nullopt;
  }

  std::optional<std::pair<int, int>> optional_fraction(const char* name) {
    if (!has(name))
      return std::nullopt;
    const GValue* value = required(name, "a fraction");
    if (!GST_VALUE_HOLDS_FRACTION(value)) {
      wrong_type(name, "a fraction", value);
      return std::nullopt;
    }
    return std::pair(gst_value_get_fraction_numerator(value),
                     gst_value_get_fraction_denominator(value));
  }

  std::optional<std::int64_t> optional_bytes(const char* name) {
    if (!has(name))
      return std::nullopt;
    constexpr const char* kExpected = "a gint64, bytes from 0";
    const GValue* value = required(name, kExpected);
    std::int64_t found = -1;
    if (G_VALUE_HOLDS_INT(value))
      found = g_value_get_int(value);
    else if (G_VALUE_HOLDS_INT64(value))
      found = g_value_get_int64(value);
    if (found < 0)
      wrong_type(name, kExpected, value);
    return found;
  }

  void wrong_type(const char* name, const char* expected, const GValue* value) {
    refuse(named(name) + " is " + value_text(value) + " of type " + G_VALUE_TYPE_NAME(value) +
           "; expected " + expected);
  }

  /// Array field of at most `capacity` numbers; returns the count. Numbers are int, or gint64 too
  /// where `wide`.
  std::size_t numbers(const char* name, const char* expected, bool wide,
                      std::span<std::int64_t> into) {
    const GValue* value = required(name, expected);
    if (value == nullptr)
      return 0;
    if (!GST_VALUE_HOLDS_ARRAY(value)) {
      wrong_type(name, expected, value);
      return 0;
    }
    const guint count = gst_value_array_get_size(value);
    if (count > into.size()) {
      refuse(named(name) + " has " + std::to_string(count) + " entries; expected at most " +
             std::to_string(into.size()));
      return 0;
    }
    for (guint i = 0; i < count && ok(); ++i)
      into[i] = number(name, i, gst_value_array_get_value(value, i), wide);
    return count;
  }

  void expect_count(const char* name, std::size_t expected, std::size_t found, const char* what) {
    if (found != expected)
      refuse(named(name) + " has " + std::to_string(found) + " entries; expected " +
             std::to_string(expected) + " (" + what + ")");
  }

private:
  std::int64_t number(const char* name, guint index, const GValue* item, bool wide) {
    if (G_VALUE_HOLDS_INT(item))
      return g_value_get_int(item);
    const std::string where = named(name) + " entry " + std::to_string(index);
    if (G_VALUE_HOLDS_INT64(item)) {
      const gint64 found = g_value_get_int64(item);
      if (wide)
        return found;
      if (found > kLargestExtent)
        refuse(where + " is " + std::to_string(found) + "; the largest value is 2147483647");
    }
    if (G_VALUE_HOLDS_DOUBLE(item))
      refuse(where + " is the floating-point number " + value_text(item) +
             (wide ? "; expected whole bytes: numbers above 2147483647 must be written as "
                     "(gint64)<...>"
                   : "; expected a whole number of at most 2147483647"));
    refuse(where + " is " + value_text(item) + " of type " + G_VALUE_TYPE_NAME(item) +
           (wide ? "; expected gint64 or int" : "; expected int"));
    return 0;
  }

  const GstStructure* structure_;
  std::string reason_;
};

constexpr const char* kAxesOrder = "one each for D, H, W, C";

DType read_dtype(Reader& in) {
  constexpr const char* kExpected = "int8, uint8, int32, float16, bfloat16 or float32";
  const char* name = in.text(field::kDtype, kExpected);
  const auto dtype = dtype_from_name(name);
  if (name != nullptr && !dtype)
    in.refuse(named(field::kDtype) + " is '" + name + "'; expected " + kExpected);
  return dtype.value_or(DType::Float32);
}

kernels::Shape read_shape(Reader& in) {
  std::array<std::int64_t, kMaxRank> extents{};
  const std::size_t rank =
      in.numbers(field::kShape, "an array of int, outermost extent first, such as <1,640,640,3>",
                 false, extents);
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (extents[axis] < 0)
      in.refuse(named(field::kShape) + " entry " + std::to_string(axis) + " is " +
                std::to_string(extents[axis]) +
                "; expected 0 to 2147483647 (larger numbers wrap when caps are written as text)");
  return kernels::Shape(std::span<const std::int64_t>(extents.data(), rank));
}

std::array<std::int64_t, 4> read_four(Reader& in, const char* name, const char* expected) {
  std::array<std::int64_t, 4> four{};
  // Room for more than four, so that a longer array is reported with its real length.
  std::array<std::int64_t, 16> found{};
  const std::size_t count = in.numbers(name, expected, false, found);
  if (in.ok())
    in.expect_count(name, four.size(), count, kAxesOrder);
  std::copy_n(found.begin(), four.size(), four.begin());
  return four;
}

std::array<std::int64_t, 4> read_tile_shape(Reader& in) {
  return read_four(in, field::kTileShape, "an array of 4 int, tile extents D, H, W, C");
}

kernels::MlaTiled read_tiled(Reader& in) {
  kernels::MlaTiled tiled;
  const auto axes =
      read_four(in, field::kTileAxes, "an array of 4 int, logical axes D, H, W, C, -1 for absent");
  std::transform(axes.begin(), axes.end(), tiled.axes.begin(),
                 [](std::int64_t axis) { return static_cast<std::int32_t>(axis); });
  tiled.tile_shape = read_tile_shape(in);
  constexpr const char* kExpected = "compact or pad16";
  const char* name = in.text(field::kChannelStorage, kExpected);
  const auto storage = channel_storage_from_name(name);
  if (name != nullptr && !storage)
    in.refuse(named(field::kChannelStorage) + " is '" + name + "'; expected " + kExpected);
  tiled.channels = storage.value_or(kernels::ChannelStorage::Compact);
  return tiled;
}

kernels::Strided read_strided(Reader& in, const kernels::Shape& shape) {
  kernels::Strided strided;
  std::array<std::int64_t, 16> found{};
  const std::size_t count = in.numbers(
      field::kStrides, "an array of gint64, bytes, one for each extent of shape", true, found);
  if (in.ok())
    in.expect_count(field::kStrides, shape.rank(), count, "one for each extent of shape");
  std::copy_n(found.begin(), kMaxRank, strided.strides_bytes.begin());
  return strided;
}

kernels::Layout read_layout(Reader& in, const kernels::Shape& shape) {
  constexpr const char* kExpected = "contiguous, strided, mla-tiled or mla-cblocked";
  const char* name = in.text(field::kLayout, kExpected);
  if (name == nullptr)
    return kernels::Contiguous{};
  const std::string_view layout = name;
  if (layout == word::kContiguous)
    return kernels::Contiguous{};
  if (layout == word::kStrided)
    return read_strided(in, shape);
  if (layout == word::kMlaTiled)
    return read_tiled(in);
  if (layout == word::kMlaCBlocked)
    return kernels::MlaCBlocked{read_tile_shape(in)};
  in.refuse(named(field::kLayout) + " is '" + name + "'; expected " + kExpected);
  return kernels::Contiguous{};
}

void read_optional(Reader& in, const GstStructure& structure, TensorInfo& info) {
  if (in.has(field::kQuantScale)) {
    const GValue* value = gst_structure_get_value(&structure, field::kQuantScale);
    if (G_VALUE_HOLDS_DOUBLE(value))
      info.quant_scale = g_value_get_double(value);
    else
      in.wrong_type(field::kQuantScale, "a double", value);
  }
  if (in.has(field::kQuantZeroPoint)) {
    const GValue* value = gst_structure_get_value(&structure, field::kQuantZeroPoint);
    if (G_VALUE_HOLDS_INT(value))
      info.quant_zero_point = g_value_get_int(value);
    else
      in.wrong_type(field::kQuantZeroPoint, "an int", value);
  }
  info.tensor_id = in.optional_text(field::kTensorId);
  info.framerate = in.optional_fraction(field::kFramerate);
  info.video_format = in.optional_text(field::kVideoFormat);
  info.pixel_aspect_ratio = in.optional_fraction(field::kPixelAspectRatio);
  info.colorimetry = in.optional_text(field::kColorimetry);
  info.offset_bytes = in.optional_bytes(field::kOffset);
}

std::string number_text(double number) {
  std::array<gchar, G_ASCII_DTOSTR_BUF_SIZE> digits{};
  return g_ascii_dtostr(digits.data(), static_cast<gint>(digits.size()), number);
}

template <class Range>
void set_int_array(GstStructure* structure, const char* name, Range&& range) {
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, static_cast<guint>(range.size()));
  for (const auto number : range) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_INT);
    g_value_set_int(&item, static_cast<int>(number));
    gst_value_array_append_and_take_value(&array, &item);
  }
  gst_structure_take_value(structure, name, &array);
}

void set_strides(GstStructure* structure, const kernels::TensorSpec& spec) {
  const auto& strided = std::get<kernels::Strided>(spec.layout);
  const auto canonical = row_major_strides(spec.shape, spec.dtype);
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, static_cast<guint>(spec.shape.rank()));
  for (std::size_t axis = 0; axis < spec.shape.extents().size(); ++axis) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_INT64);
    const bool singleton = spec.shape[axis] == 1 && canonical.has_value();
    g_value_set_int64(&item, singleton ? (*canonical)[axis] : strided.strides_bytes[axis]);
    gst_value_array_append_and_take_value(&array, &item);
  }
  gst_structure_take_value(structure, field::kStrides, &array);
}

void set_layout(GstStructure* structure, const kernels::TensorSpec& spec) {
  gst_structure_set(structure, field::kLayout, G_TYPE_STRING, layout_name(spec.layout), nullptr);
  if (std::holds_alternative<kernels::Strided>(spec.layout)) {
    set_strides(structure, spec);
  } else if (const auto* tiled = std::get_if<kernels::MlaTiled>(&spec.layout)) {
    set_int_array(structure, field::kTileAxes, tiled->axes);
    set_int_array(structure, field::kTileShape, tiled->tile_shape);
    gst_structure_set(structure, field::kChannelStorage, G_TYPE_STRING,
                      channel_storage_name(tiled->channels), nullptr);
  } else if (const auto* blocked = std::get_if<kernels::MlaCBlocked>(&spec.layout)) {
    set_int_array(structure, field::kTileShape, blocked->tile_shape);
  }
}

void set_fraction(GstStructure* structure, const char* name,
                  const std::optional<std::pair<int, int>>& fraction) {
  if (fraction)
    gst_structure_set(structure, name, GST_TYPE_FRACTION, fraction->first, fraction->second,
                      nullptr);
}

void set_text(GstStructure* structure, const char* name, const std::optional<std::string>& text) {
  if (text)
    gst_structure_set(structure, name, G_TYPE_STRING, text->c_str(), nullptr);
}

} // namespace

std::optional<CapsError> framerate_problem(const std::optional<std::pair<int, int>>& framerate) {
  if (!framerate || (framerate->first >= 0 && framerate->second > 0))
    return std::nullopt;
  return CapsError{named(field::kFramerate) + " is " + std::to_string(framerate->first) + "/" +
                   std::to_string(framerate->second) + "; expected a fraction from 0/1"};
}

std::string value_text(const GValue* value) {
  if (G_VALUE_HOLDS_STRING(value) && g_value_get_string(value) == nullptr)
    return "NULL";
  const GTextPtr text(gst_value_serialize(value));
  return text ? text.get() : "(unprintable)";
}

std::optional<CapsError> field_problem(const TensorInfo& info) {
  if (info.quant_scale && !(std::isfinite(*info.quant_scale) && *info.quant_scale > 0))
    return CapsError{named(field::kQuantScale) + " is " + number_text(*info.quant_scale) +
                     "; expected a finite number above 0"};
  const bool is_int8 = info.spec.dtype == DType::Int8;
  if (const auto& zero = info.quant_zero_point; is_int8 && zero && (*zero < -128 || *zero > 127))
    return CapsError{named(field::kQuantZeroPoint) + " is " + std::to_string(*zero) +
                     "; expected -128 to 127"};
  if (info.tensor_id && g_utf8_validate(info.tensor_id->c_str(), -1, nullptr) == FALSE)
    return CapsError{named(field::kTensorId) + " is no text; expected UTF-8"};
  if (info.offset_bytes && *info.offset_bytes < 0)
    return CapsError{named(field::kOffset) + " is " + std::to_string(*info.offset_bytes) +
                     "; expected bytes from 0"};
  return framerate_problem(info.framerate);
}

std::variant<std::optional<std::pair<int, int>>, CapsError>
parse_framerate(const GstStructure& structure) {
  Reader in(structure);
  const auto framerate = in.optional_fraction(field::kFramerate);
  if (!in.ok())
    return CapsError{in.take_reason()};
  if (auto problem = framerate_problem(framerate))
    return std::move(*problem);
  return framerate;
}

std::variant<TensorInfo, CapsError> parse_tensor(const GstStructure& structure) {
  if (!gst_structure_has_name(&structure, kTensorCapsName))
    return CapsError{std::string("caps are '") + gst_structure_get_name(&structure) +
                     "'; expected '" + kTensorCapsName + "'"};
  Reader in(structure);
  TensorInfo info;
  info.spec.dtype = read_dtype(in);
  info.spec.shape = read_shape(in);
  info.spec.layout = read_layout(in, info.spec.shape);
  read_optional(in, structure, info);
  if (!in.ok())
    return CapsError{in.take_reason()};
  if (auto problem = field_problem(info))
    return std::move(*problem);
  return info;
}

std::variant<TensorInfo, CapsError> parse_tensor(const GstCaps& caps) {
  if (gst_caps_get_size(&caps) == 0)
    return CapsError{std::string("caps are ") + (gst_caps_is_any(&caps) ? "ANY" : "empty") +
                     "; expected '" + kTensorCapsName + "'"};
  return parse_tensor(*gst_caps_get_structure(&caps, 0));
}

GstStructure* to_structure(const TensorInfo& info) {
  GstStructure* structure = gst_structure_new(kTensorCapsName, field::kDtype, G_TYPE_STRING,
                                              dtype_name(info.spec.dtype), nullptr);
  set_int_array(structure, field::kShape, info.spec.shape.extents());
  set_layout(structure, info.spec);
  if (info.quant_scale)
    gst_structure_set(structure, field::kQuantScale, G_TYPE_DOUBLE, *info.quant_scale, nullptr);
  if (info.quant_zero_point)
    gst_structure_set(structure, field::kQuantZeroPoint, G_TYPE_INT, *info.quant_zero_point,
                      nullptr);
  set_text(structure, field::kTensorId, info.tensor_id);
  set_fraction(structure, field::kFramerate, info.framerate);
  set_text(structure, field::kVideoFormat, info.video_format);
  set_fraction(structure, field::kPixelAspectRatio, info.pixel_aspect_ratio);
  set_text(structure, field::kColorimetry, info.colorimetry);
  if (info.offset_bytes)
    gst_structure_set(structure, field::kOffset, G_TYPE_INT64, gint64{*info.offset_bytes}, nullptr);
  return structure;
}

GstCaps* to_caps(const TensorInfo& info) {
  GstCaps* caps = gst_caps_new_empty();
  gst_caps_append_structure(caps, to_structure(info));
  return caps;
}

const char* dtype_name(DType dtype) noexcept {
  for (const auto& [known, name] : kDTypes)
    if (known == dtype)
      return name;
  return "unknown";
}

std::optional<DType> dtype_from_name(const char* name) noexcept {
  if (name != nullptr)
    for (const auto& [dtype, known] : kDTypes)
      if (std::string_view(name) == known)
        return dtype;
  return std::nullopt;
}

const char* layout_name(const kernels::Layout& layout) noexcept {
  if (std::holds_alternative<kernels::Contiguous>(layout))
    return word::kContiguous;
  if (std::holds_alternative<kernels::Strided>(layout))
    return word::kStrided;
  if (std::holds_alternative<kernels::MlaTiled>(layout))
    return word::kMlaTiled;
  static_assert(std::variant_size_v<kernels::Layout> == 4);
  return word::kMlaCBlocked;
}

const char* channel_storage_name(kernels::ChannelStorage storage) noexcept {
  switch (storage) {
  case kernels::ChannelStorage::Compact:
    return word::kCompact;
  case kernels::ChannelStorage::PadTo16:
    return word::kPad16;
  }
  return "unknown";
}

std::optional<kernels::ChannelStorage> channel_storage_from_name(const char* name) noexcept {
  if (name == nullptr)
    return std::nullopt;
  if (std::string_view(name) == word::kCompact)
    return kernels::ChannelStorage::Compact;
  if (std::string_view(name) == word::kPad16)
    return kernels::ChannelStorage::PadTo16;
  return std::nullopt;
}

} // namespace simaai::gst
