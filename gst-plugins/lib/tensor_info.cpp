// SPDX-License-Identifier: LGPL-2.1-or-later
// GstSimaaiTensorInfo: a C face of TensorInfo.
#include <algorithm>
#include <limits>
#include <span>
#include <string>

#include <simaai/kernels/ops/requirement.h>

#include "common/gst_ptr.h"
#include "common/linear_size.h"
#include "types.h"

namespace kernels = simaai::kernels;
using simaai::gst::CapsError;
using simaai::gst::TensorInfo;

static_assert(GST_SIMAAI_MAX_RANK == kernels::kMaxRank);
static_assert(GST_SIMAAI_DTYPE_INT8 == static_cast<int>(kernels::DType::Int8));
static_assert(GST_SIMAAI_DTYPE_FLOAT32 == static_cast<int>(kernels::DType::Float32));
static_assert(GST_SIMAAI_LAYOUT_MLA_CBLOCKED == std::variant_size_v<kernels::Layout> - 1);
static_assert(GST_SIMAAI_CHANNEL_STORAGE_PAD16 ==
              static_cast<int>(kernels::ChannelStorage::PadTo16));

namespace {

template <class From> std::array<gint, 4> to_four(const std::array<From, 4>& from) noexcept {
  std::array<gint, 4> four{};
  std::transform(from.begin(), from.end(), four.begin(),
                 [](From number) { return static_cast<gint>(number); });
  return four;
}

std::array<std::int64_t, 4> wide_four(const gint* four) noexcept {
  std::array<std::int64_t, 4> wide{};
  std::copy_n(four, wide.size(), wide.begin());
  return wide;
}

bool is_dtype(GstSimaaiDtype dtype) noexcept {
  return dtype >= GST_SIMAAI_DTYPE_INT8 && dtype <= GST_SIMAAI_DTYPE_FLOAT32;
}

/// The tile extents of a tiled tensor; null for a linear one.
const std::array<std::int64_t, 4>* tile_shape_of(const kernels::Layout& layout) noexcept {
  if (const auto* tiled = std::get_if<kernels::MlaTiled>(&layout))
    return &tiled->tile_shape;
  const auto* blocked = std::get_if<kernels::MlaCBlocked>(&layout);
  return blocked != nullptr ? &blocked->tile_shape : nullptr;
}

} // namespace

void _GstSimaaiTensorInfo::refresh() noexcept {
  const auto& spec = tensor.spec;
  std::transform(spec.shape.extents().begin(), spec.shape.extents().end(), shape.begin(),
                 [](std::int64_t extent) { return static_cast<gint>(extent); });
  has_strides = false;
  if (const auto* strided = std::get_if<kernels::Strided>(&spec.layout)) {
    has_strides = true;
    std::copy(strided->strides_bytes.begin(), strided->strides_bytes.end(), strides.begin());
  } else if (std::holds_alternative<kernels::Contiguous>(spec.layout)) {
    const auto dense = simaai::gst::row_major_strides(spec.shape, spec.dtype);
    has_strides = dense.has_value();
    if (dense)
      std::copy(dense->begin(), dense->end(), strides.begin());
  }
  if (const auto* extents = tile_shape_of(spec.layout))
    tile_shape = to_four(*extents);
  if (const auto* tiled = std::get_if<kernels::MlaTiled>(&spec.layout)) {
    tile_axes = to_four(tiled->axes);
  } else {
    const auto rank = static_cast<gint>(spec.shape.rank());
    // What blocked channels imply; lower ranks are refused, but have axes until then.
    tile_axes = {-1, std::max(rank - 3, -1), std::max(rank - 2, -1), rank - 1};
  }
}

namespace simaai::gst {

void set_error(GError** error, GstSimaaiError code, const std::string& reason) noexcept {
  g_set_error_literal(error, GST_SIMAAI_ERROR, static_cast<gint>(code), reason.c_str());
}

bool get_fraction(const std::optional<std::pair<int, int>>& fraction, gint* numerator,
                  gint* denominator) noexcept {
  if (numerator != nullptr)
    *numerator = fraction ? fraction->first : 0;
  if (denominator != nullptr)
    *denominator = fraction ? fraction->second : 1;
  return fraction.has_value();
}

std::optional<std::pair<int, int>> to_fraction(gint numerator, gint denominator) noexcept {
  if (denominator == 0)
    return std::nullopt;
  return std::pair(numerator, denominator);
}

bool check_fixed(const GstCaps* caps, GError** error) {
  if (gst_caps_is_fixed(caps) != FALSE)
    return true;
  const GTextPtr text(gst_caps_to_string(caps));
  set_error(error, GST_SIMAAI_ERROR_CAPS,
            std::string("the caps leave something open; expected one structure without ranges and "
                        "lists, found ") +
                text.get());
  return false;
}

namespace {

/// Bytes of a tensor that can be; else nothing, with an error set.
std::optional<guint64> size_of(const TensorInfo& tensor, GError** error) {
  if (const auto refused = field_problem(tensor)) {
    set_error(error, GST_SIMAAI_ERROR_TENSOR, refused->reason);
    return std::nullopt;
  }
  const auto needs = kernels::ops::port_requirement(tensor.spec);
  if (const auto* refused = std::get_if<kernels::Error>(&needs)) {
    set_error(error, GST_SIMAAI_ERROR_TENSOR, refused->message());
    return std::nullopt;
  }
  return std::get<kernels::ops::PortRequirement>(needs).bytes;
}

} // namespace
} // namespace simaai::gst

GQuark gst_simaai_error_quark(void) {
  static const GQuark quark = g_quark_from_static_string("gst-simaai-error-quark");
  return quark;
}

guint gst_simaai_dtype_get_bytes(GstSimaaiDtype dtype) {
  return is_dtype(dtype) ? kernels::scalar_bytes(static_cast<kernels::DType>(dtype)) : 0;
}

const gchar* gst_simaai_dtype_get_name(GstSimaaiDtype dtype) {
  return is_dtype(dtype) ? simaai::gst::dtype_name(static_cast<kernels::DType>(dtype)) : "unknown";
}

GType gst_simaai_tensor_info_get_type(void) {
  static const GType type = g_boxed_type_register_static(
      "GstSimaaiTensorInfo",
      [](gpointer info) -> gpointer {
        return gst_simaai_tensor_info_copy(static_cast<GstSimaaiTensorInfo*>(info));
      },
      [](gpointer info) { gst_simaai_tensor_info_free(static_cast<GstSimaaiTensorInfo*>(info)); });
  return type;
}

GstSimaaiTensorInfo* gst_simaai_tensor_info_new(GstSimaaiDtype dtype, const gint* shape,
                                                gsize rank) {
  g_return_val_if_fail(is_dtype(dtype), nullptr);
  g_return_val_if_fail(shape != nullptr || rank == 0, nullptr);
  auto* info = new GstSimaaiTensorInfo();
  info->tensor.spec.dtype = static_cast<kernels::DType>(dtype);
  if (gst_simaai_tensor_info_set_shape(info, shape, rank) != FALSE)
    return info;
  gst_simaai_tensor_info_free(info);
  return nullptr;
}

GstSimaaiTensorInfo* gst_simaai_tensor_info_new_from_caps(GstCaps* caps, GError** error) {
  g_return_val_if_fail(GST_IS_CAPS(caps), nullptr);
  auto parsed = simaai::gst::parse_tensor(*caps);
  if (const auto* refused = std::get_if<CapsError>(&parsed)) {
    simaai::gst::set_error(error, GST_SIMAAI_ERROR_CAPS, refused->reason);
    return nullptr;
  }
  if (!simaai::gst::check_fixed(caps, error))
    return nullptr;
  if (std::get<TensorInfo>(parsed).offset_bytes) {
    simaai::gst::set_error(error, GST_SIMAAI_ERROR_CAPS, simaai::gst::kOffsetOutsideSet);
    return nullptr;
  }
  auto* info = new GstSimaaiTensorInfo();
  info->tensor = std::get<TensorInfo>(std::move(parsed));
  info->refresh();
  return info;
}

GstSimaaiTensorInfo* gst_simaai_tensor_info_copy(const GstSimaaiTensorInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return new GstSimaaiTensorInfo(*info);
}

void gst_simaai_tensor_info_free(GstSimaaiTensorInfo* info) { delete info; }

GstCaps* gst_simaai_tensor_info_to_caps(const GstSimaaiTensorInfo* info, GError** error) {
  g_return_val_if_fail(info != nullptr, nullptr);
  if (!simaai::gst::size_of(info->tensor, error))
    return nullptr;
  TensorInfo alone = info->tensor;
  alone.offset_bytes.reset(); // its place among others
  return simaai::gst::to_caps(alone);
}

gboolean gst_simaai_tensor_info_get_size(const GstSimaaiTensorInfo* info, guint64* bytes,
                                         GError** error) {
  g_return_val_if_fail(info != nullptr && bytes != nullptr, FALSE);
  const auto found = simaai::gst::size_of(info->tensor, error);
  if (found)
    *bytes = *found;
  return found ? TRUE : FALSE;
}

guint gst_simaai_tensor_info_get_alignment(const GstSimaaiTensorInfo* info) {
  g_return_val_if_fail(info != nullptr, 1);
  const auto& spec = info->tensor.spec;
  return tile_shape_of(spec.layout) != nullptr ? 16 : kernels::scalar_bytes(spec.dtype);
}

GstSimaaiDtype gst_simaai_tensor_info_get_dtype(const GstSimaaiTensorInfo* info) {
  g_return_val_if_fail(info != nullptr, GST_SIMAAI_DTYPE_INT8);
  return static_cast<GstSimaaiDtype>(info->tensor.spec.dtype);
}

void gst_simaai_tensor_info_set_dtype(GstSimaaiTensorInfo* info, GstSimaaiDtype dtype) {
  g_return_if_fail(info != nullptr && is_dtype(dtype));
  info->tensor.spec.dtype = static_cast<kernels::DType>(dtype);
  info->refresh();
}

const gint* gst_simaai_tensor_info_get_shape(const GstSimaaiTensorInfo* info, gsize* rank) {
  g_return_val_if_fail(info != nullptr && rank != nullptr, nullptr);
  *rank = info->tensor.spec.shape.rank();
  return info->shape.data();
}

gboolean gst_simaai_tensor_info_set_shape(GstSimaaiTensorInfo* info, const gint* shape,
                                          gsize rank) {
  g_return_val_if_fail(info != nullptr && (shape != nullptr || rank == 0), FALSE);
  if (rank > kernels::kMaxRank)
    return FALSE;
  std::array<std::int64_t, kernels::kMaxRank> extents{};
  std::copy_n(shape, rank, extents.begin());
  info->tensor.spec.shape = kernels::Shape(std::span<const std::int64_t>(extents.data(), rank));
  info->refresh();
  return TRUE;
}

GstSimaaiLayout gst_simaai_tensor_info_get_layout(const GstSimaaiTensorInfo* info) {
  g_return_val_if_fail(info != nullptr, GST_SIMAAI_LAYOUT_CONTIGUOUS);
  return static_cast<GstSimaaiLayout>(info->tensor.spec.layout.index());
}

void gst_simaai_tensor_info_set_contiguous(GstSimaaiTensorInfo* info) {
  g_return_if_fail(info != nullptr);
  info->tensor.spec.layout = kernels::Contiguous{};
  info->refresh();
}

const gint64* gst_simaai_tensor_info_get_strides(const GstSimaaiTensorInfo* info, gsize* rank) {
  g_return_val_if_fail(info != nullptr && rank != nullptr, nullptr);
  *rank = info->has_strides ? info->tensor.spec.shape.rank() : 0;
  return info->has_strides ? info->strides.data() : nullptr;
}

gboolean gst_simaai_tensor_info_set_strided(GstSimaaiTensorInfo* info, const gint64* strides,
                                            gsize rank) {
  g_return_val_if_fail(info != nullptr && (strides != nullptr || rank == 0), FALSE);
  if (rank != info->tensor.spec.shape.rank())
    return FALSE;
  kernels::Strided strided;
  std::copy_n(strides, rank, strided.strides_bytes.begin());
  info->tensor.spec.layout = strided;
  info->refresh();
  return TRUE;
}

const gint* gst_simaai_tensor_info_get_tile_axes(const GstSimaaiTensorInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return tile_shape_of(info->tensor.spec.layout) != nullptr ? info->tile_axes.data() : nullptr;
}

const gint* gst_simaai_tensor_info_get_tile_axes_array(const GstSimaaiTensorInfo* info,
                                                       gsize* count) {
  g_return_val_if_fail(info != nullptr && count != nullptr, nullptr);
  const gint* axes = gst_simaai_tensor_info_get_tile_axes(info);
  *count = axes != nullptr ? info->tile_axes.size() : 0;
  return axes;
}

const gint* gst_simaai_tensor_info_get_tile_shape(const GstSimaaiTensorInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return tile_shape_of(info->tensor.spec.layout) != nullptr ? info->tile_shape.data() : nullptr;
}

const gint* gst_simaai_tensor_info_get_tile_shape_array(const GstSimaaiTensorInfo* info,
                                                        gsize* count) {
  g_return_val_if_fail(info != nullptr && count != nullptr, nullptr);
  const gint* extents = gst_simaai_tensor_info_get_tile_shape(info);
  *count = extents != nullptr ? info->tile_shape.size() : 0;
  return extents;
}

GstSimaaiChannelStorage
gst_simaai_tensor_info_get_channel_storage(const GstSimaaiTensorInfo* info) {
  g_return_val_if_fail(info != nullptr, GST_SIMAAI_CHANNEL_STORAGE_COMPACT);
  const auto& layout = info->tensor.spec.layout;
  if (const auto* tiled = std::get_if<kernels::MlaTiled>(&layout))
    return static_cast<GstSimaaiChannelStorage>(tiled->channels);
  return std::holds_alternative<kernels::MlaCBlocked>(layout) ? GST_SIMAAI_CHANNEL_STORAGE_PAD16
                                                              : GST_SIMAAI_CHANNEL_STORAGE_COMPACT;
}

void gst_simaai_tensor_info_set_mla_tiled(GstSimaaiTensorInfo* info, const gint* axes,
                                          const gint* tile_shape, GstSimaaiChannelStorage storage) {
  g_return_if_fail(info != nullptr && axes != nullptr && tile_shape != nullptr);
  g_return_if_fail(storage == GST_SIMAAI_CHANNEL_STORAGE_COMPACT ||
                   storage == GST_SIMAAI_CHANNEL_STORAGE_PAD16);
  kernels::MlaTiled tiled;
  std::copy_n(axes, tiled.axes.size(), tiled.axes.begin());
  tiled.tile_shape = wide_four(tile_shape);
  tiled.channels = static_cast<kernels::ChannelStorage>(storage);
  info->tensor.spec.layout = tiled;
  info->refresh();
}

void gst_simaai_tensor_info_set_mla_cblocked(GstSimaaiTensorInfo* info, const gint* tile_shape) {
  g_return_if_fail(info != nullptr && tile_shape != nullptr);
  info->tensor.spec.layout = kernels::MlaCBlocked{wide_four(tile_shape)};
  info->refresh();
}

gboolean gst_simaai_tensor_info_get_quantization(const GstSimaaiTensorInfo* info, gdouble* scale,
                                                 gint* zero_point) {
  g_return_val_if_fail(info != nullptr, FALSE);
  const TensorInfo& tensor = info->tensor;
  if (scale != nullptr)
    *scale = tensor.quant_scale.value_or(1);
  if (zero_point != nullptr)
    *zero_point = tensor.quant_zero_point.value_or(0);
  return tensor.quant_scale || tensor.quant_zero_point ? TRUE : FALSE;
}

void gst_simaai_tensor_info_set_quantization(GstSimaaiTensorInfo* info, gdouble scale,
                                             gint zero_point) {
  g_return_if_fail(info != nullptr);
  info->tensor.quant_scale = scale;
  info->tensor.quant_zero_point = zero_point;
}

void gst_simaai_tensor_info_unset_quantization(GstSimaaiTensorInfo* info) {
  g_return_if_fail(info != nullptr);
  info->tensor.quant_scale.reset();
  info->tensor.quant_zero_point.reset();
}

const gchar* gst_simaai_tensor_info_get_tensor_id(const GstSimaaiTensorInfo* info) {
  g_return_val_if_fail(info != nullptr, nullptr);
  return info->tensor.tensor_id ? info->tensor.tensor_id->c_str() : nullptr;
}

void gst_simaai_tensor_info_set_tensor_id(GstSimaaiTensorInfo* info, const gchar* id) {
  g_return_if_fail(info != nullptr);
  if (id != nullptr)
    info->tensor.tensor_id = std::string(id); // `id` may be what the getter returned
  else
    info->tensor.tensor_id.reset();
}

gboolean gst_simaai_tensor_info_get_framerate(const GstSimaaiTensorInfo* info, gint* numerator,
                                              gint* denominator) {
  g_return_val_if_fail(info != nullptr, FALSE);
  return simaai::gst::get_fraction(info->tensor.framerate, numerator, denominator) ? TRUE : FALSE;
}

void gst_simaai_tensor_info_set_framerate(GstSimaaiTensorInfo* info, gint numerator,
                                          gint denominator) {
  g_return_if_fail(info != nullptr);
  info->tensor.framerate = simaai::gst::to_fraction(numerator, denominator);
}

gint64 gst_simaai_tensor_info_get_offset(const GstSimaaiTensorInfo* info) {
  g_return_val_if_fail(info != nullptr, -1);
  return info->tensor.offset_bytes.value_or(-1);
}

void gst_simaai_tensor_info_set_offset(GstSimaaiTensorInfo* info, gint64 offset) {
  g_return_if_fail(info != nullptr);
  if (offset != -1)
    info->tensor.offset_bytes = offset;
  else
    info->tensor.offset_bytes.reset();
}
