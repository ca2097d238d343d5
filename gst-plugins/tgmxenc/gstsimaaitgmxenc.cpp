// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitgmxenc: a tensor of any layout becomes coordinates and values.
#include "gstsimaaitgmxenc.h"

#include <optional>

#include <simaai/kernels/matrix/dyn_matrix.h>

#include "common/caps_spec.h"
#include "common/element_stats.h"
#include "common/errors.h"
#include "common/gst_ptr.h"
#include "common/pool_query.h"
#include "matmul/caps_refusals.h"
#include "matmul/dense_port.h"
#include "matmul/matrix_properties.h"
#include "matmul/port_caps.h"

GST_DEBUG_CATEGORY_STATIC(gst_simaai_tgmx_enc_debug);
#define GST_CAT_DEFAULT gst_simaai_tgmx_enc_debug

namespace {

using namespace simaai::gst;
namespace matrix = simaai::kernels::matrix;

/// A negotiated tensor. Streaming thread.
struct Encoder {
  DenseSource source;
  std::size_t rows;
  std::size_t cols;
};

struct EncoderState {
  explicit EncoderState(GstElement* element) : outputs(element), refusals(element) {}
  bool require_zero_copy = false; ///< object lock
  PoolLimits limits;              ///< object lock
  std::optional<Encoder> encoder;
  bool forbids_copies = false; ///< copy of the setting, taken at start
  ElementStats stats;
  OutputPool outputs;
  CapsRefusals refusals;
};

} // namespace

struct _GstSimaaiTgmxEnc {
  GstBaseTransform parent;
  EncoderState* state;
};

#define gst_simaai_tgmx_enc_parent_class parent_class
G_DEFINE_FINAL_TYPE(GstSimaaiTgmxEnc, gst_simaai_tgmx_enc, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(simaaitgmxenc, "simaaitgmxenc", GST_RANK_NONE,
                                      GST_TYPE_SIMAAI_TGMX_ENC,
                                      GST_DEBUG_CATEGORY_INIT(gst_simaai_tgmx_enc_debug,
                                                              "simaaitgmxenc", 0, "TGMX encoder"))

namespace {

constexpr const char* kTgmxCaps = "application/x-tgmx";

enum Property : guint { PropRequireZeroCopy = 1, PropStats, PropMinBuffers, PropMaxBuffers };

EncoderState& state_of(gpointer object) noexcept { return *GST_SIMAAI_TGMX_ENC(object)->state; }
std::optional<Encoder>& encoder_of(gpointer object) noexcept { return state_of(object).encoder; }

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) noexcept {
  EncoderState& state = state_of(object);
  const ObjectLock lock(object);
  switch (id) {
  case PropRequireZeroCopy:
    state.require_zero_copy = g_value_get_boolean(value) != FALSE;
    break;
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
  const EncoderState& state = state_of(object);
  if (id == PropStats) {
    GstStructure* stats = state.stats.structure_with_conversions();
    state.outputs.describe(stats);
    g_value_take_boxed(value, stats);
    return;
  }
  const ObjectLock lock(object);
  switch (id) {
  case PropRequireZeroCopy:
    g_value_set_boolean(value, state.require_zero_copy);
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

void fail(gpointer object, ErrorKind kind, std::string reason, const GstCaps* caps) {
  Report report;
  report.reason = std::move(reason);
  report.sink_caps = caps;
  post_error(GST_ELEMENT_CAST(object), kind, report);
}

std::variant<Encoder, PortError> make_encoder(const GstCaps* caps) {
  const auto parsed = parse_tensor(*caps);
  const auto* info = std::get_if<TensorInfo>(&parsed);
  if (info == nullptr)
    return PortError{std::get_if<CapsError>(&parsed)->reason};
  const auto& spec = info->spec;
  if (spec.shape.rank() != 2)
    return PortError{"shape: a matrix has 2 axes, found " + std::to_string(spec.shape.rank())};
  for (const std::int64_t extent : spec.shape.extents())
    if (extent < 1 || !matrix::dimension_in_space(static_cast<std::size_t>(extent)))
      return PortError{"shape: an extent of a matrix is 1 to " +
                       std::to_string(matrix::kCoordSpace) + ", found " + std::to_string(extent)};
  auto created = DenseSource::create(spec);
  auto* source = std::get_if<DenseSource>(&created);
  if (source == nullptr)
    return *std::get_if<PortError>(&created);
  return Encoder{std::move(*source), static_cast<std::size_t>(spec.shape[0]),
                 static_cast<std::size_t>(spec.shape[1])};
}

GstCaps* on_transform_caps(GstBaseTransform* /*trans*/, GstPadDirection direction, GstCaps* caps,
                           GstCaps* filter) noexcept {
  GstPtr<GstCaps> across = direction == GST_PAD_SINK
                               ? GstPtr<GstCaps>(gst_caps_new_empty_simple(kTgmxCaps))
                               : any_layout_caps();
  if (direction == GST_PAD_SINK && !gst_caps_is_any(caps) && !gst_caps_is_empty(caps))
    copy_stream_fields(gst_caps_get_structure(caps, 0), across.get());
  if (filter != nullptr)
    across.reset(gst_caps_intersect_full(filter, across.get(), GST_CAPS_INTERSECT_FIRST));
  return across.release();
}

/// After caps were refused before on_set_caps was reached.
void diagnose_refusal(GstBaseTransform* trans, GstCaps* sink_caps) {
  const GstPtr<GstCaps> ours(on_transform_caps(trans, GST_PAD_SINK, sink_caps, nullptr));
  state_of(trans).refusals.explain(GST_BASE_TRANSFORM_SRC_PAD(trans), sink_caps, ours.get());
}

gboolean on_set_caps(GstBaseTransform* trans, GstCaps* sink_caps, GstCaps* /*src_caps*/) noexcept {
  auto made = make_encoder(sink_caps);
  if (auto* ready = std::get_if<Encoder>(
          &made)) { // else GstBaseTransform keeps the caps before, and so do we
    encoder_of(trans).emplace(std::move(*ready));
    state_of(trans).refusals.clear();
    return TRUE;
  }
  state_of(trans).refusals.report("sink caps: " + std::get_if<PortError>(&made)->reason, sink_caps,
                                  nullptr);
  return FALSE;
}

gboolean on_transform_size(GstBaseTransform* trans, GstPadDirection direction, GstCaps* /*caps*/,
                           gsize /*size*/, GstCaps* /*other_caps*/, gsize* other_size) noexcept {
  const auto& encoder = encoder_of(trans);
  if (!encoder)
    return FALSE;
  *other_size = direction == GST_PAD_SINK ? matrix::encoded_bytes(encoder->rows, encoder->cols)
                                          : encoder->source.needed_bytes();
  return TRUE;
}

std::string encode(Encoder& encoder, const std::byte* src, std::span<std::byte> dst) {
  std::string reason;
  const std::int8_t* elements = encoder.source.read(src, reason);
  if (elements == nullptr)
    return reason;
  const auto view =
      matrix::DynMatrixRef::create({elements, encoder.rows * encoder.cols}, encoder.rows,
                                   encoder.cols, matrix::DynOrder::RowMajor);
  (void)view->encode(dst); // dst has the size that transform_size asked for
  return reason;
}

GstFlowReturn on_transform(GstBaseTransform* trans, GstBuffer* input, GstBuffer* output) noexcept {
  const GstClockTime begun = gst_util_get_timestamp();
  EncoderState& state = state_of(trans);
  Encoder& encoder = *state.encoder;
  const std::size_t needed = matrix::encoded_bytes(encoder.rows, encoder.cols);
  if (gst_buffer_get_size(output) < needed) {
    fail(trans, ErrorKind::Data, "output buffer is shorter than the stream", nullptr);
    return GST_FLOW_ERROR;
  }
  gst_buffer_set_size(output, static_cast<gssize>(needed)); // a pool may hand out larger ones
  // Mapping merges memories, so they are counted before.
  const char* split = gst_buffer_n_memory(input) > 1    ? "input"
                      : gst_buffer_n_memory(output) > 1 ? "output"
                                                        : nullptr;
  const std::uint64_t taken = encoder.source.needed_bytes();
  BufferMap src(input, GST_MAP_READ);
  BufferMap dst(output, GST_MAP_WRITE);
  if (!src || !dst) {
    fail(trans, ErrorKind::Data, "a buffer cannot be mapped", nullptr);
    return GST_FLOW_ERROR;
  }
  const auto allow = [&](const char* port, const char* why) {
    return state.stats.allow_copy(GST_ELEMENT_CAST(trans), port, why, taken, state.forbids_copies);
  };
  if ((split != nullptr && !allow(split, kSeveralMemories)) ||
      (encoder.source.copies(src.data()) && !allow("input", kMisaligned)))
    return GST_FLOW_ERROR;
  if (encoder.source.converts())
    state.stats.count_conversion();
  const std::string reason = encode(encoder, src.data(), {dst.data(), needed});
  if (reason.empty()) {
    state.stats.count_frame(taken, needed, gst_util_get_timestamp() - begun);
    return GST_FLOW_OK;
  }
  fail(trans, ErrorKind::Data, reason, nullptr);
  return GST_FLOW_ERROR;
}

GstFlowReturn on_submit_input_buffer(GstBaseTransform* trans, gboolean is_discont,
                                     GstBuffer* buffer) noexcept {
  const auto& encoder = encoder_of(trans);
  Report report;
  report.found_bytes = gst_buffer_get_size(buffer);
  report.needed_bytes = encoder ? encoder->source.needed_bytes() : 0;
  if (*report.found_bytes < *report.needed_bytes) {
    gst_buffer_unref(buffer);
    report.reason = "input buffer is shorter than its caps say";
    post_error(GST_ELEMENT_CAST(trans), ErrorKind::Data, report);
    return GST_FLOW_ERROR;
  }
  const bool renegotiating = GST_PAD_NEEDS_RECONFIGURE(GST_BASE_TRANSFORM_SRC_PAD(trans));
  state_of(trans).refusals.begin_attempt();
  const GstFlowReturn flow = GST_BASE_TRANSFORM_CLASS(gst_simaai_tgmx_enc_parent_class)
                                 ->submit_input_buffer(trans, is_discont, buffer);
  if (!renegotiating || flow != GST_FLOW_NOT_NEGOTIATED)
    return flow;
  const GstPtr<GstCaps> caps(gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(trans)));
  if (caps)
    diagnose_refusal(trans, caps.get());
  return flow;
}

GstFlowReturn on_prepare_output_buffer(GstBaseTransform* trans, GstBuffer* input,
                                       GstBuffer** output) noexcept {
  const auto& encoder = encoder_of(trans);
  const std::uint64_t bytes = encoder ? matrix::encoded_bytes(encoder->rows, encoder->cols) : 0;
  return prepare_pooled_output(GST_BASE_TRANSFORM_CLASS(gst_simaai_tgmx_enc_parent_class), trans,
                               input, output, bytes);
}

gboolean on_decide_allocation(GstBaseTransform* trans, GstQuery* query) noexcept {
  const auto& encoder = encoder_of(trans);
  const std::size_t bytes = encoder ? matrix::encoded_bytes(encoder->rows, encoder->cols) : 0;
  PoolLimits limits;
  {
    const ObjectLock lock(trans);
    limits = state_of(trans).limits;
  }
  if (!negotiate_pool(query, static_cast<guint>(bytes), limits)) // at most 9 + 5 * 11172 * 11172
    return FALSE;
  state_of(trans).outputs.remember(query);
  return TRUE;
}

gboolean on_start(GstBaseTransform* trans) noexcept {
  EncoderState& state = state_of(trans);
  std::string problem;
  {
    const ObjectLock lock(trans);
    state.forbids_copies = state.require_zero_copy;
    problem = state.limits.problem();
  }
  if (!problem.empty()) {
    fail(trans, ErrorKind::Settings, std::move(problem), nullptr);
    return FALSE;
  }
  state.refusals.clear();
  state.stats.reset();
  state.outputs.start();
  return TRUE;
}

gboolean on_sink_event(GstBaseTransform* trans, GstEvent* event) noexcept {
  const GstEventType type = GST_EVENT_TYPE(event);
  if (type == GST_EVENT_FLUSH_START || type == GST_EVENT_FLUSH_STOP)
    set_pool_flushing(trans, type == GST_EVENT_FLUSH_START);
  auto* base = GST_BASE_TRANSFORM_CLASS(gst_simaai_tgmx_enc_parent_class);
  if (type != GST_EVENT_CAPS)
    return base->sink_event(trans, event);
  GstCaps* parsed = nullptr;
  gst_event_parse_caps(event, &parsed);
  const GstPtr<GstCaps> caps(gst_caps_ref(parsed));
  state_of(trans).refusals.begin_attempt();
  const gboolean taken = base->sink_event(trans, event);
  if (!taken)
    diagnose_refusal(trans, caps.get());
  return taken;
}

GstStateChangeReturn change_state(GstElement* element, GstStateChange transition) noexcept {
  if (transition == GST_STATE_CHANGE_PAUSED_TO_READY)
    set_pool_flushing(GST_BASE_TRANSFORM(element), true);
  return GST_ELEMENT_CLASS(gst_simaai_tgmx_enc_parent_class)->change_state(element, transition);
}

gboolean on_stop(GstBaseTransform* trans) noexcept {
  encoder_of(trans).reset();
  state_of(trans).outputs.stop();
  return TRUE;
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_TGMX_ENC(object)->state;
  G_OBJECT_CLASS(gst_simaai_tgmx_enc_parent_class)->finalize(object);
}

GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(kTgmxCaps));

} // namespace

static void gst_simaai_tgmx_enc_class_init(GstSimaaiTgmxEncClass* klass) {
  auto* object_class = G_OBJECT_CLASS(klass);
  object_class->set_property = set_property;
  object_class->get_property = get_property;
  object_class->finalize = finalize;
  install_zero_copy_property(object_class, PropRequireZeroCopy);
  install_matrix_stats_property(object_class, PropStats);
  install_pool_limits(object_class, PropMinBuffers, PropMaxBuffers);
  auto* element_class = GST_ELEMENT_CLASS(klass);
  element_class->change_state = change_state;
  gst_element_class_set_static_metadata(
      element_class, "TGMX encoder", "Codec/Encoder/Tensor",
      "Writes rank-2 int8 tensors of any layout as TGMX: coordinates and values, the same bytes "
      "from every layout",
      "SimaKernels developers");
  const auto sink = any_layout_caps();
  gst_element_class_add_pad_template(
      element_class, gst_pad_template_new("sink", GST_PAD_SINK, GST_PAD_ALWAYS, sink.get()));
  gst_element_class_add_static_pad_template(element_class, &src_template);

  auto* base = GST_BASE_TRANSFORM_CLASS(klass);
  base->transform_caps = on_transform_caps;
  base->set_caps = on_set_caps;
  base->transform_size = on_transform_size;
  base->submit_input_buffer = on_submit_input_buffer;
  base->sink_event = on_sink_event;
  base->decide_allocation = on_decide_allocation;
  base->prepare_output_buffer = on_prepare_output_buffer;
  base->transform = on_transform;
  base->start = on_start;
  base->stop = on_stop;
}

static void gst_simaai_tgmx_enc_init(GstSimaaiTgmxEnc* self) {
  self->state = new EncoderState(GST_ELEMENT_CAST(self));
  self->state->refusals.watch(GST_BASE_TRANSFORM_SINK_PAD(self));
  gst_base_transform_set_prefer_passthrough(GST_BASE_TRANSFORM(self), FALSE);
}
