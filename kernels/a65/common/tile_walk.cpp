// SPDX-License-Identifier: LGPL-2.1-or-later
// The visiting orders of tiled tensors, written once for both directions.
#include "a65/common/tile_walk.h"

#include <cstring>

#include "a65/simd/panel_by_rows.h"
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

[[nodiscard]] TilePanel panel_template(const TileState& state, const std::byte* dst) noexcept {
  TilePanel panel{};
  panel.row = row_template(state);
  panel.planes = state.geometry.planes;
  panel.stream = streams(state.stores, dst, state.dst_bytes);
  return panel;
}

/// Apart, so that the walks stay small.
template <Direction kDirection>
[[gnu::noinline]] void stream_panel(TilePanelFn kernel, const TileState& state,
                                    TilePanel* panel) noexcept {
  if constexpr (kDirection == Direction::Write)
    panel->stream = fills_tile_lines(*panel);
  else
    panel->stream = fills_linear_lines(*panel, state.stride_bytes[kAxisC]);
  kernel(*panel);
  panel->stream = true;
}

/// Calls a kernel for a panel that is complete, with stores that bypass the cache where they pay.
template <Direction kDirection>
[[gnu::always_inline]] inline void run_panel(TilePanelFn kernel, const TileState& state,
                                             TilePanel* panel) noexcept {
  if constexpr (kMayStream)
    if (panel->stream)
      return stream_panel<kDirection>(kernel, state, panel);
  kernel(*panel);
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
    for (std::int64_t d = 0; d < depth; ++d)
      for (std::int64_t h = 0; h < height; ++h) {
        moved(place,
              d * state.stride_bytes[kAxisD] + h * state.stride_bytes[kAxisH] +
                  c * state.stride_bytes[kAxisC],
              tile_offset)
            .point(row);
        state.row_kernel(*row);
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
        if (state.has_tails)
          zero_tail(geometry, index, place.tile);
      tile_offset += geometry.bytes_of_tile(index);
    });
  });
}

/// One line of pixels along W.
template <Direction kDirection> struct Line {
  Place<kDirection>
      place;              ///< linear pointer: first pixel and channel; tile pointer: start of slice
  TileIndex index;        ///< of the tiles that the line runs through; W and C are 0
  std::int64_t row;       ///< of the line within its tiles
  std::int64_t tile_rows; ///< in the whole tile
};

/// Part of a line: `segments` W tiles from `first_tile` on, `pixels` of each from `first_pixel` on.
struct Span {
  std::int64_t first_tile;
  std::int64_t segments;
  std::int64_t first_pixel;
  std::int64_t pixels;
};

/// The rows of a panel one by one, by the row kernel. Apart, so that the walks over panels of kernels
/// stay small.
template <Direction kDirection>
[[gnu::noinline]] void run_rows(const TileState& state, const TilePanel& panel) noexcept {
  for_each_row(panel, [&](TileRow row, std::int64_t linear, std::int64_t tile) {
    row.src += kDirection == Direction::Write ? linear : tile;
    row.dst += kDirection == Direction::Write ? tile : linear;
    state.row_kernel(row);
  });
}

/// All channels of a part of a line.
template <Direction kDirection>
void visit_span(const TileState& state, const Line<kDirection>& line, const Span& span,
                TilePanel* panel) noexcept {
  const TileGeometry& geometry = state.geometry;
  const std::int64_t width = geometry.tile_extent(kAxisW, span.first_tile);
  const std::int64_t linear_offset =
      (span.first_tile * geometry.tile[kAxisW] + span.first_pixel) * panel->row.pixel_stride_bytes;
  TileIndex index = line.index;
  index.at[kAxisW] = span.first_tile;
  panel->segments = span.segments;
  panel->row.pixels = span.pixels;
  panel->segment_linear_bytes = span.pixels * panel->row.pixel_stride_bytes;
  for (std::size_t slot = 0; slot < state.group_count; ++slot) {
    const ChannelGroup& group = state.groups[slot];
    const std::int64_t pixel_bytes = group.stored_channels * geometry.planes;
    panel->row.channels = group.channels;
    panel->row.stored_channels = group.stored_channels;
    panel->runs = group.runs;
    panel->last_channels = group.last_channels;
    panel->run_tile_bytes =
        group.runs_are_tiles ? geometry.slab_bytes[0] : line.tile_rows * width * pixel_bytes;
    for (std::int64_t visit = 0; visit < group.visits; ++visit) {
      index.at[kAxisC] = group.first_tile + visit;
      panel->segment_tile_bytes = geometry.bytes_of_tile(index);
      moved(line.place,
            linear_offset +
                index.at[kAxisC] * geometry.tile[kAxisC] * panel->row.channel_stride_bytes,
            geometry.tile_offset(index) + (line.row * width + span.first_pixel) * pixel_bytes)
          .point(&panel->row);
      if (group.kernel != nullptr)
        run_panel<kDirection>(group.kernel, state, panel);
      else
        run_rows<kDirection>(state, *panel);
    }
  }
}

/// One line. With one panel for all channels, all full W tiles at once; otherwise in blocks of pixels,
/// so that linear cache lines are used up while they are near.
template <Direction kDirection>
void visit_line(const TileState& state, const Line<kDirection>& line, TilePanel* panel) noexcept {
  constexpr std::int64_t kBlockPixels = 32;
  const TileGeometry& geometry = state.geometry;
  if (state.is_one_visit()) {
    const std::int64_t full = geometry.full_tiles[kAxisW];
    if (full != 0)
      visit_span(state, line, {0, full, 0, geometry.tile[kAxisW]}, panel);
    if (geometry.partial[kAxisW] != 0)
      visit_span(state, line, {full, 1, 0, geometry.partial[kAxisW]}, panel);
    return;
  }
  for (std::int64_t tile = 0; tile < geometry.tiles(kAxisW); ++tile) {
    const std::int64_t width = geometry.tile_extent(kAxisW, tile);
    for (std::int64_t first = 0; first < width; first += kBlockPixels)
      visit_span(state, line, {tile, 1, first, smaller(kBlockPixels, width - first)}, panel);
  }
}

/// Zeroes the tails of all tiles of a slice.
void zero_tails(const TileGeometry& geometry, std::byte* tile) noexcept {
  for_each_tile(geometry, [&](const TileIndex& index) {
    zero_tail(geometry, index, tile);
    tile += geometry.bytes_of_tile(index);
  });
}

/// Stores that bypass the cache become visible in order with all later ones.
void finish_streaming() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_sfence();
#endif
}

template <Direction kDirection>
void walk_lines(const TileState& state, const std::byte* src, std::byte* dst) noexcept {
  const TileGeometry& geometry = state.geometry;
  const auto base = Place<kDirection>::of(src, dst);
  TilePanel panel = panel_template(state, dst);
  for_each_slice(state, [&](std::int64_t linear, std::int64_t slice_offset) {
    const auto slice = moved(base, linear, slice_offset);
    for (std::int64_t d = 0; d < geometry.extent[kAxisD]; ++d)
      for (std::int64_t h = 0; h < geometry.extent[kAxisH]; ++h) {
        TileIndex index{};
        index.at[kAxisD] = d / geometry.tile[kAxisD];
        index.at[kAxisH] = h / geometry.tile[kAxisH];
        const std::int64_t height = geometry.tile_extent(kAxisH, index.at[kAxisH]);
        visit_line<kDirection>(
            state,
            {moved(slice, d * state.stride_bytes[kAxisD] + h * state.stride_bytes[kAxisH], 0),
             index, d % geometry.tile[kAxisD] * height + h % geometry.tile[kAxisH],
             geometry.tile_extent(kAxisD, index.at[kAxisD]) * height},
            &panel);
      }
    if constexpr (kDirection == Direction::Write)
      if (state.has_tails)
        zero_tails(geometry, slice.tile);
  });
  if (panel.stream)
    finish_streaming();
}

/// Boxes, which are the tiles at one place of the three spatial axes: `count` of equal extents that
/// follow each other along W, from the one of `index` on. `slice` is at the first pixel and channel of
/// the slice.
template <Direction kDirection>
void visit_boxes(const TileState& state, const TileIndex& index, std::int64_t count,
                 const Place<kDirection>& slice, TilePanel* panel) noexcept {
  const TileGeometry& geometry = state.geometry;
  const ChannelGroup& group = state.groups[0];
  const std::int64_t depth = geometry.tile_extent(kAxisD, index.at[kAxisD]);
  const std::int64_t height = geometry.tile_extent(kAxisH, index.at[kAxisH]);
  const std::int64_t width = geometry.tile_extent(kAxisW, index.at[kAxisW]);
  const std::int64_t pixel_bytes = group.stored_channels * geometry.planes;
  const bool column = width == 1; // then pixels follow each other along H in the tile
  panel->row.pixels = column ? height : width;
  panel->row.pixel_stride_bytes = state.stride_bytes[column ? kAxisH : kAxisW];
  panel->segments = column ? 1 : height;
  panel->segment_linear_bytes = state.stride_bytes[kAxisH];
  panel->segment_tile_bytes = width * pixel_bytes;
  panel->run_tile_bytes =
      group.runs_are_tiles ? geometry.slab_bytes[0] : depth * height * width * pixel_bytes;
  std::int64_t first_linear = 0;
  for (core::TileAxis axis = 0; axis < kAxisC; ++axis)
    first_linear += index.at[axis] * geometry.tile[axis] * state.stride_bytes[axis];
  std::int64_t first_tile = geometry.tile_offset(index);
  const std::int64_t box_linear_bytes = width * state.stride_bytes[kAxisW];
  const std::int64_t box_tile_bytes = geometry.bytes_of_tile(index);
  panel->boxes = 1;
  if (state.takes_boxes && depth == 1) {
    panel->boxes = count;
    panel->box_linear_bytes = box_linear_bytes;
    panel->box_tile_bytes = box_tile_bytes;
    count = 1;
  }
  for (; count != 0; --count) {
    std::int64_t linear = first_linear;
    std::int64_t tile = first_tile;
    for (std::int64_t d = 0; d < depth; ++d) {
      moved(slice, linear, tile).point(&panel->row);
      run_panel<kDirection>(group.kernel, state, panel);
      linear += state.stride_bytes[kAxisD];
      tile += height * width * pixel_bytes;
    }
    first_linear += box_linear_bytes;
    first_tile += box_tile_bytes;
  }
}

/// Tile after tile, the channel tiles of each place together: the tile side is read in long runs.
template <Direction kDirection>
void walk_boxes(const TileState& state, const std::byte* src, std::byte* dst) noexcept {
  const TileGeometry& geometry = state.geometry;
  const ChannelGroup& group = state.groups[0];
  const auto base = Place<kDirection>::of(src, dst);
  TilePanel panel = panel_template(state, dst);
  panel.row.channels = group.channels;
  panel.row.stored_channels = group.stored_channels;
  panel.runs = group.runs;
  panel.last_channels = group.last_channels;
  for_each_slice(state, [&](std::int64_t linear, std::int64_t slice_offset) {
    const auto slice = moved(base, linear, slice_offset);
    TileIndex index{};
    for (index.at[kAxisD] = 0; index.at[kAxisD] < geometry.tiles(kAxisD); ++index.at[kAxisD])
      for (index.at[kAxisH] = 0; index.at[kAxisH] < geometry.tiles(kAxisH); ++index.at[kAxisH]) {
        index.at[kAxisW] = 0;
        if (geometry.full_tiles[kAxisW] != 0)
          visit_boxes<kDirection>(state, index, geometry.full_tiles[kAxisW], slice, &panel);
        index.at[kAxisW] = geometry.full_tiles[kAxisW];
        if (geometry.partial[kAxisW] != 0)
          visit_boxes<kDirection>(state, index, 1, slice, &panel);
      }
    if constexpr (kDirection == Direction::Write)
      if (state.has_tails)
        zero_tails(geometry, slice.tile);
  });
  if (panel.stream)
    finish_streaming();
}

void write_channels(const TileState& state, const std::byte* src, std::byte* dst) noexcept {
  const TileGeometry& geometry = state.geometry;
  const TilePanelFn kernel = state.groups[0].kernel;
  TilePanel panel = panel_template(state, dst);
  TileRow& row = panel.row;
  row.src = src;
  row.dst = dst;
  row.pixels = 1;
  panel.segments = 1;
  panel.runs = 1;
  TileIndex index{};
  for (; index.at[kAxisC] < geometry.tiles(kAxisC); ++index.at[kAxisC]) {
    row.channels = geometry.tile_extent(kAxisC, index.at[kAxisC]);
    row.stored_channels = geometry.plane_stride(row.channels);
    panel.last_channels = row.channels;
    kernel(panel);
    if (state.has_tails)
      zero_tail(geometry, index, row.dst);
    row.src += row.channels * row.channel_stride_bytes;
    row.dst += geometry.bytes_of_tile(index);
  }
  if (panel.stream)
    finish_streaming();
}

void read_whole(const TileState& state, const std::byte* src, std::byte* dst) noexcept {
  const TileGeometry& geometry = state.geometry;
  const ChannelGroup& group = state.groups[0];
  TilePanel panel = panel_template(state, dst);
  panel.row.src = src;
  panel.row.dst = dst;
  panel.row.pixels = geometry.extent[kAxisW];
  panel.row.channels = group.channels;
  panel.row.stored_channels = group.stored_channels;
  panel.segments = 1;
  panel.runs = group.runs;
  panel.last_channels = group.last_channels;
  panel.run_tile_bytes = group.runs_are_tiles
                             ? geometry.slab_bytes[0]
                             : panel.row.pixels * group.stored_channels * geometry.planes;
  group.kernel(panel);
  if (panel.stream)
    finish_streaming();
}

template <Direction kDirection> constexpr TileWalks walks() noexcept {
  return {walk_tiles<kDirection>, walk_lines<kDirection>};
}

} // namespace

TileWalks writer_walks() noexcept { return walks<Direction::Write>(); }

TileWalkFn writer_channel_walk() noexcept { return write_channels; }

TileWalkFn reader_whole_walk() noexcept { return read_whole; }

TileWalkFn writer_box_walk() noexcept { return walk_boxes<Direction::Write>; }

TileWalkFn reader_box_walk() noexcept { return walk_boxes<Direction::Read>; }

TileWalks reader_walks() noexcept { return walks<Direction::Read>(); }

} // namespace simaai::kernels::a65::detail
