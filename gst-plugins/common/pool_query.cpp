// SPDX-License-Identifier: LGPL-2.1-or-later
// Pool and allocator choice of elements that run no op.
#include "pool_query.h"

#include <algorithm>
#include <string>
#include <utility>

#include "fd_memory.h"
#include "gst_ptr.h"
#include "gstsimaaitensorpool.h"
#include "negotiation.h"

namespace simaai::gst {
namespace {

bool configure(GstBufferPool* pool, GstCaps* caps, guint size, guint min, guint max,
               GstAllocator* allocator, const GstAllocationParams& params, const char* option) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  if (option != nullptr && gst_buffer_pool_has_option(pool, option) != FALSE)
    gst_buffer_pool_config_add_option(config, option);
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  return configure_offered_pool(pool, config, caps, size, min, max);
}

} // namespace

bool configure_offered_pool(GstBufferPool* pool, GstStructure* config, GstCaps* caps, guint size,
                            guint min_buffers, guint max_buffers) {
  gst_buffer_pool_config_set_params(config, caps, size, min_buffers, max_buffers);
  if (gst_buffer_pool_set_config(pool, config) != FALSE)
    return true;
  // The pool changed the configuration: take it as it is now, if it is still large enough.
  config = gst_buffer_pool_get_config(pool);
  if (gst_buffer_pool_config_validate_params(config, caps, size, min_buffers, max_buffers) ==
      FALSE) {
    gst_structure_free(config);
    return false;
  }
  return gst_buffer_pool_set_config(pool, config) != FALSE;
}

bool negotiate_pool(GstQuery* query, guint bytes, const PoolLimits& limits, const char* option) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  const bool has_params = gst_query_get_n_allocation_params(query) > 0;
  if (has_params)
    gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  GstPtr<GstAllocator> owned_allocator(allocator);
  const bool dma_bufs = caps != nullptr && has_dma_bufs(caps);
  if (dma_bufs && !gives_dma_bufs(allocator)) {
    owned_allocator = shared_fd_allocator();
    allocator = owned_allocator.get();
  }
  params.align |= kAlignMask;
  if (has_params)
    gst_query_set_nth_allocation_param(query, 0, allocator, &params);
  else
    gst_query_add_allocation_param(query, allocator, &params);

  const bool has_pool = gst_query_get_n_allocation_pools(query) > 0;
  GstBufferPool* proposed = nullptr;
  guint size = 0;
  guint min = 0;
  guint max = 0;
  if (has_pool)
    gst_query_parse_nth_allocation_pool(query, 0, &proposed, &size, &min, &max);
  GstPtr<GstBufferPool> pool(proposed);
  // Only pools of ours are known to use the allocator that they are given.
  if (dma_bufs && !is_tensor_pool(proposed))
    pool.reset();
  if (bytes == 0) {
    while (gst_query_get_n_allocation_pools(query) > 0)
      gst_query_remove_nth_allocation_pool(query, 0);
    return true;
  }
  size = std::max(size, bytes);
  if (pool == nullptr)
    max = 0; // our own grows on demand, unless told otherwise
  limits.apply(min, max);
  if (pool == nullptr || !configure(pool.get(), caps, size, min, max, allocator, params, option)) {
    pool = new_tensor_pool();
    size = bytes;
    max = limits.max_buffers;
    if (!configure(pool.get(), caps, size, min, max, allocator, params, option))
      return false;
  }
  if (has_pool)
    gst_query_set_nth_allocation_pool(query, 0, pool.get(), size, min, max);
  else
    gst_query_add_allocation_pool(query, pool.get(), size, min, max);
  return true;
}

void propose_dma_buf_pool(GstQuery* query, guint bytes) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  const GstAllocationParams params = aligned_params();
  const GstPtr<GstAllocator> allocator = shared_fd_allocator();
  const GstPtr<GstBufferPool> pool = new_tensor_pool();
  if (!configure_pool(pool.get(), caps, bytes, 0, 0, allocator.get()))
    return;
  gst_query_add_allocation_param(query, allocator.get(), &params);
  gst_query_add_allocation_pool(query, pool.get(), bytes, 0, 0);
}

GstFlowReturn acquire_output(GstBaseTransform* element, std::uint64_t bytes, GstBuffer** buffer) {
  const GstPtr<GstBufferPool> pool(gst_base_transform_get_buffer_pool(element));
  if (pool == nullptr) {
    *buffer = gst_buffer_new_allocate(nullptr, static_cast<gsize>(bytes), nullptr);
    return GST_FLOW_OK;
  }
  if (gst_buffer_pool_set_active(pool.get(), TRUE) == FALSE)
    return GST_FLOW_OK;
  return gst_buffer_pool_acquire_buffer(pool.get(), buffer, nullptr);
}

void post_no_output(GstElement* element, std::uint64_t bytes, Report context) {
  const std::string why = take_allocation_failure();
  context.reason = "no memory for an output buffer" + (why.empty() ? why : ": " + why);
  context.needed_bytes = bytes;
  post_error(element, ErrorKind::Resource, context);
}

GstFlowReturn prepare_pooled_output(GstBaseTransformClass* base, GstBaseTransform* element,
                                    GstBuffer* input, GstBuffer** output, std::uint64_t bytes,
                                    Report context) {
  const GstFlowReturn flow = base->prepare_output_buffer(element, input, output);
  if (flow != GST_FLOW_ERROR && (flow != GST_FLOW_OK || *output != nullptr))
    return flow;
  post_no_output(GST_ELEMENT_CAST(element), bytes, std::move(context));
  return GST_FLOW_ERROR;
}

void set_pool_flushing(GstBaseTransform* element, bool flushing) {
  const GstPtr<GstBufferPool> pool(gst_base_transform_get_buffer_pool(element));
  if (pool != nullptr && gst_buffer_pool_is_active(pool.get()) != FALSE)
    gst_buffer_pool_set_flushing(pool.get(), flushing ? TRUE : FALSE);
}

} // namespace simaai::gst
