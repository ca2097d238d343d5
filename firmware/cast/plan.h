// SPDX-License-Identifier: LGPL-2.1-or-later
// How one Cast packet is run: its axes in physical order, the route and the number of workers.
// Freestanding C++17.
#pragma once

#include <cstdint>

#include "firmware/common/route.h"
#include "firmware/common/slots.h"
#include "wire/descriptor.h"

namespace simaai::firmware::cast {

/// Two slots, each with the largest input chunk (8 KiB of BFloat16 or 16 KiB of Float32) and the
/// output chunk that it becomes (16 or 8 KiB).
inline constexpr std::uint32_t kSlotBytes = kPanelElements * (2 + 4);
using Slots = SlotTable<kSlotBytes, kSlotBytes>;

struct Axis {
  std::uint32_t extent;
  std::uint32_t src; ///< byte strides
  std::uint32_t dst;
};

/// Axes of extent above one (or a single one of extent one), merged where both ports continue,
/// destination strides decreasing. Destination addresses therefore grow with the linear index over
/// these axes, which is what shares and panels count in.
struct Plan {
  std::uint32_t source = 0;
  std::uint32_t destination = 0;
  std::uint32_t src_width = 0;
  std::uint32_t dst_width = 0;
  std::uint32_t rank = 0;
  Axis axes[kernels::wire::kMaxRank] = {};
  std::uint32_t count = 0; ///< elements
  Route route = Route::None;
  std::uint32_t workers = 1;
  std::uint32_t dst_run = 1; ///< elements that are contiguous in the destination
  bool matrix = false;       ///< run by columns: axes[column_axis] is contiguous in the source
  std::uint32_t column_axis = 0;
  std::uint32_t column_unit = 1; ///< columns that owners share in, so that no granule has two
  bool packed_pairs = false;     ///< source values in every other slot of a contiguous span

  [[nodiscard]] const Axis& inner() const noexcept { return axes[rank - 1]; }
  [[nodiscard]] bool widens() const noexcept { return dst_width > src_width; }
  [[nodiscard]] std::uint32_t input_bytes() const noexcept { return kPanelElements * src_width; }
};

/// Plans an admitted packet for the workers on offer.
Plan make_plan(const kernels::wire::Descriptor& d, std::uint32_t workers) noexcept;

/// Coordinates over the axes of a plan with the byte offsets of both ports.
class Walk {
public:
  explicit Walk(const Plan& plan) noexcept : plan_(plan) {}

  /// Moves to the element with this linear index.
  void seek(std::uint32_t element) noexcept {
    src_ = 0;
    dst_ = 0;
    for (std::uint32_t axis = plan_.rank; axis-- > 0;) {
      const Axis& a = plan_.axes[axis];
      index_[axis] = element % a.extent;
      element /= a.extent;
      src_ += index_[axis] * a.src;
      dst_ += index_[axis] * a.dst;
    }
  }

  /// Moves `elements` ahead without leaving the innermost axis, or exactly to its end.
  void advance(std::uint32_t elements) noexcept {
    std::uint32_t axis = plan_.rank - 1;
    step(axis, elements);
    while (index_[axis] == plan_.axes[axis].extent) {
      src_ -= index_[axis] * plan_.axes[axis].src;
      dst_ -= index_[axis] * plan_.axes[axis].dst;
      index_[axis] = 0;
      if (axis == 0)
        return;
      step(--axis, 1);
    }
  }

  /// Moves `rows` whole inner axes ahead without leaving the next axis, or exactly to its end.
  void advance_rows(std::uint32_t rows) noexcept {
    if (plan_.rank > 1)
      step(plan_.rank - 2, rows - 1);
    advance(plan_.inner().extent);
  }

  [[nodiscard]] std::uint32_t at(std::uint32_t axis) const noexcept { return index_[axis]; }
  [[nodiscard]] std::uint32_t src() const noexcept { return plan_.source + src_; }
  [[nodiscard]] std::uint32_t dst() const noexcept { return plan_.destination + dst_; }

private:
  void step(std::uint32_t axis, std::uint32_t by) noexcept {
    index_[axis] += by;
    src_ += by * plan_.axes[axis].src;
    dst_ += by * plan_.axes[axis].dst;
  }

  const Plan& plan_;
  std::uint32_t index_[kernels::wire::kMaxRank] = {};
  std::uint32_t src_ = 0;
  std::uint32_t dst_ = 0;
};

} // namespace simaai::firmware::cast
