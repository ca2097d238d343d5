// SPDX-License-Identifier: LGPL-2.1-or-later
// The part of TransformCore that deals with devices: choice at start, packets, jobs, fd-backed staging.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "transform_core.h"

namespace simaai::gst {
namespace {

/// How often a submission is repeated while the device is full.
constexpr std::chrono::milliseconds kRetry{1};

std::uint64_t now_ns() noexcept {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

/// From the first hand-over to the last retirement of the jobs of a buffer.
void widen(runtime::JobTimes& all, const runtime::JobTimes& one) noexcept {
  if (one.retired_ns == 0)
    return; // there was nothing to do
  if (all.retired_ns == 0) {
    all = one;
    return;
  }
  all.submitted_ns = std::min(all.submitted_ns, one.submitted_ns);
  all.started_ns = std::min(all.started_ns, one.started_ns);
  all.done_ns = std::max(all.done_ns, one.done_ns);
  all.retired_ns = std::max(all.retired_ns, one.retired_ns);
}

const char* choice_name(BackendChoice choice) noexcept {
  switch (choice) {
  case BackendChoice::Auto:
    return "auto";
  case BackendChoice::A65:
    return "a65";
  case BackendChoice::Ev74:
    return "ev74";
  }
  return "unknown";
}

} // namespace

bool TransformCore::check_device() {
  const ElementSettings now = settings();
  if (now.backend == BackendChoice::A65 ||
      !may_use_device(now.backend == BackendChoice::Ev74, now.device))
    return true;
  Report report;
  report.reason = overdue_problem(now.device);
  if (report.reason.empty())
    return true;
  post_error(element(), ErrorKind::Resource, report);
  return false;
}

void TransformCore::post_backend(const std::string& reason) {
  const char* active = device_ ? "ev74" : adapter_->backend_name();
  active_backend_.store(active, std::memory_order_release);
  observed_device_ = g_intern_string(device_ ? device_->uri().c_str() : active);
  outputs_.expect(device_ ? fd_allocator_.get() : nullptr);
  GstStructure* notice =
      gst_structure_new("simaai-backend", "requested", G_TYPE_STRING, choice_name(requested_),
                        "active", G_TYPE_STRING, active, nullptr);
  if (device_)
    gst_structure_set(notice, "device", G_TYPE_STRING, device_->uri().c_str(), nullptr);
  if (!reason.empty())
    gst_structure_set(notice, "reason", G_TYPE_STRING, reason.c_str(), nullptr);
  post_notice(element(), notice);
}

bool TransformCore::choose_backend() {
  const ElementSettings now = settings();
  requested_ = now.backend;
  job_timeout_ = std::chrono::milliseconds(now.job_timeout_ms);
  async_depth_ = now.async_depth;
  BackendSelection chosen;
  if (now.backend != BackendChoice::A65)
    chosen = select_backend(now.backend == BackendChoice::Ev74, now.device, traits_.operation,
                            device_plan_);
  if (!chosen.error.empty()) {
    Report report;
    report.reason = std::move(chosen.error);
    report.backend = "ev74";
    post_error(element(), ErrorKind::Resource, report);
    return false;
  }
  device_ = std::move(chosen.device);
  cancelled_ = false;
  {
    const ObjectLock lock(element_);
    waking_ = device_ ? device_->device() : runtime::Device();
  }
  post_backend(chosen.reason);
  return true;
}

void TransformCore::cancel_jobs(bool cancelled) {
  cancelled_ = cancelled;
  runtime::Device device;
  {
    const ObjectLock lock(element_);
    device = waking_;
  }
  if (cancelled && device)
    device.wake();
}

/// Only `auto` may do so: what it chose at start does not take these caps.
void TransformCore::fall_back_to_a65(const std::string& reason) {
  device_.reset();
  latency_ns_ = 0;
  post_backend(reason);
}

std::string TransformCore::prepare_on_device(std::size_t slot, const kernels::TensorSpec& input,
                                             const kernels::TensorSpec& output,
                                             const OpParams& params) {
  std::string refused = device_->prepare(slot, input, output, params);
  if (refused.empty() || requested_ != BackendChoice::Auto)
    return refused;
  fall_back_to_a65(refused);
  return {};
}

GstAllocator* TransformCore::output_allocator(GstAllocator* offered) const noexcept {
  return !needs_fd_output() || is_fd_allocator(offered) ? offered : fd_allocator_.get();
}

/// A memory of `kept` with at least `bytes` that nobody else uses; null, with an error posted, where none may be made.
GstMemory* TransformCore::stage_memory(StagedMemories& kept, const char* port, FdResult why,
                                       std::uint64_t bytes) {
  if (!allow_copy(port, fd_result_text(why), bytes))
    return nullptr;
  // A job that is not retired holds a reference: its memory is left to it, and given up where there are enough of them.
  std::erase_if(kept, [bytes](const GstPtr<GstMemory>& memory) { return memory->size < bytes; });
  for (const GstPtr<GstMemory>& memory : kept)
    if (GST_MINI_OBJECT_REFCOUNT_VALUE(memory.get()) == 1)
      return memory.get();
  if (kept.size() > async_depth_)
    kept.erase(kept.begin());
  GstAllocationParams params;
  gst_allocation_params_init(&params);
  GstPtr<GstMemory> made(gst_allocator_alloc(fd_allocator_.get(), bytes, &params));
  stats_.count_allocation();
  if (!made) {
    report_data("out of memory for the device: " + take_allocation_failure(), bytes, std::nullopt);
    return nullptr;
  }
  kept.push_back(std::move(made));
  return kept.back().get();
}

/// A copy of a tensor's bytes in memory for the device: of an output too, whose gaps keep what the buffer holds.
std::optional<FdRange> TransformCore::stage_port(StagedMemories& kept, const char* port,
                                                 GstBuffer* buffer, FdResult why,
                                                 const PortLayout& layout, std::size_t slot,
                                                 bool writes) {
  const auto& needs = layout.needs(slot);
  GstMemory* const memory = stage_memory(kept, port, why, needs.bytes);
  if (memory == nullptr)
    return std::nullopt;
  bool copied = false;
  {
    const MapGuard map(memory, GST_MAP_WRITE);
    copied = map && gather(buffer, layout.position(buffer, slot),
                           reinterpret_cast<std::byte*>(map.data()), needs.bytes);
  }
  const auto range = fd_range(memory, 0, memory->size, needs.alignment, writes);
  const auto* found = std::get_if<FdRange>(&range);
  if (copied && found != nullptr)
    return *found;
  report_data(std::string("the ") + port + " buffer cannot be copied for the device", needs.bytes,
              std::nullopt);
  return std::nullopt;
}

void TransformCore::report_job(std::size_t slot, const runtime::Error& error) {
  Report report;
  report.reason = tensor_prefix(ports_.input, slot) + error.message() + " (device " +
                  device_->uri() + ")\n  packet:\n" + device_->packet_text(slot);
  report.sink_caps = sink_caps_.get();
  report.src_caps = src_caps_.get();
  report.backend = backend_name();
  post_error(element(), ErrorKind::Resource, report);
}

/// Waits for the oldest job that was not waited for and gives it back: as long as somebody has it, it is one of those that
/// a device can have. An error is posted where it failed.
GstFlowReturn TransformCore::settle(Flight& flight) noexcept {
  runtime::Job job = std::move(flight.leg(flight.settled).job);
  const runtime::Status status = job.wait_in_turn(job_timeout_, &cancelled_);
  if (!status.ok() && status.error().code == runtime::ErrorCode::Cancelled)
    return GST_FLOW_FLUSHING;
  if (!status.ok()) {
    report_job(flight.settled, status.error());
    return GST_FLOW_ERROR;
  }
  flight.leg(flight.settled++).times = job.times();
  return GST_FLOW_OK;
}

/// Submits; while the device is full, tries again for as long as a job may take after the last one of anybody that retired.
GstFlowReturn TransformCore::submit(std::size_t slot, const FdRange& source,
                                    const FdRange& destination, runtime::AfterSubmit next,
                                    Flight& flight) {
  std::uint64_t seen = 0;
  std::optional<std::chrono::steady_clock::time_point> deadline;
  while (true) {
    auto submitted = device_->submit(slot, source, destination, next);
    if (auto* job = std::get_if<runtime::Job>(&submitted)) {
      flight.leg(slot).job = std::move(*job);
      return GST_FLOW_OK;
    }
    if (cancelled_)
      return GST_FLOW_FLUSHING;
    const auto& error = std::get<runtime::Error>(submitted);
    const auto now = std::chrono::steady_clock::now();
    // Also those that another thread read, and whose places others took.
    const std::uint64_t retired = device_->retirements();
    if (!deadline || retired != std::exchange(seen, retired))
      deadline = now + job_timeout_;
    if (error.code != runtime::ErrorCode::QueueFull || now >= *deadline) {
      report_job(slot, error);
      return GST_FLOW_ERROR;
    }
    // Full of the jobs of this set, for which nobody waits yet, or of others.
    const std::uint64_t refused = now_ns();
    if (flight.settled != slot) {
      // Its own jobs say where this time was.
      if (const GstFlowReturn flow = settle(flight); flow != GST_FLOW_OK)
        return flow;
      continue;
    }
    // Who waits for those may be upstream, whose task is in this call: completions are read here.
    device_->await_retirement(kRetry);
    flight.held_ns += now_ns() - refused;
  }
}

GstFlowReturn TransformCore::launch_tensor(std::size_t slot, runtime::AfterSubmit next,
                                           Flight& flight) {
  if (ports_.output_layout.needs(slot).bytes == 0)
    return GST_FLOW_OK;
  const auto from = fd_range(flight.input, ports_.input_layout, slot, false);
  const auto to = fd_range(flight.output, ports_.output_layout, slot, true);
  std::optional<FdRange> source;
  std::optional<FdRange> destination;
  if (const auto* range = std::get_if<FdRange>(&from))
    source = *range;
  else
    source = stage_port(staged_sources_[slot], "input", flight.input, std::get<FdResult>(from),
                        ports_.input_layout, slot, false);
  if (!source)
    return GST_FLOW_ERROR;
  if (const auto* range = std::get_if<FdRange>(&to)) {
    destination = *range;
  } else {
    destination = stage_port(staged_destinations_[slot], "output", flight.output,
                             std::get<FdResult>(to), ports_.output_layout, slot, true);
    if (destination)
      flight.leg(slot).staged_destination.reset(gst_memory_ref(destination->memory));
  }
  if (!destination)
    return GST_FLOW_ERROR;
  return submit(slot, *source, *destination, next, flight);
}

GstFlowReturn TransformCore::launch(GstBuffer* input, GstBuffer* output, runtime::AfterSubmit next,
                                    Flight& flight) {
  flight.input = input;
  flight.output = output;
  flight.begun_ns = now_ns();
  flight.others.resize(tensor_count_ - 1);
  for (std::size_t slot = 0; slot < tensor_count_; ++slot) {
    const bool is_last = slot + 1 == tensor_count_;
    const GstFlowReturn flow =
        launch_tensor(slot, is_last ? next : runtime::AfterSubmit::Anything, flight);
    if (flow != GST_FLOW_OK)
      return flow;
  }
  return GST_FLOW_OK;
}

/// Brings a tensor to the output buffer where the device could not be given that.
bool TransformCore::unstage(std::size_t slot, Flight& flight) noexcept {
  GstMemory* const staged = flight.leg(slot).staged_destination.get();
  if (staged == nullptr)
    return true;
  const MapGuard map(staged, GST_MAP_READ);
  return map && scatter(flight.output, ports_.output_layout.position(flight.output, slot),
                        reinterpret_cast<const std::byte*>(map.data()),
                        ports_.output_layout.needs(slot).bytes);
}

/// Once for each job; what was waited for comes before the first.
void TransformCore::tell_observer(Flight& flight, const runtime::JobTimes& all) {
  if (flight.others.empty()) {
    tell_observer(all, flight.output, flight.held_ns);
    return;
  }
  std::uint64_t held_ns = flight.held_ns;
  for (std::size_t slot = 0; slot < flight.settled; ++slot)
    if (const runtime::JobTimes& times = flight.leg(slot).times; times.retired_ns != 0)
      tell_observer(times, flight.output, std::exchange(held_ns, 0));
}

GstFlowReturn TransformCore::land(Flight& flight) noexcept {
  const std::size_t count = flight.others.size() + 1;
  while (flight.settled < count)
    if (const GstFlowReturn flow = settle(flight); flow != GST_FLOW_OK)
      return flow;
  for (std::size_t slot = 0; slot < count; ++slot)
    if (!unstage(slot, flight))
      return GST_FLOW_ERROR;
  runtime::JobTimes times;
  for (std::size_t slot = 0; slot < count; ++slot)
    widen(times, flight.leg(slot).times);
  if (times.retired_ns == 0) // nothing to do
    times = {flight.begun_ns, flight.begun_ns, flight.begun_ns, flight.begun_ns};
  finish(flight.begun_ns, times, flight.output);
  tell_observer(flight, times);
  announce_latency(times.retired_ns - flight.begun_ns);
  return GST_FLOW_OK;
}

GstFlowReturn TransformCore::run_on_device(GstBuffer* input, GstBuffer* output) {
  Flight flight;
  const GstFlowReturn launched = launch(input, output, runtime::AfterSubmit::Wait, flight);
  return launched == GST_FLOW_OK ? land(flight) : launched;
}

} // namespace simaai::gst
