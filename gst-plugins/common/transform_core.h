// SPDX-License-Identifier: LGPL-2.1-or-later
// Ordinary C++ behind GstSimaaiTensorTransform: settings, negotiated plans, buffers, statistics.
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <gst/base/gstbasetransform.h>
#include <gst/gst.h>

#include "async_output.h"
#include "buffer_binding.h"
#include "caps_spec.h"
#include "device_backend.h"
#include "element_settings.h"
#include "element_stats.h"
#include "errors.h"
#include "gst_ptr.h"
#include "job_observer.h"
#include "job_statistics.h"
#include "op_adapter.h"
#include "output_pool.h"
#include "port_layout.h"

namespace simaai::gst {

/// State of one op element. Bound to the streaming thread, except where a member says otherwise;
/// settings are protected by the object lock, counters are atomics with one writer.
///
/// With jobs in flight the task of the source pad lands them: it reads what set_caps() and start() settled, which change only
/// while nothing is in flight.
class TransformCore final : private AsyncOutput::Owner {
public:
  TransformCore(GstBaseTransform* element, const OpTraits& traits, AdapterFactory factory,
                PlanFactory device_plan) noexcept
      : element_(element), traits_(traits), adapter_(factory()), device_plan_(device_plan),
        outputs_(GST_ELEMENT_CAST(element)), flights_(GST_BASE_TRANSFORM_SRC_PAD(element), *this) {}

  [[nodiscard]] const OpTraits& traits() const noexcept { return traits_; }

  // Properties; any thread.
  [[nodiscard]] bool set_property(guint id, const GValue* value);
  [[nodiscard]] bool get_property(guint id, GValue* value) const;

  // State changes; the application's thread while no data flows.
  /// Checks the settings; posts an error and returns false where the element cannot start.
  [[nodiscard]] bool check_settings();
  /// From NULL to READY: posts an error and returns false while jobs of its device are overdue.
  [[nodiscard]] bool check_device();
  [[nodiscard]] bool start();
  /// While set, nobody waits for a job: buffers end with GST_FLOW_FLUSHING. Any thread.
  void cancel_jobs(bool cancelled);
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

  /// Whether caps of the source pad may promise DMA-BUFs: until the start, which looks for a source of them, nothing
  /// speaks against it. Any thread.
  [[nodiscard]] bool makes_dma_bufs() const noexcept {
    return makes_dma_bufs_.load(std::memory_order_acquire);
  }

  /// Between set_caps() and stop(). Any thread.
  [[nodiscard]] bool is_negotiated() const noexcept {
    return tensor_count_.load(std::memory_order_acquire) != 0;
  }

  // Allocation.
  void propose_allocation(GstQuery* query);
  /// Before caps: the kind of memory alone. Any thread, started or not.
  void propose_memory(GstQuery* query);
  void decide_allocation(GstQuery* query);
  void remember_pool(GstQuery* query) { outputs_.remember(query); }

  // Data.
  /// False, with an error posted, where the buffer is shorter than its caps say.
  [[nodiscard]] bool check_input(GstBuffer* buffer);
  /// An output of the pool. An error was posted where there is no memory for one.
  [[nodiscard]] GstFlowReturn prepare_output(GstBaseTransformClass* base, GstBuffer* input,
                                             GstBuffer** output);
  [[nodiscard]] GstFlowReturn transform(GstBuffer* input, GstBuffer* output);

  // Jobs in flight: transform_async_core.cpp.
  /// True where buffers are added to flights() instead of being transformed.
  [[nodiscard]] bool is_asynchronous() const noexcept;
  [[nodiscard]] AsyncOutput& flights() noexcept { return flights_; }
  /// Submits a job and returns without its output, which the task will push.
  [[nodiscard]] GstFlowReturn take_off(GstPtr<GstBuffer> input);
  /// The base class dropped a buffer: the next output does not follow the last one.
  void note_gap() noexcept { gap_ = true; }
  /// Before an event that goes downstream in order. True where the event was queued; the caller pushes it otherwise.
  [[nodiscard]] bool queue_event(GstEvent* event);
  /// Adds what buffers take to the answer of upstream. Any thread.
  void add_latency(GstQuery* query) const;

private:
  /// What set_caps settled.
  struct Ports {
    TensorSet input;
    TensorSet output;
    PortLayout input_layout;
    PortLayout output_layout;
  };

  [[nodiscard]] ElementSettings settings() const;
  [[nodiscard]] GstElement* element() const noexcept { return GST_ELEMENT_CAST(element_); }
  [[nodiscard]] const char* backend_name() const noexcept;
  [[nodiscard]] std::string refuse_caps(GstCaps* sink_caps, GstCaps* src_caps, Ports& ports);
  [[nodiscard]] std::string refuse_tensor(std::size_t slot, const Ports& ports, PortNeeds& needs);
  void report_caps(std::string reason, const GstCaps* sink_caps, const GstCaps* src_caps);
  void report_overrides(const ElementSettings& now, const TensorSet& output,
                        const GstCaps* src_caps);
  void report_data(std::string reason, std::optional<std::uint64_t> needed,
                   std::optional<std::uint64_t> found);
  [[nodiscard]] std::byte* stage(StagingBlock& block, const char* port, BindResult why,
                                 std::uint64_t bytes);
  [[nodiscard]] GstFlowReturn run(std::size_t slot, PortBinding& src, PortBinding& dst,
                                  GstBuffer* input, GstBuffer* output);
  /// For messages: caps and backend.
  [[nodiscard]] Report context() const;
  [[nodiscard]] bool allow_copy(const char* port, const char* why, std::uint64_t bytes);
  // On a device: transform_device_core.cpp.
  [[nodiscard]] bool choose_backend();
  /// Whether outputs have to be memory with a descriptor.
  [[nodiscard]] bool needs_fd_output() const noexcept { return device_ || dma_buf_output_; }
  [[nodiscard]] GstAllocator* output_allocator(GstAllocator* offered) const noexcept;
  [[nodiscard]] std::string prepare_on_device(std::size_t slot, const kernels::TensorSpec& input,
                                              const kernels::TensorSpec& output,
                                              const OpParams& params);
  void fall_back_to_a65(const std::string& reason);
  void post_backend(const std::string& reason);
  using StagedMemories = std::vector<GstPtr<GstMemory>>;
  /// Submits a job for each tensor of the flight's buffers. Not GST_FLOW_OK: an error was posted, or nobody waits any more.
  [[nodiscard]] GstFlowReturn launch(GstBuffer* input, GstBuffer* output, runtime::AfterSubmit next,
                                     Flight& flight);
  [[nodiscard]] GstFlowReturn launch_tensor(std::size_t slot, runtime::AfterSubmit next,
                                            Flight& flight);
  [[nodiscard]] GstFlowReturn submit(std::size_t slot, const FdRange& source,
                                     const FdRange& destination, runtime::AfterSubmit next,
                                     Flight& flight);
  [[nodiscard]] GstFlowReturn settle(Flight& flight) noexcept;
  GstFlowReturn land(Flight& flight) noexcept override;
  [[nodiscard]] bool unstage(std::size_t slot, Flight& flight) noexcept;
  [[nodiscard]] GstFlowReturn run_on_device(GstBuffer* input, GstBuffer* output);
  [[nodiscard]] GstMemory* stage_memory(StagedMemories& kept, const char* port, FdResult why,
                                        std::uint64_t bytes);
  [[nodiscard]] std::optional<FdRange> stage_port(StagedMemories& kept, const char* port,
                                                  GstBuffer* buffer, FdResult why,
                                                  const PortLayout& layout, std::size_t slot,
                                                  bool writes);
  void remember_frame_time(const GstCaps& src_caps);
  void announce_latency(std::uint64_t taken_ns);
  [[nodiscard]] bool fit_output(GstBuffer* output);
  /// Counts an output that is filled, and says what is in it where downstream asked.
  void finish(std::uint64_t begun_ns, const runtime::JobTimes& times, GstBuffer* output);
  void tell_observer(const runtime::JobTimes& times, GstBuffer* output, std::uint64_t held_ns = 0);
  void tell_observer(Flight& flight, const runtime::JobTimes& all);
  void report_job(std::size_t slot, const runtime::Error& error);
  [[nodiscard]] GstStructure* stats() const;

  GstBaseTransform* element_;
  const OpTraits& traits_;
  ElementSettings settings_; ///< object lock
  /// Never null: admission is the same on every backend, so queries need no running element.
  std::unique_ptr<OpAdapter> adapter_;
  PlanFactory device_plan_;
  std::unique_ptr<DeviceBackend> device_;    ///< null: A65; changes while no data flows
  GstPtr<GstAllocator> fd_allocator_;        ///< while started
  bool dma_buf_output_ = false;              ///< the source caps promise DMA-BUFs
  std::chrono::milliseconds job_timeout_{0}; ///< copy of the setting, taken at start
  guint async_depth_ = 1;                    ///< copy of the setting, taken at start
  /// For each tensor, fd-backed, reused unless a job still holds them.
  std::array<StagedMemories, kMaxTensors> staged_sources_;
  std::array<StagedMemories, kMaxTensors> staged_destinations_;
  BackendChoice requested_ = BackendChoice::Auto; ///< copy of the setting, taken at start
  bool require_zero_copy_ = false;                ///< copy of the setting, taken at set_caps
  bool reported_ = false;                         ///< an error about the caps at hand was posted
  bool gap_ = false;                              ///< the next output gets DISCONT
  bool tensor_meta_wanted_ = false;               ///< by downstream
  std::atomic<bool> cancelled_{false};
  std::atomic<std::uint64_t> held_ns_{
      0}; ///< of stream that jobs in flight hold at most; 0: not known
  std::atomic<std::uint64_t> latency_ns_{0}; ///< that downstream was told of

  Ports ports_;
  std::atomic<std::size_t> tensor_count_ = 0; ///< prepared slots; 0: not negotiated
  std::uint64_t input_bytes_ = 0;             ///< of all tensors
  std::uint64_t output_bytes_ = 0;
  GstPtr<GstCaps> sink_caps_;
  GstPtr<GstCaps> src_caps_;

  GstPtr<GstCaps> refused_sink_caps_;
  GstPtr<GstCaps> refused_src_caps_;

  StagingBlock staged_input_;
  StagingBlock staged_output_;

  runtime::Device waking_; ///< object lock: the device, for cancel_jobs()

  OutputPool outputs_;

  const JobObserver* observer_ = nullptr; ///< of the process, taken at start
  const char* observed_device_ = nullptr; ///< interned: where jobs run
  std::atomic<const char*> active_backend_{nullptr};
  std::atomic<bool> makes_dma_bufs_{true};
  ElementStats stats_;
  JobStatistics jobs_;

  AsyncOutput flights_; ///< after what its jobs use
};

} // namespace simaai::gst
