// SPDX-License-Identifier: LGPL-2.1-or-later
// Overflow-checked arithmetic on nonnegative 64-bit sizes. Freestanding: the compiler's overflow
// builtins need support routines that small targets lack.
#pragma once

#include <cstdint>

namespace simaai::kernels::core {

inline constexpr std::int64_t kMaxInt64 = INT64_MAX;

/// `*result = a * b`; false, result unspecified, where it exceeds the signed 64-bit range. Operands
/// are nonnegative.
[[nodiscard]] constexpr bool checked_mul(std::int64_t a, std::int64_t b,
                                         std::int64_t* result) noexcept {
  if (b != 0 && a > kMaxInt64 / b)
    return false;
  *result = a * b;
  return true;
}

/// `*result = a + b`; false, result unspecified, where it exceeds the signed 64-bit range. Operands
/// are nonnegative.
[[nodiscard]] constexpr bool checked_add(std::int64_t a, std::int64_t b,
                                         std::int64_t* result) noexcept {
  if (a > kMaxInt64 - b)
    return false;
  *result = a + b;
  return true;
}

/// `*result = value` rounded up to a multiple of 16; false where it exceeds the signed 64-bit
/// range.
[[nodiscard]] constexpr bool checked_round_up_16(std::int64_t value,
                                                 std::int64_t* result) noexcept {
  if (!checked_add(value, 15, result))
    return false;
  *result -= *result % 16;
  return true;
}

} // namespace simaai::kernels::core
