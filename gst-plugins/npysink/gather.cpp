// SPDX-License-Identifier: LGPL-2.1-or-later
// Row-major copy of a strided tensor: whole runs where trailing axes are dense.
#include "gather.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace simaai::gst {
namespace {

/// Axes that are walked one by one, and the dense run of bytes behind each position.
struct Walk {
  std::array<std::int64_t, kernels::kMaxRank> strides{};
  std::size_t axes = 0;
  std::size_t run_bytes = 0;
};

Walk plan_walk(const kernels::TensorSpec& spec) {
  Walk walk;
  walk.axes = spec.shape.rank();
  walk.run_bytes = kernels::scalar_bytes(spec.dtype);
  const auto* strided = std::get_if<kernels::Strided>(&spec.layout);
  bool dense = true;
  for (std::size_t axis = spec.shape.rank(); axis-- > 0;) {
    const auto extent = static_cast<std::size_t>(spec.shape[axis]);
    const auto packed = static_cast<std::int64_t>(walk.run_bytes);
    // While everything is dense, packed is the row-major stride of this axis.
    const std::int64_t stride = strided != nullptr ? strided->strides_bytes[axis] : packed;
    walk.strides[axis] = stride;
    dense = dense && (extent == 1 || stride == packed);
    if (dense) {
      walk.run_bytes *= extent;
      walk.axes = axis;
    }
  }
  return walk;
}

} // namespace

void gather_row_major(const kernels::TensorSpec& spec, const std::byte* src, std::byte* dst) {
  for (const std::int64_t extent : spec.shape.extents())
    if (extent == 0)
      return;
  const Walk walk = plan_walk(spec);
  std::array<std::int64_t, kernels::kMaxRank> at{};
  while (true) {
    std::memcpy(dst, src, walk.run_bytes);
    dst += walk.run_bytes;
    std::size_t axis = walk.axes;
    while (axis > 0) {
      --axis;
      src += walk.strides[axis];
      if (++at[axis] < spec.shape[axis])
        break;
      src -= walk.strides[axis] * spec.shape[axis];
      at[axis] = 0;
      if (axis == 0)
        return;
    }
    if (walk.axes == 0)
      return;
  }
}

} // namespace simaai::gst
