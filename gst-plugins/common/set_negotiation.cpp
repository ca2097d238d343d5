// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of tensor sets. `tensors` stays out of transform_caps(): arrays of structures that are not fixed make the core warn,
// and each tensor is a negotiation of its own anyway.
#include "set_negotiation.h"

#include <array>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include <simaai/kernels/ops/requirement.h>

#include "caps_spec.h"

namespace simaai::gst {
namespace {

/// Between tensors of one memory, where we place them: as our pools align memories.
constexpr std::uint64_t kSpacing = 64;

GstPtr<GstCaps> caps_of(const GstStructure* structure) {
  GstPtr<GstCaps> caps(gst_caps_new_empty());
  gst_caps_append_structure(caps.get(), gst_structure_copy(structure));
  return caps;
}

GstPtr<GstCaps> tensor_of(const GValue* array, std::size_t index) {
  return caps_of(
      gst_value_get_structure(gst_value_array_get_value(array, static_cast<guint>(index))));
}

/// The arrays that a structure lists: one, several, or null for any.
std::vector<const GValue*> arrays_of(const GstStructure* structure) {
  const GValue* value = gst_structure_get_value(structure, field::kTensors);
  if (value == nullptr || !GST_VALUE_HOLDS_LIST(value))
    return {value};
  std::vector<const GValue*> arrays;
  for (guint i = 0; i < gst_value_list_get_size(value); ++i)
    arrays.push_back(gst_value_list_get_value(value, i));
  return arrays;
}

/// True where an array has a structure for each of `count` tensors.
bool suits(const GValue* array, std::size_t count) {
  if (array == nullptr)
    return true;
  if (!GST_VALUE_HOLDS_ARRAY(array) || gst_value_array_get_size(array) != count)
    return false;
  for (guint i = 0; i < count; ++i)
    if (!GST_VALUE_HOLDS_STRUCTURE(gst_value_array_get_value(array, i)))
      return false;
  return true;
}

struct Choice {
  std::vector<GstPtr<GstStructure>> tensors; ///< empty: one of them does not fit
  bool admitted = false;
};

/// Chooses each tensor within `wanted` (null: any).
Choice choose(const OpTraits& traits, const SetRequest& request, const GValue* inputs,
              const GValue* wanted, const Admits& admits) {
  Choice choice;
  choice.admitted = true;
  for (std::size_t i = 0; i < gst_value_array_get_size(inputs); ++i) {
    const auto input = tensor_of(inputs, i);
    auto offered = transform_caps(traits, GST_PAD_SINK, input.get(), nullptr, false);
    if (wanted != nullptr) {
      const auto limit = tensor_of(wanted, i);
      offered.reset(gst_caps_intersect_full(limit.get(), offered.get(), GST_CAPS_INTERSECT_FIRST));
    }
    if (gst_caps_is_empty(offered.get()))
      return {};
    const auto fixed =
        fixate_src_caps(traits, request.tile, input.get(), std::move(offered), admits, false);
    const auto from = parse_tensor(*input);
    const auto to = parse_tensor(*fixed);
    const auto* source = std::get_if<TensorInfo>(&from);
    const auto* target = std::get_if<TensorInfo>(&to);
    if (source == nullptr || target == nullptr || !admits(source->spec, target->spec))
      choice.admitted = false;
    choice.tensors.emplace_back(gst_structure_copy(gst_caps_get_structure(fixed.get(), 0)));
  }
  return choice;
}

/// Gives tensors places in one memory, unless downstream has done so, or one of them has no known size.
void place(std::vector<GstPtr<GstStructure>>& tensors) {
  std::vector<std::uint64_t> offsets;
  std::uint64_t at = 0;
  for (const auto& tensor : tensors) {
    const auto parsed = parse_tensor(*tensor);
    const auto* info = std::get_if<TensorInfo>(&parsed);
    if (info == nullptr || info->offset_bytes)
      return;
    const auto known = kernels::ops::port_requirement(info->spec);
    const auto* needs = std::get_if<kernels::ops::PortRequirement>(&known);
    if (needs == nullptr || needs->bytes > G_MAXUINT)
      return;
    offsets.push_back(at);
    at = (at + needs->bytes + kSpacing - 1) / kSpacing * kSpacing;
  }
  for (std::size_t i = 0; i < tensors.size(); ++i)
    gst_structure_set(tensors[i].get(), field::kOffset, G_TYPE_INT64,
                      static_cast<gint64>(offsets[i]), nullptr);
}

GstPtr<GstCaps> finish(const GstCaps* candidates, guint index, Choice choice, bool single_memory) {
  GstStructure* set = gst_structure_copy(gst_caps_get_structure(candidates, index));
  gst_structure_remove_field(set, field::kTensors);
  gst_structure_fixate(set);
  if (single_memory)
    place(choice.tensors);
  std::vector<GstStructure*> tensors;
  tensors.reserve(choice.tensors.size());
  for (const auto& tensor : choice.tensors)
    tensors.push_back(tensor.get());
  set_tensor_array(set, tensors);
  GstPtr<GstCaps> fixed(gst_caps_new_empty());
  gst_caps_append_structure_full(fixed.get(), set,
                                 gst_caps_features_copy(gst_caps_get_features(candidates, index)));
  return fixed;
}

/// The tensors of the sink caps, or null where they cannot be read.
const GValue* inputs_of(const GstCaps* sink_caps) {
  const auto array = tensor_array(*gst_caps_get_structure(sink_caps, 0));
  const auto* found = std::get_if<const GValue*>(&array);
  return found != nullptr ? *found : nullptr;
}

/// What can be made of the tensor of the set.
using TensorOffer = std::function<GstPtr<GstCaps>(const GstCaps* tensor)>;

std::string explain_tensors(const TensorOffer& offer, const GstCaps* set_caps, const GValue* inputs,
                            const GValue* wanted) {
  const std::size_t count = gst_value_array_get_size(inputs);
  if (!suits(wanted, count)) {
    const bool is_array = GST_VALUE_HOLDS_ARRAY(wanted) != FALSE;
    return "caps field 'tensors': downstream wants " +
           (is_array ? std::to_string(gst_value_array_get_size(wanted)) + " structures"
                     : std::string(G_VALUE_TYPE_NAME(wanted))) +
           ", this element offers " + std::to_string(count) + " structures";
  }
  const auto set = parse_tensors(*set_caps);
  for (std::size_t i = 0; i < count && wanted != nullptr; ++i) {
    const auto input = tensor_of(inputs, i);
    const auto ours = offer(input.get());
    const auto theirs = tensor_of(wanted, i);
    if (gst_caps_can_intersect(ours.get(), theirs.get()))
      continue;
    const auto* known = std::get_if<TensorSet>(&set);
    return (known != nullptr ? tensor_prefix(*known, i) : std::string()) +
           explain_mismatch(ours.get(), theirs.get(), "downstream wants", "this element offers");
  }
  return {};
}

std::string explain(const TensorOffer& offer, const GstCaps* set_caps, const GstCaps* theirs) {
  const GValue* inputs = inputs_of(set_caps);
  if (inputs == nullptr || gst_caps_is_any(theirs))
    return {};
  std::string first;
  for (guint i = 0; i < gst_caps_get_size(theirs); ++i) {
    const GstStructure* structure = gst_caps_get_structure(theirs, i);
    if (!gst_structure_has_name(structure, kTensorSetCapsName))
      continue;
    for (const GValue* wanted : arrays_of(structure)) {
      std::string why = explain_tensors(offer, set_caps, inputs, wanted);
      if (why.empty())
        return {};
      if (first.empty())
        first = std::move(why);
    }
  }
  return first;
}

} // namespace

GstPtr<GstCaps> fixate_set(const OpTraits& traits, const SetRequest& request,
                           const GstCaps* sink_caps, const GstCaps* theirs, const Admits& admits) {
  auto ours = transform_caps(traits, GST_PAD_SINK, sink_caps, nullptr, request.makes_dma_bufs);
  const GValue* inputs = inputs_of(sink_caps);
  if (inputs == nullptr)
    return GstPtr<GstCaps>(gst_caps_fixate(ours.release())); // set_caps() says why
  const std::size_t count = gst_value_array_get_size(inputs);
  const GstPtr<GstCaps> candidates(
      gst_caps_intersect_full(const_cast<GstCaps*>(theirs), ours.get(), GST_CAPS_INTERSECT_FIRST));
  GstPtr<GstCaps> second;
  for (guint i = 0; i < gst_caps_get_size(candidates.get()); ++i) {
    for (const GValue* wanted : arrays_of(gst_caps_get_structure(candidates.get(), i))) {
      if (!suits(wanted, count))
        continue;
      Choice choice = choose(traits, request, inputs, wanted, admits);
      if (choice.tensors.empty() || (second && !choice.admitted))
        continue;
      const bool admitted = choice.admitted;
      auto fixed = finish(candidates.get(), i, std::move(choice), request.single_memory);
      if (admitted)
        return fixed;
      second = std::move(fixed);
    }
  }
  if (second)
    return second;
  Choice preferred = choose(traits, request, inputs, nullptr, admits);
  if (preferred.tensors.empty())
    return GstPtr<GstCaps>(gst_caps_fixate(ours.release()));
  return finish(ours.get(), 0, std::move(preferred), request.single_memory);
}

std::string unsuitable_tensor(const OpTraits& traits, const GstCaps* sink_caps) {
  const auto parsed = parse_tensors(*sink_caps);
  const auto* set = std::get_if<TensorSet>(&parsed);
  if (set == nullptr || !set->is_set)
    return {};
  const auto accepted = template_caps(traits, GST_PAD_SINK);
  const GValue* inputs = inputs_of(sink_caps);
  for (std::size_t i = 0; i < set->tensors.size(); ++i) {
    const auto input = tensor_of(inputs, i);
    if (!gst_caps_can_intersect(input.get(), accepted.get()))
      return tensor_prefix(*set, i) +
             explain_mismatch(accepted.get(), input.get(), "found", "accepted");
  }
  return {};
}

std::string explain_set(const OpTraits& traits, const GstCaps* sink_caps, const GstCaps* theirs) {
  return explain(
      [&traits](const GstCaps* tensor) {
        return transform_caps(traits, GST_PAD_SINK, tensor, nullptr, false);
      },
      sink_caps, theirs);
}

std::string explain_fixed_set(const GstCaps* set, const GstCaps* theirs) {
  return explain([](const GstCaps* tensor) { return GstPtr<GstCaps>(gst_caps_copy(tensor)); }, set,
                 theirs);
}

} // namespace simaai::gst
