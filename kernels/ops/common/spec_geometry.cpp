// SPDX-License-Identifier: LGPL-2.1-or-later
// Translation of layouts into core descriptions.
#include "ops/common/spec_geometry.h"

#include <algorithm>
#include <variant>

namespace simaai::kernels::ops::detail {

core::TileDescription tile_description(const TensorSpec& spec) noexcept {
  core::TileDescription description;
  description.extents = spec.shape.extents().data();
  description.rank = spec.shape.extents().size();
  description.planes = scalar_bytes(spec.dtype);
  if (const auto* tiled = std::get_if<MlaTiled>(&spec.layout)) {
    std::copy(tiled->axes.begin(), tiled->axes.end(), description.axes);
    std::copy(tiled->tile_shape.begin(), tiled->tile_shape.end(), description.tile_shape);
    description.storage = tiled->channels == ChannelStorage::PadTo16 ? core::TileStorage::PadTo16
                                                                     : core::TileStorage::Compact;
  } else if (const auto* blocked = std::get_if<MlaCBlocked>(&spec.layout)) {
    for (core::TileAxis axis = core::kAxisH; axis < core::kTileAxes; ++axis)
      description.axes[axis] = static_cast<std::int32_t>(description.rank + axis - core::kTileAxes);
    std::copy(blocked->tile_shape.begin(), blocked->tile_shape.end(), description.tile_shape);
    description.storage = core::TileStorage::CBlocked;
  }
  return description;
}

core::TileGeometry tile_geometry(const TensorSpec& spec) noexcept {
  core::TileGeometry geometry;
  if (!core::derive_tile_geometry(tile_description(spec), &geometry))
    return {};
  return geometry;
}

std::array<std::int64_t, kMaxRank> linear_strides(const TensorSpec& spec) noexcept {
  std::array<std::int64_t, kMaxRank> strides{};
  const auto extents = spec.shape.extents();
  if (const auto* strided = std::get_if<Strided>(&spec.layout)) {
    for (std::size_t axis = 0; axis < extents.size(); ++axis)
      strides[axis] = extents[axis] > 1 ? strided->strides_bytes[axis] : 0;
    return strides;
  }
  const core::StrideProof proof = core::row_major_strides(extents.data(), extents.size(),
                                                          scalar_bytes(spec.dtype), strides.data());
  if (proof.fault != core::StrideFault::None)
    return {};
  return strides;
}

} // namespace simaai::kernels::ops::detail
