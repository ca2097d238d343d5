// SPDX-License-Identifier: LGPL-2.1-or-later
// Two ways for vector code around 64-bit arithmetic: the high halves of products alone, or
// accumulators clamped to where the rescale does not saturate.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>

#include <simaai/kernels/matrix/requant.h>

namespace simaai::kernels::matrix::detail {

/// An accumulator clamped into [least, greatest] has the element of the accumulator itself, and its
/// scaled value before saturation is within 128 + |multiplier| / 2^shift of zero.
struct RequantBounds {
  std::int32_t least = std::numeric_limits<std::int32_t>::min();
  std::int32_t greatest = std::numeric_limits<std::int32_t>::max();
};

[[nodiscard]] inline std::int64_t floor_quotient(std::int64_t value,
                                                 std::int64_t divisor) noexcept {
  const std::int64_t quotient = value / divisor;
  return value % divisor != 0 && (value < 0) != (divisor < 0) ? quotient - 1 : quotient;
}

[[nodiscard]] inline std::int64_t ceil_quotient(std::int64_t value, std::int64_t divisor) noexcept {
  const std::int64_t quotient = value / divisor;
  return value % divisor != 0 && (value < 0) == (divisor < 0) ? quotient + 1 : quotient;
}

[[nodiscard]] inline RequantBounds requant_bounds(const Requant& requant) noexcept {
  // At most 2^62 + half is reached, which is less than 127 * 2^56: no saturation from there on.
  constexpr unsigned kNeverSaturates = 56;
  const std::int64_t multiplier = requant.multiplier();
  const unsigned shift = requant.shift();
  RequantBounds bounds;
  if (multiplier == 0 || shift >= kNeverSaturates)
    return bounds;
  const std::int64_t half = shift == 0 ? 0 : std::int64_t{1} << (shift - 1);
  const std::int64_t unit = std::int64_t{1} << shift;
  const std::int64_t top = 127 * unit - half;         // products from here on give 127
  const std::int64_t bottom = -127 * unit - half - 1; // products up to here give -128
  const std::int64_t greatest =
      multiplier > 0 ? ceil_quotient(top, multiplier) : ceil_quotient(bottom, multiplier);
  const std::int64_t least =
      multiplier > 0 ? floor_quotient(bottom, multiplier) : floor_quotient(top, multiplier);
  bounds.greatest = static_cast<std::int32_t>(std::min<std::int64_t>(bounds.greatest, greatest));
  bounds.least = static_cast<std::int32_t>(std::max<std::int64_t>(bounds.least, least));
  return bounds;
}

/// The same rescale from the high 32 bits of products: (high + half) >> shift, where
/// high = (accumulator * multiplier) >> 32. Nothing overflows: |high| <= 2^30.
struct HighRequant {
  /// Bits that can be shifted out after a saturation to 16 bits.
  static constexpr int kRoundedBits = 8;
  bool exact; ///< false: the rescale has no such form
  std::int32_t multiplier;
  std::int32_t half;
  int shift;
};

/// A shift of at least 33 leaves the rounding constant without low bits, so that they cannot matter.
/// Smaller ones are raised together with the multiplier, as far as that fits 32 bits.
[[nodiscard]] inline HighRequant high_requant(const Requant& requant) noexcept {
  constexpr unsigned kLeast = 33;
  const unsigned raise = requant.shift() < kLeast ? kLeast - requant.shift() : 0;
  const std::int64_t multiplier = requant.multiplier() * (std::int64_t{1} << std::min(raise, 31U));
  if (raise > 31 || multiplier < std::numeric_limits<std::int32_t>::min() ||
      multiplier > std::numeric_limits<std::int32_t>::max() || requant.shift() == 0)
    return {false, 0, 0, 0};
  const unsigned shift = requant.shift() + raise;
  return {true, static_cast<std::int32_t>(multiplier), std::int32_t{1} << (shift - kLeast),
          static_cast<int>(shift - 32)};
}

} // namespace simaai::kernels::matrix::detail
