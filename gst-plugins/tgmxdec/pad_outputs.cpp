// SPDX-License-Identifier: LGPL-2.1-or-later
// What a base class does about pools, for one source pad.
#include "pad_outputs.h"

#include <utility>

#include "common/pool_query.h"

namespace simaai::gst {

void PadOutputs::start(const PoolLimits& limits) {
  limits_ = limits;
  account_.start();
  const ObjectLock lock(element_);
  flushing_ = false;
}

void PadOutputs::stop() {
  keep(nullptr);
  account_.stop();
}

void PadOutputs::set_flushing(bool flushing) {
  GstPtr<GstBufferPool> pool;
  {
    const ObjectLock lock(element_);
    flushing_ = flushing;
    if (pool_)
      pool.reset(GST_BUFFER_POOL_CAST(gst_object_ref(pool_.get())));
  }
  if (pool)
    gst_buffer_pool_set_flushing(pool.get(), flushing ? TRUE : FALSE);
}

/// In place of the pool so far. A flush that began meanwhile did not know of it.
void PadOutputs::keep(GstPtr<GstBufferPool> pool) {
  GstBufferPool* const now = pool.get();
  bool flushing = false;
  {
    const ObjectLock lock(element_);
    std::swap(pool_, pool);
    flushing = flushing_;
  }
  if (pool && pool.get() != now)
    gst_buffer_pool_set_active(pool.get(), FALSE);
  if (now != nullptr && flushing)
    gst_buffer_pool_set_flushing(now, TRUE);
}

bool PadOutputs::negotiate(GstPad* src, GstCaps* caps, std::uint64_t bytes) {
  bytes_ = bytes;
  if (bytes > G_MAXUINT) { // more than the query can say
    keep(nullptr);
    return false;
  }
  const GstPtr<GstQuery> query(gst_query_new_allocation(caps, TRUE));
  (void)gst_pad_peer_query(src, query.get()); // nobody has to answer
  if (!negotiate_pool(query.get(), static_cast<guint>(bytes), limits_))
    return false;
  account_.remember(query.get());
  GstBufferPool* chosen = nullptr;
  gst_query_parse_nth_allocation_pool(query.get(), 0, &chosen, nullptr, nullptr, nullptr);
  GstPtr<GstBufferPool> pool(chosen);
  if (gst_buffer_pool_set_active(pool.get(), TRUE) == FALSE)
    return false;
  keep(std::move(pool));
  return true;
}

GstFlowReturn PadOutputs::acquire(GstPtr<GstBuffer>& into) {
  GstBuffer* buffer = nullptr;
  const GstFlowReturn flow = gst_buffer_pool_acquire_buffer(pool_.get(), &buffer, nullptr);
  into.reset(buffer);
  if (flow != GST_FLOW_OK)
    return flow == GST_FLOW_FLUSHING ? flow : GST_FLOW_OK;
  if (gst_buffer_get_size(buffer) > bytes_) // a pool may hand out larger ones
    gst_buffer_set_size(buffer, static_cast<gssize>(bytes_));
  return GST_FLOW_OK;
}

} // namespace simaai::gst
