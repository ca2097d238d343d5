// SPDX-License-Identifier: LGPL-2.1-or-later
// The pool that the outputs of an element come from: its limits, what it allocated, which memory that is.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>

#include <gst/gst.h>

#include "export.h"
#include "gst_ptr.h"

namespace simaai::gst {

/// Values of the properties min-buffers and max-buffers.
struct PoolLimits {
  guint min_buffers = 0; ///< allocated at once
  guint max_buffers = 0; ///< 0: no limit

  /// Why no element can start with these values; empty where one can.
  [[nodiscard]] SIMAAI_GST_API std::string problem() const;
  /// Narrows what elements agreed upon.
  SIMAAI_GST_API void apply(guint& min, guint& max) const noexcept;
};

/// Installs min-buffers and max-buffers.
SIMAAI_GST_API void install_pool_limits(GObjectClass* klass, guint min_id, guint max_id);

/// Reading is for any thread, the rest for the streaming thread or while no data flows.
class SIMAAI_GST_API OutputPool {
public:
  explicit OutputPool(GstElement* element) noexcept : element_(element) {}

  /// Before the first data.
  void start();
  /// After the last data; what was allocated stays known.
  void stop();
  /// The pool that a decided ALLOCATION query settles on. Its waits are announced by the element from now on.
  void remember(GstQuery* query);
  /// What outputs will be, before there is a pool.
  void expect(GstAllocator* allocator) noexcept;

  /// Buffers allocated since start(); those of pools of other types are not known.
  [[nodiscard]] std::uint64_t allocations() const;
  /// Adds allocations, memory and memory-source.
  void describe(GstStructure* stats) const;

private:
  GstElement* element_;
  GstPtr<GstBufferPool> pool_; ///< object lock
  std::uint64_t past_ = 0;     ///< object lock: allocations of pools that were replaced
  std::atomic<const char*> memory_{"system"};
  std::atomic<const char*> source_{"system"};
};

} // namespace simaai::gst
