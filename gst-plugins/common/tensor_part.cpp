// SPDX-License-Identifier: LGPL-2.1-or-later
// Shared parts of buffers.
#include "tensor_part.h"

#include "buffer_binding.h"
#include "gstsimaaitensorpool.h"
#include "meta_rule.h"
#include "negotiation.h"

namespace simaai::gst {
namespace {

GstPtr<GstCaps> any_caps(const char* name) {
  GstPtr<GstCaps> caps(gst_caps_new_empty());
  append_in_memories(caps.get(), gst_structure_new_empty(name), true);
  return caps;
}

} // namespace

GstPtr<GstCaps> any_tensor_caps() { return any_caps(kTensorCapsName); }

GstPtr<GstCaps> any_set_caps() { return any_caps(kTensorSetCapsName); }

GstPtr<GstMemory> share_tensor(GstBuffer* buffer, const PortLayout& layout, std::size_t tensor) {
  const std::uint64_t bytes = layout.needs(tensor).bytes;
  if (bytes == 0)
    return GstPtr<GstMemory>(new_empty_memory());
  const TensorPlace place = layout.locate(buffer, tensor);
  if (place.memory == nullptr)
    return nullptr;
  if (place.offset_bytes == 0 && place.memory->size == bytes)
    return GstPtr<GstMemory>(gst_memory_ref(place.memory));
  if (GST_MEMORY_IS_NO_SHARE(place.memory))
    return nullptr;
  return GstPtr<GstMemory>(gst_memory_share(place.memory, static_cast<gssize>(place.offset_bytes),
                                            static_cast<gssize>(bytes)));
}

GstPtr<GstMemory> copy_tensor(GstBuffer* buffer, const PortLayout& layout, std::size_t tensor) {
  GstAllocationParams params = aligned_params();
  const std::uint64_t bytes = layout.needs(tensor).bytes;
  GstPtr<GstMemory> memory(gst_allocator_alloc(nullptr, bytes, &params));
  if (memory == nullptr)
    return nullptr;
  bool copied = false;
  {
    const MapGuard map(memory.get(), GST_MAP_WRITE);
    copied = map && gather(buffer, layout.position(buffer, tensor),
                           reinterpret_cast<std::byte*>(map.data()), bytes);
  }
  return copied ? std::move(memory) : nullptr;
}

void copy_metas(GstBuffer* from, GstBuffer* to) {
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta(from, &state)) {
    GstMetaTransformCopy whole{FALSE, 0, static_cast<gsize>(-1)};
    if (meta->info->transform_func != nullptr && meta_survives(meta->info))
      meta->info->transform_func(to, meta, from, _gst_meta_transform_copy, &whole);
  }
}

void keep_parent(GstBuffer* child, GstBuffer* parent) {
  if (parent->pool != nullptr)
    gst_buffer_add_parent_buffer_meta(child, parent);
}

} // namespace simaai::gst
