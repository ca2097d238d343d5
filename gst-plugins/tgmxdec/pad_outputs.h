// SPDX-License-Identifier: LGPL-2.1-or-later
// Pooled outputs of an element that has no base class to negotiate a pool.
#pragma once

#include <cstdint>

#include <gst/gst.h>

#include "common/gst_ptr.h"
#include "common/output_pool.h"

namespace simaai::gst {

/// Bound to the streaming thread, except where a member says otherwise.
class PadOutputs {
public:
  explicit PadOutputs(GstElement* element) noexcept : element_(element), account_(element) {}

  /// Before the pads start.
  void start(const PoolLimits& limits);
  /// After the pads have stopped.
  void stop();
  /// Ends the wait for a buffer, and those that follow; or allows to wait again. Any thread.
  void set_flushing(bool flushing);

  /// Asks the peer of `src`: its pool or one of ours, for buffers of at least `bytes`. False where that fails.
  [[nodiscard]] bool negotiate(GstPad* src, GstCaps* caps, std::uint64_t bytes);
  /// A buffer of a pool with at most the bytes that were negotiated; null with GST_FLOW_OK: out of memory.
  [[nodiscard]] GstFlowReturn acquire(GstPtr<GstBuffer>& into);

  /// Any thread, without the object lock.
  void describe(GstStructure* stats) const { account_.describe(stats); }

private:
  void keep(GstPtr<GstBufferPool> pool);

  GstElement* element_;
  OutputPool account_;
  PoolLimits limits_;
  std::uint64_t bytes_ = 0;
  GstPtr<GstBufferPool> pool_; ///< active; changes under the object lock
  bool flushing_ = false;      ///< object lock
};

} // namespace simaai::gst
