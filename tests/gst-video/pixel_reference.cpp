// SPDX-License-Identifier: LGPL-2.1-or-later
// Reference arithmetic by binary64 and by search.
#include "pixel_reference.h"

#include <bit>
#include <cmath>
#include <cstdlib>

namespace simaai::reference {
namespace {

using kernels::DType;

float once(double value) { return static_cast<float>(value); }

double even_integer(double value) {
  const double below = std::floor(value);
  const double rest = value - below;
  if (rest != 0.5)
    return rest < 0.5 ? below : below + 1;
  return std::fmod(below, 2) == 0 ? below : below + 1;
}

double clamp(double value, double low, double high) {
  return value < low ? low : value > high ? high : value;
}

} // namespace

double code_value(std::uint16_t code, unsigned exponent_bits, unsigned fraction_bits) {
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const unsigned exponent = (code >> fraction_bits) & ((1U << exponent_bits) - 1);
  const unsigned fraction = code & ((1U << fraction_bits) - 1);
  const double sign = (code >> 15) != 0 ? -1 : 1;
  if (exponent == (1U << exponent_bits) - 1)
    return fraction == 0 ? sign * INFINITY : NAN;
  const double significand =
      fraction + (exponent == 0 ? 0 : std::ldexp(1.0, static_cast<int>(fraction_bits)));
  const int power =
      (exponent == 0 ? 1 : static_cast<int>(exponent)) - bias - static_cast<int>(fraction_bits);
  return sign * std::ldexp(significand, power);
}

std::uint16_t nearest_code(float value, unsigned exponent_bits, unsigned fraction_bits) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  const double magnitude = std::fabs(static_cast<double>(value));
  const auto infinity = static_cast<std::uint16_t>(((1U << exponent_bits) - 1) << fraction_bits);
  // Codes of positive values grow with the value: the last one that is not above it.
  std::uint16_t low = 0;
  std::uint16_t high = infinity;
  while (high - low > 1) {
    const auto middle = static_cast<std::uint16_t>((low + high) / 2);
    (code_value(middle, exponent_bits, fraction_bits) <= magnitude ? low : high) = middle;
  }
  if (magnitude == INFINITY)
    return sign | infinity;
  // Infinity stands where the next finite value would be.
  const double floor_value = code_value(low, exponent_bits, fraction_bits);
  const double step = floor_value - code_value(static_cast<std::uint16_t>(low - (low > 0 ? 1 : 0)),
                                               exponent_bits, fraction_bits);
  const double ceiling =
      high == infinity ? floor_value + step : code_value(high, exponent_bits, fraction_bits);
  const double down = magnitude - floor_value;
  const double up = ceiling - magnitude;
  const bool take_low = down < up || (down == up && low % 2 == 0);
  return static_cast<std::uint16_t>(sign | (take_low ? low : high));
}

std::uint32_t element_of(std::uint8_t sample, DType dtype, std::size_t channel,
                         const Params& params) {
  const double mean = params.mean[channel];
  const double scale = params.scale[channel];
  const float centred = once(sample - mean);
  const float y = once(centred * scale);
  switch (dtype) {
  case DType::UInt8:
    return sample;
  case DType::Float32:
    return std::bit_cast<std::uint32_t>(y);
  case DType::Float16:
    return nearest_code(y, 5, 10);
  case DType::BFloat16:
    return nearest_code(y, 8, 7);
  case DType::Int8: {
    const float ratio = once(static_cast<double>(y) / static_cast<double>(params.quant_scale));
    const double code = clamp(even_integer(ratio) + params.zero_point, -128, 127);
    return static_cast<std::uint8_t>(static_cast<std::int8_t>(code));
  }
  case DType::Int32:
    break;
  }
  std::abort();
}

std::uint8_t sample_of(std::uint32_t bits, DType dtype, std::size_t channel, const Params& params) {
  double y = 0;
  switch (dtype) {
  case DType::UInt8:
    return static_cast<std::uint8_t>(bits);
  case DType::Float32:
    y = std::bit_cast<float>(bits);
    break;
  case DType::Float16:
    y = code_value(static_cast<std::uint16_t>(bits), 5, 10);
    break;
  case DType::BFloat16:
    y = code_value(static_cast<std::uint16_t>(bits), 8, 7);
    break;
  case DType::Int8:
    y = once((static_cast<std::int8_t>(bits) - params.zero_point) *
             static_cast<double>(params.quant_scale));
    break;
  case DType::Int32:
    std::abort();
  }
  const float quotient = once(y / static_cast<double>(params.scale[channel]));
  const float x = once(static_cast<double>(quotient) + static_cast<double>(params.mean[channel]));
  if (std::isnan(x))
    return 0;
  return static_cast<std::uint8_t>(even_integer(clamp(x, 0, 255)));
}

} // namespace simaai::reference
