// SPDX-License-Identifier: LGPL-2.1-or-later
// The arithmetic between an 8-bit sample and a tensor element, one scalar at a time.
//
// Forward:  y = (x - mean) * scale         binary32, each of the two steps rounded to nearest even
//           q = clamp(rne(y / quant_scale) + quant_zero_point, -128, 127)   division in binary32
// Inverse:  x = clamp(rne(y / scale + mean), 0, 255)  binary32, each of the two steps rounded
//           y = (q - quant_zero_point) * quant_scale                        product in binary32
//
// The functions expect the default rounding mode and a compiler that neither contracts nor
// reassociates (the project builds with -ffp-contract=off).
#pragma once

#include <bit>
#include <cstdint>

namespace simaai::gst {

/// Nearest even; overflow gives infinity; NaNs are quieted and keep their sign and high payload.
[[nodiscard]] constexpr std::uint16_t float16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint32_t>((bits >> 16) & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  std::uint32_t half = 0;
  if (magnitude > 0x7f800000U) {
    half = 0x7e00U | ((magnitude >> 13) & 0x3ffU);
  } else if (magnitude >= 0x47800000U) { // 2^16; what lies just below reaches infinity by its carry
    half = 0x7c00U;
  } else if (magnitude >= 0x38800000U) { // 2^-14, the least normal binary16
    half = ((magnitude + 0xfffU + ((magnitude >> 13) & 1U)) >> 13) - (112U << 10);
  } else { // one unit of 0.5f is 2^-24, the unit of a subnormal binary16: the sum rounds
    half = std::bit_cast<std::uint32_t>(std::bit_cast<float>(magnitude) + 0.5F) - 0x3f000000U;
  }
  return static_cast<std::uint16_t>(sign | half);
}

[[nodiscard]] constexpr float float16_value(std::uint16_t half) noexcept {
  const std::uint32_t sign = (half & 0x8000U) << 16;
  const std::uint32_t exponent = (half >> 10) & 31U;
  const std::uint32_t fraction = half & 0x3ffU;
  if (exponent == 0) { // fraction * 2^-24, exact
    const float magnitude = static_cast<float>(fraction) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  const std::uint32_t wide = exponent == 31 ? 255U : exponent + 112U;
  return std::bit_cast<float>(sign | (wide << 23) | (fraction << 13));
}

/// The cast rule of docs/ops/cast.md.
[[nodiscard]] constexpr std::uint16_t bfloat16_bits(float value) noexcept {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fffU + ((bits >> 16) & 1U)) >> 16);
}

[[nodiscard]] constexpr float bfloat16_value(std::uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}

/// Nearest even for magnitudes below 2^22: 1.5 * 2^23 leaves no bit for a fraction.
[[nodiscard]] constexpr float nearest_even(float value) noexcept {
  constexpr float kShift = 12582912.0F;
  return (value + kShift) - kShift;
}

[[nodiscard]] constexpr float normalize(std::uint8_t x, float mean, float scale) noexcept {
  const float centred = static_cast<float>(x) - mean;
  return centred * scale;
}

/// A NaN (0 / 0 cannot occur with finite parameters, inf - inf cannot either) would give -128.
[[nodiscard]] constexpr std::int8_t quantize(float y, float quant_scale, int zero_point) noexcept {
  constexpr float kFar = 1024.0F; // beyond any code, whatever the zero point is
  const float ratio = y / quant_scale;
  const float bounded = !(ratio > -kFar) ? -kFar : ratio > kFar ? kFar : ratio;
  const int code = static_cast<int>(nearest_even(bounded)) + zero_point;
  return static_cast<std::int8_t>(code < -128 ? -128 : code > 127 ? 127 : code);
}

[[nodiscard]] constexpr float dequantize(std::int8_t code, float quant_scale,
                                         int zero_point) noexcept {
  return static_cast<float>(code - zero_point) * quant_scale;
}

/// NaN gives 0.
[[nodiscard]] constexpr std::uint8_t restore(float y, float mean, float scale) noexcept {
  const float quotient = y / scale;
  const float x = quotient + mean;
  const float bounded = !(x > 0.0F) ? 0.0F : x > 255.0F ? 255.0F : x;
  return static_cast<std::uint8_t>(nearest_even(bounded));
}

} // namespace simaai::gst
