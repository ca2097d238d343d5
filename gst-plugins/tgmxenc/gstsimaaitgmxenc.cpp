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
  bool require_zero_copy = false; ///< object lock
  std::optional<Encoder> encoder;
  bool forbids_copies = false; ///< copy of the setting, taken at start
  ElementStats stats;
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

enum Property : guint { PropRequireZeroCopy = 1, PropStats };

EncoderState& state_of(gpointer object) noexcept { return *GST_SIMAAI_TGMX_ENC(object)->state; }
std::optional<Encoder>& encoder_of(gpointer object) noexcept { return state_of(object).encoder; }

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) noexcept {
  if (id != PropRequireZeroCopy) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
    return;
  }
  const ObjectLock lock(object);
  state_of(object).require_zero_copy = g_value_get_boolean(value) != FALSE;
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) noexcept {
  switch (id) {
  case PropRequireZeroCopy: {
    const ObjectLock lock(object);
    g_value_set_boolean(value, state_of(object).require_zero_copy);
    break;
  }
  case PropStats:
    g_value_take_boxed(value, state_of(object).stats.structure_with_conversions());
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

gboolean on_set_caps(GstBaseTransform* trans, GstCaps* sink_caps, GstCaps* /*src_caps*/) noexcept {
  auto& encoder = encoder_of(trans);
  encoder.reset();
  auto made = make_encoder(sink_caps);
  if (auto* ready = std::get_if<Encoder>(&made)) {
    encoder.emplace(std::move(*ready));
    return TRUE;
  }
  fail(trans, ErrorKind::Negotiation, "sink caps: " + std::get_if<PortError>(&made)->reason,
       sink_caps);
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
  if (*report.found_bytes >= *report.needed_bytes)
    return GST_BASE_TRANSFORM_CLASS(gst_simaai_tgmx_enc_parent_class)
        ->submit_input_buffer(trans, is_discont, buffer);
  gst_buffer_unref(buffer);
  report.reason = "input buffer is shorter than its caps say";
  post_error(GST_ELEMENT_CAST(trans), ErrorKind::Data, report);
  return GST_FLOW_ERROR;
}

GstFlowReturn on_prepare_output_buffer(GstBaseTransform* trans, GstBuffer* input,
                                       GstBuffer** output) noexcept {
  const auto& encoder = encoder_of(trans);
  const std::uint64_t bytes = encoder ? matrix::encoded_bytes(encoder->rows, encoder->cols) : 0;
  return prepare_pooled_output(GST_BASE_TRANSFORM_CLASS(gst_simaai_tgmx_enc_parent_class), trans,
                               input, output, bytes);
}

gboolean on_start(GstBaseTransform* trans) noexcept {
  EncoderState& state = state_of(trans);
  state.stats.reset();
  const ObjectLock lock(trans);
  state.forbids_copies = state.require_zero_copy;
  return TRUE;
}

gboolean on_stop(GstBaseTransform* trans) noexcept {
  encoder_of(trans).reset();
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
  auto* element_class = GST_ELEMENT_CLASS(klass);
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
  base->prepare_output_buffer = on_prepare_output_buffer;
  base->transform = on_transform;
  base->start = on_start;
  base->stop = on_stop;
}

static void gst_simaai_tgmx_enc_init(GstSimaaiTgmxEnc* self) {
  self->state = new EncoderState();
  gst_base_transform_set_prefer_passthrough(GST_BASE_TRANSFORM(self), FALSE);
}
