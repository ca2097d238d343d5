// SPDX-License-Identifier: LGPL-2.1-or-later
// Dense tensors as GstTensorMeta.
#include "tensor_meta.h"

#if SIMAAI_HAVE_TENSOR_META

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include <gst/analytics/analytics.h>

#include "gst_ptr.h"
#include "linear_size.h"
#include "tensor_part.h"

namespace simaai::gst {
namespace {

using kernels::DType;

GstTensorDataType data_type_of(DType dtype) noexcept {
  switch (dtype) {
  case DType::Int8:
    return GST_TENSOR_DATA_TYPE_INT8;
  case DType::UInt8:
    return GST_TENSOR_DATA_TYPE_UINT8;
  case DType::Int32:
    return GST_TENSOR_DATA_TYPE_INT32;
  case DType::Float16:
    return GST_TENSOR_DATA_TYPE_FLOAT16;
  case DType::BFloat16:
    return GST_TENSOR_DATA_TYPE_BFLOAT16;
  case DType::Float32:
    return GST_TENSOR_DATA_TYPE_FLOAT32;
  }
  return GST_TENSOR_DATA_TYPE_UINT8;
}

/// Null where the bytes are not in one memory.
GstTensor* tensor_of(GstBuffer* buffer, const TensorInfo& info, const PortLayout& layout,
                     std::size_t index) {
  auto memory = share_tensor(buffer, layout, index);
  if (memory == nullptr)
    return nullptr;
  GstBuffer* data = gst_buffer_new();
  gst_buffer_append_memory(data, memory.release());
  const auto extents = info.spec.shape.extents();
  std::array<gsize, kernels::kMaxRank> dims{};
  std::transform(extents.begin(), extents.end(), dims.begin(),
                 [](std::int64_t extent) { return static_cast<gsize>(extent); });
  // A scalar has one dimension there.
  const std::size_t rank = std::max<std::size_t>(extents.size(), 1);
  if (extents.empty())
    dims[0] = 1;
  const GQuark id = info.tensor_id ? g_quark_from_string(info.tensor_id->c_str()) : 0;
  return gst_tensor_new_simple(id, data_type_of(info.spec.dtype), data,
                               GST_TENSOR_DIM_ORDER_ROW_MAJOR, rank, dims.data());
}

} // namespace

bool knows_tensor_meta() noexcept { return true; }

bool wants_tensor_meta(GstQuery* query) noexcept {
  return gst_query_find_allocation_meta(query, GST_TENSOR_META_API_TYPE, nullptr) != FALSE;
}

void add_tensor_meta(GstBuffer* buffer, const TensorSet& set, const PortLayout& layout) {
  const bool dense = std::all_of(set.tensors.begin(), set.tensors.end(),
                                 [](const TensorInfo& info) { return is_dense(info.spec); });
  if (!dense || gst_buffer_get_tensor_meta(buffer) != nullptr)
    return;
  std::vector<GstTensor*> tensors;
  for (std::size_t i = 0; i < set.tensors.size(); ++i) {
    GstTensor* tensor = tensor_of(buffer, set.tensors[i], layout, i);
    if (tensor == nullptr) {
      for (GstTensor* made : tensors)
        gst_tensor_free(made);
      return;
    }
    tensors.push_back(tensor);
  }
  // The meta takes an array of GLib and what is in it.
  auto** taken = g_new(GstTensor*, tensors.size());
  std::copy(tensors.begin(), tensors.end(), taken);
  gst_tensor_meta_set(gst_buffer_add_tensor_meta(buffer), static_cast<guint>(tensors.size()),
                      taken);
}

} // namespace simaai::gst

#else

namespace simaai::gst {

bool knows_tensor_meta() noexcept { return false; }
bool wants_tensor_meta(GstQuery* /*query*/) noexcept { return false; }
void add_tensor_meta(GstBuffer* /*buffer*/, const TensorSet& /*set*/,
                     const PortLayout& /*layout*/) {}

} // namespace simaai::gst

#endif
