// SPDX-License-Identifier: LGPL-2.1-or-later
// Limits and accounts of output pools.
#include "output_pool.h"

#include <algorithm>
#include <utility>

#include "fd_memory.h"
#include "gstsimaaitensorpool.h"

namespace simaai::gst {
namespace {

constexpr guint kMostBuffers = 1024;

} // namespace

std::string PoolLimits::problem() const {
  if (max_buffers == 0 || max_buffers >= min_buffers)
    return {};
  return "property max-buffers is " + std::to_string(max_buffers) + "; expected 0 or at least " +
         std::to_string(min_buffers) + ", the property min-buffers";
}

void PoolLimits::apply(guint& min, guint& max) const noexcept {
  min = std::max(min, min_buffers);
  if (max_buffers != 0)
    max = max != 0 ? std::min(max, max_buffers) : max_buffers;
  if (max != 0)
    min = std::min(min, max);
}

void install_pool_limits(GObjectClass* klass, guint min_id, guint max_id) {
  constexpr auto kFlags = static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                   GST_PARAM_MUTABLE_READY);
  g_object_class_install_property(
      klass, min_id,
      g_param_spec_uint("min-buffers", "Least buffers",
                        "Output buffers that are allocated before the first one is needed", 0,
                        kMostBuffers, 0, kFlags));
  g_object_class_install_property(
      klass, max_id,
      g_param_spec_uint("max-buffers", "Most buffers",
                        "Output buffers that may exist. A consumer that keeps all of them stops "
                        "the element, which says so (simaai-pool-wait), until one is back, a "
                        "flush or READY. 0: no limit",
                        0, kMostBuffers, 0, kFlags));
}

void OutputPool::start() {
  const ObjectLock lock(element_);
  past_ = 0;
}

void OutputPool::stop() {
  GstPtr<GstBufferPool> old; // goes without the lock
  const ObjectLock lock(element_);
  old = std::move(pool_);
  past_ += pool_allocations(old.get());
}

void OutputPool::expect(GstAllocator* allocator) noexcept {
  memory_.store(fd_allocator_memory(allocator), std::memory_order_release);
  source_.store(fd_allocator_source(allocator), std::memory_order_release);
}

void OutputPool::remember(GstQuery* query) {
  GstBufferPool* chosen = nullptr;
  if (gst_query_get_n_allocation_pools(query) > 0)
    gst_query_parse_nth_allocation_pool(query, 0, &chosen, nullptr, nullptr, nullptr);
  GstPtr<GstBufferPool> pool(chosen);
  if (pool) {
    const GstPtr<GstStructure> config(gst_buffer_pool_get_config(pool.get()));
    GstAllocator* allocator = nullptr;
    (void)gst_buffer_pool_config_get_allocator(config.get(), &allocator, nullptr);
    expect(allocator);
  }
  announce_waits(pool.get(), element_);
  const ObjectLock lock(element_);
  if (pool_ != pool)
    past_ += pool_allocations(pool_.get());
  std::swap(pool_, pool);
}

std::uint64_t OutputPool::allocations() const {
  GstPtr<GstBufferPool> pool;
  std::uint64_t past = 0;
  {
    const ObjectLock lock(element_);
    past = past_;
    if (pool_)
      pool.reset(GST_BUFFER_POOL_CAST(gst_object_ref(pool_.get())));
  }
  return past + pool_allocations(pool.get());
}

void OutputPool::describe(GstStructure* stats) const {
  gst_structure_set(stats, "allocations", G_TYPE_UINT64, guint64{allocations()}, "memory",
                    G_TYPE_STRING, memory_.load(std::memory_order_acquire), "memory-source",
                    G_TYPE_STRING, source_.load(std::memory_order_acquire), nullptr);
}

} // namespace simaai::gst
