// SPDX-License-Identifier: LGPL-2.1-or-later
// Last-in-first-out buffer pool: GstBufferPool's own queue is first-in-first-out.
#include "gstsimaaitensorpool.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include "caps_spec.h"
#include "errors.h"
#include "port_layout.h"

namespace simaai::gst {
namespace {

/// Places for buffers that are back, and for those that wait for their memory.
constexpr std::size_t kLeastReserved = 64;
constexpr std::size_t kMostReserved = 1024;
/// How often a pool at its limit looks whether their memory is back.
constexpr std::chrono::milliseconds kLookAgain{1};

/// A wait that lasts longer is announced: shorter ones are how a consumer slows its producer down.
constexpr std::chrono::milliseconds kPatience{100};

/// State of one pool. `mutex` protects everything below it and is never held across a call into
/// GStreamer that may take another lock.
struct PoolState {
  std::mutex mutex;
  std::condition_variable returned;
  std::vector<GstBuffer*> free;        ///< owned; the last one is handed out next
  std::vector<GstBuffer*> lent;        ///< owned; somebody else still has memory of theirs
  std::vector<std::uint64_t> memories; ///< bytes of each, where buffers have several
  std::size_t most_lent = 0; ///< beyond, buffers are forgotten: their memory may never come back
  GstPtr<GstAllocator> allocator;
  GstAllocationParams params{};
  guint max_buffers = 0; ///< 0: no limit
  guint min_buffers = 0;
  guint size_bytes = 0;
  guint live = 0; ///< buffers that exist, free or handed out
  bool flushing = true;
  bool wait_announced = false; ///< since a buffer was there without a wait
  std::uint64_t allocations = 0;
  GWeakRef element; ///< of whom waits are announced; has a lock of its own
};

} // namespace
} // namespace simaai::gst

struct GstSimaaiTensorPool {
  GstBufferPool parent;
};
struct GstSimaaiTensorPoolClass {
  GstBufferPoolClass parent;
};
struct GstSimaaiTensorPoolPrivate {
  simaai::gst::PoolState* state;
};

G_DEFINE_TYPE_WITH_PRIVATE(GstSimaaiTensorPool, gst_simaai_tensor_pool, GST_TYPE_BUFFER_POOL)

namespace simaai::gst {
namespace {

PoolState& state_of(GstBufferPool* pool) noexcept {
  auto* self = reinterpret_cast<GstSimaaiTensorPool*>(pool);
  return *static_cast<GstSimaaiTensorPoolPrivate*>(
              gst_simaai_tensor_pool_get_instance_private(self))
              ->state;
}

GstBufferPoolClass* parent_class() noexcept {
  return GST_BUFFER_POOL_CLASS(gst_simaai_tensor_pool_parent_class);
}

/// Bytes of the memories of a buffer with these caps: of a set without offsets one for each tensor, where they add up to
/// the size of the buffer. Empty: one memory.
std::vector<std::uint64_t> memories_of(const GstCaps* caps, std::uint64_t size) {
  if (caps == nullptr || !is_tensor_set(*caps))
    return {};
  const auto parsed = parse_tensors(*caps);
  const auto* set = std::get_if<TensorSet>(&parsed);
  if (set == nullptr)
    return {};
  const auto layout = PortLayout::create(*set);
  const auto* found = std::get_if<PortLayout>(&layout);
  if (found == nullptr || !found->wants_memories() || found->total_bytes() != size)
    return {};
  std::vector<std::uint64_t> memories;
  for (std::size_t i = 0; i < found->count(); ++i)
    memories.push_back(found->needs(i).bytes);
  return memories;
}

/// Whether nobody else has a memory of a buffer that came back. Other buffers and shared parts have a reference too; one that is
/// mapped need not.
bool is_alone(GstBuffer* buffer) noexcept {
  const guint count = gst_buffer_n_memory(buffer);
  for (guint i = 0; i < count; ++i) {
    GstMiniObject* const memory = GST_MINI_OBJECT_CAST(gst_buffer_peek_memory(buffer, i));
    if (GST_MINI_OBJECT_REFCOUNT_VALUE(memory) != 1 ||
        (g_atomic_int_get(&memory->lockstate) & GST_LOCK_FLAG_READWRITE) != 0)
      return false;
  }
  return true;
}

/// A buffer with a memory for each tensor; null where one cannot be allocated.
GstPtr<GstBuffer> new_set(const PoolState& state) {
  GstPtr<GstBuffer> buffer(gst_buffer_new());
  for (const std::uint64_t bytes : state.memories) {
    GstAllocationParams params = state.params;
    GstMemory* memory = bytes != 0 ? gst_allocator_alloc(state.allocator.get(), bytes, &params)
                                   : new_empty_memory();
    if (memory == nullptr)
      return nullptr;
    gst_buffer_append_memory(buffer.get(), memory);
  }
  return buffer;
}

gboolean set_config(GstBufferPool* pool, GstStructure* config) noexcept {
  guint size = 0;
  guint min = 0;
  guint max = 0;
  if (!gst_buffer_pool_config_get_params(config, nullptr, &size, &min, &max))
    return FALSE;
  if (!parent_class()->set_config(pool, config))
    return FALSE;
  GstCaps* caps = nullptr;
  gst_buffer_pool_config_get_params(config, &caps, nullptr, nullptr, nullptr);
  std::vector<std::uint64_t> memories = memories_of(caps, size);
  GstAllocator* allocator = nullptr;
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  gst_buffer_pool_config_get_allocator(config, &allocator, &params);
  PoolState& state = state_of(pool);
  const std::lock_guard lock(state.mutex);
  state.memories = std::move(memories);
  state.allocator.reset(allocator != nullptr ? GST_ALLOCATOR_CAST(gst_object_ref(allocator))
                                             : nullptr);
  state.params = params;
  state.size_bytes = size;
  state.min_buffers = min;
  state.max_buffers = max;
  // All the room that handing back can need is taken now, where a limit is known and not absurd.
  state.most_lent = std::clamp<std::size_t>(max, kLeastReserved, kMostReserved);
  state.free.reserve(state.most_lent);
  state.lent.reserve(state.most_lent);
  return TRUE;
}

GstFlowReturn allocate(GstBufferPool* pool, GstBuffer** buffer) noexcept {
  PoolState& state = state_of(pool);
  GstFlowReturn flow = GST_FLOW_OK;
  if (state.memories.empty()) { // set by the configuration, which an active pool keeps
    flow = parent_class()->alloc_buffer(pool, buffer, nullptr);
  } else {
    *buffer = new_set(state).release();
    flow = *buffer != nullptr ? GST_FLOW_OK : GST_FLOW_ERROR;
  }
  if (flow == GST_FLOW_OK)
    GST_BUFFER_FLAGS(*buffer) &= ~static_cast<guint>(GST_BUFFER_FLAG_TAG_MEMORY);
  const std::lock_guard lock(state.mutex);
  if (flow == GST_FLOW_OK)
    ++state.allocations;
  else
    --state.live;
  return flow;
}

gboolean start(GstBufferPool* pool) noexcept {
  PoolState& state = state_of(pool);
  guint wanted = 0;
  {
    const std::lock_guard lock(state.mutex);
    state.flushing = false;
    wanted = state.min_buffers;
  }
  for (guint made = 0; made < wanted; ++made) {
    GstBuffer* buffer = nullptr;
    {
      const std::lock_guard lock(state.mutex);
      ++state.live;
    }
    if (allocate(pool, &buffer) != GST_FLOW_OK)
      return FALSE;
    const std::lock_guard lock(state.mutex);
    state.free.push_back(buffer);
  }
  return TRUE;
}

/// Called with all buffers back (GstBufferPool waits for the last one).
gboolean stop(GstBufferPool* pool) noexcept {
  PoolState& state = state_of(pool);
  const std::lock_guard lock(state.mutex);
  for (std::vector<GstBuffer*>* kept : {&state.free, &state.lent}) {
    for (GstBuffer* buffer : *kept)
      gst_buffer_unref(buffer);
    state.live -= static_cast<guint>(kept->size());
    kept->clear();
  }
  return TRUE;
}

/// What acquire does next: a buffer, permission to allocate one, or a reason to give up.
enum class Turn { Reuse, Allocate, Flushing, Empty };

/// Takes back a buffer whose memory nobody else has any more.
GstBuffer* take_lent(PoolState& state) noexcept {
  for (std::size_t i = state.lent.size(); i > 0; --i) {
    GstBuffer* const buffer = state.lent[i - 1];
    if (!is_alone(buffer))
      continue;
    state.lent.erase(state.lent.begin() + static_cast<std::ptrdiff_t>(i) - 1);
    return buffer;
  }
  return nullptr;
}

/// What can be done now; nothing where only waiting helps.
std::optional<Turn> next_turn(PoolState& state, GstBuffer** buffer) noexcept {
  if (state.flushing)
    return Turn::Flushing;
  if (!state.free.empty()) {
    *buffer = state.free.back();
    state.free.pop_back();
    return Turn::Reuse;
  }
  *buffer = take_lent(state);
  if (*buffer != nullptr)
    return Turn::Reuse;
  if (state.max_buffers != 0 && state.live >= state.max_buffers)
    return std::nullopt;
  ++state.live;
  return Turn::Allocate;
}

/// Says once that a consumer keeps everything. Called without the lock.
void announce_wait(PoolState& state, guint buffers) noexcept {
  auto* element = static_cast<GstElement*>(g_weak_ref_get(&state.element));
  if (element == nullptr)
    return;
  post_notice(element,
              gst_structure_new("simaai-pool-wait", "buffers", G_TYPE_UINT, buffers, nullptr));
  gst_object_unref(element);
}

Turn take_turn(PoolState& state, bool may_wait, GstBuffer** buffer) noexcept {
  const auto begun = std::chrono::steady_clock::now();
  std::unique_lock lock(state.mutex);
  if (const auto turn = next_turn(state, buffer)) {
    state.wait_announced = false;
    return *turn;
  }
  if (!may_wait)
    return Turn::Empty;
  while (true) {
    // Nobody tells when memory that was lent is let go.
    if (!state.lent.empty())
      state.returned.wait_for(lock, kLookAgain);
    else if (!state.wait_announced)
      state.returned.wait_for(lock, kPatience);
    else
      state.returned.wait(lock);
    if (const auto turn = next_turn(state, buffer))
      return *turn;
    if (state.wait_announced || std::chrono::steady_clock::now() - begun < kPatience)
      continue;
    state.wait_announced = true;
    const guint buffers = state.max_buffers;
    lock.unlock();
    announce_wait(state, buffers);
    lock.lock();
    if (const auto turn = next_turn(state, buffer)) // it came meanwhile
      return *turn;
  }
}

GstFlowReturn acquire(GstBufferPool* pool, GstBuffer** buffer,
                      GstBufferPoolAcquireParams* params) noexcept {
  const bool may_wait =
      params == nullptr || (params->flags & GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT) == 0;
  switch (take_turn(state_of(pool), may_wait, buffer)) {
  case Turn::Reuse:
    return GST_FLOW_OK;
  case Turn::Allocate:
    return allocate(pool, buffer);
  case Turn::Flushing:
    return GST_FLOW_FLUSHING;
  case Turn::Empty:
    return GST_FLOW_EOS; // what GstBufferPool documents for DONTWAIT
  }
  return GST_FLOW_ERROR;
}

void release(GstBufferPool* pool, GstBuffer* buffer) noexcept {
  PoolState& state = state_of(pool);
  // A buffer whose memory was replaced or resized cannot be handed out again.
  const bool intact = !GST_BUFFER_FLAG_IS_SET(buffer, GST_BUFFER_FLAG_TAG_MEMORY) &&
                      gst_buffer_get_size(buffer) == state.size_bytes;
  const bool is_whole = intact && is_alone(buffer);
  bool kept = is_whole;
  {
    const std::lock_guard lock(state.mutex);
    if (is_whole) {
      state.free.push_back(buffer);
    } else if (intact && state.lent.size() < state.most_lent) {
      state.lent.push_back(buffer);
      kept = true;
    } else {
      --state.live;
    }
  }
  state.returned.notify_one();
  if (!kept)
    gst_buffer_unref(buffer);
}

void set_flushing(GstBufferPool* pool, bool flushing) noexcept {
  PoolState& state = state_of(pool);
  {
    const std::lock_guard lock(state.mutex);
    state.flushing = flushing;
  }
  state.returned.notify_all();
}

void flush_start(GstBufferPool* pool) noexcept { set_flushing(pool, true); }
void flush_stop(GstBufferPool* pool) noexcept { set_flushing(pool, false); }

void finalize(GObject* object) noexcept {
  auto* pool = reinterpret_cast<GstBufferPool*>(object);
  PoolState* state = &state_of(pool);
  // The parent deactivates the pool, which still needs the state.
  G_OBJECT_CLASS(gst_simaai_tensor_pool_parent_class)->finalize(object);
  g_weak_ref_clear(&state->element);
  delete state;
}

} // namespace

GstMemory* new_empty_memory() noexcept {
  static char nothing;
  return gst_memory_new_wrapped(static_cast<GstMemoryFlags>(0), &nothing, 0, 0, 0, nullptr,
                                nullptr);
}

GstAllocationParams aligned_params() noexcept {
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  params.align = kAlignMask;
  return params;
}

GstPtr<GstBufferPool> new_tensor_pool() {
  auto* pool = static_cast<GstBufferPool*>(g_object_new(GST_TYPE_SIMAAI_TENSOR_POOL, nullptr));
  gst_object_ref_sink(pool);
  return GstPtr<GstBufferPool>(pool);
}

bool is_tensor_pool(GstBufferPool* pool) noexcept {
  return pool != nullptr && G_TYPE_CHECK_INSTANCE_TYPE(pool, GST_TYPE_SIMAAI_TENSOR_POOL);
}

std::uint64_t pool_allocations(GstBufferPool* pool) noexcept {
  if (!is_tensor_pool(pool))
    return 0;
  PoolState& state = state_of(pool);
  const std::lock_guard lock(state.mutex);
  return state.allocations;
}

void announce_waits(GstBufferPool* pool, GstElement* element) noexcept {
  if (is_tensor_pool(pool))
    g_weak_ref_set(&state_of(pool).element, element);
}

bool configure_pool(GstBufferPool* pool, GstCaps* caps, guint size, guint min_buffers,
                    guint max_buffers, GstAllocator* allocator) {
  const GstAllocationParams params = aligned_params();
  GstStructure* config = gst_buffer_pool_get_config(pool);
  gst_buffer_pool_config_set_params(config, caps, size, min_buffers, max_buffers);
  gst_buffer_pool_config_set_allocator(config, allocator, &params);
  return gst_buffer_pool_set_config(pool, config) != FALSE;
}

} // namespace simaai::gst

static void gst_simaai_tensor_pool_init(GstSimaaiTensorPool* pool) {
  auto* priv =
      static_cast<GstSimaaiTensorPoolPrivate*>(gst_simaai_tensor_pool_get_instance_private(pool));
  priv->state = new simaai::gst::PoolState();
  g_weak_ref_init(&priv->state->element, nullptr);
}

static void gst_simaai_tensor_pool_class_init(GstSimaaiTensorPoolClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = simaai::gst::finalize;
  auto* pool_class = GST_BUFFER_POOL_CLASS(klass);
  pool_class->set_config = simaai::gst::set_config;
  pool_class->start = simaai::gst::start;
  pool_class->stop = simaai::gst::stop;
  pool_class->acquire_buffer = simaai::gst::acquire;
  pool_class->release_buffer = simaai::gst::release;
  pool_class->flush_start = simaai::gst::flush_start;
  pool_class->flush_stop = simaai::gst::flush_stop;
}
