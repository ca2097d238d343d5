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

/// Kernels for runs of 1, 2, 3 and more contiguous channels.
using KernelsByChannels = std::array<TilePanelFn, 4>;

KernelsByChannels same_kernel(TilePanelFn kernel) noexcept {
  return {kernel, kernel, kernel, kernel};
}

/// Kernels of a level for whole panels whose channels are not contiguous; null where it has none.
struct GappedKernels {
  TilePanelFn planar;
  TilePanelFn spread;
};

/// Kernels of one source type.
struct WriterRows {
  KernelsByChannels contiguous;
  TileRowFn gather;
  GappedKernels gapped;
  TilePanelFn channels;
  TilePanelFn pad16_c1;
  TilePanelFn pad16_c3;
};

WriterRows writer_rows(const RowTable& rows, DType from) noexcept {
  switch (from) {
  case DType::Float32:
    return {{rows.f32_bf16_tiled_c1, rows.f32_bf16_tiled_c2, rows.f32_bf16_tiled_c3,
             rows.f32_bf16_tiled},
            rows.f32_bf16_gather,
            {rows.f32_bf16_planar, rows.f32_bf16_spread_c4},
            rows.f32_bf16_channels,
            rows.f32_bf16_pad16_c1,
            rows.f32_bf16_pad16_c3};
  case DType::Float16:
    return {{rows.f16_bf16_tiled_c1, rows.f16_bf16_tiled_c2, rows.f16_bf16_tiled_c3,
             rows.f16_bf16_tiled},
            rows.f16_bf16_gather,
            {rows.f16_bf16_planar, rows.f16_bf16_spread_c4},
            rows.f16_bf16_channels,
            nullptr,
            nullptr};
  case DType::BFloat16:
    return {{rows.bf16_bf16_tiled_c1, rows.bf16_bf16_tiled_c2, rows.bf16_bf16_tiled_c3,
             rows.bf16_bf16_tiled},
            rows.bf16_bf16_gather,
            {rows.bf16_bf16_planar, rows.bf16_bf16_spread_c4},
            rows.bf16_bf16_channels,
            rows.bf16_bf16_pad16_c1,
            rows.bf16_bf16_pad16_c3};
  case DType::Int8:
  case DType::UInt8:
  case DType::Int32:
    break;
  }
  return {
      same_kernel(rows.i8_i8_tiled), rows.i8_i8_gather, {rows.i8_i8_planar, rows.i8_i8_spread_c4},
      rows.i8_i8_channels,           nullptr,           nullptr};
}

/// The direct writer for image rows of one or three channels in one padded tile, or null.
TilePanelFn direct_pad16(const WriterRows& rows, const TileState& state,
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

/// The group of `visits` channel tiles of `channels` channels each.
ChannelGroup group_of(const core::TileGeometry& geometry, const KernelsByChannels& kernels,
                      std::int64_t first_tile, std::int64_t visits,
                      std::int64_t channels) noexcept {
  ChannelGroup group{};
  group.first_tile = first_tile;
  group.visits = visits;
  const bool blocks = geometry.storage == TileStorage::CBlocked && channels > core::kChannelBlock;
  group.channels = blocks ? core::kChannelBlock : channels;
  // Not rounded up by an addition: channels may be as many as 63 bits count.
  group.runs = channels / group.channels + (channels % group.channels == 0 ? 0 : 1);
  group.last_channels = channels - (group.runs - 1) * group.channels;
  group.stored_channels = geometry.plane_stride(group.channels);
  group.kernel = kernels[static_cast<std::size_t>(group.channels < 4 ? group.channels - 1 : 3)];
  return group;
}

/// Channel tiles as groups: full ones are the runs of one panel unless they consist of blocks; a
/// partial one that is stored like them joins them.
void make_groups(const KernelsByChannels& kernels, TileState* state) noexcept {
  const core::TileGeometry& geometry = state->geometry;
  const std::int64_t channels = geometry.tile[kAxisC];
  const std::int64_t full = geometry.full_tiles[kAxisC];
  const std::int64_t partial = geometry.partial[kAxisC];
  state->groups[0] = group_of(geometry, kernels, 0, full, channels);
  state->group_count = 1;
  bool joined = partial == 0;
  if (state->groups[0].runs == 1) {
    ChannelGroup& group = state->groups[0];
    group.runs_are_tiles = true;
    group.visits = 1;
    group.runs = full;
    if (!joined && channels > 3 && geometry.plane_stride(partial) == group.stored_channels) {
      joined = true;
      ++group.runs;
      group.last_channels = partial;
    }
  }
  if (!joined)
    state->groups[state->group_count++] = group_of(geometry, kernels, full, 1, partial);
}

bool has_tails(const core::TileGeometry& geometry) noexcept {
  for (unsigned mask = 0; mask < 16; ++mask) {
    if (geometry.tile_bytes[mask] == 0)
      continue;
    std::int64_t used = geometry.planes;
    for (core::TileAxis axis = 0; axis < core::kTileAxes; ++axis) {
      const std::int64_t extent =
          (mask >> axis & 1U) != 0 ? geometry.partial[axis] : geometry.tile[axis];
      used *= axis == kAxisC ? geometry.stored_channels(extent) : extent;
    }
    if (geometry.tile_bytes[mask] != used)
      return true;
  }
  return false;
}

/// What both directions choose alike.
void choose_common(const ops::PortPlan& plan, const RowTable& rows, TileState* state) noexcept {
  if (plan.empty())
    return;
  state->takes_boxes = rows.takes_boxes;
  state->has_tails = has_tails(state->geometry);
  state->stores = choose_stores(plan);
  state->dst_bytes = plan.output_requirement().bytes;
}

/// Whether one kernel call reads everything.
bool is_one_panel(const TileState& state) noexcept {
  const core::TileGeometry& geometry = state.geometry;
  return state.is_one_visit() && geometry.outer_slices == 1 && geometry.extent[kAxisD] == 1 &&
         geometry.extent[kAxisH] == 1 && geometry.tiles(kAxisW) == 1;
}

/// Whether a reader takes tile after tile instead of line after line: where tiles are narrower than
/// a line, but not than a cache line of the output, or a pixel wide. A quarter of a line is enough where
/// a call takes all tiles of a line.
bool reads_by_boxes(const TileState& state) noexcept {
  const std::int64_t least_bytes = state.takes_boxes ? 16 : 64;
  const std::int64_t width = state.geometry.tile[kAxisW];
  return state.is_one_visit() && state.geometry.tiles(kAxisW) != 1 &&
         (width == 1 || width * state.stride_bytes[kAxisW] >= least_bytes);
}

/// Whether channels with gaps between them lie within their pixels: then lines are read or written
/// from front to back, all channel tiles of a pixel together. Pixels of less than a cache line would
/// share it with their neighbours either way.
bool is_spread(const TileState& state) noexcept {
  constexpr std::int64_t kLineBytes = 64;
  const std::int64_t channel = state.stride_bytes[kAxisC];
  const std::int64_t pixel = state.stride_bytes[kAxisW];
  return channel > 0 && pixel >= kLineBytes && state.geometry.extent[kAxisW] > 1 &&
         pixel / channel >= state.geometry.extent[kAxisC];
}

/// Whether kernels for channels first can serve: neighbours along W, padding to 16 channels, and
/// lines that are worth the transposition.
bool is_planar(const TileState& state, std::int64_t scalar_bytes) noexcept {
  constexpr std::int64_t kLeastPixels = 8;
  bool whole = true;
  for (std::size_t slot = 0; slot < state.group_count; ++slot)
    whole = whole && state.groups[slot].stored_channels % 16 == 0;
  return whole && state.stride_bytes[kAxisW] == scalar_bytes &&
         state.geometry.extent[kAxisW] >= kLeastPixels;
}

/// Whether kernels for few channels of every second scalar can serve.
bool is_spread_c4(const TileState& state, std::int64_t scalar_bytes) noexcept {
  const std::int64_t channels = state.geometry.extent[kAxisC];
  const ChannelGroup& group = state.groups[0];
  return state.is_one_visit() && group.runs == 1 && channels <= 4 && group.stored_channels == 16 &&
         state.stride_bytes[kAxisC] == 2 * scalar_bytes && state.geometry.extent[kAxisW] > 1 &&
         state.stride_bytes[kAxisW] == 2 * scalar_bytes * channels;
}

/// Whether a writer takes tile after tile: then the stores of a while go to few pages, those of the
/// channel tiles of one place. Small tiles are not worth a call each, and those of one line follow
/// each other along it anyway.
bool writes_by_boxes(const TileState& state) noexcept {
  const std::int64_t least_bytes = state.takes_boxes ? 128 : 2048;
  const std::int64_t least_pixels = state.takes_boxes ? 4 : 32;
  const core::TileGeometry& geometry = state.geometry;
  if (!state.is_one_visit() || geometry.tiles(kAxisW) == 1 || geometry.tile[kAxisH] == 1)
    return false;
  const ChannelGroup& group = state.groups[0];
  const std::int64_t pixels = geometry.tile[kAxisH] * geometry.tile[kAxisW];
  return pixels * group.stored_channels * geometry.planes * group.runs >= least_bytes &&
         (group.runs > 1 || pixels >= least_pixels);
}

/// Walk and kernels for channels that are not contiguous, of which the groups are made. Without a kernel
/// for the view its rows are taken by the row kernel, tile after tile as chosen before or along lines.
void choose_gapped(const GappedKernels& kernels, std::int64_t scalar_bytes, TileWalkFn lines,
                   TileWalkFn boxes, bool (*by_boxes)(const TileState&) noexcept,
                   TileState* state) noexcept {
  TilePanelFn kernel = nullptr;
  if (kernels.planar != nullptr && is_planar(*state, scalar_bytes)) {
    kernel = kernels.planar;
    state->walk = lines;
  } else if (kernels.spread != nullptr && is_spread_c4(*state, scalar_bytes)) {
    kernel = kernels.spread;
    state->walk = by_boxes(*state) ? boxes : lines;
  } else if (is_spread(*state)) {
    state->walk = lines;
  }
  for (ChannelGroup& group : state->groups)
    group.kernel = kernel;
}

} // namespace

TileState prepare_writer(const ops::PortPlan& plan, const RowTable& rows,
                         std::uint8_t fill) noexcept {
  TileState state;
  state.fill = fill;
  derive_state_geometry(plan.output(), plan.input(), &state);
  const LinearTraits linear = linear_traits(plan.input(), state);
  const WriterRows choice = writer_rows(rows, plan.input().dtype);
  choose_common(plan, rows, &state);
  state.walk = linear.contiguous_channels ? writer_walks().lines : writer_walks().tiles;
  state.row_kernel = choice.gather;
  if (plan.empty())
    return state;
  if (const TilePanelFn direct = direct_pad16(choice, state, linear)) {
    make_groups(same_kernel(direct), &state);
  } else if (linear.contiguous_channels && is_one_pixel(state.geometry)) {
    state.walk = writer_channel_walk();
    make_groups(same_kernel(choice.channels), &state);
  } else if (!linear.contiguous_channels) {
    make_groups(same_kernel(nullptr), &state);
    choose_gapped(choice.gapped, linear.scalar_bytes, writer_walks().lines, writer_box_walk(),
                  writes_by_boxes, &state);
  } else {
    make_groups(choice.contiguous, &state);
    if (writes_by_boxes(state))
      state.walk = writer_box_walk();
  }
  return state;
}

TileState prepare_reader(const ops::PortPlan& plan, const RowTable& rows) noexcept {
  TileState state;
  derive_state_geometry(plan.input(), plan.output(), &state);
  const LinearTraits linear = linear_traits(plan.output(), state);
  choose_common(plan, rows, &state);
  state.walk = linear.contiguous_channels ? reader_walks().lines : reader_walks().tiles;
  KernelsByChannels kernels = same_kernel(rows.i8_i8_untiled);
  GappedKernels gapped{rows.i8_i8_unplanar, rows.i8_i8_unspread_c4};
  state.row_kernel = rows.i8_i8_scatter;
  if (plan.output().dtype == DType::Float32) {
    kernels = {rows.bf16_f32_untiled_c1, rows.bf16_f32_untiled_c2, rows.bf16_f32_untiled_c3,
               rows.bf16_f32_untiled};
    gapped = {rows.bf16_f32_unplanar, rows.bf16_f32_unspread_c4};
    state.row_kernel = rows.bf16_f32_scatter;
  } else if (plan.output().dtype == DType::BFloat16) {
    kernels = {rows.bf16_bf16_untiled_c1, rows.bf16_bf16_untiled_c2, rows.bf16_bf16_untiled_c3,
               rows.bf16_bf16_untiled};
    gapped = {rows.bf16_bf16_unplanar, rows.bf16_bf16_unspread_c4};
    state.row_kernel = rows.bf16_bf16_scatter;
  }
  if (!plan.empty())
    make_groups(linear.contiguous_channels ? kernels : same_kernel(nullptr), &state);
  if (linear.contiguous_channels && is_one_panel(state))
    state.walk = reader_whole_walk();
  else if (linear.contiguous_channels && reads_by_boxes(state))
    state.walk = reader_box_walk();
  if (!linear.contiguous_channels && !plan.empty())
    choose_gapped(gapped, linear.scalar_bytes, reader_walks().lines, reader_box_walk(),
                  reads_by_boxes, &state);
  return state;
}

} // namespace simaai::kernels::a65::detail
