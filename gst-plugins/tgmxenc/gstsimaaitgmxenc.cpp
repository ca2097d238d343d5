// SPDX-License-Identifier: LGPL-2.1-or-later
// simaaitgmxenc: a tensor of any layout becomes coordinates and values.
#include "gstsimaaitgmxenc.h"

#include <optional>

#include <simaai/kernels/matrix/dyn_matrix.h>

#include "common/caps_spec.h"
#include "common/errors.h"
#include "common/gst_ptr.h"
#include "matmul/dense_port.h"
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

} // namespace

struct _GstSimaaiTgmxEnc {
  GstBaseTransform parent;
  std::optional<Encoder>* encoder;
};

#define gst_simaai_tgmx_enc_parent_class parent_class
G_DEFINE_FINAL_TYPE(GstSimaaiTgmxEnc, gst_simaai_tgmx_enc, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE_WITH_CODE(simaaitgmxenc, "simaaitgmxenc", GST_RANK_NONE,
                                      GST_TYPE_SIMAAI_TGMX_ENC,
                                      GST_DEBUG_CATEGORY_INIT(gst_simaai_tgmx_enc_debug,
                                                              "simaaitgmxenc", 0, "TGMX encoder"))

namespace {

constexpr const char* kTgmxCaps = "application/x-tgmx";

std::optional<Encoder>& encoder_of(gpointer object) noexcept {
  return *GST_SIMAAI_TGMX_ENC(object)->encoder;
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
  Encoder& encoder = *encoder_of(trans);
  const std::size_t needed = matrix::encoded_bytes(encoder.rows, encoder.cols);
  if (gst_buffer_get_size(output) < needed) {
    fail(trans, ErrorKind::Data, "output buffer is shorter than the stream", nullptr);
    return GST_FLOW_ERROR;
  }
  gst_buffer_set_size(output, static_cast<gssize>(needed)); // a pool may hand out larger ones
  GstMapInfo src;
  GstMapInfo dst;
  if (gst_buffer_map(input, &src, GST_MAP_READ) == FALSE)
    return GST_FLOW_ERROR;
  if (gst_buffer_map(output, &dst, GST_MAP_WRITE) == FALSE) {
    gst_buffer_unmap(input, &src);
    return GST_FLOW_ERROR;
  }
  const std::string reason = encode(encoder, reinterpret_cast<const std::byte*>(src.data),
                                    {reinterpret_cast<std::byte*>(dst.data), dst.size});
  gst_buffer_unmap(output, &dst);
  gst_buffer_unmap(input, &src);
  if (reason.empty())
    return GST_FLOW_OK;
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

gboolean on_stop(GstBaseTransform* trans) noexcept {
  encoder_of(trans).reset();
  return TRUE;
}

void finalize(GObject* object) noexcept {
  delete GST_SIMAAI_TGMX_ENC(object)->encoder;
  G_OBJECT_CLASS(gst_simaai_tgmx_enc_parent_class)->finalize(object);
}

GstStaticPadTemplate src_template =
    GST_STATIC_PAD_TEMPLATE("src", GST_PAD_SRC, GST_PAD_ALWAYS, GST_STATIC_CAPS(kTgmxCaps));

} // namespace

static void gst_simaai_tgmx_enc_class_init(GstSimaaiTgmxEncClass* klass) {
  G_OBJECT_CLASS(klass)->finalize = finalize;
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
  base->transform = on_transform;
  base->stop = on_stop;
}

static void gst_simaai_tgmx_enc_init(GstSimaaiTgmxEnc* self) {
  self->encoder = new std::optional<Encoder>();
  gst_base_transform_set_prefer_passthrough(GST_BASE_TRANSFORM(self), FALSE);
}
