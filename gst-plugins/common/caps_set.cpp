// SPDX-License-Identifier: LGPL-2.1-or-later
// Reading and writing of caps of tensor sets: an array of the structures that plain tensors have.
#include <algorithm>

#include "caps_spec.h"
#include "gst_ptr.h"

namespace simaai::gst {
namespace {

std::string field_text(const GValue* value) {
  return value_text(value) + " of type " + G_VALUE_TYPE_NAME(value);
}

std::string named_tensor(std::size_t index, const std::optional<std::string>& id) {
  const bool is_text = id && g_utf8_validate(id->c_str(), -1, nullptr) != FALSE;
  return "tensor " + std::to_string(index) + (is_text ? " (" + *id + ")" : "") + ": ";
}

} // namespace

std::optional<CapsError> set_problem(const TensorSet& set) {
  const auto& tensors = set.tensors;
  const auto lacks = [](const TensorInfo& info) { return !info.offset_bytes; };
  const auto first = std::find_if(tensors.begin(), tensors.end(), lacks);
  if (first == tensors.end() || std::all_of(tensors.begin(), tensors.end(), lacks))
    return std::nullopt;
  const auto index = static_cast<std::size_t>(first - tensors.begin());
  return CapsError{
      named_tensor(index, first->tensor_id) +
      "caps field 'offset' is missing; expected one in every tensor of the set, or in none"};
}

bool is_tensor_set(const GstCaps& caps) noexcept {
  return gst_caps_get_size(&caps) > 0 &&
         gst_structure_has_name(gst_caps_get_structure(&caps, 0), kTensorSetCapsName) != FALSE;
}

std::variant<const GValue*, CapsError> tensor_array(const GstStructure& structure) {
  constexpr const char* kExpected = "; expected an array of 1 to 16 structures, such as "
                                    "(structure)<[application/vnd.simaai.tensor,...],[...]>";
  static_assert(kMaxTensors == 16);
  const GValue* value = gst_structure_get_value(&structure, field::kTensors);
  if (value == nullptr)
    return CapsError{std::string("caps field 'tensors' is missing") + kExpected};
  if (!GST_VALUE_HOLDS_ARRAY(value))
    return CapsError{"caps field 'tensors' is " + field_text(value) + kExpected};
  const guint count = gst_value_array_get_size(value);
  if (count == 0 || count > kMaxTensors)
    return CapsError{"caps field 'tensors' has " + std::to_string(count) +
                     " entries; expected 1 to 16: a buffer merges its memories beyond that number"};
  for (guint i = 0; i < count; ++i) {
    const GValue* item = gst_value_array_get_value(value, i);
    if (!GST_VALUE_HOLDS_STRUCTURE(item))
      return CapsError{"caps field 'tensors' entry " + std::to_string(i) + " is " +
                       field_text(item) + kExpected};
  }
  return value;
}

std::variant<TensorSet, CapsError> parse_tensors(const GstCaps& caps) {
  TensorSet set;
  set.is_set = is_tensor_set(caps);
  if (!set.is_set) {
    auto parsed = parse_tensor(caps);
    if (auto* error = std::get_if<CapsError>(&parsed))
      return std::move(*error);
    set.tensors.push_back(std::get<TensorInfo>(std::move(parsed)));
    if (set.tensors.front().offset_bytes)
      return CapsError{kOffsetOutsideSet};
    return set;
  }
  const auto array = tensor_array(*gst_caps_get_structure(&caps, 0));
  if (const auto* error = std::get_if<CapsError>(&array))
    return *error;
  const auto framerate = parse_framerate(*gst_caps_get_structure(&caps, 0));
  if (const auto* error = std::get_if<CapsError>(&framerate))
    return *error;
  const GValue* tensors = std::get<const GValue*>(array);
  for (guint i = 0; i < gst_value_array_get_size(tensors); ++i) {
    const GstStructure* structure = gst_value_get_structure(gst_value_array_get_value(tensors, i));
    auto parsed = parse_tensor(*structure);
    if (const auto* error = std::get_if<CapsError>(&parsed))
      return CapsError{named_tensor(i, std::nullopt) + error->reason};
    set.tensors.push_back(std::get<TensorInfo>(std::move(parsed)));
  }
  if (auto problem = set_problem(set))
    return std::move(*problem);
  return set;
}

std::string tensor_prefix(const TensorSet& set, std::size_t index) {
  return set.is_set ? named_tensor(index, set.tensors[index].tensor_id) : std::string();
}

void set_tensor_array(GstStructure* structure, const std::vector<GstStructure*>& tensors) {
  GValue array = G_VALUE_INIT;
  gst_value_array_init(&array, static_cast<guint>(tensors.size()));
  for (const GstStructure* tensor : tensors) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, GST_TYPE_STRUCTURE);
    gst_value_set_structure(&item, tensor);
    gst_value_array_append_and_take_value(&array, &item);
  }
  gst_structure_take_value(structure, field::kTensors, &array);
}

} // namespace simaai::gst
