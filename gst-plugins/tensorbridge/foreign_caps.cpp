// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading and writing of foreign tensor caps.
#include "foreign_caps.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

#include "common/linear_size.h"
#include "common/tensor_part.h"

namespace simaai::gst {
namespace {

using kernels::DType;

constexpr std::array<std::size_t, 3> kPaddedRanks{4, 8, 16};

CapsError refuse(const char* name, const std::string& found, const char* expected) {
  return {std::string("caps field '") + name + "' is " + found + "; expected " + expected};
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    std::string_view part = text.substr(0, at);
    while (!part.empty() && part.front() == ' ')
      part.remove_prefix(1);
    while (!part.empty() && part.back() == ' ')
      part.remove_suffix(1);
    parts.push_back(part);
    if (at == std::string_view::npos)
      return parts;
    text.remove_prefix(at + 1);
  }
}

/// Fixed text of a field; null where it is missing, a list, or no text.
const char* text_of(const GstStructure& structure, const char* name) {
  return gst_structure_get_string(&structure, name);
}

std::optional<std::pair<int, int>> framerate_of(const GstStructure& structure) {
  int numerator = 0;
  int denominator = 0;
  // 0/1 says that the rate is not known.
  if (!gst_structure_get_fraction(&structure, field::kFramerate, &numerator, &denominator) ||
      numerator == 0)
    return std::nullopt;
  return std::pair(numerator, denominator);
}

/// "3:640:640:1", innermost first. Trailing ones are axes too.
std::optional<kernels::Shape> shape_of(std::string_view dimensions) {
  std::vector<std::int64_t> extents;
  for (const std::string_view part : split(dimensions, ':')) {
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), extent);
    if (error != std::errc() || end != part.data() + part.size() || extent < 1 ||
        extent > std::numeric_limits<std::int32_t>::max())
      return std::nullopt;
    extents.push_back(extent);
  }
  // Others fill up with ones as far as their limit; we have six axes.
  while (extents.size() > kernels::kMaxRank && extents.back() == 1)
    extents.pop_back();
  if (extents.size() > kernels::kMaxRank)
    return std::nullopt;
  std::reverse(extents.begin(), extents.end());
  return kernels::Shape(std::span<const std::int64_t>(extents));
}

std::variant<AnyTensors, CapsError> read_nns(const GstStructure& structure) {
  const char* format = text_of(structure, "format");
  if (format != nullptr && std::string_view(format) != "static")
    return refuse("format", format, "static");
  int count = 0;
  const char* dimensions = text_of(structure, "dimensions");
  const char* types = text_of(structure, "types");
  if (!gst_structure_get_int(&structure, "num_tensors", &count) || dimensions == nullptr ||
      types == nullptr)
    return CapsError{"caps 'other/tensors' need num_tensors (int), dimensions and types (string)"};
  if (count < 1 || count > static_cast<int>(kMaxTensors))
    return refuse("num_tensors", std::to_string(count), "1 to 16");
  const auto shapes = split(dimensions, ',');
  const auto dtypes = split(types, ',');
  if (shapes.size() != static_cast<std::size_t>(count) || dtypes.size() != shapes.size())
    return CapsError{"caps 'other/tensors' have " + std::to_string(shapes.size()) +
                     " dimensions and " + std::to_string(dtypes.size()) +
                     " types; expected num_tensors, " + std::to_string(count)};
  AnyTensors read;
  read.set.is_set = count > 1;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    const auto shape = shape_of(shapes[i]);
    const auto dtype = dtype_from_name(std::string(dtypes[i]).c_str());
    if (!shape)
      return refuse("dimensions", std::string(shapes[i]),
                    "up to six extents from 1, innermost first, such as 3:640:640:1");
    if (!dtype)
      return refuse("types", std::string(dtypes[i]), "int8, uint8, int32, float16 or float32");
    read.set.tensors.emplace_back();
    read.set.tensors.back().spec = {*shape, *dtype, kernels::Contiguous{}};
  }
  read.framerate = framerate_of(structure);
  return read;
}

std::variant<AnyTensors, CapsError> read_strided(const GstStructure& structure) {
  const char* type = text_of(structure, "type");
  const auto dtype = dtype_from_name(type);
  if (!dtype)
    return refuse("type", type != nullptr ? type : "missing",
                  "int8, uint8, int32, float16, bfloat16 or float32");
  const char* order = text_of(structure, "dims-order");
  const bool is_column_major = order != nullptr && std::string_view(order) == "col-major";
  if (order != nullptr && !is_column_major && std::string_view(order) != "row-major")
    return refuse("dims-order", order, "row-major or col-major");
  const GValue* dims = gst_structure_get_value(&structure, "dims");
  std::vector<std::int64_t> extents;
  const bool is_array = dims != nullptr && GST_VALUE_HOLDS_ARRAY(dims) &&
                        gst_value_array_get_size(dims) <= kernels::kMaxRank;
  for (guint i = 0; is_array && i < gst_value_array_get_size(dims); ++i) {
    const GValue* item = gst_value_array_get_value(dims, i);
    extents.push_back(G_VALUE_HOLDS_INT(item) ? g_value_get_int(item) : -1);
  }
  const bool is_valid =
      std::all_of(extents.begin(), extents.end(), [](std::int64_t extent) { return extent >= 0; });
  if (!is_array || !is_valid)
    return refuse("dims", "missing or unusable", "an array of up to six int from 0");
  if (is_column_major)
    std::reverse(extents.begin(), extents.end());
  AnyTensors read;
  read.set.tensors.emplace_back();
  read.set.tensors.back().spec = {kernels::Shape(std::span<const std::int64_t>(extents)), *dtype,
                                  kernels::Contiguous{}};
  if (const char* id = text_of(structure, field::kTensorId))
    read.set.tensors.back().tensor_id = id;
  read.framerate = framerate_of(structure);
  return read;
}

/// Why these bytes have no foreign spelling.
std::optional<CapsError> dense_problem(const TensorSet& set) {
  for (std::size_t i = 0; i < set.tensors.size(); ++i)
    if (!is_dense(set.tensors[i].spec))
      return CapsError{tensor_prefix(set, i) + "layout " + layout_name(set.tensors[i].spec.layout) +
                       " with gaps or tiles; others know contiguous tensors only"};
  return std::nullopt;
}

std::string dimensions_of(const kernels::Shape& shape, std::size_t least_rank) {
  std::string text;
  for (std::size_t i = shape.rank(); i > 0; --i)
    text += (text.empty() ? "" : ":") + std::to_string(shape[i - 1]);
  for (std::size_t rank = shape.rank(); rank < std::max<std::size_t>(least_rank, 1); ++rank)
    text += text.empty() ? "1" : ":1";
  return text;
}

void add_text(GValue* list, const std::string& text) {
  GValue item = G_VALUE_INIT;
  g_value_init(&item, G_TYPE_STRING);
  g_value_set_string(&item, text.c_str());
  gst_value_list_append_and_take_value(list, &item);
}

void set_framerate(GstStructure* structure, const std::optional<std::pair<int, int>>& framerate) {
  if (framerate)
    gst_structure_set(structure, field::kFramerate, GST_TYPE_FRACTION, framerate->first,
                      framerate->second, nullptr);
}

} // namespace

bool is_ours(const GstStructure& structure) noexcept {
  return gst_structure_has_name(&structure, kTensorCapsName) != FALSE ||
         gst_structure_has_name(&structure, kTensorSetCapsName) != FALSE;
}

std::variant<AnyTensors, CapsError> read_tensors(const GstStructure& structure) {
  if (gst_structure_has_name(&structure, kNnsCapsName))
    return read_nns(structure);
  if (gst_structure_has_name(&structure, kStridedCapsName))
    return read_strided(structure);
  const GstPtr<GstCaps> caps(gst_caps_new_empty());
  gst_caps_append_structure(caps.get(), gst_structure_copy(&structure));
  auto parsed = parse_tensors(*caps);
  if (auto* error = std::get_if<CapsError>(&parsed))
    return std::move(*error);
  return AnyTensors{std::get<TensorSet>(std::move(parsed)), framerate_of(structure)};
}

Written write_nns(const AnyTensors& tensors) {
  if (auto problem = dense_problem(tensors.set))
    return std::move(*problem);
  std::string types;
  GValue dimensions = G_VALUE_INIT;
  gst_value_list_init(&dimensions, 4);
  std::string exact;
  for (std::size_t i = 0; i < tensors.set.tensors.size(); ++i) {
    const kernels::TensorSpec& spec = tensors.set.tensors[i].spec;
    const auto extents = spec.shape.extents();
    const bool is_empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
    if (spec.dtype == DType::BFloat16 || is_empty) {
      g_value_unset(&dimensions);
      return CapsError{tensor_prefix(tensors.set, i) + "other/tensors has no " +
                       (is_empty ? "empty tensors" : "bfloat16")};
    }
    types += (i != 0 ? "," : "") + std::string(dtype_name(spec.dtype));
    exact += (i != 0 ? "," : "") + dimensions_of(spec.shape, 0);
  }
  add_text(&dimensions, exact);
  for (const std::size_t rank : kPaddedRanks) {
    std::string padded;
    for (std::size_t i = 0; i < tensors.set.tensors.size(); ++i)
      padded += (i != 0 ? "," : "") + dimensions_of(tensors.set.tensors[i].spec.shape, rank);
    if (padded != exact)
      add_text(&dimensions, padded);
  }
  GstPtr<GstStructure> made(gst_structure_new(kNnsCapsName, "format", G_TYPE_STRING, "static",
                                              "num_tensors", G_TYPE_INT,
                                              static_cast<int>(tensors.set.tensors.size()), "types",
                                              G_TYPE_STRING, types.c_str(), nullptr));
  gst_structure_take_value(made.get(), "dimensions", &dimensions);
  // Its elements require the field.
  set_framerate(made.get(), tensors.framerate.value_or(std::pair(0, 1)));
  return made;
}

Written write_strided(const AnyTensors& tensors) {
  if (auto problem = dense_problem(tensors.set))
    return std::move(*problem);
  if (tensors.set.tensors.size() != 1)
    return CapsError{"tensor/strided is one tensor; the set has " +
                     std::to_string(tensors.set.tensors.size())};
  const TensorInfo& info = tensors.set.tensors.front();
  GstPtr<GstStructure> made(gst_structure_new(kStridedCapsName, "type", G_TYPE_STRING,
                                              dtype_name(info.spec.dtype), "dims-order",
                                              G_TYPE_STRING, "row-major", nullptr));
  GValue dims = G_VALUE_INIT;
  gst_value_array_init(&dims, static_cast<guint>(info.spec.shape.rank()));
  const auto append = [&dims](std::int64_t extent) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_INT);
    g_value_set_int(&item, static_cast<int>(extent));
    gst_value_array_append_and_take_value(&dims, &item);
  };
  for (const std::int64_t extent : info.spec.shape.extents())
    append(extent);
  if (info.spec.shape.rank() == 0)
    append(1);
  gst_structure_take_value(made.get(), "dims", &dims);
  if (info.tensor_id)
    gst_structure_set(made.get(), field::kTensorId, G_TYPE_STRING, info.tensor_id->c_str(),
                      nullptr);
  set_framerate(made.get(), tensors.framerate);
  return made;
}

Written write_plain(const AnyTensors& tensors) {
  if (tensors.set.tensors.size() != 1)
    return CapsError{"a plain tensor cannot hold " + std::to_string(tensors.set.tensors.size())};
  GstPtr<GstStructure> made(to_structure(tensors.set.tensors.front()));
  set_framerate(made.get(), tensors.framerate);
  return made;
}

Written write_set(const AnyTensors& tensors) {
  GstPtr<GstStructure> made(gst_structure_new_empty(kTensorSetCapsName));
  std::vector<GstPtr<GstStructure>> owners;
  std::vector<GstStructure*> structures;
  for (const TensorInfo& info : tensors.set.tensors) {
    owners.emplace_back(to_structure(info));
    structures.push_back(owners.back().get());
  }
  set_tensor_array(made.get(), structures);
  set_framerate(made.get(), tensors.framerate);
  return made;
}

GstPtr<GstCaps> our_caps(bool dma_bufs) {
  GstPtr<GstCaps> caps = any_tensor_caps();
  gst_caps_append(caps.get(), any_set_caps().release());
  for (guint i = gst_caps_get_size(caps.get()); i > 0 && !dma_bufs; --i)
    if (!gst_caps_features_is_equal(gst_caps_get_features(caps.get(), i - 1),
                                    GST_CAPS_FEATURES_MEMORY_SYSTEM_MEMORY))
      gst_caps_remove_structure(caps.get(), i - 1);
  return caps;
}

GstPtr<GstCaps> their_caps() {
  GstPtr<GstCaps> caps(gst_caps_new_empty());
  gst_caps_append_structure(
      caps.get(), gst_structure_new(kNnsCapsName, "format", G_TYPE_STRING, "static", nullptr));
  gst_caps_append_structure(caps.get(), gst_structure_new_empty(kStridedCapsName));
  return caps;
}

} // namespace simaai::gst
