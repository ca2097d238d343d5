// SPDX-License-Identifier: LGPL-2.1-or-later
// Loop bounds of the plain loops.
#include "plain.h"

#include <stdexcept>
#include <variant>

namespace simaai::bench {

using kernels::TensorSpec;

namespace {

std::array<std::int64_t, kernels::kMaxRank> element_strides(const TensorSpec& spec) {
  std::array<std::int64_t, kernels::kMaxRank> strides{};
  const auto* strided = std::get_if<kernels::Strided>(&spec.layout);
  std::int64_t dense = 1;
  for (std::size_t axis = spec.shape.rank(); axis-- > 0;) {
    strides[axis] = strided != nullptr
                        ? strided->strides_bytes[axis] / kernels::scalar_bytes(spec.dtype)
                        : dense;
    dense *= spec.shape[axis];
  }
  return strides;
}

} // namespace

PlainTiles plain_tiles(const Case& bench_case) {
  const TensorSpec& tiled = *tiled_side(bench_case);
  const TensorSpec& linear = is_tiled(bench_case.input) ? bench_case.output : bench_case.input;
  const auto rank = static_cast<std::int32_t>(tiled.shape.rank());
  const auto strides = element_strides(linear);
  PlainTiles tiles;
  std::array<std::int32_t, 4> axes{-1, rank - 3, rank - 2, rank - 1};
  if (const auto* layout = std::get_if<kernels::MlaTiled>(&tiled.layout)) {
    axes = layout->axes;
    tiles.tile = layout->tile_shape;
    tiles.pad16 = layout->channels == kernels::ChannelStorage::PadTo16;
  } else {
    tiles.tile = std::get<kernels::MlaCBlocked>(tiled.layout).tile_shape;
    tiles.blocked = true;
  }
  std::array<bool, kernels::kMaxRank> mapped{};
  for (std::size_t role = 0; role < 4; ++role)
    if (axes[role] >= 0) {
      const auto axis = static_cast<std::size_t>(axes[role]);
      mapped[axis] = true;
      tiles.extent[role] = tiled.shape[axis];
      tiles.stride[role] = strides[axis];
    }
  for (std::size_t axis = 0; axis < tiled.shape.rank(); ++axis) {
    if (mapped[axis] || tiled.shape[axis] == 1)
      continue;
    if (tiles.slices != 1)
      throw std::runtime_error("the plain loop has one outer axis: " + bench_case.name);
    tiles.slices = tiled.shape[axis];
    tiles.slice_stride = strides[axis];
  }
  tiles.fill = static_cast<std::uint8_t>(bench_case.fill);
  return tiles;
}

PlainLinear plain_linear(const Case& bench_case) {
  PlainLinear linear;
  const std::size_t rank = bench_case.input.shape.rank();
  if (bench_case.linear == Linear::Dense) {
    linear.extent[3] = static_cast<std::int64_t>(element_count(bench_case.input.shape));
    linear.src_stride[3] = 1;
    linear.dst_stride[3] = 1;
    return linear;
  }
  if (rank > 4)
    throw std::runtime_error("the plain loop has four axes: " + bench_case.name);
  const auto src = element_strides(bench_case.input);
  const auto dst = element_strides(bench_case.output);
  for (std::size_t axis = 0; axis < rank; ++axis) {
    linear.extent[4 - rank + axis] = bench_case.input.shape[axis];
    linear.src_stride[4 - rank + axis] = src[axis];
    linear.dst_stride[4 - rank + axis] = dst[axis];
  }
  return linear;
}

} // namespace simaai::bench
