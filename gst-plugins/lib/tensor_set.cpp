// SPDX-License-Identifier: LGPL-2.1-or-later
// GstSimaaiTensorSet: a C face of TensorSet, and of where its tensors are in a buffer.
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "common/fd_memory.h"
#include "common/gst_ptr.h"
#include "common/gstsimaaitensorpool.h"
#include "types.h"

using simaai::gst::CapsError;
using simaai::gst::GstPtr;
using simaai::gst::PortLayout;
using simaai::gst::set_error;
using simaai::gst::TensorSet;

static_assert(GST_SIMAAI_MAX_TENSORS == simaai::gst::kMaxTensors);

namespace {

/// What is wrong with the fields of a set and its tensors; empty where they can be.
std::string problem_of(const GstSimaaiTensorSet& set) {
  if (set.set.tensors.empty())
    return "the set has no tensors; expected 1 to 16";
  for (std::size_t i = 0; i < set.set.tensors.size(); ++i)
    if (const auto refused = simaai::gst::field_problem(set.set.tensors[i]))
      return simaai::gst::tensor_prefix(set.set, i) + refused->reason;
  if (const auto refused = simaai::gst::framerate_problem(set.framerate))
    return refused->reason;
  const auto refused = simaai::gst::set_problem(set.set);
  return refused ? refused->reason : std::string();
}

} // namespace

void _GstSimaaiTensorSet::refresh() {
  layout.reset();
  unwritable.clear();
  problem = problem_of(*this);
  if (!problem.empty())
    return;
  auto made = PortLayout::create(set);
  if (auto* refused = std::get_if<CapsError>(&made)) {
    problem = std::move(refused->reason);
    return;
  }
  // What is read may be any input of an element, what is written follows the rules of its outputs.
  const auto written = PortLayout::create(set, true);
  if (const auto* refused = std::get_if<CapsError>(&written)) {
    unwritable = refused->reason;
    if (is_own) {
      problem = refused->reason;
      return;
    }
  }
  layout = std::get<PortLayout>(std::move(made));
}

namespace {

/// Bytes of a tensor in a buffer, borrowed from it.
struct Place {
  GstMemory* memory = nullptr; ///< null: an empty tensor
  std::uint64_t offset_bytes = 0;
  std::uint64_t bytes = 0;
};

/// Whether tensors of these buffers may be written; else with an error set.
bool check_writable(const GstSimaaiTensorSet& set, GError** error) {
  if (!set.unwritable.empty())
    set_error(error, GST_SIMAAI_ERROR_TENSOR, set.unwritable);
  return set.unwritable.empty();
}

/// Checks the set, the index and the buffer; nothing with an error set.
std::optional<Place> locate(const GstSimaaiTensorSet* set, GstBuffer* buffer, guint index,
                            GError** error) {
  if (!set->layout) {
    set_error(error, GST_SIMAAI_ERROR_TENSOR, set->problem);
    return std::nullopt;
  }
  const PortLayout& layout = *set->layout;
  if (index >= layout.count()) {
    set_error(error, GST_SIMAAI_ERROR_BUFFER,
              "tensor " + std::to_string(index) + ": expected an index below " +
                  std::to_string(layout.count()));
    return std::nullopt;
  }
  const gsize found = gst_buffer_get_size(buffer);
  if (found < layout.total_bytes()) {
    set_error(error, GST_SIMAAI_ERROR_BUFFER,
              "the buffer is shorter than its caps say: needed " +
                  std::to_string(layout.total_bytes()) + " bytes, found " + std::to_string(found));
    return std::nullopt;
  }
  const std::uint64_t bytes = layout.needs(index).bytes;
  if (bytes == 0)
    return Place{};
  const auto place = layout.locate(buffer, index);
  if (place.memory == nullptr) {
    set_error(error, GST_SIMAAI_ERROR_BUFFER,
              simaai::gst::tensor_prefix(set->set, index) +
                  "its bytes are spread over several memories");
    return std::nullopt;
  }
  return Place{place.memory, place.offset_bytes, bytes};
}

/// Why the bytes of a place cannot be had for an access; empty where `map` has them.
std::string map_place(const Place& place, GstMapFlags flags, GstSimaaiTensorMap* map) {
  if (!simaai::gst::has_its_bytes(place.memory))
    return "its memory claims more bytes than there are: the object behind its descriptor is "
           "shorter";
  if (gst_memory_map(place.memory, &map->info, flags) == FALSE)
    return "its memory cannot be mapped for this access";
  map->memory = gst_memory_ref(place.memory);
  map->data = map->info.data + place.offset_bytes;
  map->size = place.bytes;
  return {};
}

/// Maps a tensor wherever its first byte is.
bool map_anywhere(const GstSimaaiTensorSet* set, GstBuffer* buffer, guint index, GstMapFlags flags,
                  GstSimaaiTensorMap* map, GError** error) {
  *map = {};
  const bool writes = (flags & GST_MAP_WRITE) != 0;
  const auto place = locate(set, buffer, index, error);
  if (!place || (writes && !check_writable(*set, error)))
    return false;
  if (place->memory == nullptr)
    return true;
  if (writes && gst_buffer_is_writable(buffer) == FALSE) {
    set_error(error, GST_SIMAAI_ERROR_BUFFER, "the buffer is shared; expected one of one owner");
    return false;
  }
  const std::string refused = map_place(*place, flags, map);
  if (!refused.empty())
    set_error(error, GST_SIMAAI_ERROR_BUFFER,
              simaai::gst::tensor_prefix(set->set, index) + refused);
  return refused.empty();
}

} // namespace

GType gst_simaai_tensor_set_get_type(void) {
  static const GType type = g_boxed_type_register_static(
      "GstSimaaiTensorSet",
      [](gpointer set) -> gpointer {
        return gst_simaai_tensor_set_copy(static_cast<GstSimaaiTensorSet*>(set));
      },
      [](gpointer set) { gst_simaai_tensor_set_free(static_cast<GstSimaaiTensorSet*>(set)); });
  return type;
}

GstSimaaiTensorSet* gst_simaai_tensor_set_new(void) {
  auto* set = new GstSimaaiTensorSet();
  set->set.is_set = true;
  set->is_own = true;
  set->refresh();
  return set;
}

GstSimaaiTensorSet* gst_simaai_tensor_set_new_from_caps(GstCaps* caps, GError** error) {
  g_return_val_if_fail(GST_IS_CAPS(caps), nullptr);
  auto parsed = simaai::gst::parse_tensors(*caps);
  if (const auto* refused = std::get_if<CapsError>(&parsed)) {
    set_error(error, GST_SIMAAI_ERROR_CAPS, refused->reason);
    return nullptr;
  }
  if (!simaai::gst::check_fixed(caps, error))
    return nullptr;
  auto* set = new GstSimaaiTensorSet();
  set->set = std::get<TensorSet>(std::move(parsed));
  // Read with the rest before: there is one, or none.
  const auto framerate = simaai::gst::parse_framerate(*gst_caps_get_structure(caps, 0));
  set->framerate = std::get<std::optional<std::pair<int, int>>>(framerate);
  set->refresh();
  return set;
}

GstSimaaiTensorSet* gst_simaai_tensor_set_copy(const GstSimaaiTensorSet* set) {
  g_return_val_if_fail(set != nullptr, nullptr);
  return new GstSimaaiTensorSet(*set);
}

void gst_simaai_tensor_set_free(GstSimaaiTensorSet* set) { delete set; }

gboolean gst_simaai_tensor_set_is_plain(const GstSimaaiTensorSet* set) {
  g_return_val_if_fail(set != nullptr, FALSE);
  return set->set.is_set ? FALSE : TRUE;
}

guint gst_simaai_tensor_set_get_length(const GstSimaaiTensorSet* set) {
  g_return_val_if_fail(set != nullptr, 0);
  return static_cast<guint>(set->set.tensors.size());
}

GstSimaaiTensorInfo* gst_simaai_tensor_set_get_tensor(const GstSimaaiTensorSet* set, guint index) {
  g_return_val_if_fail(set != nullptr, nullptr);
  if (index >= set->set.tensors.size())
    return nullptr;
  auto* info = new GstSimaaiTensorInfo();
  info->tensor = set->set.tensors[index];
  info->refresh();
  return info;
}

gboolean gst_simaai_tensor_set_append(GstSimaaiTensorSet* set, const GstSimaaiTensorInfo* info) {
  g_return_val_if_fail(set != nullptr && info != nullptr, FALSE);
  if (set->set.tensors.size() >= simaai::gst::kMaxTensors)
    return FALSE;
  set->set.is_set = true;
  set->is_own = true;
  set->set.tensors.push_back(info->tensor);
  set->refresh();
  return TRUE;
}

gboolean gst_simaai_tensor_set_get_framerate(const GstSimaaiTensorSet* set, gint* numerator,
                                             gint* denominator) {
  g_return_val_if_fail(set != nullptr, FALSE);
  return simaai::gst::get_fraction(set->framerate, numerator, denominator) ? TRUE : FALSE;
}

void gst_simaai_tensor_set_set_framerate(GstSimaaiTensorSet* set, gint numerator,
                                         gint denominator) {
  g_return_if_fail(set != nullptr);
  set->framerate = simaai::gst::to_fraction(numerator, denominator);
  if (!set->set.is_set)
    set->set.tensors.front().framerate = set->framerate;
  set->refresh();
}

GstCaps* gst_simaai_tensor_set_to_caps(const GstSimaaiTensorSet* set, GError** error) {
  g_return_val_if_fail(set != nullptr, nullptr);
  if (!set->layout) {
    set_error(error, GST_SIMAAI_ERROR_TENSOR, set->problem);
    return nullptr;
  }
  if (!set->set.is_set)
    return simaai::gst::to_caps(set->set.tensors.front());
  std::vector<GstPtr<GstStructure>> tensors;
  std::vector<GstStructure*> borrowed;
  for (const auto& tensor : set->set.tensors) {
    tensors.emplace_back(simaai::gst::to_structure(tensor));
    borrowed.push_back(tensors.back().get());
  }
  GstStructure* structure = gst_structure_new_empty(simaai::gst::kTensorSetCapsName);
  simaai::gst::set_tensor_array(structure, borrowed);
  if (set->framerate)
    gst_structure_set(structure, simaai::gst::field::kFramerate, GST_TYPE_FRACTION,
                      set->framerate->first, set->framerate->second, nullptr);
  GstPtr<GstCaps> caps(gst_caps_new_empty());
  gst_caps_append_structure(caps.get(), structure);
  return caps.release();
}

gboolean gst_simaai_tensor_set_get_size(const GstSimaaiTensorSet* set, guint64* bytes,
                                        GError** error) {
  g_return_val_if_fail(set != nullptr && bytes != nullptr, FALSE);
  if (!set->layout) {
    set_error(error, GST_SIMAAI_ERROR_TENSOR, set->problem);
    return FALSE;
  }
  *bytes = set->layout->total_bytes();
  return TRUE;
}

GstMemory* gst_simaai_tensor_set_get_memory(const GstSimaaiTensorSet* set, GstBuffer* buffer,
                                            guint index, gsize* offset, gsize* size,
                                            GError** error) {
  g_return_val_if_fail(set != nullptr && GST_IS_BUFFER(buffer), nullptr);
  const auto place = locate(set, buffer, index, error);
  if (!place)
    return nullptr;
  if (offset != nullptr)
    *offset = place->offset_bytes;
  if (size != nullptr)
    *size = place->bytes;
  return place->memory != nullptr ? gst_memory_ref(place->memory) : simaai::gst::new_empty_memory();
}

gboolean gst_simaai_tensor_set_map(const GstSimaaiTensorSet* set, GstBuffer* buffer, guint index,
                                   GstMapFlags flags, GstSimaaiTensorMap* map, GError** error) {
  g_return_val_if_fail(set != nullptr && GST_IS_BUFFER(buffer) && map != nullptr, FALSE);
  g_return_val_if_fail((flags & GST_MAP_READWRITE) != 0, FALSE);
  if (!map_anywhere(set, buffer, index, flags, map, error))
    return FALSE;
  const std::uint64_t alignment =
      map->size != 0 ? std::uint64_t{set->layout->needs(index).alignment} : 1;
  const std::uint64_t past = reinterpret_cast<std::uintptr_t>(map->data) % alignment;
  if (past == 0)
    return TRUE;
  gst_simaai_tensor_map_unmap(map);
  set_error(error, GST_SIMAAI_ERROR_BUFFER,
            simaai::gst::tensor_prefix(set->set, index) + "the address of its first byte is " +
                std::to_string(past) + " modulo " + std::to_string(alignment) +
                "; expected one aligned to " + std::to_string(alignment) +
                " (gst_simaai_tensor_set_read() and gst_simaai_tensor_set_write() copy instead)");
  return FALSE;
}

void gst_simaai_tensor_map_unmap(GstSimaaiTensorMap* map) {
  g_return_if_fail(map != nullptr);
  if (map->memory != nullptr) {
    gst_memory_unmap(map->memory, &map->info);
    gst_memory_unref(map->memory);
  }
  *map = {};
}

GBytes* gst_simaai_tensor_set_read(const GstSimaaiTensorSet* set, GstBuffer* buffer, guint index,
                                   GError** error) {
  g_return_val_if_fail(set != nullptr && GST_IS_BUFFER(buffer), nullptr);
  GstSimaaiTensorMap map;
  if (!map_anywhere(set, buffer, index, GST_MAP_READ, &map, error))
    return nullptr;
  GBytes* bytes = g_bytes_new(map.data, map.size);
  gst_simaai_tensor_map_unmap(&map);
  return bytes;
}

gboolean gst_simaai_tensor_set_write(const GstSimaaiTensorSet* set, GstBuffer* buffer, guint index,
                                     GBytes* bytes, GError** error) {
  g_return_val_if_fail(set != nullptr && GST_IS_BUFFER(buffer) && bytes != nullptr, FALSE);
  GstSimaaiTensorMap map;
  if (!map_anywhere(set, buffer, index, GST_MAP_WRITE, &map, error))
    return FALSE;
  gsize found = 0;
  const auto* data = static_cast<const guint8*>(g_bytes_get_data(bytes, &found));
  const gsize needed = map.size;
  if (found == needed && needed != 0)
    std::memcpy(map.data, data, needed);
  gst_simaai_tensor_map_unmap(&map);
  if (found != needed)
    set_error(error, GST_SIMAAI_ERROR_BUFFER,
              simaai::gst::tensor_prefix(set->set, index) + "needed " + std::to_string(needed) +
                  " bytes, found " + std::to_string(found));
  return found == needed ? TRUE : FALSE;
}
