// SPDX-License-Identifier: LGPL-2.1-or-later
// Core geometry of a TensorSpec, for backends that lower an admitted plan.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include <simaai/kernels/tensor_spec.h>

#include "core/tile_geometry.h"

namespace simaai::kernels::ops::detail {

/// Positions of the alternatives in Layout, used in masks and errors.
inline constexpr std::size_t kContiguousIndex = 0;
inline constexpr std::size_t kStridedIndex = 1;
inline constexpr std::size_t kMlaTiledIndex = 2;
inline constexpr std::size_t kMlaCBlockedIndex = 3;
inline constexpr std::size_t kLayoutCount = 4;
static_assert(std::variant_size_v<Layout> == kLayoutCount);
static_assert(kMaxRank == core::kMaxAxes);

/// True for MlaTiled and MlaCBlocked.
[[nodiscard]] constexpr bool is_tiled(const TensorSpec& spec) noexcept {
  return spec.layout.index() == kMlaTiledIndex || spec.layout.index() == kMlaCBlockedIndex;
}

/// Description of a tiled spec whose fields are checked. It points at the extents of `spec`, which
/// must outlive it. D, H, W, C axes of MlaCBlocked are -1 and the last three axes.
[[nodiscard]] core::TileDescription tile_description(const TensorSpec& spec) noexcept;

/// Geometry of the tiled port of an admitted plan, or of a spec that port_requirement() accepts.
[[nodiscard]] core::TileGeometry tile_geometry(const TensorSpec& spec) noexcept;

/// Byte strides of the linear port of an admitted plan: row-major for Contiguous (zeros where an
/// extent is zero), as given for Strided with zeros on axes of extent one and at or above the rank.
[[nodiscard]] std::array<std::int64_t, kMaxRank> linear_strides(const TensorSpec& spec) noexcept;

} // namespace simaai::kernels::ops::detail
