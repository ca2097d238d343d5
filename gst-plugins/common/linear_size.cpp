// SPDX-License-Identifier: LGPL-2.1-or-later
// Byte arithmetic of linear tensors; every product and sum is checked.
#include "linear_size.h"

#include <algorithm>

namespace simaai::gst {

using kernels::kMaxRank;

std::optional<std::array<std::int64_t, kMaxRank>> row_major_strides(const kernels::Shape& shape,
                                                                    kernels::DType dtype) noexcept {
  if (shape.rank() > kMaxRank)
    return std::nullopt;
  std::array<std::int64_t, kMaxRank> strides{};
  std::int64_t next = kernels::scalar_bytes(dtype);
  for (std::size_t axis = shape.rank(); axis-- > 0;) {
    strides[axis] = next;
    if (axis > 0 && __builtin_mul_overflow(next, shape[axis], &next))
      return std::nullopt;
  }
  return strides;
}

std::optional<std::uint64_t> linear_span_bytes(const kernels::TensorSpec& spec) noexcept {
  const kernels::Shape& shape = spec.shape;
  if (shape.rank() > kMaxRank)
    return std::nullopt;
  const auto extents = shape.extents();
  if (std::any_of(extents.begin(), extents.end(), [](std::int64_t n) { return n < 0; }))
    return std::nullopt;
  const bool linear = std::holds_alternative<kernels::Contiguous>(spec.layout) ||
                      std::holds_alternative<kernels::Strided>(spec.layout);
  if (!linear)
    return std::nullopt;
  if (std::find(extents.begin(), extents.end(), 0) != extents.end())
    return 0;

  std::array<std::int64_t, kMaxRank> strides{};
  if (const auto* strided = std::get_if<kernels::Strided>(&spec.layout)) {
    strides = strided->strides_bytes;
  } else {
    const auto dense = row_major_strides(shape, spec.dtype);
    if (!dense)
      return std::nullopt;
    strides = *dense;
  }
  std::int64_t span = kernels::scalar_bytes(spec.dtype);
  for (std::size_t axis = 0; axis < shape.rank(); ++axis) {
    std::int64_t reach = 0;
    if (extents[axis] == 1)
      continue;
    if (strides[axis] < 0 || __builtin_mul_overflow(extents[axis] - 1, strides[axis], &reach) ||
        __builtin_add_overflow(span, reach, &span))
      return std::nullopt;
  }
  return static_cast<std::uint64_t>(span);
}

bool is_dense(const kernels::TensorSpec& spec) noexcept {
  if (std::holds_alternative<kernels::Contiguous>(spec.layout))
    return true;
  const auto* strided = std::get_if<kernels::Strided>(&spec.layout);
  const auto dense = row_major_strides(spec.shape, spec.dtype);
  if (strided == nullptr || !dense)
    return false;
  for (std::size_t axis = 0; axis < spec.shape.rank(); ++axis)
    if (spec.shape[axis] != 1 && strided->strides_bytes[axis] != (*dense)[axis])
      return false;
  return true;
}

bool equivalent(const kernels::TensorSpec& a, const kernels::TensorSpec& b) {
  if (a.shape != b.shape || a.dtype != b.dtype || a.layout.index() != b.layout.index())
    return false;
  const auto* left = std::get_if<kernels::Strided>(&a.layout);
  if (left == nullptr)
    return a.layout == b.layout;
  const auto& right = std::get<kernels::Strided>(b.layout);
  for (std::size_t axis = 0; axis < std::min(a.shape.rank(), kMaxRank); ++axis)
    if (a.shape[axis] != 1 && left->strides_bytes[axis] != right.strides_bytes[axis])
      return false;
  return true;
}

} // namespace simaai::gst
