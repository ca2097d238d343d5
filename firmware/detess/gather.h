// SPDX-License-Identifier: LGPL-2.1-or-later
// The general reader: brings consecutive output elements, whatever axes they run along, from the
// tiles into local planes in output order. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/common/dma.h"
#include "firmware/common/slots.h"
#include "firmware/detess/view.h"

namespace simaai::firmware::detess {

/// A rectangle of elements in one tile: `rows` rows of `columns` elements, at equal distances in
/// the tile and in the panel.
struct Rectangle {
  std::uint32_t device; ///< low byte of the first element
  std::uint32_t columns;
  std::uint32_t step; ///< source bytes from column to column
  std::uint32_t rows;
  std::uint32_t row_pitch; ///< source bytes from row to row
  std::uint32_t plane_pitch;
  std::uint32_t at;       ///< panel position of the first element
  std::uint32_t at_pitch; ///< panel elements from row to row
};

/// Reads panels for one worker. Not copied, lives as long as the worker's loop.
class Gather {
public:
  Gather(Worker& worker, const View& view, std::byte* raw) noexcept
      : worker_(worker), view_(view), place_(view), raw_(raw) {}

  /// Submits the transfers of elements [first, first + count) to `chain`, for `planes`: one plane of
  /// kPanelElements bytes after the other. What is staged in the raw slot is there on return, the
  /// rest when the chain is complete.
  void read(std::uint32_t first, std::uint32_t count, std::byte* planes, Chain& chain) noexcept;

private:
  /// A rectangle in the raw slot that waits to be spread over the planes.
  struct Staged {
    Rectangle shape;
    std::uint32_t raw;
    std::uint32_t bytes;
    bool packed; ///< each plane gapless, instead of as in the tile
  };
  static constexpr std::uint32_t kMaxStaged = 16;

  [[nodiscard]] std::byte* panel_at(std::uint32_t plane, std::uint32_t element) const noexcept {
    return planes_ + std::size_t{plane} * kPanelElements + element;
  }
  void read_rows(std::uint32_t from, std::uint32_t columns, std::uint32_t rows,
                 std::uint32_t at) noexcept;
  void emit(const Rectangle& shape) noexcept;
  void read_directly(const Rectangle& shape) noexcept;
  [[nodiscard]] bool is_worth_staging(const Rectangle& shape) const noexcept;
  void stage_in_parts(const Rectangle& shape) noexcept;
  void stage(const Rectangle& shape) noexcept;
  void stage_packed(const Rectangle& shape) noexcept;
  void read_spans(const Rectangle& shape) noexcept;
  void read_columns(const Rectangle& shape) noexcept;
  void read_scattered(std::uint32_t device, std::uint32_t count, std::uint32_t step,
                      std::byte* to) noexcept;
  [[nodiscard]] std::uint32_t reserve(std::uint32_t bytes) noexcept;
  void flush() noexcept;
  void spread(const Staged& staged) noexcept;

  Worker& worker_;
  const View& view_;
  Place place_;
  std::byte* raw_;
  std::byte* planes_ = nullptr;
  Chain* chain_ = nullptr;
  Chain raw_chain_;
  Staged staged_[kMaxStaged] = {};
  std::uint32_t staged_count_ = 0;
  std::uint32_t raw_used_ = 0;
};

} // namespace simaai::firmware::detess
