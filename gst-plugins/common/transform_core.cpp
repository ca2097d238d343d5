// SPDX-License-Identifier: LGPL-2.1-or-later
// Settings, lifecycle, buffers and statistics of an op element. Caps are in transform_caps_core.cpp.
#include "transform_core.h"

#include <chrono>
#include <utility>

#include "gstsimaaitensorpool.h"
#include "negotiation.h"
#include "pool_query.h"
#include "tensor_meta.h"

namespace simaai::gst {
namespace {

std::uint64_t now_ns() noexcept {
  const auto since = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(
      std::chrono::duration_cast<std::chrono::nanoseconds>(since).count());
}

} // namespace

ElementSettings TransformCore::settings() const {
  const ObjectLock lock(element_);
  return settings_;
}

const char* TransformCore::backend_name() const noexcept {
  const char* active = active_backend_.load(std::memory_order_acquire);
  return active != nullptr ? active : "none";
}

bool TransformCore::set_property(guint id, const GValue* value) {
  const ObjectLock lock(element_);
  return set_setting(settings_, id, value);
}

bool TransformCore::get_property(guint id, GValue* value) const {
  if (id == kPropActiveBackend) {
    g_value_set_static_string(value, active_backend_.load(std::memory_order_acquire));
    return true;
  }
  if (id == kPropStats) {
    g_value_take_boxed(value, stats());
    return true;
  }
  const ObjectLock lock(element_);
  return get_setting(settings_, id, value);
}

GstStructure* TransformCore::stats() const {
  const JobStatistics::Last last = jobs_.last();
  GstStructure* stats = stats_.structure();
  outputs_.describe(stats);
  gst_structure_set(
      stats, "allocations", G_TYPE_UINT64, guint64{stats_.allocations() + outputs_.allocations()},
      "backend", G_TYPE_STRING, backend_name(), "in-flight", G_TYPE_UINT64,
      guint64{flights_.in_flight()}, "queued-p50-ns", G_TYPE_UINT64,
      guint64{jobs_.queued().percentile_ns(50)}, "device-p50-ns", G_TYPE_UINT64,
      guint64{jobs_.device().percentile_ns(50)}, "return-p50-ns", G_TYPE_UINT64,
      guint64{jobs_.way_back().percentile_ns(50)}, "last-pts", G_TYPE_UINT64, guint64{last.pts},
      "last-submit-ns", G_TYPE_UINT64, guint64{last.times.submitted_ns}, "last-start-ns",
      G_TYPE_UINT64, guint64{last.times.started_ns}, "last-done-ns", G_TYPE_UINT64,
      guint64{last.times.done_ns}, "last-retire-ns", G_TYPE_UINT64, guint64{last.times.retired_ns},
      nullptr);
  return stats;
}

bool TransformCore::check_settings() {
  Report report;
  report.reason = settings().problem();
  if (report.reason.empty())
    return true;
  post_error(element(), ErrorKind::Settings, report);
  return false;
}

bool TransformCore::start() {
  stats_.reset();
  jobs_.reset();
  gap_ = false;
  latency_ns_ = 0;
  observer_ = job_observer();
  flights_.set_flushing(false);
  refused_sink_caps_.reset();
  refused_src_caps_.reset();
  outputs_.start();
  fd_allocator_ = shared_fd_allocator();
  makes_dma_bufs_.store(gives_dma_bufs(fd_allocator_.get()), std::memory_order_release);
  return choose_backend();
}

void TransformCore::stop() {
  tensor_count_ = 0;
  sink_caps_.reset();
  src_caps_.reset();
  staged_input_.release();
  staged_output_.release();
  staged_sources_ = {};
  staged_destinations_ = {};
  device_.reset();
  fd_allocator_.reset();
  makes_dma_bufs_.store(true, std::memory_order_release);
  outputs_.stop();
  runtime::Device waking; // the last handle of a device goes without the lock
  const ObjectLock lock(element_);
  waking = std::exchange(waking_, {});
}

void TransformCore::propose_allocation(GstQuery* query) {
  GstCaps* caps = nullptr;
  gboolean need_pool = FALSE;
  gst_query_parse_allocation(query, &caps, &need_pool);
  const GstAllocationParams params = aligned_params();
  const bool wants_fd = device_ || (caps != nullptr && has_dma_bufs(caps));
  GstAllocator* const allocator = wants_fd ? fd_allocator_.get() : nullptr;
  gst_query_add_allocation_param(query, allocator, &params);
  if (caps == nullptr || !is_negotiated() || !gst_caps_is_equal(caps, sink_caps_.get()))
    return;
  const auto bytes = static_cast<guint>(ports_.input_layout.total_bytes());
  const guint kept = is_asynchronous() ? async_depth_ : 1;
  GstPtr<GstBufferPool> pool;
  if (need_pool) {
    pool = new_tensor_pool();
    if (!configure_pool(pool.get(), caps, bytes, kept, 0, allocator))
      pool.reset();
  }
  gst_query_add_allocation_pool(query, pool.get(), bytes, kept, 0);
}

void TransformCore::propose_memory(GstQuery* query) {
  GstCaps* caps = nullptr;
  gst_query_parse_allocation(query, &caps, nullptr);
  bool wants_fd = caps != nullptr && has_dma_bufs(caps);
  {
    const ObjectLock lock(element_);
    wants_fd = wants_fd || waking_;
  }
  const GstAllocationParams params = aligned_params();
  const auto allocator = wants_fd ? shared_fd_allocator() : nullptr;
  gst_query_add_allocation_param(query, allocator.get(), &params);
}

void TransformCore::decide_allocation(GstQuery* query) {
  tensor_meta_wanted_ = wants_tensor_meta(query);
  if (gst_query_get_n_allocation_params(query) > 0) {
    GstAllocator* allocator = nullptr;
    GstAllocationParams params;
    gst_query_parse_nth_allocation_param(query, 0, &allocator, &params);
    const GstPtr<GstAllocator> owned(allocator);
    params.align |= kAlignMask;
    gst_query_set_nth_allocation_param(query, 0, output_allocator(allocator), &params);
  } else {
    const GstAllocationParams params = aligned_params();
    gst_query_add_allocation_param(query, output_allocator(nullptr), &params);
  }

  GstBufferPool* offered = nullptr;
  guint size = 0;
  guint min = 0;
  guint max = 0;
  const bool listed = gst_query_get_n_allocation_pools(query) > 0;
  if (listed)
    gst_query_parse_nth_allocation_pool(query, 0, &offered, &size, &min, &max);
  GstPtr<GstBufferPool> pool(offered);
  // Only pools of ours are known to use the allocator that is needed, and to give each tensor a memory.
  const bool memories = ports_.output_layout.wants_memories();
  if ((needs_fd_output() || memories) && !is_tensor_pool(pool.get()))
    pool.reset();
  const auto needed = static_cast<guint>(ports_.output_layout.total_bytes());
  size = memories ? needed : std::max(size, needed);
  if (!pool) {
    // Our own pool grows on demand, unless told otherwise: a consumer that keeps buffers must not stop the pipeline.
    pool = new_tensor_pool();
    min = std::max(min, is_asynchronous() ? async_depth_ : 1U);
    max = 0;
  }
  settings().pool.apply(min, max);
  if (listed)
    gst_query_set_nth_allocation_pool(query, 0, pool.get(), size, min, max);
  else
    gst_query_add_allocation_pool(query, pool.get(), size, min, max);
}

void TransformCore::report_data(std::string reason, std::optional<std::uint64_t> needed,
                                std::optional<std::uint64_t> found) {
  post_error(element(), ErrorKind::Data,
             {std::move(reason), sink_caps_.get(), src_caps_.get(), needed, found, backend_name()});
}

bool TransformCore::check_input(GstBuffer* buffer) {
  if (tensor_count_ == 0)
    return true; // not negotiated: GstBaseTransform refuses the buffer
  const std::uint64_t needed = ports_.input_layout.total_bytes();
  const std::uint64_t found = gst_buffer_get_size(buffer);
  if (found >= needed)
    return true;
  report_data("input buffer is shorter than its caps say", needed, found);
  return false;
}

/// Counts and announces a copy; posts an error and returns false where none may be made.
bool TransformCore::allow_copy(const char* port, const char* why, std::uint64_t bytes) {
  return stats_.allow_copy(element(), port, why, bytes, require_zero_copy_, context());
}

Report TransformCore::context() const {
  Report context;
  context.sink_caps = sink_caps_.get();
  context.src_caps = src_caps_.get();
  context.backend = backend_name();
  return context;
}

GstFlowReturn TransformCore::prepare_output(GstBaseTransformClass* base, GstBuffer* input,
                                            GstBuffer** output) {
  return prepare_pooled_output(base, element_, input, output, output_bytes_, context());
}

std::byte* TransformCore::stage(StagingBlock& block, const char* port, BindResult why,
                                std::uint64_t bytes) {
  if (!allow_copy(port, bind_result_text(why), bytes))
    return nullptr;
  bool grew = false;
  std::byte* staged = block.ensure(bytes, grew);
  if (grew)
    stats_.count_allocation();
  if (staged == nullptr) {
    report_data("out of memory", bytes, std::nullopt);
    return nullptr;
  }
  return staged;
}

GstFlowReturn TransformCore::run(std::size_t slot, PortBinding& src, PortBinding& dst,
                                 GstBuffer* input, GstBuffer* output) {
  const std::uint64_t input_bytes = ports_.input_layout.needs(slot).bytes;
  const std::uint64_t output_bytes = ports_.output_layout.needs(slot).bytes;
  src.bind(slot);
  dst.bind(slot);
  kernels::ConstHostBuffer from{src.data(), src.capacity()};
  kernels::HostBuffer to{dst.data(), dst.capacity()};
  for (const PortBinding* binding : {&src, &dst}) {
    if (binding->result() != BindResult::MapFailed)
      continue;
    const bool is_source = binding == &src;
    report_data(tensor_prefix(is_source ? ports_.input : ports_.output, slot) + "the " +
                    (is_source ? "input" : "output") +
                    " buffer cannot be used: " + bind_result_text(binding->result()),
                std::nullopt, std::nullopt);
    return GST_FLOW_ERROR;
  }
  if (src.needs_copy()) {
    std::byte* staged = stage(staged_input_, "input", src.result(), input_bytes);
    if (staged == nullptr ||
        !gather(input, ports_.input_layout.position(input, slot), staged, input_bytes))
      return GST_FLOW_ERROR;
    from = {staged, input_bytes};
  }
  const std::uint64_t at = ports_.output_layout.position(output, slot);
  if (dst.needs_copy()) {
    // Gathered first too: gaps of a strided output keep what the buffer holds.
    std::byte* staged = stage(staged_output_, "output", dst.result(), output_bytes);
    if (staged == nullptr || !gather(output, at, staged, output_bytes))
      return GST_FLOW_ERROR;
    to = {staged, output_bytes};
  }
  const kernels::Status status = adapter_->execute(slot, from, to);
  if (!status.ok()) {
    report_data(tensor_prefix(ports_.input, slot) + status.message(), output_bytes,
                to.capacity_bytes);
    return GST_FLOW_ERROR;
  }
  if (dst.needs_copy() &&
      !scatter(output, at, static_cast<const std::byte*>(to.data), output_bytes))
    return GST_FLOW_ERROR;
  return GST_FLOW_OK;
}

/// Makes the buffer as long as its caps say; false, with an error posted, where it is shorter.
bool TransformCore::fit_output(GstBuffer* output) {
  const std::uint64_t needed = ports_.output_layout.total_bytes();
  const std::uint64_t room = gst_buffer_get_size(output);
  if (room < needed) {
    report_data("output buffer is shorter than the caps need", needed, room);
    return false;
  }
  // Memories of their own for each tensor may be longer.
  if (room > needed && !ports_.output_layout.is_split(output))
    gst_buffer_set_size(output, static_cast<gssize>(needed));
  return true;
}

void TransformCore::finish(std::uint64_t begun_ns, const runtime::JobTimes& times,
                           GstBuffer* output) {
  if (tensor_meta_wanted_)
    add_tensor_meta(output, ports_.output, ports_.output_layout);
  stats_.count_frame(input_bytes_, output_bytes_, times.retired_ns - begun_ns);
  jobs_.record(GST_BUFFER_PTS(output), times);
}

void TransformCore::tell_observer(const runtime::JobTimes& times, GstBuffer* output,
                                  std::uint64_t held_ns) {
  if (observer_ == nullptr)
    return;
  const JobNotice notice{observed_device_, times, held_ns};
  observer_->observe(observer_->data, element(), output, &notice);
}

GstFlowReturn TransformCore::transform(GstBuffer* input, GstBuffer* output) {
  const std::uint64_t begun = now_ns();
  if (!fit_output(output))
    return GST_FLOW_ERROR;
  if (device_)
    return run_on_device(input, output);
  {
    PortBinding src(input, ports_.input_layout, GST_MAP_READ);
    PortBinding dst(output, ports_.output_layout, GST_MAP_WRITE);
    for (std::size_t slot = 0; slot < tensor_count_; ++slot)
      if (const GstFlowReturn flow = run(slot, src, dst, input, output); flow != GST_FLOW_OK)
        return flow;
  }
  const std::uint64_t end = now_ns();
  finish(begun, {begun, begun, end, end}, output);
  tell_observer({begun, begun, end, end}, output);
  return GST_FLOW_OK;
}

} // namespace simaai::gst
