// SPDX-License-Identifier: LGPL-2.1-or-later
// Walking the stream of stored bytes: tiles in storage order, pixels and pieces within.
#include "firmware/common/dma.h"
#include "firmware/common/tiling/tile_plan.h"

namespace simaai::firmware::tiling {
namespace {

using kernels::core::kAxisC;
using kernels::core::kAxisD;
using kernels::core::kAxisH;
using kernels::core::kAxisW;
using kernels::core::TileAxis;
using kernels::core::TileGeometry;

constexpr std::uint32_t least(std::uint32_t a, std::uint32_t b) noexcept { return a < b ? a : b; }

/// Full tiles of an axis before byte `*rest`, which is reduced by them. The partial tile is never
/// larger than a full one, so the quotient is at most the number of full ones.
std::int64_t skip(std::int64_t bytes_each, std::int64_t full_tiles, std::uint32_t* rest) noexcept {
  if (full_tiles == 0)
    return 0;
  const auto each = static_cast<std::uint32_t>(bytes_each);
  const std::uint32_t tiles = *rest / each;
  *rest -= tiles * each;
  return tiles;
}

} // namespace

void Cursor::enter_tile() noexcept {
  const TileGeometry& g = plan_->geometry;
  origin_ = plan_->source;
  pixels_ = 1;
  for (TileAxis axis = 0; axis < kernels::core::kTileAxes; ++axis) {
    extent_[axis] = static_cast<std::uint32_t>(g.tile_extent(axis, tile_.at[axis]));
    origin_ += static_cast<std::uint32_t>(tile_.at[axis] * g.tile[axis]) * plan_->strides[axis];
    if (axis != kAxisC)
      pixels_ *= extent_[axis];
  }
  std::uint32_t outer = outer_;
  for (std::uint32_t i = g.outer_count; i-- > 0;) {
    const auto extent = static_cast<std::uint32_t>(g.outer_extent[i]);
    origin_ += outer % extent * plan_->outer_strides[i];
    outer /= extent;
  }
  stored_ = static_cast<std::uint32_t>(g.stored_channels(extent_[kAxisC]));
  pixel_bytes_ = stored_ * g.planes;
  gap_bytes_ = static_cast<std::uint32_t>(g.bytes_of_tile(tile_)) - pixels_ * pixel_bytes_;
  pixel_ = 0;
  piece_byte_ = 0;
}

void Cursor::next_tile() noexcept {
  // Storage order within an outer slice: C, D, H, then W fastest.
  constexpr TileAxis kFastestFirst[] = {kAxisW, kAxisH, kAxisD, kAxisC};
  for (const TileAxis axis : kFastestFirst) {
    if (++tile_.at[axis] < plan_->geometry.tiles(axis)) {
      enter_tile();
      return;
    }
    tile_.at[axis] = 0;
  }
  ++outer_;
  enter_tile();
}

std::uint32_t Cursor::seek(std::uint32_t stream_byte) noexcept {
  const TileGeometry& g = plan_->geometry;
  const auto slice = static_cast<std::uint32_t>(g.slice_bytes);
  std::uint32_t rest = stream_byte % slice;
  outer_ = stream_byte / slice;
  tile_ = {};
  tile_.at[kAxisC] = skip(g.slab_bytes[0], g.full_tiles[kAxisC], &rest);
  const unsigned c = g.class_bit(kAxisC, tile_.at[kAxisC]);
  tile_.at[kAxisD] = skip(g.plane_bytes[c != 0 ? 1 : 0][0], g.full_tiles[kAxisD], &rest);
  const unsigned d = g.class_bit(kAxisD, tile_.at[kAxisD]);
  tile_.at[kAxisH] = skip(g.row_bytes[c | d], g.full_tiles[kAxisH], &rest);
  const unsigned h = g.class_bit(kAxisH, tile_.at[kAxisH]);
  tile_.at[kAxisW] = skip(g.tile_bytes[c | d | h], g.full_tiles[kAxisW], &rest);
  enter_tile();
  if (rest == 0)
    return stream_byte;
  if (plan_->grain != Grain::Tiles) {
    std::uint32_t unit = 1; // pixels that are whole granules together
    while (unit * pixel_bytes_ % kGranuleBytes != 0)
      unit *= 2;
    const std::uint32_t pixel = ((rest - 1) / pixel_bytes_ / unit + 1) * unit;
    if (pixel < pixels_) {
      pixel_ = pixel;
      return stream_byte - rest + pixel * pixel_bytes_;
    }
  }
  const std::uint32_t begin = stream_byte - rest;
  const std::uint32_t end = begin + pixels_ * pixel_bytes_ + gap_bytes_;
  next_tile();
  return end;
}

std::uint32_t Cursor::source_of(std::uint32_t pixel) const noexcept {
  const std::uint32_t row = pixel / extent_[kAxisW];
  return origin_ + pixel % extent_[kAxisW] * plan_->strides[kAxisW] +
         row % extent_[kAxisH] * plan_->strides[kAxisH] +
         row / extent_[kAxisH] * plan_->strides[kAxisD];
}

bool Cursor::take(std::uint32_t bytes, Fragment& out) noexcept {
  if (pixel_ == pixels_)
    next_tile();
  out = Fragment{};
  out.source = source_of(pixel_);
  out.stored = stored_;
  const bool taken =
      pixel_bytes_ > plan_->panel_bytes ? take_piece(bytes, out) : take_pixels(bytes, out);
  if (taken && pixel_ == pixels_) {
    out.gap_bytes = gap_bytes_;
    out.stream_bytes += gap_bytes_;
  }
  return taken;
}

/// Rows from here to the end of the plane that can be staged together.
std::uint32_t Cursor::whole_rows(std::uint32_t bytes) const noexcept {
  if (!at_row_start() || plan_->staging != Staging::PixelMajor)
    return 0;
  const std::uint32_t row = pixel_ / extent_[kAxisW] % extent_[kAxisH];
  return least(bytes / (extent_[kAxisW] * pixel_bytes_), extent_[kAxisH] - row);
}

bool Cursor::take_pixels(std::uint32_t bytes, Fragment& out) noexcept {
  const std::uint32_t row_left = extent_[kAxisW] - pixel_ % extent_[kAxisW];
  if (const std::uint32_t rows = whole_rows(bytes); rows > 1) {
    out.rows = rows;
    out.pixels = rows * extent_[kAxisW];
  } else {
    out.pixels = least(bytes / pixel_bytes_, row_left);
  }
  out.channels = extent_[kAxisC];
  out.stream_bytes = out.pixels * pixel_bytes_;
  pixel_ += out.pixels;
  return out.pixels != 0;
}

bool Cursor::take_piece(std::uint32_t bytes, Fragment& out) noexcept {
  const std::uint32_t first = piece_byte_ % stored_;
  const std::uint32_t size = least(bytes, stored_ - first);
  if (size == 0)
    return false;
  out.piece = true;
  out.pixels = 1;
  out.plane = piece_byte_ / stored_;
  out.stored = size;
  out.channels = first < extent_[kAxisC] ? least(size, extent_[kAxisC] - first) : 0;
  out.source += first * plan_->strides[kAxisC];
  out.stream_bytes = size;
  piece_byte_ += size;
  if (piece_byte_ == pixel_bytes_) {
    piece_byte_ = 0;
    ++pixel_;
  }
  return true;
}

} // namespace simaai::firmware::tiling
