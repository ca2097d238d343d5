// SPDX-License-Identifier: LGPL-2.1-or-later
// Caps of the op elements. Layout fields never survive an op; everything else is copied.
#include "negotiation.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "caps_spec.h"
#include "linear_size.h"

namespace simaai::gst {
namespace {

using kernels::DType;

struct SidePair {
  PortKind kind;
  bool is_sink; ///< the pad that the caps are for
};

/// Layout words of a pad, preferred first.
std::vector<const char*> layouts_of(const SidePair& side) {
  if (side.kind == PortKind::Linear)
    return {word::kContiguous, word::kStrided};
  if (side.is_sink)
    return {word::kMlaTiled, word::kMlaCBlocked};
  return {word::kMlaTiled};
}

void set_word(GstStructure* structure, const char* name, const char* text) {
  gst_structure_set(structure, name, G_TYPE_STRING, text, nullptr);
}

void set_words(GstStructure* structure, const char* name,
               std::initializer_list<const char*> words) {
  GValue list = G_VALUE_INIT;
  gst_value_list_init(&list, static_cast<guint>(words.size()));
  for (const char* text : words) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_STRING);
    g_value_set_static_string(&item, text);
    gst_value_list_append_and_take_value(&list, &item);
  }
  gst_structure_take_value(structure, name, &list);
}

/// Offers both channel storages, preferred first: also keeps the caps unfixed, without which
/// GstBaseTransform would not ask the peer.
void set_layout_fields(GstStructure* structure, const char* layout) {
  set_word(structure, field::kLayout, layout);
  if (g_str_equal(layout, word::kMlaTiled))
    set_words(structure, field::kChannelStorage, {word::kPad16, word::kCompact});
}

/// Exact, unlike gst_value_can_intersect(), which only compares types.
bool intersect(const GValue* a, const GValue* b) {
  return gst_value_intersect(nullptr, a, b) != FALSE;
}

/// True where the field is missing or can hold the word.
bool may_be(const GstStructure* structure, const char* name, const char* text) {
  const GValue* value = gst_structure_get_value(structure, name);
  if (value == nullptr)
    return true;
  GValue wanted = G_VALUE_INIT;
  g_value_init(&wanted, G_TYPE_STRING);
  g_value_set_static_string(&wanted, text);
  const bool possible = intersect(value, &wanted);
  g_value_unset(&wanted);
  return possible;
}

bool readable(const GstStructure* structure, const SidePair& side) {
  if (!gst_structure_has_name(structure, kTensorCapsName))
    return false;
  const auto layouts = layouts_of(side);
  return std::any_of(layouts.begin(), layouts.end(),
                     [&](const char* layout) { return may_be(structure, field::kLayout, layout); });
}

std::vector<DType> dtypes_across(const OpTraits& traits, bool from_sink,
                                 const GstStructure* structure) {
  std::vector<DType> result;
  for (const Conversion& conversion : traits.conversions) {
    const DType from = from_sink ? conversion.input : conversion.output;
    const DType to = from_sink ? conversion.output : conversion.input;
    if (may_be(structure, field::kDtype, dtype_name(from)) &&
        std::find(result.begin(), result.end(), to) == result.end())
      result.push_back(to);
  }
  return result;
}

GstStructure* copy_without_layout(const GstStructure* structure) {
  GstStructure* copy = gst_structure_copy(structure);
  gst_structure_remove_fields(copy, field::kDtype, field::kLayout, field::kStrides,
                              field::kTileAxes, field::kTileShape, field::kChannelStorage,
                              field::kTensors, field::kOffset, nullptr);
  return copy;
}

void append_across(GstCaps* into, const OpTraits& traits, bool from_sink,
                   const GstStructure* structure, bool dma_bufs) {
  const SidePair from{from_sink ? traits.input : traits.output, from_sink};
  const SidePair to{from_sink ? traits.output : traits.input, !from_sink};
  if (gst_structure_has_name(structure, kTensorSetCapsName)) {
    append_in_memories(into, copy_without_layout(structure), dma_bufs); // see set_negotiation.cpp
    return;
  }
  if (!readable(structure, from))
    return;
  const GstPtr<GstStructure> base(copy_without_layout(structure));
  for (const char* layout : layouts_of(to)) {
    for (const DType dtype : dtypes_across(traits, from_sink, structure)) {
      GstStructure* across = gst_structure_copy(base.get());
      set_word(across, field::kDtype, dtype_name(dtype));
      set_layout_fields(across, layout);
      append_in_memories(into, across, dma_bufs);
    }
  }
}

void set_ints(GValue* array, const std::array<int, 4>& numbers) {
  gst_value_array_init(array, 4);
  for (const int number : numbers) {
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_INT);
    g_value_set_int(&item, number);
    gst_value_array_append_and_take_value(array, &item);
  }
}

/// The caps if they fix the field, else the first of `choices` that the caps allow (properties come
/// before defaults), else the first value that they list. Takes the content of `choices`.
void settle(GstStructure* structure, const char* name, std::span<GValue> choices) {
  const GValue* offered = gst_structure_get_value(structure, name);
  bool settled = offered != nullptr && gst_value_is_fixed(offered);
  for (GValue& choice : choices) {
    if (!settled && (offered == nullptr || intersect(offered, &choice))) {
      gst_structure_set_value(structure, name, &choice);
      settled = true;
    }
    g_value_unset(&choice);
  }
  if (!settled)
    gst_structure_fixate_field(structure, name);
}

void settle_four(GstStructure* structure, const char* name,
                 const std::optional<std::array<int, 4>>& property,
                 const std::array<int, 4>& fallback) {
  std::array<GValue, 2> choices{};
  set_ints(&choices[0], property.value_or(fallback));
  set_ints(&choices[1], fallback);
  settle(structure, name, choices);
}

void settle_storage(GstStructure* structure, const TileSettings& settings, DType dtype) {
  const bool must_be_compact = dtype == DType::Int8 && !settings.has_fill;
  const auto fallback =
      must_be_compact ? kernels::ChannelStorage::Compact : kernels::ChannelStorage::PadTo16;
  std::array<GValue, 2> choices{};
  for (GValue& choice : choices)
    g_value_init(&choice, G_TYPE_STRING);
  g_value_set_static_string(&choices[0], channel_storage_name(settings.storage.value_or(fallback)));
  g_value_set_static_string(&choices[1], channel_storage_name(fallback));
  settle(structure, field::kChannelStorage, choices);
}

/// Trailing axes are H, W, C at rank 3 and above, W, C at rank 2, C at rank 1.
std::array<int, 4> default_axes(std::size_t rank) {
  std::array<int, 4> axes{-1, -1, -1, -1};
  const std::size_t mapped = std::min<std::size_t>(rank, 3);
  for (std::size_t i = 0; i < mapped; ++i)
    axes[3 - i] = static_cast<int>(rank - 1 - i);
  return axes;
}

/// H, W and C take up to 16 elements of the axis that they map to; D and absent axes take one.
std::array<int, 4> default_tile(const kernels::Shape& shape, const std::array<int, 4>& axes) {
  std::array<int, 4> tile{1, 1, 1, 1};
  for (std::size_t i = 1; i < tile.size(); ++i) {
    if (axes[i] < 0 || static_cast<std::size_t>(axes[i]) >= shape.extents().size())
      continue;
    const std::int64_t extent = shape[static_cast<std::size_t>(axes[i])];
    tile[i] = static_cast<int>(std::clamp<std::int64_t>(extent, 1, 16));
  }
  return tile;
}

std::array<int, 4> axes_of(const GstStructure* structure, const std::array<int, 4>& fallback) {
  std::array<int, 4> axes = fallback;
  const GValue* value = gst_structure_get_value(structure, field::kTileAxes);
  if (value == nullptr || !GST_VALUE_HOLDS_ARRAY(value) || gst_value_array_get_size(value) != 4)
    return axes;
  for (guint i = 0; i < 4; ++i) {
    const GValue* item = gst_value_array_get_value(value, i);
    if (G_VALUE_HOLDS_INT(item))
      axes[i] = g_value_get_int(item);
  }
  return axes;
}

void complete_tiled(GstStructure* structure, const TileSettings& settings,
                    const kernels::TensorSpec& input) {
  const auto fallback = default_axes(input.shape.rank());
  settle_four(structure, field::kTileAxes, settings.axes, fallback);
  const auto axes = axes_of(structure, fallback);
  settle_four(structure, field::kTileShape, settings.shape, default_tile(input.shape, axes));
  settle_storage(structure, settings, input.dtype);
}

/// Strides that nobody fixed are row-major.
void complete_strided(GstStructure* structure, const kernels::TensorSpec& input) {
  const char* name = gst_structure_get_string(structure, field::kDtype);
  const auto dtype = dtype_from_name(name);
  const auto strides = row_major_strides(input.shape, dtype.value_or(input.dtype));
  if (gst_structure_has_field(structure, field::kStrides) || !dtype || !strides)
    return;
  TensorInfo dense;
  dense.spec = {input.shape, *dtype, kernels::Strided{*strides}};
  const GstPtr<GstStructure> written(to_structure(dense));
  gst_structure_set_value(structure, field::kStrides,
                          gst_structure_get_value(written.get(), field::kStrides));
}

GstPtr<GstStructure> complete(const GstStructure* offered, const TileSettings& settings,
                              const TensorInfo* input) {
  GstPtr<GstStructure> structure(gst_structure_copy(offered));
  const char* layout = gst_structure_get_string(structure.get(), field::kLayout);
  if (input != nullptr && layout != nullptr) {
    if (g_str_equal(layout, word::kMlaTiled))
      complete_tiled(structure.get(), settings, input->spec);
    else if (g_str_equal(layout, word::kStrided))
      complete_strided(structure.get(), input->spec);
  }
  gst_structure_fixate(structure.get());
  return structure;
}

struct Words {
  const char* theirs;
  const char* ours;
};

std::string clash(const Words& words, const std::string& theirs, const std::string& ours) {
  return std::string(words.theirs) + " " + theirs + ", " + words.ours + " " + ours;
}

/// Fields that both structures have and that exclude each other: returns their number, describes
/// them in `text`.
guint conflicts(const GstStructure* ours, const GstStructure* theirs, const Words& words,
                std::string& text) {
  if (!gst_structure_has_name(theirs, gst_structure_get_name(ours))) {
    text =
        "media type: " + clash(words, gst_structure_get_name(theirs), gst_structure_get_name(ours));
    return G_MAXUINT;
  }
  guint count = 0;
  for (gint i = 0; i < gst_structure_n_fields(ours); ++i) {
    const char* name = gst_structure_nth_field_name(ours, static_cast<guint>(i));
    const GValue* our_value = gst_structure_get_value(ours, name);
    const GValue* their_value = gst_structure_get_value(theirs, name);
    if (their_value == nullptr || intersect(our_value, their_value))
      continue;
    text += (count++ == 0 ? "caps field '" : "; caps field '") + std::string(name) +
            "': " + clash(words, value_text(their_value), value_text(our_value));
  }
  return count;
}

/// One where the memory differs; described in `text` too.
guint feature_conflicts(const GstCapsFeatures* ours, const GstCapsFeatures* theirs,
                        const Words& words, std::string& text) {
  if (gst_caps_features_is_any(ours) || gst_caps_features_is_any(theirs) ||
      gst_caps_features_is_equal(ours, theirs))
    return 0;
  const GTextPtr our_text(gst_caps_features_to_string(ours));
  const GTextPtr their_text(gst_caps_features_to_string(theirs));
  text +=
      (text.empty() ? "memory: " : "; memory: ") + clash(words, their_text.get(), our_text.get());
  return 1;
}

} // namespace

GstPtr<GstCaps> template_caps(const OpTraits& traits, GstPadDirection direction, bool dma_bufs) {
  const bool is_sink = direction == GST_PAD_SINK;
  const SidePair side{is_sink ? traits.input : traits.output, is_sink};
  GValue dtypes = G_VALUE_INIT;
  gst_value_list_init(&dtypes, 0);
  std::vector<DType> seen;
  for (const Conversion& conversion : traits.conversions) {
    const DType dtype = is_sink ? conversion.input : conversion.output;
    if (std::find(seen.begin(), seen.end(), dtype) != seen.end())
      continue;
    seen.push_back(dtype);
    GValue item = G_VALUE_INIT;
    g_value_init(&item, G_TYPE_STRING);
    g_value_set_static_string(&item, dtype_name(dtype));
    gst_value_list_append_and_take_value(&dtypes, &item);
  }
  GstPtr<GstCaps> caps(gst_caps_new_empty());
  for (const char* layout : layouts_of(side)) {
    GstStructure* structure = gst_structure_new_empty(kTensorCapsName);
    if (seen.size() == 1)
      set_word(structure, field::kDtype, dtype_name(seen.front()));
    else
      gst_structure_set_value(structure, field::kDtype, &dtypes);
    set_layout_fields(structure, layout);
    append_in_memories(caps.get(), structure, dma_bufs);
  }
  g_value_unset(&dtypes);
  append_in_memories(caps.get(), gst_structure_new_empty(kTensorSetCapsName), dma_bufs);
  return caps;
}

void append_in_memories(GstCaps* caps, GstStructure* structure, bool dma_bufs) {
  if (!dma_bufs) {
    gst_caps_append_structure(caps, structure);
    return;
  }
  GstStructure* dmabuf = gst_structure_copy(structure);
  gst_caps_append_structure(caps, structure);
  gst_caps_append_structure_full(caps, dmabuf, gst_caps_features_new(kDmaBufFeature, nullptr));
}

bool has_dma_bufs(const GstCaps* caps) noexcept {
  return gst_caps_get_size(caps) > 0 &&
         gst_caps_features_contains(gst_caps_get_features(caps, 0), kDmaBufFeature) != FALSE;
}

GstPtr<GstCaps> transform_caps(const OpTraits& traits, GstPadDirection direction,
                               const GstCaps* caps, GstCaps* filter, bool makes_dma_bufs) {
  const bool from_sink = direction == GST_PAD_SINK;
  const bool dma_bufs = makes_dma_bufs || !from_sink;
  GstPtr<GstCaps> across;
  if (gst_caps_is_any(caps)) {
    across = template_caps(traits, from_sink ? GST_PAD_SRC : GST_PAD_SINK, dma_bufs);
  } else {
    across.reset(gst_caps_new_empty());
    for (guint i = 0; i < gst_caps_get_size(caps); ++i)
      append_across(across.get(), traits, from_sink, gst_caps_get_structure(caps, i), dma_bufs);
  }
  if (filter != nullptr)
    across.reset(gst_caps_intersect_full(filter, across.get(), GST_CAPS_INTERSECT_FIRST));
  return across;
}

GstPtr<GstCaps> fixate_src_caps(const OpTraits& traits, const TileSettings& settings,
                                const GstCaps* sink_caps, GstPtr<GstCaps> offered,
                                const Admits& admits, bool makes_dma_bufs) {
  // With an unlinked source pad GstBaseTransform offers the sink caps; keep what can be produced.
  GstPtr<GstCaps> possible =
      transform_caps(traits, GST_PAD_SINK, sink_caps, nullptr, makes_dma_bufs);
  GstPtr<GstCaps> candidates(
      gst_caps_intersect_full(offered.get(), possible.get(), GST_CAPS_INTERSECT_FIRST));
  if (gst_caps_is_empty(candidates.get()))
    candidates = std::move(possible);
  if (gst_caps_is_empty(candidates.get()))
    return GstPtr<GstCaps>(gst_caps_fixate(offered.release()));

  const auto parsed = parse_tensor(*sink_caps);
  const auto* input = std::get_if<TensorInfo>(&parsed);
  GstPtr<GstStructure> chosen;
  guint chosen_index = 0;
  for (guint i = 0; i < gst_caps_get_size(candidates.get()); ++i) {
    auto completed = complete(gst_caps_get_structure(candidates.get(), i), settings, input);
    const auto output = parse_tensor(*completed);
    const auto* info = std::get_if<TensorInfo>(&output);
    const bool admitted = input != nullptr && info != nullptr && admits(input->spec, info->spec);
    if (admitted || chosen == nullptr) {
      chosen = std::move(completed);
      chosen_index = i;
    }
    if (admitted)
      break;
  }
  GstPtr<GstCaps> fixed(gst_caps_new_empty());
  gst_caps_append_structure_full(
      fixed.get(), chosen.release(),
      gst_caps_features_copy(gst_caps_get_features(candidates.get(), chosen_index)));
  return fixed;
}

std::string explain_mismatch(const GstCaps* ours, const GstCaps* theirs, const char* their_words,
                             const char* our_words) {
  const Words words{their_words, our_words};
  if (gst_caps_is_empty(ours))
    return clash(words, "something", "nothing");
  if (gst_caps_is_empty(theirs))
    return clash(words, "nothing", "something");
  std::string closest;
  guint fewest = 0;
  for (guint i = 0; i < gst_caps_get_size(theirs); ++i) {
    for (guint j = 0; j < gst_caps_get_size(ours); ++j) {
      std::string text;
      guint count = conflicts(gst_caps_get_structure(ours, j), gst_caps_get_structure(theirs, i),
                              words, text);
      if (count != G_MAXUINT)
        count += feature_conflicts(gst_caps_get_features(ours, j), gst_caps_get_features(theirs, i),
                                   words, text);
      if (count != 0 && (fewest == 0 || count < fewest)) {
        fewest = count;
        closest = std::move(text);
      }
    }
  }
  return closest;
}

} // namespace simaai::gst
