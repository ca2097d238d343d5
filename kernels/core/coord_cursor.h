// SPDX-License-Identifier: LGPL-2.1-or-later
// Mixed-radix cursor over logical coordinates that carries the byte offsets of two ports.
// Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/stride_proof.h"

namespace simaai::kernels::core {

/// Walks the coordinates of up to kMaxAxes positive extents, last axis fastest, without divisions.
/// Both offsets are relative to the coordinate of zeros.
class CoordCursor {
public:
  /// Adds an axis inside (faster than) the axes added before. `extent` is positive.
  constexpr void add_axis(std::int64_t extent, std::int64_t first_stride,
                          std::int64_t second_stride) noexcept {
    axes_[rank_++] = {extent, 0, first_stride, second_stride};
  }

  [[nodiscard]] constexpr std::int64_t first_offset() const noexcept { return first_; }
  [[nodiscard]] constexpr std::int64_t second_offset() const noexcept { return second_; }

  /// Moves to the next coordinate. False after the last one, when the cursor is at zeros again.
  constexpr bool advance() noexcept {
    for (std::size_t slot = rank_; slot-- > 0;) {
      Axis& axis = axes_[slot];
      if (++axis.index < axis.extent) {
        first_ += axis.first_stride;
        second_ += axis.second_stride;
        return true;
      }
      axis.index = 0;
      first_ -= (axis.extent - 1) * axis.first_stride;
      second_ -= (axis.extent - 1) * axis.second_stride;
    }
    return false;
  }

private:
  struct Axis {
    std::int64_t extent;
    std::int64_t index;
    std::int64_t first_stride;
    std::int64_t second_stride;
  };

  Axis axes_[kMaxAxes] = {};
  std::size_t rank_ = 0;
  std::int64_t first_ = 0;
  std::int64_t second_ = 0;
};

} // namespace simaai::kernels::core
