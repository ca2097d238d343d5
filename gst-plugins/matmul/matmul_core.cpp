// SPDX-License-Identifier: LGPL-2.1-or-later
// Weights, caps and buffers of simaaimatmul.
#include "matmul_core.h"

#include <cerrno>

#include <simaai/kernels/matrix/tgmx_file.h>

#include "common/fd_memory.h"
#include "common/pool_query.h"
#include "common/same_caps.h"
#include "matrix_properties.h"
#include "port_caps.h"

namespace simaai::gst {
namespace {

namespace matrix = kernels::matrix;

/// `shape` with another last extent.
kernels::Shape with_last(const kernels::Shape& shape, std::size_t last) {
  std::array<std::int64_t, kernels::kMaxRank> extents{};
  std::copy(shape.extents().begin(), shape.extents().end(), extents.begin());
  extents[shape.extents().size() - 1] = static_cast<std::int64_t>(last);
  return kernels::Shape(std::span<const std::int64_t>(extents.data(), shape.extents().size()));
}

/// Why no element can start with these settings; empty where one can.
std::string settings_problem(const MatmulSettings& settings) {
  if (settings.weights.empty())
    return "property weights: expected the name of a .tgmx file, found nothing";
  if (settings.shift != 0 && settings.multiplier == 0)
    return "property shift is " + std::to_string(settings.shift) +
           "; expected 0 where property multiplier is not set";
  return settings.pool.problem();
}

ErrorKind kind_of(const matrix::FileError& error) noexcept {
  if (error.code != matrix::FileError::CannotOpen)
    return ErrorKind::Read;
  return error.system_error == ENOENT ? ErrorKind::NotFound : ErrorKind::OpenRead;
}

} // namespace

MatmulSettings MatmulCore::copy_settings() const {
  const ObjectLock lock(element_);
  return settings_;
}

bool MatmulCore::set_property(guint id, const GValue* value) {
  const ObjectLock lock(element_);
  switch (id) {
  case PropWeights: {
    const char* name = g_value_get_string(value);
    settings_.weights = name != nullptr ? name : "";
    return true;
  }
  case PropMultiplier:
    settings_.multiplier = g_value_get_int(value);
    return true;
  case PropShift:
    settings_.shift = g_value_get_uint(value);
    return true;
  case PropChannelPadding: {
    const int padding = g_value_get_int(value);
    settings_.fill =
        padding == kPaddingUnset ? std::nullopt : std::optional(static_cast<std::int8_t>(padding));
    return true;
  }
  case PropRequireZeroCopy:
    settings_.require_zero_copy = g_value_get_boolean(value) != FALSE;
    return true;
  case PropMinBuffers:
    settings_.pool.min_buffers = g_value_get_uint(value);
    return true;
  case PropMaxBuffers:
    settings_.pool.max_buffers = g_value_get_uint(value);
    return true;
  default: // an id, not an enumerator: GObject passes any number
    return false;
  }
}

bool MatmulCore::get_property(guint id, GValue* value) const {
  if (id == PropStats) {
    GstStructure* stats = stats_.structure_with_conversions();
    outputs_.describe(stats);
    g_value_take_boxed(value, stats);
    return true;
  }
  const ObjectLock lock(element_);
  switch (id) {
  case PropWeights:
    g_value_set_string(value, settings_.weights.c_str());
    return true;
  case PropMultiplier:
    g_value_set_int(value, settings_.multiplier);
    return true;
  case PropShift:
    g_value_set_uint(value, settings_.shift);
    return true;
  case PropChannelPadding:
    g_value_set_int(value, settings_.fill ? int{*settings_.fill} : kPaddingUnset);
    return true;
  case PropRequireZeroCopy:
    g_value_set_boolean(value, settings_.require_zero_copy);
    return true;
  case PropMinBuffers:
    g_value_set_uint(value, settings_.pool.min_buffers);
    return true;
  case PropMaxBuffers:
    g_value_set_uint(value, settings_.pool.max_buffers);
    return true;
  default:
    return false;
  }
}

bool MatmulCore::start() {
  const MatmulSettings now = copy_settings();
  Report report;
  report.reason = settings_problem(now);
  if (!report.reason.empty()) {
    post_error(GST_ELEMENT_CAST(element_), ErrorKind::Settings, report);
    return false;
  }
  auto read = matrix::read_tgmx(now.weights, matrix::DynOrder::RowMajor);
  if (!read) {
    report.reason = "property weights: " + now.weights + ": " + read.error().message();
    post_error(GST_ELEMENT_CAST(element_), kind_of(read.error()), report);
    return false;
  }
  refusals_.clear();
  stats_.reset();
  outputs_.start();
  require_zero_copy_ = now.require_zero_copy;
  fd_allocator_ = shared_fd_allocator();
  makes_dma_bufs_.store(gives_dma_bufs(fd_allocator_.get()), std::memory_order_release);
  auto weights = std::make_shared<const matrix::DynMatrix>(std::move(read).value());
  const ObjectLock lock(element_);
  weights_ = std::move(weights);
  return true;
}

void MatmulCore::stop() {
  plan_.reset();
  sink_caps_.reset();
  src_caps_.reset();
  outputs_.stop();
  fd_allocator_.reset();
  makes_dma_bufs_.store(true, std::memory_order_release);
  const ObjectLock lock(element_);
  weights_.reset();
}

GstPtr<GstCaps> MatmulCore::transform_caps(GstPadDirection direction, const GstCaps* caps,
                                           GstCaps* filter) const {
  const bool to_src = direction == GST_PAD_SINK;
  std::shared_ptr<const matrix::DynMatrix> weights;
  bool rescaled = false;
  {
    const ObjectLock lock(element_);
    weights = weights_;
    rescaled = settings_.multiplier != 0;
  }
  GstPtr<GstCaps> across(gst_caps_new_empty());
  const guint count = gst_caps_is_any(caps) ? 0 : gst_caps_get_size(caps);
  for (guint i = 0; i < count; ++i) {
    const GstStructure* structure = gst_caps_get_structure(caps, i);
    GstPtr<GstCaps> part =
        to_src ? output_layout_caps(rescaled ? kernels::DType::Int8 : kernels::DType::Int32,
                                    rescaled, makes_dma_bufs())
               : any_layout_caps();
    if (const auto shape = shape_of(structure); shape && weights)
      set_shape(part.get(), with_last(*shape, to_src ? weights->rows() : weights->cols()));
    copy_stream_fields(structure, part.get());
    across.reset(gst_caps_merge(across.release(), part.release()));
  }
  if (gst_caps_is_any(caps))
    across = to_src ? output_layout_caps(rescaled ? kernels::DType::Int8 : kernels::DType::Int32,
                                         rescaled, makes_dma_bufs())
                    : any_layout_caps();
  if (filter != nullptr)
    across.reset(gst_caps_intersect_full(filter, across.get(), GST_CAPS_INTERSECT_FIRST));
  return across;
}

GstPtr<GstCaps> MatmulCore::fixate(const GstCaps* sink_caps, GstPtr<GstCaps> offered) const {
  // With an unlinked source pad GstBaseTransform offers the sink caps; keep what can be produced.
  GstPtr<GstCaps> possible = transform_caps(GST_PAD_SINK, sink_caps, nullptr);
  GstPtr<GstCaps> candidates(
      gst_caps_intersect_full(offered.get(), possible.get(), GST_CAPS_INTERSECT_FIRST));
  if (gst_caps_is_empty(candidates.get()))
    candidates = std::move(possible);
  kernels::Shape shape;
  if (const auto known = shape_of(gst_caps_get_structure(candidates.get(), 0)))
    shape = *known;
  return fixate_output(std::move(candidates), shape, copy_settings().fill.has_value());
}

std::variant<MatmulPlan, PortError> MatmulCore::make_plan(const GstCaps* sink_caps,
                                                          const GstCaps* src_caps) const {
  const auto input = parse_tensor(*sink_caps);
  if (const auto* refused = std::get_if<CapsError>(&input))
    return PortError{"sink caps: " + refused->reason};
  const auto output = parse_tensor(*src_caps);
  if (const auto* refused = std::get_if<CapsError>(&output))
    return PortError{"source caps: " + refused->reason};
  std::shared_ptr<const matrix::DynMatrix> weights;
  MatmulSettings now;
  {
    const ObjectLock lock(element_);
    weights = weights_;
    now = settings_;
  }
  if (weights == nullptr)
    return PortError{"the element was not started, so that there are no weights"};
  MatmulPlan::Settings settings{std::nullopt, now.fill};
  if (now.multiplier != 0)
    settings.requant.emplace(now.multiplier, now.shift);
  return MatmulPlan::create(std::get<TensorInfo>(input).spec, std::get<TensorInfo>(output).spec,
                            *weights, settings);
}

bool MatmulCore::set_caps(const GstCaps* sink_caps, const GstCaps* src_caps) {
  auto made = make_plan(sink_caps, src_caps);
  if (const auto* refused =
          std::get_if<PortError>(&made)) { // GstBaseTransform keeps the caps before, and so do we
    refusals_.report(refused->reason, sink_caps, src_caps);
    return false;
  }
  plan_ = std::get<MatmulPlan>(std::move(made));
  refusals_.clear();
  sink_caps_.reset(gst_caps_copy(sink_caps));
  src_caps_.reset(gst_caps_copy(src_caps));
  return true;
}

bool MatmulCore::decide_allocation(GstQuery* query) {
  const std::uint64_t bytes = plan_ ? plan_->output_bytes() : 0;
  if (!negotiate_pool(query, static_cast<guint>(bytes), copy_settings().pool))
    return false;
  outputs_.remember(query);
  return true;
}

std::optional<std::size_t> MatmulCore::other_size(GstPadDirection direction, const GstCaps* caps,
                                                  const GstCaps* other_caps) const {
  const bool from_sink = direction == GST_PAD_SINK;
  const GstCaps* sink = from_sink ? caps : other_caps;
  const GstCaps* src = from_sink ? other_caps : caps;
  if (plan_ && same_caps(sink_caps_.get(), sink) && same_caps(src_caps_.get(), src))
    return from_sink ? plan_->output_bytes() : plan_->input_bytes();
  const auto made = make_plan(sink, src);
  const auto* plan = std::get_if<MatmulPlan>(&made);
  if (plan == nullptr)
    return std::nullopt;
  return from_sink ? plan->output_bytes() : plan->input_bytes();
}

void MatmulCore::diagnose_refusal(const GstCaps* sink_caps) {
  const auto ours = transform_caps(GST_PAD_SINK, sink_caps, nullptr);
  refusals_.explain(GST_BASE_TRANSFORM_SRC_PAD(element_), sink_caps, ours.get());
}

bool MatmulCore::check_input(GstBuffer* buffer) {
  if (!plan_)
    return true; // not negotiated: GstBaseTransform refuses the buffer
  Report report;
  report.needed_bytes = plan_->input_bytes();
  report.found_bytes = gst_buffer_get_size(buffer);
  if (*report.found_bytes >= *report.needed_bytes)
    return true;
  report.reason = "input buffer is shorter than its caps say";
  post_error(GST_ELEMENT_CAST(element_), ErrorKind::Data, report);
  return false;
}

bool MatmulCore::allow_copies(bool input_split, bool output_split, const std::byte* src,
                              const std::byte* dst) {
  const auto allow = [this](const char* port, const char* why, std::uint64_t bytes) {
    return stats_.allow_copy(GST_ELEMENT_CAST(element_), port, why, bytes, require_zero_copy_);
  };
  if (input_split && !allow("input", kSeveralMemories, plan_->input_bytes()))
    return false;
  if (output_split && !allow("output", kSeveralMemories, plan_->output_bytes()))
    return false;
  if (plan_->source().copies(src) && !allow("input", kMisaligned, plan_->input_bytes()))
    return false;
  if (plan_->target().copies(dst) && !allow("output", kMisaligned, plan_->output_bytes()))
    return false;
  if (plan_->source().converts())
    stats_.count_conversion();
  if (plan_->target().converts())
    stats_.count_conversion();
  return true;
}

GstFlowReturn MatmulCore::transform(GstBuffer* input, GstBuffer* output) {
  const GstClockTime begun = gst_util_get_timestamp();
  Report report;
  report.needed_bytes = plan_->output_bytes();
  report.found_bytes = gst_buffer_get_size(output);
  if (*report.found_bytes < *report.needed_bytes) {
    report.reason = "output buffer is shorter than the caps need";
    post_error(GST_ELEMENT_CAST(element_), ErrorKind::Data, report);
    return GST_FLOW_ERROR;
  }
  // A pool of downstream may hand out larger buffers.
  gst_buffer_set_size(output, static_cast<gssize>(*report.needed_bytes));
  // Mapping merges memories, so they are counted before.
  const bool input_split = gst_buffer_n_memory(input) > 1;
  const bool output_split = gst_buffer_n_memory(output) > 1;
  BufferMap src(input, GST_MAP_READ);
  BufferMap dst(output, GST_MAP_WRITE);
  if (!src || !dst)
    report.reason = "a buffer cannot be mapped";
  else if (!allow_copies(input_split, output_split, src.data(), dst.data()))
    return GST_FLOW_ERROR;
  else
    report.reason = plan_->execute(src.data(), dst.data());
  if (report.reason.empty()) {
    stats_.count_frame(plan_->input_bytes(), plan_->output_bytes(),
                       gst_util_get_timestamp() - begun);
    return GST_FLOW_OK;
  }
  post_error(GST_ELEMENT_CAST(element_), ErrorKind::Data, report);
  return GST_FLOW_ERROR;
}

} // namespace simaai::gst
