// SPDX-License-Identifier: LGPL-2.1-or-later
// Ordinary C++ behind GstSimaaiTensorTransform: settings, negotiated plans, buffers, statistics.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "buffer_binding.h"
#include "caps_spec.h"
#include "element_settings.h"
#include "errors.h"
#include "gst_ptr.h"
#include "latency_histogram.h"
#include "op_adapter.h"

namespace simaai::gst {

/// State of one op element. Bound to the streaming thread, except where a member says otherwise;
/// settings are protected by the object lock, counters are atomics with one writer.
class TransformCore {
public:
  TransformCore(GstBaseTransform* element, const OpTraits& traits, AdapterFactory factory) noexcept
      : element_(element), traits_(traits), adapter_(factory()) {}

  [[nodiscard]] const OpTraits& traits() const noexcept { return traits_; }

  // Properties; any thread.
  [[nodiscard]] bool set_property(guint id, const GValue* value);
  [[nodiscard]] bool get_property(guint id, GValue* value) const;

  // State changes; the application's thread while no data flows.
  /// Checks the settings; posts an error and returns false where the element cannot start.
  [[nodiscard]] bool check_settings();
  [[nodiscard]] bool start();
  void stop();

  // Negotiation.
  [[nodiscard]] GstPtr<GstCaps> fixate(const GstCaps* sink_caps, GstPtr<GstCaps> offered) const;
  [[nodiscard]] bool set_caps(GstCaps* sink_caps, GstCaps* src_caps);
  /// Bytes of the other pad's buffer; nothing where the op does not admit these caps. Any thread.
  [[nodiscard]] std::optional<std::size_t> other_size(GstPadDirection direction, GstCaps* caps,
                                                      GstCaps* other_caps) const;
  /// Before caps are offered to us: forgets whether an error was posted.
  void begin_attempt() noexcept { reported_ = false; }
  /// After caps were refused: posts why, unless set_caps already did.
  void diagnose_refusal(GstCaps* sink_caps);
  /// Caps that do not even fit the template of the sink pad are refused before the element sees
  /// them: posts why.
  void diagnose_template(GstCaps* sink_caps);

  // Allocation.
  void propose_allocation(GstQuery* query);
  void decide_allocation(GstQuery* query);
  void remember_pool(GstQuery* query);

  // Data.
  /// False, with an error posted, where the buffer is shorter than its caps say.
  [[nodiscard]] bool check_input(GstBuffer* buffer);
  [[nodiscard]] GstFlowReturn transform(GstBuffer* input, GstBuffer* output);

private:
  /// What set_caps settled for one tensor.
  struct Ports {
    TensorInfo input;
    TensorInfo output;
    PortNeeds needs;
  };

  [[nodiscard]] ElementSettings settings() const;
  [[nodiscard]] GstElement* element() const noexcept { return GST_ELEMENT_CAST(element_); }
  [[nodiscard]] const char* backend_name() const noexcept;
  [[nodiscard]] std::string refuse_caps(GstCaps* sink_caps, GstCaps* src_caps, Ports& ports);
  void report_caps(std::string reason, const GstCaps* sink_caps, const GstCaps* src_caps);
  void report_overrides(const ElementSettings& now, const TensorInfo& output,
                        const GstCaps* src_caps);
  void report_data(std::string reason, std::optional<std::uint64_t> needed,
                   std::optional<std::uint64_t> found);
  [[nodiscard]] std::byte* stage(StagingBlock& block, const char* port, BindResult why,
                                 std::uint64_t bytes);
  [[nodiscard]] GstFlowReturn run(std::size_t slot, GstBuffer* input, GstBuffer* output);
  [[nodiscard]] GstStructure* stats() const;

  GstBaseTransform* element_;
  const OpTraits& traits_;
  ElementSettings settings_; ///< object lock
  /// Never null: admission is the same on every backend, so queries need no running element.
  std::unique_ptr<OpAdapter> adapter_;
  bool require_zero_copy_ = false; ///< copy of the setting, taken at set_caps

  std::array<Ports, kMaxTensors> ports_;
  std::size_t tensor_count_ = 0; ///< prepared slots; 0: not negotiated
  GstPtr<GstCaps> sink_caps_;
  GstPtr<GstCaps> src_caps_;

  bool reported_ = false; ///< an error about the caps at hand was posted
  GstPtr<GstCaps> refused_sink_caps_;
  GstPtr<GstCaps> refused_src_caps_;
  bool copy_announced_ = false;

  StagingBlock staged_input_;
  StagingBlock staged_output_;

  GstPtr<GstBufferPool> pool_; ///< object lock: the pool that outputs come from

  std::atomic<const char*> active_backend_{nullptr};
  std::atomic<std::uint64_t> frames_{0};
  std::atomic<std::uint64_t> bytes_in_{0};
  std::atomic<std::uint64_t> bytes_out_{0};
  std::atomic<std::uint64_t> copies_{0};
  std::atomic<std::uint64_t> staging_allocations_{0};
  std::uint64_t past_pool_allocations_ = 0; ///< object lock: of pools that were replaced
  LatencyHistogram processing_;
};

} // namespace simaai::gst
