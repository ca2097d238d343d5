// SPDX-License-Identifier: LGPL-2.1-or-later
// The visiting orders of tiled tensors, written once for both directions.
#include "a65/common/tile_walk.h"

#include <cstring>

#include "core/coord_cursor.h"

namespace simaai::kernels::a65::detail {
namespace {

using core::kAxisC;
using core::kAxisD;
using core::kAxisH;
using core::kAxisW;
using core::TileGeometry;
using core::TileIndex;
using core::TileStorage;

enum class Direction : std::uint8_t { Write, Read };

/// Bases of both ports at some place: `linear` and `tile` are source and destination, or the other
/// way around.
template <Direction kDirection> struct Place;

template <> struct Place<Direction::Write> {
  const std::byte* linear;
  std::byte* tile;
  static Place of(const std::byte* src, std::byte* dst) noexcept { return {src, dst}; }
  void point(TileRow* row) const noexcept {
    row->src = linear;
    row->dst = tile;
  }
};

template <> struct Place<Direction::Read> {
  std::byte* linear;
  const std::byte* tile;
  static Place of(const std::byte* src, std::byte* dst) noexcept { return {dst, src}; }
  void point(TileRow* row) const noexcept {
    row->src = tile;
    row->dst = linear;
  }
};

template <Direction kDirection>
[[nodiscard]] Place<kDirection> moved(const Place<kDirection>& place, std::int64_t linear,
                                      std::int64_t tile) noexcept {
  return {place.linear + linear, place.tile + tile};
}

[[nodiscard]] std::int64_t smaller(std::int64_t a, std::int64_t b) noexcept {
  return a < b ? a : b;
}

[[nodiscard]] TileRow row_template(const TileState& state) noexcept {
  TileRow row{};
  row.pixel_stride_bytes = state.stride_bytes[kAxisW];
  row.channel_stride_bytes = state.stride_bytes[kAxisC];
  row.fill = state.fill;
  return row;
}

/// Channels of `actual` that one row call handles: all, or one block.
[[nodiscard]] std::int64_t run_channels(const TileGeometry& geometry,
                                        std::int64_t actual) noexcept {
  return geometry.storage == TileStorage::CBlocked ? smaller(actual, core::kChannelBlock) : actual;
}

/// Zeroes what the rounding of a tile's span to 16 bytes added, if anything.
void zero_tail(const TileGeometry& geometry, const TileIndex& index, std::byte* tile) noexcept {
  const std::int64_t used =
      geometry.tile_extent(kAxisD, index.at[kAxisD]) *
      geometry.tile_extent(kAxisH, index.at[kAxisH]) *
      geometry.tile_extent(kAxisW, index.at[kAxisW]) *
      geometry.stored_channels(geometry.tile_extent(kAxisC, index.at[kAxisC])) * geometry.planes;
  const std::int64_t span = geometry.bytes_of_tile(index);
  if (used != span)
    std::memset(tile + used, 0, static_cast<std::size_t>(span - used));
}

/// Calls `visit(index)` for each tile of a slice in storage order.
template <class Visit> void for_each_tile(const TileGeometry& geometry, Visit visit) noexcept {
  TileIndex index{};
  for (index.at[kAxisC] = 0; index.at[kAxisC] < geometry.tiles(kAxisC); ++index.at[kAxisC])
    for (index.at[kAxisD] = 0; index.at[kAxisD] < geometry.tiles(kAxisD); ++index.at[kAxisD])
      for (index.at[kAxisH] = 0; index.at[kAxisH] < geometry.tiles(kAxisH); ++index.at[kAxisH])
        for (index.at[kAxisW] = 0; index.at[kAxisW] < geometry.tiles(kAxisW); ++index.at[kAxisW])
          visit(index);
}

/// Calls `visit(linear offset, tile offset)` for each outer slice.
template <class Visit> void for_each_slice(const TileState& state, Visit visit) noexcept {
  const TileGeometry& geometry = state.geometry;
  if (geometry.outer_slices == 1) {
    visit(std::int64_t{0}, std::int64_t{0});
    return;
  }
  core::CoordCursor cursor;
  for (std::size_t slot = 0; slot < geometry.outer_count; ++slot)
    cursor.add_axis(geometry.outer_extent[slot], state.outer_stride_bytes[slot], 0);
  std::int64_t tile_offset = 0;
  do {
    visit(cursor.first_offset(), tile_offset);
    tile_offset += geometry.slice_bytes;
  } while (cursor.advance());
}

/// All rows of one tile; `place` is at the tile's first pixel and channel.
template <Direction kDirection>
void visit_tile(const TileState& state, const TileIndex& index, const Place<kDirection>& place,
                TileRow* row) noexcept {
  const TileGeometry& geometry = state.geometry;
  const std::int64_t depth = geometry.tile_extent(kAxisD, index.at[kAxisD]);
  const std::int64_t height = geometry.tile_extent(kAxisH, index.at[kAxisH]);
  const std::int64_t channels = geometry.tile_extent(kAxisC, index.at[kAxisC]);
  const std::int64_t run = run_channels(geometry, channels);
  row->pixels = geometry.tile_extent(kAxisW, index.at[kAxisW]);
  std::int64_t tile_offset = 0;
  for (std::int64_t c = 0; c < channels; c += run) {
    row->channels = smaller(run, channels - c);
    row->stored_channels = geometry.plane_stride(row->channels);
    const std::int64_t row_bytes = row->pixels * row->stored_channels * geometry.planes;
    const TileRowFn kernel = state.kernel(row->channels);
    for (std::int64_t d = 0; d < depth; ++d)
      for (std::int64_t h = 0; h < height; ++h) {
        moved(place,
              d * state.stride_bytes[kAxisD] + h * state.stride_bytes[kAxisH] +
                  c * state.stride_bytes[kAxisC],
              tile_offset)
            .point(row);
        kernel(*row);
        tile_offset += row_bytes;
      }
  }
}

template <Direction kDirection>
void walk_tiles(const TileState& state, const std::byte* src, std::byte* dst) noexcept {
  const TileGeometry& geometry = state.geometry;
  const auto base = Place<kDirection>::of(src, dst);
  TileRow row = row_template(state);
  for_each_slice(state, [&](std::int64_t linear, std::int64_t tile_offset) {
    for_each_tile(geometry, [&](const TileIndex& index) {
      std::int64_t offset = linear;
      for (std::size_t axis = 0; axis < core::kTileAxes; ++axis)
        offset += index.at[axis] * geometry.tile[axis] * state.stride_bytes[axis];
      const auto place = moved(base, offset, tile_offset);
      visit_tile(state, index, place, &row);
      if constexpr (kDirection == Direction::Write)
        zero_tail(geometry, index, place.tile);
      tile_offset += geometry.bytes_of_tile(index);
    });
  });
}

/// A line of pixels along W within one W tile, at the first channel.
template <Direction kDirection> struct Line {
  Place<kDirection> place;   ///< tile pointer: start of the slice
  std::int64_t full_base;    ///< offset of the line's tile for channel tile 0, of full channels
  std::int64_t partial_base; ///< same, of partial channels
  std::int64_t first_pixel;  ///< of the line within its tile
  std::int64_t pixels;       ///< along the line
  std::int64_t tile_pixels;  ///< in the whole tile
};

/// All channels of one block of pixels.
template <Direction kDirection>
void visit_block(const TileState& state, const Line<kDirection>& line, std::int64_t first,
                 TileRow* row) noexcept {
  const TileGeometry& geometry = state.geometry;
  row->pixels = smaller(state.block_pixels, line.pixels - first);
  const std::int64_t pixel_offset = first * row->pixel_stride_bytes;
  for (std::int64_t ic = 0; ic < geometry.tiles(kAxisC); ++ic) {
    const bool full = ic < geometry.full_tiles[kAxisC];
    const std::int64_t channels = geometry.tile_extent(kAxisC, ic);
    const std::int64_t run = run_channels(geometry, channels);
    std::int64_t tile_offset =
        ic * geometry.slab_bytes[0] + (full ? line.full_base : line.partial_base);
    for (std::int64_t c = 0; c < channels; c += run) {
      row->channels = smaller(run, channels - c);
      row->stored_channels = geometry.plane_stride(row->channels);
      const std::int64_t pixel_bytes = row->stored_channels * geometry.planes;
      moved(line.place, pixel_offset + (ic * geometry.tile[kAxisC] + c) * row->channel_stride_bytes,
            tile_offset + (line.first_pixel + first) * pixel_bytes)
          .point(row);
      state.kernel(row->channels)(*row);
      tile_offset += line.tile_pixels * pixel_bytes;
    }
  }
}

/// One line of pixels along W across all W tiles; `index` holds D and H of the tile, `pixel_row`
/// the row within it.
template <Direction kDirection>
void visit_line(const TileState& state, TileIndex index, std::int64_t pixel_row,
                std::int64_t tile_rows, const Place<kDirection>& place, TileRow* row) noexcept {
  const TileGeometry& geometry = state.geometry;
  const std::int64_t partial_ic = geometry.full_tiles[kAxisC];
  for (index.at[kAxisW] = 0; index.at[kAxisW] < geometry.tiles(kAxisW); ++index.at[kAxisW]) {
    const std::int64_t width = geometry.tile_extent(kAxisW, index.at[kAxisW]);
    TileIndex partial = index;
    partial.at[kAxisC] = partial_ic;
    const Line<kDirection> line{
        moved(place, index.at[kAxisW] * geometry.tile[kAxisW] * row->pixel_stride_bytes, 0),
        geometry.tile_offset(index),
        geometry.partial[kAxisC] != 0
            ? geometry.tile_offset(partial) - partial_ic * geometry.slab_bytes[0]
            : 0,
        pixel_row * width,
        width,
        tile_rows * width};
    for (std::int64_t first = 0; first < width; first += state.block_pixels)
      visit_block(state, line, first, row);
  }
}

template <Direction kDirection>
void walk_pixels(const TileState& state, const std::byte* src, std::byte* dst) noexcept {
  const TileGeometry& geometry = state.geometry;
  const auto base = Place<kDirection>::of(src, dst);
  TileRow row = row_template(state);
  for_each_slice(state, [&](std::int64_t linear, std::int64_t slice_offset) {
    const auto slice = moved(base, linear, slice_offset);
    for (std::int64_t d = 0; d < geometry.extent[kAxisD]; ++d)
      for (std::int64_t h = 0; h < geometry.extent[kAxisH]; ++h) {
        TileIndex index{};
        index.at[kAxisD] = d / geometry.tile[kAxisD];
        index.at[kAxisH] = h / geometry.tile[kAxisH];
        const std::int64_t depth = geometry.tile_extent(kAxisD, index.at[kAxisD]);
        const std::int64_t height = geometry.tile_extent(kAxisH, index.at[kAxisH]);
        const std::int64_t pixel_row =
            d % geometry.tile[kAxisD] * height + h % geometry.tile[kAxisH];
        const auto place =
            moved(slice, d * state.stride_bytes[kAxisD] + h * state.stride_bytes[kAxisH], 0);
        visit_line(state, index, pixel_row, depth * height, place, &row);
      }
    if constexpr (kDirection == Direction::Write) {
      std::byte* tile = slice.tile;
      for_each_tile(geometry, [&](const TileIndex& index) {
        zero_tail(geometry, index, tile);
        tile += geometry.bytes_of_tile(index);
      });
    }
  });
}

template <Direction kDirection>
void walk_channels(const TileState& state, const std::byte* src, std::byte* dst) noexcept {
  const TileGeometry& geometry = state.geometry;
  auto place = Place<kDirection>::of(src, dst);
  TileRow row = row_template(state);
  TileIndex index{};
  for (; index.at[kAxisC] < geometry.tiles(kAxisC); ++index.at[kAxisC]) {
    visit_tile(state, index, place, &row);
    if constexpr (kDirection == Direction::Write)
      zero_tail(geometry, index, place.tile);
    place = moved(place, geometry.tile[kAxisC] * row.channel_stride_bytes,
                  geometry.bytes_of_tile(index));
  }
}

template <Direction kDirection> constexpr TileWalks walks() noexcept {
  return {walk_tiles<kDirection>, walk_pixels<kDirection>, walk_channels<kDirection>};
}

} // namespace

TileWalks writer_walks() noexcept { return walks<Direction::Write>(); }

TileWalks reader_walks() noexcept { return walks<Direction::Read>(); }

} // namespace simaai::kernels::a65::detail
