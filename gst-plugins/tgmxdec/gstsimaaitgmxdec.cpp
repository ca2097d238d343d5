// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitgmxdec: lays each matrix of a stream out as downstream wants it.
#include "gstsimaaitgmxdec.h"

#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "common/caps_spec.h"
#include "common/element_stats.h"
#include "common/errors.h"
#include "common/pool_query.h"
#include "matmul/caps_refusals.h"
#include "matmul/dense_port.h"
#include "matmul/matrix_properties.h"
#include "matmul/port_caps.h"
#include "pad_outputs.h"
#include "tgmx_reader.h"

GST_DEBUG_CATEGORY_STATIC(gst_simaai_tgmx_dec_debug);
#define GST_CAT_DEFAULT gst_simaai_tgmx_dec_debug

namespace {

using namespace simaai::gst;
namespace matrix = simaai::kernels::matrix;

struct DecoderState {
  explicit DecoderState(GstElement* element) : refusals(element), outputs(element) {}
  std::optional<std::int8_t> fill; ///< object lock
  PoolLimits limits;               ///< object lock
  // Streaming thread.
  TgmxReader reader;
  CapsRefusals refusals;
  GstPtr<GstCaps> sink_caps;         ///< with the fields of the stream; null: none came
  std::optional<DenseTarget> target; ///< of the caps that were sent
  std::size_t rows = 0;
  std::size_t cols = 0;
  PadOutputs outputs;
  ElementStats stats;
  bool segment_sent = false;
  GstPtr<GstEvent> segment; ///< waits for caps, which come first
  std::vector<GstPtr<GstEvent>> behind_segment;
};

} // namespace

struct _GstSimaaiTgmxDec {
  GstElement parent;
  GstPad* sink;
  GstPad* src;
  DecoderState* state;
};

#define gst_simaai_tgmx_dec_parent_class parent_class
G_DEFINE_FINAL_TYPE(GstSimaaiTgmxDec, gst_simaai_tgmx_dec, GST_TYPE_ELEMENT)
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(simaaitgmxdec, "simaaitgmxdec", GST_RANK_NONE,
                                      GST_TYPE_SIMAAI_TGMX_DEC,
                                      GST_DEBUG_CATEGORY_INIT(gst_simaai_tgmx_dec_debug,
                                                              "simaaitgmxdec", 0, "TGMX decoder"))

namespace {

enum Property : guint { PropChannelPadding = 1, PropStats, PropMinBuffers, PropMaxBuffers };

constexpr int kPaddingUnset = std::numeric_limits<std::int8_t>::min() - 1;

void fail(GstSimaaiTgmxDec* self, ErrorKind kind, std::string reason,
          const GstCaps* caps = nullptr) {
  Report report;
  report.reason = std::move(reason);
  report.src_caps = caps;
  post_error(GST_ELEMENT_CAST(self), kind, report);
}

/// Caps and layout for matrices of this shape: what downstream prefers. False with an error posted.
bool negotiate(GstSimaaiTgmxDec* self, std::size_t rows, std::size_t cols) {
  DecoderState& state = *self->state;
  std::optional<std::int8_t> fill;
  {
    const ObjectLock lock(self);
    fill = state.fill;
  }
  const simaai::kernels::Shape shape{static_cast<std::int64_t>(rows),
                                     static_cast<std::int64_t>(cols)};
  const auto ours = output_layout_caps(simaai::kernels::DType::Int8, true);
  set_shape(ours.get(), shape);
  if (state.sink_caps)
    copy_stream_fields(gst_caps_get_structure(state.sink_caps.get(), 0), ours.get());
  const GstPtr<GstCaps> allowed(gst_pad_peer_query_caps(self->src, ours.get()));
  GstPtr<GstCaps> offered(
      gst_caps_intersect_full(allowed.get(), ours.get(), GST_CAPS_INTERSECT_FIRST));
  if (gst_caps_is_empty(offered.get())) {
    const GstPtr<GstCaps> theirs(gst_pad_peer_query_caps(self->src, nullptr));
    state.refusals.report("downstream does not take an int8 tensor of " + std::to_string(rows) +
                              " x " + std::to_string(cols),
                          nullptr, theirs.get());
    return false;
  }
  const auto caps = fixate_output(std::move(offered), shape, fill.has_value());
  const auto parsed = parse_tensor(*caps);
  auto target =
      std::holds_alternative<CapsError>(parsed)
          ? std::variant<DenseTarget, PortError>(PortError{std::get<CapsError>(parsed).reason})
          : DenseTarget::create(std::get<TensorInfo>(parsed).spec, fill);
  if (const auto* refused = std::get_if<PortError>(&target)) {
    state.refusals.report("source caps: " + refused->reason, nullptr, caps.get());
    return false;
  }
  state.target.emplace(std::get<DenseTarget>(std::move(target)));
  state.rows = rows;
  state.cols = cols;
  if (!gst_pad_push_event(self->src, gst_event_new_caps(caps.get())) &&
      !GST_PAD_IS_FLUSHING(self->src)) {
    state.refusals.report("downstream refused the caps", nullptr, caps.get());
    state.target.reset(); // asks again
    return false;
  }
  if (state.outputs.negotiate(self->src, caps.get(), state.target->needed_bytes())) {
    state.refusals.clear();
    return true;
  }
  post_no_output(GST_ELEMENT_CAST(self), state.target->needed_bytes());
  state.target.reset(); // asks again
  return false;
}

/// Behind the caps. A source of bytes has no segment in time.
void send_segment(GstSimaaiTgmxDec* self) {
  DecoderState& state = *self->state;
  if (state.segment_sent)
    return;
  state.segment_sent = true;
  if (state.segment == nullptr) {
    GstSegment segment;
    gst_segment_init(&segment, GST_FORMAT_TIME);
    state.segment.reset(gst_event_new_segment(&segment));
  }
  gst_pad_push_event(self->src, state.segment.release());
  for (auto& event : std::exchange(state.behind_segment, {}))
    gst_pad_push_event(self->src, event.release());
}

/// A pooled buffer with the elements. Not GST_FLOW_OK: an error was posted, or nobody waits any more.
GstFlowReturn fill_output(GstSimaaiTgmxDec* self, const matrix::DynMatrix& decoded,
                          GstPtr<GstBuffer>& output) {
  DenseTarget& target = *self->state->target;
  GstPtr<GstBuffer> buffer;
  if (const GstFlowReturn flow = self->state->outputs.acquire(buffer); flow != GST_FLOW_OK)
    return flow;
  if (buffer == nullptr) {
    post_no_output(GST_ELEMENT_CAST(self), target.needed_bytes());
    return GST_FLOW_ERROR;
  }
  if (gst_buffer_get_size(buffer.get()) < target.needed_bytes()) {
    fail(self, ErrorKind::Data, "output buffer is shorter than the caps need");
    return GST_FLOW_ERROR;
  }
  std::string reason = "a buffer cannot be mapped";
  if (const BufferMap map(buffer.get(), GST_MAP_WRITE); map) {
    reason.clear();
    if (target.converts()) // gaps of a strided layout do not show old memory
      std::memset(map.data(), 0, target.needed_bytes());
    std::memcpy(target.stage(map.data()), decoded.storage().data(), decoded.storage().size());
    if (target.write(map.data(), reason)) {
      output = std::move(buffer);
      return GST_FLOW_OK;
    }
  }
  fail(self, ErrorKind::Data, reason);
  return GST_FLOW_ERROR;
}

GstFlowReturn push_matrix(GstSimaaiTgmxDec* self, const TgmxStep& step, GstClockTime begun) {
  DecoderState& state = *self->state;
  const matrix::DynMatrix& decoded = *step.matrix;
  const bool asked = gst_pad_check_reconfigure(self->src) != FALSE; // that of a new link too
  const bool changed =
      asked || !state.target || decoded.rows() != state.rows || decoded.cols() != state.cols;
  if (changed && !negotiate(self, decoded.rows(), decoded.cols()))
    return GST_FLOW_NOT_NEGOTIATED;
  send_segment(self);
  GstPtr<GstBuffer> buffer;
  if (const GstFlowReturn flow = fill_output(self, decoded, buffer); flow != GST_FLOW_OK)
    return flow;
  GST_BUFFER_PTS(buffer.get()) = step.pts;
  if (step.gathered)
    state.stats.count_copy();
  if (state.target->converts())
    state.stats.count_conversion();
  state.stats.count_frame(matrix::encoded_bytes(decoded.rows(), decoded.cols()),
                          state.target->needed_bytes(), gst_util_get_timestamp() - begun);
  return gst_pad_push(self->src, buffer.release());
}

GstFlowReturn chain(GstPad* /*pad*/, GstObject* parent, GstBuffer* buffer) noexcept {
  auto* self = GST_SIMAAI_TGMX_DEC(parent);
  TgmxReader& reader = self->state->reader;
  if (reader.refused()) { // said before
    gst_buffer_unref(buffer);
    return GST_FLOW_ERROR;
  }
  reader.push(buffer);
  while (true) {
    const GstClockTime begun = gst_util_get_timestamp();
    const TgmxStep step = reader.next();
    switch (step.kind) {
    case TgmxStep::NeedsMore:
      return GST_FLOW_OK;
    case TgmxStep::Refused:
      fail(self, ErrorKind::Data, "the stream is refused: " + step.reason);
      return GST_FLOW_ERROR;
    case TgmxStep::Matrix:
      if (const GstFlowReturn flow = push_matrix(self, step, begun); flow != GST_FLOW_OK)
        return flow;
      break;
    }
  }
}

void take_caps(DecoderState& state, GstEvent* event) {
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  if (state.sink_caps && gst_caps_is_equal(state.sink_caps.get(), caps))
    return;
  state.sink_caps.reset(gst_caps_ref(caps));
  state.target.reset(); // of other fields
}

bool has_flag(const GstEvent* event, GstEventTypeFlags flag) noexcept {
  return (gst_event_type_get_flags(GST_EVENT_TYPE(event)) & flag) != 0;
}

/// What travels in order but belongs behind a segment that waits itself.
bool has_to_wait(const DecoderState& state, const GstEvent* event) {
  switch (static_cast<int>(GST_EVENT_TYPE(event))) {
  case GST_EVENT_STREAM_START:
  case GST_EVENT_EOS:
  case GST_EVENT_FLUSH_STOP:
    return false;
  default:
    return !state.segment_sent && has_flag(event, GST_EVENT_TYPE_SERIALIZED);
  }
}

gboolean sink_event(GstPad* pad, GstObject* parent, GstEvent* event) noexcept {
  auto* self = GST_SIMAAI_TGMX_DEC(parent);
  DecoderState& state = *self->state;
  switch (static_cast<int>(GST_EVENT_TYPE(event))) {
  case GST_EVENT_CAPS: // the shape is in the stream, so that caps wait for it
    take_caps(state, event);
    gst_event_unref(event);
    return TRUE;
  case GST_EVENT_SEGMENT: {
    const GstSegment* segment = nullptr;
    gst_event_parse_segment(event, &segment);
    const bool in_time = segment->format == GST_FORMAT_TIME;
    state.segment.reset(event);
    if (in_time)
      state.segment_sent = false;
    else
      state.segment.reset();
    return TRUE;
  }
  case GST_EVENT_FLUSH_START:
    state.outputs.set_flushing(true);
    break;
  case GST_EVENT_FLUSH_STOP:
    state.outputs.set_flushing(false);
    state.reader.clear();
    state.segment_sent = false;
    state.segment.reset();
    std::erase_if(state.behind_segment, [](const auto& waiting) {
      return !has_flag(waiting.get(), GST_EVENT_TYPE_STICKY);
    });
    break;
  case GST_EVENT_EOS:
    if (state.reader.left() > 0)
      fail(self, ErrorKind::Data,
           "the stream ends within a matrix: " + std::to_string(state.reader.left()) +
               " bytes are left");
    break;
  default:
    if (!has_to_wait(state, event))
      break;
    state.behind_segment.emplace_back(event);
    return TRUE;
  }
  return gst_pad_event_default(pad, parent, event);
}

/// False with an error posted where the settings contradict each other.
bool start(GstElement* element) {
  DecoderState& state = *GST_SIMAAI_TGMX_DEC(element)->state;
  PoolLimits limits;
  {
    const ObjectLock lock(element);
    limits = state.limits;
  }
  if (std::string problem = limits.problem(); !problem.empty()) {
    fail(GST_SIMAAI_TGMX_DEC(element), ErrorKind::Settings, std::move(problem));
    return false;
  }
  state.refusals.clear();
  state.stats.reset();
  state.outputs.start(limits);
  return true;
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) noexcept {
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED && !start(element))
    return GST_STATE_CHANGE_FAILURE;
  // Before the pads stop: the streaming thread may be waiting for a buffer that never comes back.
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    GST_SIMAAI_TGMX_DEC(element)->state->outputs.set_flushing(true);
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_simaai_tgmx_dec_parent_class)->change_state(element, transition);
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY) {
    DecoderState& state = *GST_SIMAAI_TGMX_DEC(element)->state;
    state.reader.clear();
    state.sink_caps.reset();
    state.target.reset();
    state.segment_sent = false;
    state.segment.reset();
    state.behind_segment.clear();
    state.outputs.stop();
  }
  return result;
}

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) noexcept {
  DecoderState& state = *GST_SIMAAI_TGMX_DEC(object)->state;
  const ObjectLock lock(object);
  switch (id) {
  case PropChannelPadding: {
    const int padding = g_value_get_int(value);
    state.fill =
        padding == kPaddingUnset ? std::nullopt : std::optional(static_cast<std::int8_t>(padding));
    break;
  }
  case PropMinBuffers:
    state.limits.min_buffers = g_value_get_uint(value);
    break;
  case PropMaxBuffers:
    state.limits.max_buffers = g_value_get_uint(value);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) noexcept {
  const DecoderState& state = *GST_SIMAAI_TGMX_DEC(object)->state;
  if (id == PropStats) {
    GstStructure* stats = state.stats.structure_with_conversions();
    state.outputs.describe(stats);
    g_value_take_boxed(value, stats);
    return;
  }
  const ObjectLock lock(object);
  switch (id) {
  case PropChannelPadding:
    g_value_set_int(value, state.fill ? int{*state.fill} : kPaddingUnset);
    break;
  case PropMinBuffers:
    g_value_set_uint(value, state.limits.min_buffers);
    break;
  case PropMaxBuffers:
    g_value_set_uint(value, state.limits.max_buffers);
    break;
  default:
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
  }
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_TGMX_DEC(object)->state;
  G_OBJECT_CLASS(gst_simaai_tgmx_dec_parent_class)->finalize(object);
}

GstStaticPadTemplate sink_template = GST_STATIC_PAD_TEMPLATE("sink", GST_PAD_SINK, GST_PAD_ALWAYS,
                                                             GST_STATIC_CAPS("application/x-tgmx"));

} // namespace

static void gst_simaai_tgmx_dec_class_init(GstSimaaiTgmxDecClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  g_object_class_install_property(
      object_class, PropChannelPadding,
      g_param_spec_int("int8-channel-padding", "Channel padding of int8",
                       "Raw byte (-128 to 127) that fills the channel padding of a tiled output "
                       "with channel-storage pad16; -129: not set",
                       kPaddingUnset, std::numeric_limits<std::int8_t>::max(), kPaddingUnset,
                       static_cast<GParamFlags>(G_PARAM_READWRITE | G_PARAM_STATIC_STRINGS |
                                                GST_PARAM_MUTABLE_READY)));
  install_matrix_stats_property(object_class, PropStats);
  install_pool_limits(object_class, PropMinBuffers, PropMaxBuffers);

  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = change_state;
  gst_element_class_set_static_metadata(
      element_class, "TGMX decoder", "Codec/Decoder/Tensor",
      "Reads a stream of TGMX matrices, cut in any way, into rank-2 int8 tensors of the layout "
      "that downstream asks for",
      "SimaKernels developers");
  gst_element_class_add_static_pad_template(element_class, &sink_template);
  const auto source = output_layout_caps(simaai::kernels::DType::Int8, true);
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("src", GST_PAD_SRC, GST_PAD_ALWAYS, source.get()));
}

static void gst_simaai_tgmx_dec_init(GstSimaaiTgmxDec* self) {
  self->state = new DecoderState(GST_ELEMENT_CAST(self));
  self->sink = gst_pad_new_from_static_template(&sink_template, "sink");
  gst_pad_set_chain_function(self->sink, chain);
  gst_pad_set_event_function(self->sink, sink_event);
  gst_element_add_pad(GST_ELEMENT_CAST(self), self->sink);
  GstPadTemplate* source = gst_element_class_get_pad_template(GST_ELEMENT_GET_CLASS(self), "src");
  self->src = gst_pad_new_from_template(source, "src");
  gst_pad_use_fixed_caps(self->src);
  gst_element_add_pad(GST_ELEMENT_CAST(self), self->src);
}
