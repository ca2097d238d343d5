// SPDX-License-Identifier: LGPL-2.1-or-later
// Byte arithmetic of linear tensors for elements that run no op: row-major strides, physical span.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include <simaai/kernels/tensor_spec.h>

#include "export.h"

namespace simaai::gst {

/// Row-major byte strides of a shape with rank at most kMaxRank; slots at or above the rank are 0.
/// Nothing where a product leaves the signed 64-bit range.
[[nodiscard]] SIMAAI_GST_API std::optional<std::array<std::int64_t, kernels::kMaxRank>>
row_major_strides(const kernels::Shape& shape, kernels::DType dtype) noexcept;

/// Bytes from the base address to the end of the last element: 0 for an empty tensor. Nothing for a
/// tiled layout, a negative extent or stride, a rank above kMaxRank, or an overflow.
[[nodiscard]] SIMAAI_GST_API std::optional<std::uint64_t>
linear_span_bytes(const kernels::TensorSpec& spec) noexcept;

/// True where the elements lie in row-major order without gaps: Contiguous, or Strided with those
/// strides. Strides of singleton axes do not matter.
[[nodiscard]] SIMAAI_GST_API bool is_dense(const kernels::TensorSpec& spec) noexcept;

/// Equality of two tensors that ignores strides of singleton axes.
[[nodiscard]] SIMAAI_GST_API bool equivalent(const kernels::TensorSpec& a,
                                             const kernels::TensorSpec& b);

} // namespace simaai::gst
