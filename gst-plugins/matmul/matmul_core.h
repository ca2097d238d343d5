// SPDX-License-Identifier: LGPL-2.1-or-later
// Ordinary C++ behind simaaimatmul: weights, negotiation, products.
#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "caps_refusals.h"
#include "common/element_stats.h"
#include "common/errors.h"
#include "common/gst_ptr.h"
#include "common/output_pool.h"
#include "matmul_plan.h"

namespace simaai::gst {

/// Property values; protected by the object lock.
struct MatmulSettings {
  std::string weights; ///< name of a .tgmx file
  int multiplier = 0;  ///< 0: not set, the output is int32
  unsigned shift = 0;
  std::optional<std::int8_t> fill;
  bool require_zero_copy = false;
  PoolLimits pool;
};

/// State of one element. Caps queries may come from any thread; all else is the streaming thread's
/// or happens while no data flows.
class MatmulCore {
public:
  explicit MatmulCore(GstBaseTransform* element) noexcept
      : element_(element), refusals_(GST_ELEMENT_CAST(element)),
        outputs_(GST_ELEMENT_CAST(element)) {}

  enum Property : guint {
    PropWeights = 1,
    PropMultiplier,
    PropShift,
    PropChannelPadding,
    PropRequireZeroCopy,
    PropStats,
    PropMinBuffers,
    PropMaxBuffers,
  };
  /// Value of int8-channel-padding that means "not set".
  static constexpr int kPaddingUnset = std::numeric_limits<std::int8_t>::min() - 1;
  /// Both return false for an unknown property.
  [[nodiscard]] bool set_property(guint id, const GValue* value);
  [[nodiscard]] bool get_property(guint id, GValue* value) const;

  /// Reads the weights; posts an error and returns false where that fails.
  [[nodiscard]] bool start();
  void stop();

  [[nodiscard]] GstPtr<GstCaps> transform_caps(GstPadDirection direction, const GstCaps* caps,
                                               GstCaps* filter) const;
  [[nodiscard]] GstPtr<GstCaps> fixate(const GstCaps* sink_caps, GstPtr<GstCaps> offered) const;
  [[nodiscard]] bool set_caps(const GstCaps* sink_caps, const GstCaps* src_caps);
  [[nodiscard]] std::optional<std::size_t>
  other_size(GstPadDirection direction, const GstCaps* caps, const GstCaps* other_caps) const;
  /// Leaves one pool in the query: what downstream proposes, or one of ours.
  [[nodiscard]] bool decide_allocation(GstQuery* query);
  /// Of one buffer; 0 before caps.
  [[nodiscard]] std::uint64_t output_bytes() const noexcept {
    return plan_ ? plan_->output_bytes() : 0;
  }
  /// Once, after the pads are there.
  void watch(GstPad* sink) { refusals_.watch(sink); }
  void begin_attempt() noexcept { refusals_.begin_attempt(); }
  /// After caps were refused before set_caps was reached: posts why.
  void diagnose_refusal(const GstCaps* sink_caps);

  [[nodiscard]] GstFlowReturn transform(GstBuffer* input, GstBuffer* output);
  /// False, with an error posted, where the buffer is shorter than its caps say.
  [[nodiscard]] bool check_input(GstBuffer* buffer);

private:
  /// As in the op elements: until the start, which looks for a source of DMA-BUFs, nothing speaks against them.
  [[nodiscard]] bool makes_dma_bufs() const noexcept {
    return makes_dma_bufs_.load(std::memory_order_acquire);
  }
  [[nodiscard]] MatmulSettings copy_settings() const;
  [[nodiscard]] std::variant<MatmulPlan, PortError> make_plan(const GstCaps* sink_caps,
                                                              const GstCaps* src_caps) const;
  /// Counts what buffers at these addresses need; false, with an error posted, where they must not be
  /// copied.
  [[nodiscard]] bool allow_copies(bool input_split, bool output_split, const std::byte* src,
                                  const std::byte* dst);

  GstBaseTransform* element_;
  CapsRefusals refusals_;
  MatmulSettings settings_;
  /// Object lock for the pointer; its matrix never changes between start and stop.
  std::shared_ptr<const kernels::matrix::DynMatrix> weights_;
  std::optional<MatmulPlan> plan_;
  GstPtr<GstCaps> sink_caps_; ///< of the plan
  GstPtr<GstCaps> src_caps_;
  ElementStats stats_;
  OutputPool outputs_;
  GstPtr<GstAllocator> fd_allocator_; ///< while started
  std::atomic<bool> makes_dma_bufs_{true};
  bool require_zero_copy_ = false; ///< copy of the setting, taken at start
};

} // namespace simaai::gst
