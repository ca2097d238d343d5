// SPDX-License-Identifier: LGPL-2.1-or-later
// Memory for tensors: the allocator and the pool of the elements, for applications.
#pragma once

#include <gst/gst.h>
#include <gst/simaai/visibility.h>

// NOLINTBEGIN(readability-identifier-naming): C, as GLib spells it.
G_BEGIN_DECLS

/**
 * GstSimaaiMemoryKind:
 * @GST_SIMAAI_MEMORY_KIND_SYSTEM: of this process, without a descriptor
 * @GST_SIMAAI_MEMORY_KIND_MEMFD: shared memory with a descriptor, for programs
 * @GST_SIMAAI_MEMORY_KIND_DMA_BUF: a DMA-BUF of the kernel, for devices too
 *
 * What a memory is, by what the kernel says of its descriptor and not by who wrapped it.
 */
typedef enum {
  GST_SIMAAI_MEMORY_KIND_SYSTEM,
  GST_SIMAAI_MEMORY_KIND_MEMFD,
  GST_SIMAAI_MEMORY_KIND_DMA_BUF,
} GstSimaaiMemoryKind;

/**
 * gst_simaai_memory_get_kind:
 * @memory: a memory
 *
 * Returns: what it is
 */
GST_SIMAAI_API GstSimaaiMemoryKind gst_simaai_memory_get_kind(GstMemory* memory);

/**
 * gst_simaai_allocator_get_shared:
 *
 * The allocator of all elements of this process: DMA-BUFs of the first source that this machine has (a DMA heap, udmabuf,
 * a DRM device), else memfds sealed against shrinking. Memory is zero. Thread-safe.
 *
 * Returns: (transfer full): the allocator
 */
GST_SIMAAI_API GstAllocator* gst_simaai_allocator_get_shared(void);

/**
 * gst_simaai_allocator_get_kind:
 * @allocator: (nullable): an allocator; %NULL is the system's
 *
 * Returns: what gst_simaai_allocator_get_shared() gives, or system memory for any other allocator
 */
GST_SIMAAI_API GstSimaaiMemoryKind gst_simaai_allocator_get_kind(GstAllocator* allocator);

/**
 * gst_simaai_allocator_get_source:
 * @allocator: (nullable): an allocator; %NULL is the system's
 *
 * Returns: `dma-heap`, `udmabuf`, `drm-dumb` or `memfd`: where gst_simaai_allocator_get_shared() takes memory from;
 *   `system` for any other allocator
 */
GST_SIMAAI_API const gchar* gst_simaai_allocator_get_source(GstAllocator* allocator);

/**
 * gst_simaai_pool_new:
 * @caps: fixed caps of a tensor or a set
 * @allocator: (nullable): where memory comes from; %NULL: the system
 * @min_buffers: buffers that are allocated at once
 * @max_buffers: buffers that may exist; 0: no limit
 * @error: why there is no pool
 *
 * A pool that is configured for these caps and not active yet (gst_buffer_pool_set_active()): memory aligned to 64 bytes, a memory for each tensor of a set
 * without offsets. Offsets must keep tensors apart and suit their alignment. It hands out the buffer that came back last, and none
 * whose memory somebody still has, be it mapped, in another buffer or no more than referenced: that buffer waits, counts against
 * @max_buffers, and is handed out when its memory was let go. Thread-safe as #GstBufferPool is.
 *
 * Returns: (transfer full) (nullable): the pool
 */
GST_SIMAAI_API GstBufferPool* gst_simaai_pool_new(GstCaps* caps, GstAllocator* allocator,
                                                  guint min_buffers, guint max_buffers,
                                                  GError** error);

/**
 * gst_simaai_pool_get_allocations:
 * @pool: a pool of gst_simaai_pool_new()
 *
 * Returns: buffers that it allocated so far, constant in a steady state; 0 for a pool of another type
 */
GST_SIMAAI_API guint64 gst_simaai_pool_get_allocations(GstBufferPool* pool);

G_END_DECLS
// NOLINTEND(readability-identifier-naming)
