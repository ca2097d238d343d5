// SPDX-License-Identifier: LGPL-2.1-or-later
// Folding of axes and the choice of staging for packets that write tiles.
#include "firmware/common/tiling/tile_plan.h"

#include "core/stride_proof.h"
#include "wire/check.h"
#include "wire/rules.h"

namespace simaai::firmware::tiling {
namespace {

using kernels::core::kAxisC;
using kernels::core::kAxisD;
using kernels::core::kAxisH;
using kernels::core::kAxisW;
using kernels::core::kTileAxes;
using kernels::core::TileAxis;
using kernels::core::TileGeometry;
using kernels::wire::Descriptor;
using kernels::wire::DTypeTag;

/// Stored bytes that are worth a worker.
constexpr std::uint32_t kLeastShareBytes = 512;

constexpr SourceKind kind_of(DTypeTag tag) noexcept {
  switch (tag) {
  case DTypeTag::Int8:
    return SourceKind::Int8;
  case DTypeTag::BFloat16:
    return SourceKind::BFloat16;
  case DTypeTag::Float16:
    return SourceKind::Float16;
  case DTypeTag::Float32:
    return SourceKind::Float32;
  }
  return SourceKind::BFloat16;
}

/// Spatial and channel axes as a description of their own, before geometry is derived again.
struct Axes {
  std::int64_t extent[kTileAxes];
  std::int64_t tile[kTileAxes];
  std::uint32_t stride[kTileAxes];
};

/// Folds axis `outer` into `inner` where every tile covers `inner` whole and the source walks both
/// like one axis: pixel order in the tiles and tile order stay the same.
void fold(Axes& axes, TileAxis outer, TileAxis inner) noexcept {
  if (axes.tile[inner] != axes.extent[inner])
    return;
  const bool one_step =
      axes.extent[outer] == 1 || axes.extent[inner] == 1 ||
      axes.stride[outer] == static_cast<std::uint64_t>(axes.extent[inner]) * axes.stride[inner];
  if (!one_step)
    return;
  if (axes.extent[inner] == 1)
    axes.stride[inner] = axes.stride[outer];
  axes.extent[inner] *= axes.extent[outer];
  axes.tile[inner] *= axes.tile[outer];
  axes.extent[outer] = 1;
  axes.tile[outer] = 1;
}

/// The geometry of the folded axes; outer ones keep their order.
void derive(const Axes& axes, const TileGeometry& whole, Plan& plan) noexcept {
  std::int64_t extents[kTileAxes + 1] = {axes.extent[0], axes.extent[1], axes.extent[2],
                                         axes.extent[3], whole.outer_slices};
  kernels::core::TileDescription description;
  description.extents = extents;
  description.rank = kTileAxes + 1;
  for (TileAxis axis = 0; axis < kTileAxes; ++axis) {
    description.axes[axis] = static_cast<std::int32_t>(axis);
    description.tile_shape[axis] = axes.tile[axis];
    plan.strides[axis] = axes.stride[axis];
  }
  description.storage = whole.storage;
  description.planes = whole.planes;
  // Cannot fail: sizes are those of the admitted packet.
  (void)kernels::core::derive_tile_geometry(description, &plan.geometry);
  // Of the outer axes only the source strides matter.
  plan.geometry.outer_count = whole.outer_count;
  for (std::uint32_t i = 0; i < whole.outer_count; ++i)
    plan.geometry.outer_extent[i] = whole.outer_extent[i];
}

void choose_staging(Plan& plan) noexcept {
  const TileGeometry& g = plan.geometry;
  if (plan.strides[kAxisC] == plan.width || g.extent[kAxisC] == 1)
    plan.staging = Staging::PixelMajor;
  else if (plan.strides[kAxisW] == plan.width)
    plan.staging = Staging::ChannelMajor;
  else
    plan.staging = Staging::Gathered;
}

void choose_grain(Plan& plan) noexcept {
  const TileGeometry& g = plan.geometry;
  const std::int64_t pixel = g.stored_channels(g.tile[kAxisC]) * g.planes;
  std::int64_t tile = pixel;
  for (TileAxis axis = 0; axis < kAxisC; ++axis)
    tile *= g.tile[axis];
  plan.grain = pixel > kPanelBytes  ? Grain::Pieces
               : tile > kPanelBytes ? Grain::Pixels
                                    : Grain::Tiles;
  if (plan.grain == Grain::Pieces)
    plan.panel_bytes = kPanelBytes / g.planes;
}

} // namespace

Plan make_plan(const Descriptor& d, std::uint32_t workers) noexcept {
  Plan plan;
  plan.source = static_cast<std::uint32_t>(d.source_address);
  plan.destination = static_cast<std::uint32_t>(d.destination_address);
  plan.width = kernels::wire::scalar_bytes(d.source_dtype);
  plan.kind = kind_of(d.source_dtype);
  plan.fill = static_cast<std::byte>(d.channel_fill);

  TileGeometry whole;
  (void)kernels::wire::tile_geometry(d, &whole); // checked at admission
  std::int64_t strides[kernels::wire::kMaxRank] = {};
  if (d.strided())
    for (std::uint32_t axis = 0; axis < d.rank; ++axis)
      strides[axis] = d.linear_strides_bytes[axis];
  else
    (void)kernels::core::row_major_strides(d.shape, d.rank, plan.width, strides);

  Axes axes{};
  for (TileAxis axis = 0; axis < kTileAxes; ++axis) {
    axes.extent[axis] = whole.extent[axis];
    axes.tile[axis] = whole.tile[axis];
    // An axis of one element never steps.
    if (d.axes[axis] >= 0 && whole.extent[axis] > 1)
      axes.stride[axis] = static_cast<std::uint32_t>(strides[d.axes[axis]]);
  }
  for (std::uint32_t i = 0; i < whole.outer_count; ++i)
    plan.outer_strides[i] =
        whole.outer_extent[i] > 1 ? static_cast<std::uint32_t>(strides[whole.outer_axis[i]]) : 0;
  fold(axes, kAxisH, kAxisW);
  fold(axes, kAxisD, axes.extent[kAxisH] == 1 ? kAxisW : kAxisH);
  derive(axes, whole, plan);
  choose_staging(plan);
  choose_grain(plan);
  const auto shares =
      static_cast<std::uint32_t>((plan.geometry.total_bytes - 1) / kLeastShareBytes + 1);
  plan.workers = workers < shares ? workers : shares;
  return plan;
}

} // namespace simaai::firmware::tiling
