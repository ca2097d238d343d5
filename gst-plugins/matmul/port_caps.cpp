// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of matrix elements.
#include "port_caps.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "common/linear_size.h"
#include "common/negotiation.h"

namespace simaai::gst {
namespace {

using kernels::DType;

void append_layouts(GstCaps* caps, DType dtype, std::initializer_list<const char*> layouts,
                    const char* feature) {
  for (const char* layout : layouts)
    gst_caps_append_structure_full(
        caps,
        gst_structure_new(kTensorCapsName, field::kDtype, G_TYPE_STRING, dtype_name(dtype),
                          field::kLayout, G_TYPE_STRING, layout, nullptr),
        feature != nullptr ? gst_caps_features_new(feature, nullptr) : nullptr);
}

void take_ints(GstStructure* structure, const char* name, const std::vector<int>& numbers) {
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, static_cast<guint>(numbers.size()));
  for (const int number : numbers) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_INT);
    g_value_set_int(&item, number);
    gst_value_array_append_and_take_value(&array, &item);
  }
  gst_structure_take_value(structure, name, &array);
}

std::vector<int> shape_numbers(const kernels::Shape& shape) {
  std::vector<int> numbers;
  for (const std::int64_t extent : shape.extents())
    numbers.push_back(static_cast<int>(extent));
  return numbers;
}

/// Integers of an array field; empty where there is no such array.
std::vector<int> array_of(const GstStructure* structure, const char* name) {
  std::vector<int> numbers;
  const GValue* value = gst_structure_get_value(structure, name);
  if (value == nullptr || !GST_VALUE_HOLDS_ARRAY(value))
    return numbers;
  for (guint i = 0; i < gst_value_array_get_size(value); ++i) {
    const GValue* item = gst_value_array_get_value(value, i);
    if (!G_VALUE_HOLDS_INT(item))
      return {};
    numbers.push_back(g_value_get_int(item));
  }
  return numbers;
}

bool is_missing(const GstStructure* structure, const char* name) {
  const GValue* value = gst_structure_get_value(structure, name);
  return value == nullptr || !gst_value_is_fixed(value);
}

void complete_strided(GstStructure* structure, const kernels::Shape& shape) {
  const auto dtype = dtype_from_name(gst_structure_get_string(structure, field::kDtype));
  if (!is_missing(structure, field::kStrides) || !dtype)
    return;
  const auto strides = row_major_strides(shape, *dtype);
  if (!strides)
    return;
  TensorInfo dense;
  dense.spec = {shape, *dtype, kernels::Strided{*strides}};
  const GstPtr<GstStructure> written(to_structure(dense));
  gst_structure_set_value(structure, field::kStrides,
                          gst_structure_get_value(written.get(), field::kStrides));
}

void complete_tiled(GstStructure* structure, const kernels::Shape& shape, bool has_fill) {
  const auto rank = static_cast<int>(shape.rank());
  if (is_missing(structure, field::kTileAxes)) {
    std::vector<int> axes(4, -1);
    for (int n = 0; n < std::min(rank, 3); ++n)
      axes[static_cast<std::size_t>(3 - n)] = rank - 1 - n;
    take_ints(structure, field::kTileAxes, axes);
  }
  if (is_missing(structure, field::kTileShape)) {
    const auto axes = array_of(structure, field::kTileAxes);
    std::vector<int> tile(4, 1);
    for (std::size_t n = 1; n < std::min<std::size_t>(axes.size(), 4); ++n)
      if (axes[n] >= 0 && axes[n] < rank)
        tile[n] = static_cast<int>(
            std::clamp<std::int64_t>(shape[static_cast<std::size_t>(axes[n])], 1, 16));
    take_ints(structure, field::kTileShape, tile);
  }
  if (!gst_structure_has_field(structure, field::kChannelStorage))
    gst_structure_set(structure, field::kChannelStorage, G_TYPE_STRING,
                      has_fill ? word::kPad16 : word::kCompact, nullptr);
  else
    gst_structure_fixate_field_string(structure, field::kChannelStorage,
                                      has_fill ? word::kPad16 : word::kCompact);
}

} // namespace

GstPtr<GstCaps> any_layout_caps() {
  GstPtr<GstCaps> caps(gst_caps_new_empty());
  const auto layouts = {word::kContiguous, word::kStrided, word::kMlaTiled, word::kMlaCBlocked};
  append_layouts(caps.get(), DType::Int8, layouts, nullptr);
  append_layouts(caps.get(), DType::Int8, layouts, kDmaBufFeature);
  return caps;
}

GstPtr<GstCaps> output_layout_caps(DType dtype, bool tiled, bool dma_bufs) {
  GstPtr<GstCaps> caps(gst_caps_new_empty());
  for (const char* feature : {static_cast<const char*>(nullptr), kDmaBufFeature}) {
    if (feature != nullptr && !dma_bufs)
      continue;
    append_layouts(caps.get(), dtype, {word::kContiguous, word::kStrided}, feature);
    if (tiled)
      append_layouts(caps.get(), dtype, {word::kMlaTiled}, feature);
  }
  return caps;
}

void set_shape(GstCaps* caps, const kernels::Shape& shape) {
  for (guint i = 0; i < gst_caps_get_size(caps); ++i)
    take_ints(gst_caps_get_structure(caps, i), field::kShape, shape_numbers(shape));
}

std::optional<kernels::Shape> shape_of(const GstStructure* structure) {
  const auto numbers = array_of(structure, field::kShape);
  if (numbers.empty() || numbers.size() > kernels::kMaxRank)
    return std::nullopt;
  const std::vector<std::int64_t> extents(numbers.begin(), numbers.end());
  return kernels::Shape(std::span<const std::int64_t>(extents));
}

GstPtr<GstCaps> fixate_output(GstPtr<GstCaps> offered, const kernels::Shape& shape, bool has_fill) {
  GstPtr<GstCaps> caps(gst_caps_make_writable(gst_caps_truncate(offered.release())));
  if (gst_caps_is_empty(caps.get()))
    return caps;
  GstStructure* structure = gst_caps_get_structure(caps.get(), 0);
  gst_structure_fixate_field(structure, field::kLayout);
  gst_structure_fixate_field(structure, field::kDtype);
  if (is_missing(structure, field::kShape))
    take_ints(structure, field::kShape, shape_numbers(shape));
  const char* layout = gst_structure_get_string(structure, field::kLayout);
  if (layout != nullptr && g_str_equal(layout, word::kStrided))
    complete_strided(structure, shape);
  else if (layout != nullptr && g_str_equal(layout, word::kMlaTiled))
    complete_tiled(structure, shape, has_fill);
  return GstPtr<GstCaps>(gst_caps_fixate(caps.release()));
}

void copy_stream_fields(const GstStructure* from, GstCaps* to) {
  for (const char* name : {field::kFramerate, field::kTensorId})
    if (const GValue* value = gst_structure_get_value(from, name); value != nullptr)
      gst_caps_set_value(to, name, value);
}

} // namespace simaai::gst
