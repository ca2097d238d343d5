// SPDX-License-Identifier: LGPL-2.1-or-later
// The answer of an element that allocates to an ALLOCATION query.
#pragma once

#include <cstdint>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "errors.h"
#include "export.h"
#include "output_pool.h"

namespace simaai::gst {

/// Configures an inactive pool, whose buffers then have at least `size` bytes. A pool may change the
/// configuration, as long as it stays sufficient. False where it does not.
[[nodiscard]] SIMAAI_GST_API bool configure_offered_pool(GstBufferPool* pool, GstStructure* config,
                                                         GstCaps* caps, guint size,
                                                         guint min_buffers, guint max_buffers);

/// Leaves one configured pool and one set of allocation parameters in the query: the pool that
/// downstream proposes, or one of ours; buffers of at least `bytes`, aligned to 64. Nothing is
/// pooled where `bytes` is 0. `option` is switched on in pools that have it. False where a pool refuses its configuration.
/// Where the caps of the query promise DMA-BUFs, memory is ours unless downstream proposes such an allocator.
[[nodiscard]] SIMAAI_GST_API bool negotiate_pool(GstQuery* query, guint bytes,
                                                 const PoolLimits& limits,
                                                 const char* option = nullptr);

/// Adds a pool of DMA-BUFs of `bytes` to the query of an upstream element, and their allocator.
SIMAAI_GST_API void propose_dma_buf_pool(GstQuery* query, guint bytes);

/// A buffer of the pool of `element`, which is activated when first needed, or a new one of `bytes` where it has none.
/// Null `buffer` with GST_FLOW_OK: out of memory.
[[nodiscard]] SIMAAI_GST_API GstFlowReturn acquire_output(GstBaseTransform* element,
                                                          std::uint64_t bytes, GstBuffer** buffer);

/// Posts that there is no memory for an output of `bytes`, and why. What `context` says besides is added.
SIMAAI_GST_API void post_no_output(GstElement* element, std::uint64_t bytes, Report context = {});

/// Calls the base class, and posts why where that finds no memory: it would only return the flow. For prepare_output_buffer.
[[nodiscard]] SIMAAI_GST_API GstFlowReturn
prepare_pooled_output(GstBaseTransformClass* base, GstBaseTransform* element, GstBuffer* input,
                      GstBuffer** output, std::uint64_t bytes, Report context = {});

/// Ends a wait for a buffer of the pool of `element` with GST_FLOW_FLUSHING, or allows to wait again. Elements set it before the base class stops
/// the streaming thread, which could wait for ever for buffers that the application holds.
SIMAAI_GST_API void set_pool_flushing(GstBaseTransform* element, bool flushing);

} // namespace simaai::gst
