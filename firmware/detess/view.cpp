// SPDX-License-Identifier: LGPL-2.1-or-later
// Views: which axes there are, which of them are one, and where elements lie.
#include "firmware/detess/view.h"

namespace simaai::firmware::detess {

namespace core = kernels::core;
using kernels::wire::Descriptor;

namespace {

constexpr std::uint32_t kD = core::kAxisD;
constexpr std::uint32_t kH = core::kAxisH;
constexpr std::uint32_t kW = core::kAxisW;
constexpr std::uint32_t kC = core::kAxisC;

constexpr std::uint32_t narrow(std::int64_t value) noexcept {
  return static_cast<std::uint32_t>(value);
}

/// A view while its axes are being joined. slice_pitch counts slices here.
struct Draft {
  ViewAxis axes[kernels::wire::kMaxRank] = {};
  std::uint32_t rank = 0;
  std::uint32_t extent[core::kTileAxes] = {1, 1, 1, 1};
  std::uint32_t tile[core::kTileAxes] = {1, 1, 1, 1};
  std::uint32_t slices = 1;
  std::uint32_t planes = 1;
  core::TileStorage storage = core::TileStorage::Compact;

  [[nodiscard]] std::uint32_t stored(std::uint32_t channels) const noexcept {
    return storage == core::TileStorage::Compact ? channels : (channels + 15) / 16 * 16;
  }
  /// Position of the axis with this role; the rank where there is none.
  [[nodiscard]] std::uint32_t find(std::uint32_t slot) const noexcept {
    std::uint32_t axis = 0;
    while (axis < rank && slot_of(axes[axis].role) != slot)
      ++axis;
    return axis;
  }
  void remove(std::uint32_t axis) noexcept {
    --rank;
    for (; axis < rank; ++axis)
      axes[axis] = axes[axis + 1];
  }
};

Role role_of(const Descriptor& d, std::uint32_t axis) noexcept {
  for (std::uint32_t slot = 0; slot < core::kTileAxes; ++slot)
    if (d.axes[slot] == static_cast<std::int32_t>(axis))
      return static_cast<Role>(slot);
  return Role::Outer;
}

core::TileStorage storage_of(const Descriptor& d) noexcept {
  if (d.cblocked())
    return core::TileStorage::CBlocked;
  return d.channel_storage == kernels::wire::ChannelStorageTag::PadTo16
             ? core::TileStorage::PadTo16
             : core::TileStorage::Compact;
}

/// Inserts an axis outside those inserted before; in physical order, outside smaller pitches.
void insert_axis(Draft& draft, const ViewAxis& axis, AxisOrder order) noexcept {
  std::uint32_t slot = 0;
  while (order == AxisOrder::Physical && slot < draft.rank &&
         draft.axes[slot].output_pitch > axis.output_pitch)
    ++slot;
  for (std::uint32_t after = draft.rank++; after > slot; --after)
    draft.axes[after] = draft.axes[after - 1];
  draft.axes[slot] = axis;
}

Draft collect(const Descriptor& d, AxisOrder order) noexcept {
  Draft draft;
  draft.storage = storage_of(d);
  draft.planes = scalar_bytes(d.source_dtype);
  std::uint32_t dense_pitch = scalar_bytes(d.destination_dtype);
  for (std::uint32_t axis = d.rank; axis-- > 0;) {
    const std::uint32_t extent = narrow(d.shape[axis]);
    const Role role = role_of(d, axis);
    const std::uint32_t pitch = d.strided() ? narrow(d.linear_strides_bytes[axis]) : dense_pitch;
    if (extent != 1)
      insert_axis(draft, {extent, role == Role::Outer ? draft.slices : 0, pitch, role}, order);
    if (role == Role::Outer) {
      draft.slices *= extent;
    } else {
      draft.extent[slot_of(role)] = extent;
      const std::int64_t tile = d.tile_shape[slot_of(role)];
      draft.tile[slot_of(role)] = tile < d.shape[axis] ? narrow(tile) : extent;
    }
    dense_pitch *= extent;
  }
  if (draft.rank == 0)
    insert_axis(draft, {1, 0, scalar_bytes(d.destination_dtype), Role::C}, order);
  return draft;
}

/// Where the inner of two tile axes has extent one, the outer takes its role: pixels and tiles are
/// in the same order.
bool take_role(Draft& draft, std::uint32_t outer, std::uint32_t inner) noexcept {
  if (draft.extent[inner] != 1 || draft.extent[outer] == 1)
    return false;
  draft.extent[inner] = draft.extent[outer];
  draft.tile[inner] = draft.tile[outer];
  draft.extent[outer] = draft.tile[outer] = 1;
  draft.axes[draft.find(outer)].role = static_cast<Role>(inner);
  return true;
}

/// Where one tile holds all of the inner of two tile axes that are neighbours in the output, both
/// are one axis.
bool join_tile_axes(Draft& draft, std::uint32_t outer, std::uint32_t inner) noexcept {
  const std::uint32_t axis = draft.find(outer);
  if (axis + 1 >= draft.rank || slot_of(draft.axes[axis + 1].role) != inner ||
      draft.tile[inner] != draft.extent[inner])
    return false;
  ViewAxis& joined = draft.axes[axis + 1];
  if (draft.axes[axis].output_pitch != std::uint64_t{joined.extent} * joined.output_pitch)
    return false;
  joined.extent *= draft.axes[axis].extent;
  draft.tile[inner] *= draft.tile[outer];
  draft.extent[inner] *= draft.extent[outer];
  draft.extent[outer] = draft.tile[outer] = 1;
  draft.remove(axis);
  return true;
}

/// True where a tile row of whole width with so many channels ends on a tile boundary.
bool is_gapless(const Draft& draft, std::uint32_t channels) noexcept {
  const std::uint64_t pixel = std::uint64_t{draft.stored(channels)} * draft.planes;
  return pixel * draft.tile[kW] % kernels::wire::kTiledAlignment == 0;
}

/// Tiles along W that follow each other without a gap are one tile.
bool join_tiles(Draft& draft) noexcept {
  if (draft.tile[kD] != 1 || draft.tile[kH] != 1 || draft.tile[kW] == draft.extent[kW])
    return false;
  if (draft.storage == core::TileStorage::CBlocked && draft.tile[kC] > core::kChannelBlock)
    return false;
  if (!is_gapless(draft, draft.tile[kC]) || !is_gapless(draft, draft.extent[kC] % draft.tile[kC]))
    return false;
  draft.tile[kW] = draft.extent[kW];
  return true;
}

bool join_outer_axes(Draft& draft) noexcept {
  for (std::uint32_t axis = 0; axis + 1 < draft.rank; ++axis) {
    const ViewAxis& outer = draft.axes[axis];
    ViewAxis& inner = draft.axes[axis + 1];
    if (outer.role == Role::Outer && inner.role == Role::Outer &&
        outer.slice_pitch == inner.extent * inner.slice_pitch &&
        outer.output_pitch == std::uint64_t{inner.extent} * inner.output_pitch) {
      inner.extent *= outer.extent;
      draft.remove(axis);
      return true;
    }
  }
  return false;
}

bool simplify(Draft& draft) noexcept {
  return take_role(draft, kH, kW) || take_role(draft, kD, kH) || join_tiles(draft) ||
         join_tile_axes(draft, kH, kW) || join_tile_axes(draft, kD, kH) || join_outer_axes(draft);
}

/// Geometry of the joined axes; its spans are those of the packet, so nothing overflows.
Tiles tiles_of(const Draft& draft, std::uint32_t source, std::uint32_t& slice_bytes) noexcept {
  const std::int64_t extents[] = {draft.slices, draft.extent[kD], draft.extent[kH],
                                  draft.extent[kW], draft.extent[kC]};
  core::TileDescription description;
  description.extents = extents;
  description.rank = 5;
  description.storage = draft.storage;
  description.planes = draft.planes;
  for (std::uint32_t slot = 0; slot < core::kTileAxes; ++slot) {
    description.axes[slot] = static_cast<std::int32_t>(slot + 1);
    description.tile_shape[slot] = draft.tile[slot];
  }
  core::TileGeometry geometry;
  (void)core::derive_tile_geometry(description, &geometry);
  Tiles tiles{};
  tiles.source = source;
  tiles.planes = draft.planes;
  tiles.storage = draft.storage;
  for (std::uint32_t slot = 0; slot < core::kTileAxes; ++slot) {
    tiles.tile[slot] = narrow(geometry.tile[slot]);
    tiles.full_tiles[slot] = narrow(geometry.full_tiles[slot]);
    tiles.partial[slot] = narrow(geometry.partial[slot]);
  }
  for (std::uint32_t mask = 0; mask < 16; ++mask) {
    tiles.tile_bytes[mask] = narrow(geometry.tile_bytes[mask]);
    tiles.row_bytes[mask] = narrow(geometry.row_bytes[mask]);
  }
  tiles.plane_bytes[0] = narrow(geometry.plane_bytes[0][0]);
  tiles.plane_bytes[1] = narrow(geometry.plane_bytes[1][0]);
  tiles.slab_bytes = narrow(geometry.slab_bytes[0]);
  slice_bytes = narrow(geometry.slice_bytes);
  return tiles;
}

} // namespace

View make_view(const Descriptor& packet, AxisOrder order) noexcept {
  Draft draft = collect(packet, order);
  while (simplify(draft)) {
  }
  View view{};
  std::uint32_t slice_bytes = 0;
  view.tiles =
      tiles_of(draft, narrow(static_cast<std::int64_t>(packet.source_address)), slice_bytes);
  view.rank = draft.rank;
  view.count = 1;
  for (std::uint32_t axis = 0; axis < draft.rank; ++axis) {
    view.axes[axis] = draft.axes[axis];
    view.axes[axis].slice_pitch *= slice_bytes;
    view.count *= draft.axes[axis].extent;
  }
  view.destination = narrow(static_cast<std::int64_t>(packet.destination_address));
  view.width = scalar_bytes(packet.destination_dtype);
  return view;
}

bool order_matters(const Descriptor& packet) noexcept {
  std::int64_t outer = INT64_MAX;
  for (std::uint32_t axis = 0; axis < packet.rank; ++axis) {
    if (packet.shape[axis] == 1)
      continue;
    if (packet.linear_strides_bytes[axis] > outer)
      return true;
    outer = packet.linear_strides_bytes[axis];
  }
  return false;
}

View::Suffix View::suffix() const noexcept {
  Suffix suffix{1, 0};
  while (suffix.axes < rank) {
    const ViewAxis& axis = axes[rank - 1 - suffix.axes];
    if (axis.output_pitch != std::uint64_t{suffix.elements} * width)
      break;
    suffix.elements *= axis.extent;
    ++suffix.axes;
  }
  return suffix;
}

Spot Tiles::locate(const Coordinates& coordinates) const noexcept {
  std::uint32_t index[core::kTileAxes];
  std::uint32_t local[core::kTileAxes];
  std::uint32_t actual[core::kTileAxes];
  std::uint32_t mask = 0;
  Spot spot{};
  for (std::uint32_t axis = 0; axis < core::kTileAxes; ++axis) {
    index[axis] = coordinates.at[axis] / tile[axis];
    local[axis] = coordinates.at[axis] - index[axis] * tile[axis];
    const bool whole = index[axis] < full_tiles[axis];
    actual[axis] = whole ? tile[axis] : partial[axis];
    mask |= whole ? 0U : 1U << axis;
    spot.room[axis] = actual[axis] - local[axis];
  }
  const std::uint32_t of_w = mask & ~(1U << kW);
  const std::uint32_t of_h = of_w & ~(1U << kH);
  spot.device = source + coordinates.slice_bytes + index[kC] * slab_bytes +
                index[kD] * plane_bytes[(mask >> kC) & 1U] + index[kH] * row_bytes[of_h] +
                index[kW] * tile_bytes[of_w];
  const bool blocked = storage == core::TileStorage::CBlocked;
  constexpr auto kBlock = static_cast<std::uint32_t>(core::kChannelBlock);
  spot.plane_pitch = blocked ? kBlock : stored_channels(actual[kC]);
  spot.pixel_pitch = spot.plane_pitch * planes;
  spot.row_pitch = actual[kW] * spot.pixel_pitch;
  spot.depth_pitch = actual[kH] * spot.row_pitch;
  spot.device +=
      local[kD] * spot.depth_pitch + local[kH] * spot.row_pitch + local[kW] * spot.pixel_pitch;
  if (!blocked) {
    spot.device += local[kC];
    return spot;
  }
  const std::uint32_t in_block = local[kC] % kBlock;
  spot.device += local[kC] / kBlock * (actual[kD] * spot.depth_pitch) + in_block;
  if (spot.room[kC] > kBlock - in_block)
    spot.room[kC] = kBlock - in_block;
  return spot;
}

void Place::seek(std::uint32_t element) noexcept {
  for (std::uint32_t axis = view_.rank; axis-- > 0;) {
    const std::uint32_t outer = element / view_.axes[axis].extent;
    index_[axis] = element - outer * view_.axes[axis].extent;
    element = outer;
  }
}

void Place::advance(std::uint32_t axis, std::uint32_t steps) noexcept {
  index_[axis] += steps;
  while (index_[axis] == view_.axes[axis].extent && axis > 0) {
    index_[axis] = 0;
    ++index_[--axis];
  }
}

Coordinates Place::coordinates(std::uint32_t inner_index) const noexcept {
  Coordinates out{};
  for (std::uint32_t axis = 0; axis < view_.rank; ++axis) {
    const std::uint32_t index = axis + 1 == view_.rank ? inner_index : index_[axis];
    if (view_.axes[axis].role == Role::Outer)
      out.slice_bytes += index * view_.axes[axis].slice_pitch;
    else
      out.at[slot_of(view_.axes[axis].role)] = index;
  }
  return out;
}

} // namespace simaai::firmware::detess
