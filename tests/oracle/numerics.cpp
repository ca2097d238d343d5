// SPDX-License-Identifier: LGPL-2.1-or-later
// Scalar conversions. FP16 is decoded to an integer significand and a power of two, then rounded.
#include "numerics.h"

#include <stdexcept>

namespace simaai::oracle {

using kernels::DType;

std::uint16_t float32_to_bfloat16(std::uint32_t bits) {
  const std::uint32_t ties_to_even = (bits >> 16) & 1U;
  return static_cast<std::uint16_t>((bits + 0x7fffU + ties_to_even) >> 16);
}

std::uint32_t bfloat16_to_float32(std::uint16_t bits) { return std::uint32_t{bits} * 65536U; }

std::uint16_t float16_to_bfloat16(std::uint16_t bits) {
  // binary16: sign 1, exponent 5 (bias 15), fraction 10. bfloat16: sign 1, exponent 8 (bias 127),
  // fraction 7.
  const std::uint32_t sign = bits >> 15;
  const std::int32_t exponent_field = (bits >> 10) & 0x1f;
  const std::uint32_t fraction = bits & 0x3ffU;
  const auto assemble = [sign](std::uint32_t exponent, std::uint32_t fraction7) {
    return static_cast<std::uint16_t>((sign << 15) | (exponent << 7) | fraction7);
  };
  if (exponent_field == 31)
    return assemble(255, fraction == 0 ? 0 : ((fraction >> 3) | 0x40U));

  // The value is significand * 2^exponent, exactly.
  std::uint32_t significand = exponent_field == 0 ? fraction : fraction + 1024U;
  std::int32_t exponent = (exponent_field == 0 ? 1 : exponent_field) - 15 - 10;
  if (significand == 0)
    return assemble(0, 0);
  while (significand < 1024U) {
    significand *= 2U;
    --exponent;
  }
  // Eleven significant bits to eight: the discarded part is 0 to 7 eighths of the last place kept.
  std::uint32_t kept = significand / 8U;
  const std::uint32_t discarded = significand % 8U;
  if (discarded > 4U || (discarded == 4U && kept % 2U == 1U))
    ++kept;
  exponent += 3;
  if (kept == 256U) {
    kept = 128U;
    ++exponent;
  }
  return assemble(static_cast<std::uint32_t>(exponent + 7 + 127), kept - 128U);
}

Tensor convert(const Tensor& source, DType to) {
  Tensor result{source.shape, to, source.bits};
  if (source.dtype == to)
    return result;
  for (std::uint32_t& bits : result.bits) {
    const auto low = static_cast<std::uint16_t>(bits);
    if (source.dtype == DType::Float32 && to == DType::BFloat16)
      bits = float32_to_bfloat16(bits);
    else if (source.dtype == DType::Float16 && to == DType::BFloat16)
      bits = float16_to_bfloat16(low);
    else if (source.dtype == DType::BFloat16 && to == DType::Float32)
      bits = bfloat16_to_float32(low);
    else
      throw std::invalid_argument("no conversion between these dtypes");
  }
  return result;
}

} // namespace simaai::oracle
