// SPDX-License-Identifier: LGPL-2.1-or-later
// The allocator and the pool of the elements behind C functions.
#include <limits>
#include <string>

#include <gst/allocators/gstfdmemory.h>

#include <simaai/runtime/dma_buf.h>

#include "common/fd_memory.h"
#include "common/gstsimaaitensorpool.h"
#include "types.h"

using simaai::gst::GstPtr;
using simaai::gst::set_error;

GstSimaaiMemoryKind gst_simaai_memory_get_kind(GstMemory* memory) {
  g_return_val_if_fail(memory != nullptr, GST_SIMAAI_MEMORY_KIND_SYSTEM);
  if (gst_is_fd_memory(memory) == FALSE)
    return GST_SIMAAI_MEMORY_KIND_SYSTEM;
  const auto found = simaai::runtime::inspect(gst_fd_memory_get_fd(memory));
  const auto* object = std::get_if<simaai::runtime::MemoryInfo>(&found);
  if (object == nullptr)
    return GST_SIMAAI_MEMORY_KIND_SYSTEM;
  return object->kind == simaai::runtime::MemoryKind::DmaBuf ? GST_SIMAAI_MEMORY_KIND_DMA_BUF
                                                             : GST_SIMAAI_MEMORY_KIND_MEMFD;
}

GstAllocator* gst_simaai_allocator_get_shared(void) {
  return simaai::gst::shared_fd_allocator().release();
}

GstSimaaiMemoryKind gst_simaai_allocator_get_kind(GstAllocator* allocator) {
  if (!simaai::gst::is_fd_allocator(allocator))
    return GST_SIMAAI_MEMORY_KIND_SYSTEM;
  return simaai::gst::gives_dma_bufs(allocator) ? GST_SIMAAI_MEMORY_KIND_DMA_BUF
                                                : GST_SIMAAI_MEMORY_KIND_MEMFD;
}

const gchar* gst_simaai_allocator_get_source(GstAllocator* allocator) {
  return simaai::gst::fd_allocator_source(allocator);
}

GstBufferPool* gst_simaai_pool_new(GstCaps* caps, GstAllocator* allocator, guint min_buffers,
                                   guint max_buffers, GError** error) {
  g_return_val_if_fail(GST_IS_CAPS(caps), nullptr);
  g_return_val_if_fail(allocator == nullptr || GST_IS_ALLOCATOR(allocator), nullptr);
  g_autoptr(GstSimaaiTensorSet) set = gst_simaai_tensor_set_new_from_caps(caps, error);
  guint64 bytes = 0;
  if (set == nullptr || gst_simaai_tensor_set_get_size(set, &bytes, error) == FALSE)
    return nullptr;
  if (!set->unwritable.empty()) {
    set_error(error, GST_SIMAAI_ERROR_TENSOR, set->unwritable);
    return nullptr;
  }
  if (bytes == 0) {
    set_error(error, GST_SIMAAI_ERROR_POOL,
              "the caps need no bytes; expected a tensor that is not empty");
    return nullptr;
  }
  if (max_buffers != 0 && max_buffers < min_buffers) {
    set_error(error, GST_SIMAAI_ERROR_POOL,
              "max_buffers is " + std::to_string(max_buffers) + "; expected 0 or at least " +
                  std::to_string(min_buffers) + ", the value of min_buffers");
    return nullptr;
  }
  // A layout holds no more bytes than a pool: set_get_size() has refused larger ones.
  GstPtr<GstBufferPool> pool = simaai::gst::new_tensor_pool();
  if (!simaai::gst::configure_pool(pool.get(), caps, static_cast<guint>(bytes), min_buffers,
                                   max_buffers, allocator)) {
    set_error(error, GST_SIMAAI_ERROR_POOL, "the pool refuses its configuration");
    return nullptr;
  }
  return pool.release();
}

guint64 gst_simaai_pool_get_allocations(GstBufferPool* pool) {
  g_return_val_if_fail(GST_IS_BUFFER_POOL(pool), 0);
  return simaai::gst::pool_allocations(pool);
}
