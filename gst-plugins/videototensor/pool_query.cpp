// SPDX-License-Identifier: LGPL-2.1-or-later
// Pool and allocator choice of elements that run no op.
#include "pool_query.h"

#include <algorithm>

#include "common/gst_ptr.h"
#include "common/gstsimaaitensorpool.h"

namespace simaai::gst {
namespace {

bool configure(GstBufferPool* pool, GstCaps* caps, guint size, guint min, guint max,
               GstAllocator* allocator, const GstAllocationParams& params) {
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min, max);
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  if (gst_buffer_pool_set_config(pool, config) != FALSE)
    return true;
  // The pool changed the configuration: take it as it is now, if it is still large enough.
  config = gst_buffer_pool_get_config(pool);
  if (gst_buffer_pool_config_validate_params(config, caps, size, min, max) == FALSE) {
    gst_structure_free(config);
    return false;
  }
  return gst_buffer_pool_set_config(pool, config) != FALSE;
}

} // namespace

bool negotiate_pool(GstQuery* query, guint bytes) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  const bool has_params = gst_query_get_n_allocation_params(query) > 0;
  if (has_params)
    gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
  const GstPtr<GstAllocator> owned_allocator(allocator);
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
  if (bytes == 0) {
    while (gst_query_get_n_allocation_pools(query) > 0)
      gst_query_remove_nth_allocation_pool(query, 0);
    return true;
  }
  size = std::max(size, bytes);
  if (pool == nullptr || !configure(pool.get(), caps, size, min, max, allocator, params)) {
    pool = new_tensor_pool();
    size = bytes;
    max = 0;
    if (!configure(pool.get(), caps, size, min, max, allocator, params))
      return false;
  }
  if (has_pool)
    gst_query_set_nth_allocation_pool(query, 0, pool.get(), size, min, max);
  else
    gst_query_add_allocation_pool(query, pool.get(), size, min, max);
  return true;
}

} // namespace simaai::gst
