// SPDX-License-Identifier: LGPL-2.1-or-later
// Selection from dtype, layout, channel tiles and strides: made once, so that execution only calls
// through the pointers chosen here.
#include "a65/common/tile_prepare.h"

#include "core/stride_proof.h"
#include "ops/common/spec_geometry.h"

namespace simaai::kernels::a65::detail {
namespace {

using core::kAxisC;
using core::kAxisD;
using core::kAxisH;
using core::kAxisW;
using core::TileStorage;

/// Pixels a call when one call covers one channel tile out of several: enough to amortise the call,
/// few enough to keep the input block in the first-level cache.
constexpr std::int64_t kBlockPixels = 16;

/// Extents and linear strides by tile axis.
struct Spatial {
  std::int64_t extent[core::kTileAxes];
  std::int64_t tile[core::kTileAxes];
  std::int64_t stride[core::kTileAxes];
};

/// Merges axis `from`, the next one outside W, into W where both storages step from one to the
/// other without a seam: W is a single tile and the linear strides continue.
void fold_into_w(Spatial* spatial, core::TileAxis from) noexcept {
  const std::int64_t width = spatial->extent[kAxisW];
  if (spatial->extent[from] == 1 || spatial->tile[kAxisW] != width)
    return;
  if (width == 1)
    spatial->stride[kAxisW] = spatial->stride[from];
  else if (!core::strides_continue(spatial->stride[from], width, spatial->stride[kAxisW]))
    return;
  spatial->extent[kAxisW] = spatial->extent[from] * width;
  spatial->tile[kAxisW] = spatial->tile[from] * width;
  spatial->extent[from] = 1;
  spatial->tile[from] = 1;
  spatial->stride[from] = 0;
}

/// Private geometry of the same bytes: unit axes absent, seamless spatial axes folded.
void derive_state_geometry(const TensorSpec& tiled, const TensorSpec& linear,
                           TileState* state) noexcept {
  const core::TileGeometry original = ops::detail::tile_geometry(tiled);
  if (original.empty()) {
    state->geometry = original;
    return;
  }
  const core::TileDescription axes = ops::detail::tile_description(tiled);
  const auto strides = ops::detail::linear_strides(linear);
  Spatial spatial{};
  for (core::TileAxis axis = 0; axis < core::kTileAxes; ++axis) {
    spatial.extent[axis] = original.extent[axis];
    spatial.tile[axis] = original.tile[axis];
    if (axes.axes[axis] >= 0)
      spatial.stride[axis] = strides[static_cast<std::size_t>(axes.axes[axis])];
  }
  fold_into_w(&spatial, kAxisH);
  if (spatial.extent[kAxisH] == 1)
    fold_into_w(&spatial, kAxisD);

  std::int64_t extents[core::kMaxAxes] = {};
  core::TileDescription folded;
  folded.extents = extents;
  folded.storage = original.storage;
  folded.planes = original.planes;
  for (std::size_t slot = 0; slot < original.outer_count; ++slot)
    if (original.outer_extent[slot] != 1) {
      state->outer_stride_bytes[folded.rank] = strides[original.outer_axis[slot]];
      extents[folded.rank++] = original.outer_extent[slot];
    }
  for (core::TileAxis axis = 0; axis < core::kTileAxes; ++axis) {
    state->stride_bytes[axis] = spatial.stride[axis];
    if (spatial.extent[axis] == 1)
      continue;
    folded.axes[axis] = static_cast<std::int32_t>(folded.rank);
    folded.tile_shape[axis] = spatial.tile[axis];
    extents[folded.rank++] = spatial.extent[axis];
  }
  if (!core::derive_tile_geometry(folded, &state->geometry))
    state->geometry = {}; // cannot happen: the same bytes were admitted
}

struct LinearTraits {
  std::int64_t scalar_bytes;
  bool contiguous_channels;
};

LinearTraits linear_traits(const TensorSpec& linear, const TileState& state) noexcept {
  const std::int64_t bytes = scalar_bytes(linear.dtype);
  return {bytes, state.geometry.extent[kAxisC] == 1 || state.stride_bytes[kAxisC] == bytes};
}

bool is_one_pixel(const core::TileGeometry& geometry) noexcept {
  return geometry.outer_slices == 1 && geometry.extent[kAxisD] == 1 &&
         geometry.extent[kAxisH] == 1 && geometry.extent[kAxisW] == 1;
}

/// Order of the walk: with several channel runs a pixel, storage order would read (or write) each
/// linear cache line once a run.
TileWalkFn choose_walk(const TileState& state, const TileWalks& walks,
                       bool contiguous_channels) noexcept {
  const core::TileGeometry& geometry = state.geometry;
  if (contiguous_channels && is_one_pixel(geometry))
    return walks.channels;
  const bool several_runs =
      geometry.tiles(kAxisC) > 1 ||
      (geometry.storage == TileStorage::CBlocked && geometry.tile[kAxisC] > core::kChannelBlock);
  return several_runs && contiguous_channels ? walks.pixels : walks.tiles;
}

/// Kernels of one source type in the order of TileState::kernels, and the variants that replace
/// them.
struct WriterRows {
  std::array<TileRowFn, 4> contiguous;
  TileRowFn gather;
  TileRowFn channels;
  TileRowFn pad16_c1;
  TileRowFn pad16_c3;
};

WriterRows writer_rows(const RowTable& rows, DType from) noexcept {
  switch (from) {
  case DType::Float32:
    return {{rows.f32_bf16_tiled_c1, rows.f32_bf16_tiled_c2, rows.f32_bf16_tiled_c3,
             rows.f32_bf16_tiled},
            rows.f32_bf16_gather,
            rows.f32_bf16_channels,
            rows.f32_bf16_pad16_c1,
            rows.f32_bf16_pad16_c3};
  case DType::Float16:
    return {{rows.f16_bf16_tiled_c1, rows.f16_bf16_tiled_c2, rows.f16_bf16_tiled_c3,
             rows.f16_bf16_tiled},
            rows.f16_bf16_gather,
            rows.f16_bf16_channels,
            nullptr,
            nullptr};
  case DType::BFloat16:
    return {{rows.bf16_bf16_tiled_c1, rows.bf16_bf16_tiled_c2, rows.bf16_bf16_tiled_c3,
             rows.bf16_bf16_tiled},
            rows.bf16_bf16_gather,
            rows.bf16_bf16_channels,
            rows.bf16_bf16_pad16_c1,
            rows.bf16_bf16_pad16_c3};
  case DType::Int8:
  case DType::UInt8:
  case DType::Int32:
    break;
  }
  return {{rows.i8_i8_tiled, rows.i8_i8_tiled, rows.i8_i8_tiled, rows.i8_i8_tiled},
          rows.i8_i8_gather,
          rows.i8_i8_tiled,
          nullptr,
          nullptr};
}

/// The direct writer for image rows of one or three channels in one padded tile, or null.
TileRowFn direct_pad16(const WriterRows& rows, const TileState& state,
                       const LinearTraits& linear) noexcept {
  const core::TileGeometry& geometry = state.geometry;
  const std::int64_t channels = geometry.extent[kAxisC];
  // First: an empty tensor may have extents whose product does not fit.
  if (channels != 1 && channels != 3)
    return nullptr;
  const bool packed =
      geometry.extent[kAxisW] == 1 || state.stride_bytes[kAxisW] == channels * linear.scalar_bytes;
  if (geometry.storage != TileStorage::PadTo16 || geometry.tiles(kAxisC) != 1 ||
      !linear.contiguous_channels || !packed)
    return nullptr;
  return channels == 1 ? rows.pad16_c1 : rows.pad16_c3;
}

std::array<TileRowFn, 4> same_kernel(TileRowFn kernel) noexcept {
  return {kernel, kernel, kernel, kernel};
}

} // namespace

TileState prepare_writer(const ops::PortPlan& plan, const RowTable& rows,
                         std::uint8_t fill) noexcept {
  TileState state;
  state.fill = fill;
  state.block_pixels = kBlockPixels;
  derive_state_geometry(plan.output(), plan.input(), &state);
  const LinearTraits linear = linear_traits(plan.input(), state);
  const WriterRows choice = writer_rows(rows, plan.input().dtype);
  state.walk = choose_walk(state, writer_walks(), linear.contiguous_channels);
  if (const TileRowFn direct = direct_pad16(choice, state, linear))
    state.kernels = same_kernel(direct);
  else if (!linear.contiguous_channels)
    state.kernels = same_kernel(choice.gather);
  else if (state.walk == writer_walks().channels)
    state.kernels = same_kernel(choice.channels);
  else
    state.kernels = choice.contiguous;
  return state;
}

TileState prepare_reader(const ops::PortPlan& plan, const RowTable& rows) noexcept {
  TileState state;
  state.block_pixels = kBlockPixels;
  derive_state_geometry(plan.input(), plan.output(), &state);
  const LinearTraits linear = linear_traits(plan.output(), state);
  state.walk = choose_walk(state, reader_walks(), linear.contiguous_channels);
  const bool contiguous = linear.contiguous_channels;
  if (plan.input().dtype == DType::Int8)
    state.kernels = same_kernel(contiguous ? rows.i8_i8_untiled : rows.i8_i8_scatter);
  else if (plan.output().dtype == DType::Float32)
    state.kernels = contiguous ? std::array{rows.bf16_f32_untiled_c1, rows.bf16_f32_untiled_c2,
                                            rows.bf16_f32_untiled_c3, rows.bf16_f32_untiled}
                               : same_kernel(rows.bf16_f32_scatter);
  else
    state.kernels = contiguous ? std::array{rows.bf16_bf16_untiled_c1, rows.bf16_bf16_untiled_c2,
                                            rows.bf16_bf16_untiled_c3, rows.bf16_bf16_untiled}
                               : same_kernel(rows.bf16_bf16_scatter);
  return state;
}

} // namespace simaai::kernels::a65::detail
