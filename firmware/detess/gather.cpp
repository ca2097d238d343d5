// SPDX-License-Identifier: LGPL-2.1-or-later
// Choice of transfers for rectangles of elements.
#include "firmware/detess/gather.h"

#include "firmware/common/local_access.h"
#include "firmware/common/partition.h"
#include "firmware/detess/slots.h"

namespace simaai::firmware::detess {
namespace {

/// Rows of contiguous bytes below this length are short: better in one interval.
constexpr std::uint32_t kShortSpan = 16;

/// Bytes from the first byte of a row to past its last.
std::uint32_t row_envelope(const Rectangle& shape, std::uint32_t planes) noexcept {
  return (shape.columns - 1) * shape.step + (planes - 1) * shape.plane_pitch + 1;
}

} // namespace

void Gather::read(std::uint32_t first, std::uint32_t count, std::byte* planes,
                  Chain& chain) noexcept {
  planes_ = planes;
  chain_ = &chain;
  place_.seek(first);
  const std::uint32_t inner = view_.rank - 1;
  const std::uint32_t extent = view_.inner().extent;
  for (std::uint32_t done = 0; done < count && worker_.ok();) {
    const std::uint32_t from = place_.index(inner);
    const std::uint32_t columns = at_most(extent - from, count - done);
    std::uint32_t rows = 1;
    if (columns == extent && inner > 0) {
      const ViewAxis& across = view_.axes[inner - 1];
      const Spot spot = view_.tiles.locate(place_.coordinates());
      rows = at_most((count - done) / extent, room_along(spot, across, place_.index(inner - 1)));
    }
    read_rows(from, columns, rows, done);
    done += columns * rows;
    if (columns < extent)
      place_.advance(inner, columns);
    else
      place_.advance(inner > 0 ? inner - 1 : 0, rows);
  }
  flush();
}

void Gather::read_rows(std::uint32_t from, std::uint32_t columns, std::uint32_t rows,
                       std::uint32_t at) noexcept {
  const ViewAxis& along = view_.inner();
  for (std::uint32_t done = 0; done < columns;) {
    const Spot spot = view_.tiles.locate(place_.coordinates(from + done));
    const std::uint32_t part = at_most(room_along(spot, along, from + done), columns - done);
    const std::uint32_t row_pitch = rows > 1 ? pitch_along(spot, view_.axes[view_.rank - 2]) : 0;
    emit({spot.device, part, pitch_along(spot, along), rows, row_pitch, spot.plane_pitch, at + done,
          along.extent});
    done += part;
  }
}

void Gather::emit(const Rectangle& shape) noexcept {
  if (is_worth_staging(shape))
    stage_in_parts(shape);
  else
    read_directly(shape);
}

void Gather::read_directly(const Rectangle& shape) noexcept {
  if (shape.step == 1)
    read_spans(shape);
  else
    read_columns(shape);
}

/// One interval in place of transfers with short rows, where it reads little that is not wanted.
bool Gather::is_worth_staging(const Rectangle& shape) const noexcept {
  const std::uint32_t planes = view_.tiles.planes;
  const std::uint32_t live = shape.columns * shape.rows * planes;
  const std::uint32_t envelope = (shape.rows - 1) * shape.row_pitch + row_envelope(shape, planes);
  if (shape.step != 1)
    return envelope <= 2 * live;
  return shape.columns < kShortSpan && envelope <= (shape.rows == 1 ? 2 * live : live);
}

/// Parts that fit the raw slot: whole rows where they do not lie between each other, else pieces of
/// all rows.
void Gather::stage_in_parts(const Rectangle& shape) noexcept {
  const std::uint32_t past_last = (view_.tiles.planes - 1) * shape.plane_pitch + 1;
  const std::uint32_t whole_row = (shape.columns - 1) * shape.step + past_last;
  const std::uint32_t all_rows = (shape.rows - 1) * shape.row_pitch + past_last;
  std::uint32_t rows = 1;
  std::uint32_t columns = shape.columns;
  if (shape.rows > 1 && shape.row_pitch < shape.step && all_rows <= kRawBytes) {
    rows = shape.rows;
    columns = (kRawBytes - all_rows) / shape.step + 1;
  } else if (whole_row > kRawBytes) {
    columns = (kRawBytes - past_last) / shape.step + 1;
  } else if (shape.rows > 1) {
    rows = (kRawBytes - whole_row) / shape.row_pitch + 1;
  }
  Rectangle part = shape;
  for (std::uint32_t row = 0; row < shape.rows; row += part.rows) {
    part.rows = at_most(rows, shape.rows - row);
    for (std::uint32_t column = 0; column < shape.columns; column += part.columns) {
      part.columns = at_most(columns, shape.columns - column);
      part.device = shape.device + row * shape.row_pitch + column * shape.step;
      part.at = shape.at + row * shape.at_pitch + column;
      if (is_worth_staging(part))
        stage(part);
      else // a part can be sparser than the whole
        read_directly(part);
    }
  }
}

void Gather::stage(const Rectangle& shape) noexcept {
  const std::uint32_t bytes =
      (shape.rows - 1) * shape.row_pitch + row_envelope(shape, view_.tiles.planes);
  const std::uint32_t raw = reserve(bytes);
  worker_.read(raw_chain_, {shape.device, raw_ + raw, bytes});
  staged_[staged_count_++] = {shape, raw, bytes, /*packed=*/false};
}

/// Rows that follow each other at one pitch come as one column a plane, and are parted locally.
void Gather::stage_packed(const Rectangle& shape) noexcept {
  const std::uint32_t planes = view_.tiles.planes;
  const std::uint32_t most = kRawBytes / (shape.columns * planes);
  Rectangle part = shape;
  for (std::uint32_t row = 0; row < shape.rows; row += part.rows) {
    part.rows = at_most(most, shape.rows - row);
    part.device = shape.device + row * shape.row_pitch;
    part.at = shape.at + row * shape.at_pitch;
    const std::uint32_t count = part.rows * part.columns;
    const std::uint32_t raw = reserve(count * planes);
    for (std::uint32_t plane = 0; plane < planes; ++plane)
      worker_.read(raw_chain_, {part.device + plane * shape.plane_pitch,
                                raw_ + raw + std::size_t{plane} * count, 1, count, shape.step, 1});
    staged_[staged_count_++] = {part, raw, count * planes, /*packed=*/true};
  }
}

void Gather::read_spans(const Rectangle& shape) noexcept {
  const bool pitched = shape.rows == 1 || shape.row_pitch <= kMaxPitchBytes;
  const std::uint32_t rows = pitched ? shape.rows : 1;
  for (std::uint32_t row = 0; row < shape.rows; row += rows)
    for (std::uint32_t plane = 0; plane < view_.tiles.planes; ++plane)
      worker_.read(*chain_, {shape.device + row * shape.row_pitch + plane * shape.plane_pitch,
                             panel_at(plane, shape.at + row * shape.at_pitch), shape.columns, rows,
                             shape.row_pitch, shape.at_pitch});
}

void Gather::read_columns(const Rectangle& shape) noexcept {
  const bool follow = shape.rows == 1 || shape.row_pitch == shape.columns * shape.step;
  const bool whole = follow && (shape.rows == 1 || shape.at_pitch == shape.columns);
  const std::uint32_t planes = view_.tiles.planes;
  if (follow && !whole && shape.step <= kMaxPitchBytes && 2 * shape.columns * planes <= kRawBytes) {
    stage_packed(shape);
    return;
  }
  const std::uint32_t rows = whole ? 1 : shape.rows;
  const std::uint32_t count = whole ? shape.columns * shape.rows : shape.columns;
  for (std::uint32_t row = 0; row < rows; ++row)
    for (std::uint32_t plane = 0; plane < planes; ++plane)
      read_scattered(shape.device + row * shape.row_pitch + plane * shape.plane_pitch, count,
                     shape.step, panel_at(plane, shape.at + row * shape.at_pitch));
}

void Gather::read_scattered(std::uint32_t device, std::uint32_t count, std::uint32_t step,
                            std::byte* to) noexcept {
  if (step <= kMaxPitchBytes) {
    worker_.read(*chain_, {device, to, 1, count, step, 1});
    return;
  }
  for (std::uint32_t i = 0; i < count; ++i)
    worker_.read(*chain_, {device + i * step, to + i, 1});
}

/// Room in the raw slot for one more staged rectangle.
std::uint32_t Gather::reserve(std::uint32_t bytes) noexcept {
  if (staged_count_ == kMaxStaged || raw_used_ + bytes > kRawBytes)
    flush();
  const std::uint32_t raw = raw_used_;
  raw_used_ += bytes;
  return raw;
}

void Gather::flush() noexcept {
  worker_.wait(raw_chain_);
  for (std::uint32_t i = 0; i < staged_count_ && worker_.ok(); ++i)
    spread(staged_[i]);
  staged_count_ = 0;
  raw_used_ = 0;
}

void Gather::spread(const Staged& staged) noexcept {
  const Rectangle& shape = staged.shape;
  const std::byte* raw = raw_ + staged.raw;
  const std::uint32_t step = staged.packed ? 1 : shape.step;
  const std::uint32_t row_pitch = staged.packed ? shape.columns : shape.row_pitch;
  const std::uint32_t plane_pitch = staged.packed ? shape.columns * shape.rows : shape.plane_pitch;
  worker_.reads(raw, staged.bytes);
  for (std::uint32_t row = 0; row < shape.rows; ++row)
    for (std::uint32_t plane = 0; plane < view_.tiles.planes; ++plane) {
      const std::byte* from = raw + std::size_t{row} * row_pitch + std::size_t{plane} * plane_pitch;
      std::byte* to = panel_at(plane, shape.at + row * shape.at_pitch);
      worker_.writes(to, shape.columns);
      for (std::uint32_t i = 0; i < shape.columns; ++i)
        to[i] = from[std::size_t{i} * step];
    }
}

} // namespace simaai::firmware::detess
