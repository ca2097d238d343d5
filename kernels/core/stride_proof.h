// SPDX-License-Identifier: LGPL-2.1-or-later
// Proof that a byte-strided view addresses each byte at most once, and its span. Freestanding.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/checked.h"

namespace simaai::kernels::core {

/// Axes that any operation handles at most.
inline constexpr std::size_t kMaxAxes = 6;

/// What the proof found wrong with a view, in the order of the checks.
enum class StrideFault : std::uint8_t { None, Negative, Misaligned, Zero, Overlap, Overflow };

/// Outcome of prove_strides().
struct StrideProof {
  StrideFault fault = StrideFault::None;
  std::size_t axis = 0;        ///< logical axis of the fault
  std::int64_t expected = 0;   ///< Overlap: least admissible stride; Misaligned: scalar bytes
  std::int64_t span_bytes = 0; ///< without fault: bytes from the first to past the last scalar
};

namespace detail {

[[nodiscard]] constexpr StrideProof stride_fault(StrideFault fault, std::size_t axis,
                                                 std::int64_t expected) noexcept {
  return {fault, axis, expected, 0};
}

/// Sign, alignment and zero checks, which hold for empty views too.
[[nodiscard]] constexpr StrideProof check_stride_values(const std::int64_t* extents,
                                                        const std::int64_t* strides,
                                                        std::size_t rank,
                                                        std::int64_t scalar_bytes) noexcept {
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (strides[axis] < 0)
      return stride_fault(StrideFault::Negative, axis, 0);
    if (strides[axis] % scalar_bytes != 0)
      return stride_fault(StrideFault::Misaligned, axis, scalar_bytes);
    if (strides[axis] == 0 && extents[axis] > 1)
      return stride_fault(StrideFault::Zero, axis, extents[axis]);
  }
  return {};
}

/// Axes of extent above one, by increasing stride; equal strides keep logical order. Returns their
/// number.
constexpr std::size_t sort_axes(const std::int64_t* extents, const std::int64_t* strides,
                                std::size_t rank, std::size_t* order) noexcept {
  std::size_t count = 0;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    if (extents[axis] <= 1)
      continue;
    std::size_t slot = count++;
    for (; slot > 0 && strides[order[slot - 1]] > strides[axis]; --slot)
      order[slot] = order[slot - 1];
    order[slot] = axis;
  }
  return count;
}

} // namespace detail

/// Checks `rank` (at most kMaxAxes) byte strides over nonnegative extents.
///
/// Every stride is nonnegative, a multiple of the scalar width and above zero where its extent
/// exceeds one, whatever the other extents are. For nonempty views the axes of extent above one,
/// sorted by stride, must each start at or after everything addressed by the axes before: a
/// conservative proof that may refuse views which happen not to overlap. Empty views have span 0
/// and multiply nothing.
[[nodiscard]] constexpr StrideProof prove_strides(const std::int64_t* extents,
                                                  const std::int64_t* strides, std::size_t rank,
                                                  std::int64_t scalar_bytes) noexcept {
  const StrideProof values = detail::check_stride_values(extents, strides, rank, scalar_bytes);
  if (values.fault != StrideFault::None)
    return values;
  for (std::size_t axis = 0; axis < rank; ++axis)
    if (extents[axis] == 0)
      return {};

  std::size_t order[kMaxAxes] = {};
  const std::size_t count = detail::sort_axes(extents, strides, rank, order);
  std::int64_t span = scalar_bytes;
  for (std::size_t slot = 0; slot < count; ++slot) {
    const std::size_t axis = order[slot];
    if (strides[axis] < span)
      return detail::stride_fault(StrideFault::Overlap, axis, span);
    std::int64_t reach = 0;
    if (!checked_mul(extents[axis] - 1, strides[axis], &reach) || !checked_add(span, reach, &span))
      return detail::stride_fault(StrideFault::Overflow, axis, 0);
  }
  StrideProof proof;
  proof.span_bytes = span;
  return proof;
}

/// True where an axis of stride `outer_bytes` steps from one pass over the inner axis to the next
/// without a seam, so that both walk like a single axis. Strides are nonnegative, `inner_extent` is
/// positive. Past an admitted view's last element the product may leave the signed 64-bit range:
/// then no stride continues it.
[[nodiscard]] constexpr bool strides_continue(std::int64_t outer_bytes, std::int64_t inner_extent,
                                              std::int64_t inner_bytes) noexcept {
  std::int64_t pass_bytes = 0;
  return checked_mul(inner_extent, inner_bytes, &pass_bytes) && outer_bytes == pass_bytes;
}

/// Row-major byte strides of a nonempty contiguous view and its span; Overflow names the axis whose
/// extent left the signed 64-bit range. An empty view has span 0 and strides 0.
[[nodiscard]] constexpr StrideProof row_major_strides(const std::int64_t* extents, std::size_t rank,
                                                      std::int64_t scalar_bytes,
                                                      std::int64_t* strides) noexcept {
  StrideProof proof;
  bool empty = false;
  for (std::size_t axis = 0; axis < rank; ++axis) {
    strides[axis] = 0;
    empty = empty || extents[axis] == 0;
  }
  if (empty)
    return proof;
  std::int64_t span = scalar_bytes;
  for (std::size_t axis = rank; axis-- > 0;) {
    strides[axis] = span;
    if (!checked_mul(span, extents[axis], &span))
      return detail::stride_fault(StrideFault::Overflow, axis, 0);
  }
  proof.span_bytes = span;
  return proof;
}

} // namespace simaai::kernels::core
