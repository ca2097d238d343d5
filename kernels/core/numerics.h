// SPDX-License-Identifier: LGPL-2.1-or-later
// Bit rules between Float32, Float16 and BFloat16 that every processor must agree on. Integer
// arithmetic only: no rounding mode, flush mode or exception flag takes part. Freestanding.
#pragma once

#include <cstdint>

namespace simaai::kernels::core {

// Fields, from the top bit: Float32 1 + 8 + 23, BFloat16 1 + 8 + 7, Float16 1 + 5 + 10.

/// Float32 to BFloat16 on raw bits, modulo 2^32. NaNs take the same rule, so the largest payloads
/// become an infinity or wrap around to a zero.
[[nodiscard]] constexpr std::uint16_t bf16_from_f32_bits(std::uint32_t bits) noexcept {
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

/// BFloat16 to Float32 on raw bits: exact, NaN payloads and signalling state kept.
[[nodiscard]] constexpr std::uint32_t f32_bits_from_bf16(std::uint16_t bits) noexcept {
  return static_cast<std::uint32_t>(bits) << 16;
}

namespace detail {
/// Drops three fraction bits with nearest-even rounding; a carry moves into the exponent above.
[[nodiscard]] constexpr std::uint32_t round_off_3_bits(std::uint32_t value) noexcept {
  return (value + 3U + ((value >> 3) & 1U)) >> 3;
}
} // namespace detail

/// Float16 to BFloat16 on raw bits, nearest even. Signed zeros and infinities are kept, subnormals
/// become the exactly rounded normal number; NaNs keep sign and the upper seven payload bits and
/// are made quiet.
[[nodiscard]] constexpr std::uint16_t bf16_from_f16_bits(std::uint16_t bits) noexcept {
  const std::uint32_t sign = bits & 0x8000U;
  const std::uint32_t magnitude = bits & 0x7fffU;
  if (magnitude > 0x7c00U) // NaN: 0x7f80 exponent, 0x0040 quiet bit
    return static_cast<std::uint16_t>(sign | 0x7fc0U | ((magnitude & 0x03ffU) >> 3));
  if (magnitude == 0x7c00U)
    return static_cast<std::uint16_t>(sign | 0x7f80U);
  if (magnitude >= 0x0400U) // normal: rebias the exponent from 15 to 127
    return static_cast<std::uint16_t>(sign | (detail::round_off_3_bits(magnitude) + (112U << 7)));
  if (magnitude == 0)
    return static_cast<std::uint16_t>(sign);
  // Subnormal: magnitude * 2^-24. Shift the leading one to bit 10, where it adds one to the
  // exponent field below it.
  std::uint32_t fraction = magnitude;
  std::uint32_t exponent = 112;
  while (fraction < 0x0400U) {
    fraction <<= 1;
    --exponent;
  }
  return static_cast<std::uint16_t>(sign | detail::round_off_3_bits((exponent << 10) + fraction));
}

} // namespace simaai::kernels::core
