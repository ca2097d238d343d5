// SPDX-License-Identifier: LGPL-2.1-or-later
// Buffer pool of system memory aligned for every op, which hands out the buffer returned last.
#pragma once

#include <cstdint>

#include <gst/gst.h>

#include "export.h"
#include "gst_ptr.h"

G_BEGIN_DECLS
#define GST_TYPE_SIMAAI_TENSOR_POOL (gst_simaai_tensor_pool_get_type())
SIMAAI_GST_API GType gst_simaai_tensor_pool_get_type(void);
G_END_DECLS

namespace simaai::gst {

/// Alignment mask of memory that our pools and allocation proposals state: 64 bytes.
inline constexpr gsize kAlignMask = 63;

/// A memory without any room, so that an empty tensor of a set has one too: GStreamer takes room that is not used for room before
/// the next memory.
[[nodiscard]] SIMAAI_GST_API GstMemory* new_empty_memory() noexcept;

/// Allocation parameters with that alignment.
[[nodiscard]] SIMAAI_GST_API GstAllocationParams aligned_params() noexcept;

/// A new, inactive and unconfigured pool. Thread-safe as GstBufferPool is.
///
/// Buffers are handed out last in, first out, so that a pipeline with little in flight keeps
/// touching memory that is still in cache; the count grows on demand up to max-buffers (0: no
/// limit). Waiting for a buffer ends with GST_FLOW_FLUSHING when the pool is set flushing.
///
/// With caps of a set whose tensors have no offsets, and the size that these add up to, a buffer has a memory for each tensor.
/// A buffer that comes back while somebody has memory of it, be it mapped, shared or no more than referenced, is kept, and handed
/// out when that was let go. Where the memory was replaced, or very many wait (64, or a larger limit, up to 1024), the pool forgets
/// the buffer and allocates anew.
[[nodiscard]] SIMAAI_GST_API GstPtr<GstBufferPool> new_tensor_pool();

/// True for a pool made by new_tensor_pool(); null is none.
[[nodiscard]] SIMAAI_GST_API bool is_tensor_pool(GstBufferPool* pool) noexcept;

/// Buffers that the pool allocated so far, or 0 for a pool of another type.
[[nodiscard]] SIMAAI_GST_API std::uint64_t pool_allocations(GstBufferPool* pool) noexcept;

/// While the pool keeps a thread waiting for a buffer for longer than a moment, the element posts `simaai-pool-wait`: once, until
/// a buffer was there without a wait. Null for nobody; pools of other types are left alone. Keeps no reference.
SIMAAI_GST_API void announce_waits(GstBufferPool* pool, GstElement* element) noexcept;

/// Sets caps, size, counts and aligned allocation on an inactive pool; memory of `allocator`, null for the system's.
[[nodiscard]] SIMAAI_GST_API bool configure_pool(GstBufferPool* pool, GstCaps* caps, guint size,
                                                 guint min_buffers, guint max_buffers,
                                                 GstAllocator* allocator = nullptr);

} // namespace simaai::gst
