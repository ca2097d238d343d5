// SPDX-License-Identifier: LGPL-2.1-or-later
// The oracle's scalar conversions against hand-worked values and against double arithmetic.
#include <bit>
#include <cmath>

#include <gtest/gtest.h>

#include "oracle/numerics.h"

namespace simaai::oracle {
namespace {

TEST(Numerics, Float32ToBfloat16HandWorked) {
  EXPECT_EQ(float32_to_bfloat16(0x3f800000), 0x3f80);
  EXPECT_EQ(float32_to_bfloat16(0x3f808000), 0x3f80); // tie, even below
  EXPECT_EQ(float32_to_bfloat16(0x3f818000), 0x3f82); // tie, even above
  EXPECT_EQ(float32_to_bfloat16(0x3f808001), 0x3f81);
  EXPECT_EQ(float32_to_bfloat16(0x3f807fff), 0x3f80);
  EXPECT_EQ(float32_to_bfloat16(0x7f7fffff), 0x7f80); // largest finite becomes infinity
  EXPECT_EQ(float32_to_bfloat16(0x7f800001), 0x7f80); // a NaN that becomes infinity
  EXPECT_EQ(float32_to_bfloat16(0x7fffffff), 0x8000); // a NaN that carries into the sign
  EXPECT_EQ(float32_to_bfloat16(0xffffffff), 0x0000); // a NaN that wraps around
  EXPECT_EQ(float32_to_bfloat16(0x00008000), 0x0000);
  EXPECT_EQ(float32_to_bfloat16(0x00008001), 0x0001);
  EXPECT_EQ(float32_to_bfloat16(0x80018000), 0x8002);
  EXPECT_EQ(float32_to_bfloat16(0xff800000), 0xff80);
}

TEST(Numerics, Bfloat16ToFloat32KeepsEveryBit) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits)
    ASSERT_EQ(bfloat16_to_float32(static_cast<std::uint16_t>(bits)), bits << 16);
}

TEST(Numerics, Float16ToBfloat16HandWorked) {
  EXPECT_EQ(float16_to_bfloat16(0x3c00), 0x3f80);
  EXPECT_EQ(float16_to_bfloat16(0x8000), 0x8000);
  EXPECT_EQ(float16_to_bfloat16(0x7c00), 0x7f80);
  EXPECT_EQ(float16_to_bfloat16(0xfc00), 0xff80);
  EXPECT_EQ(float16_to_bfloat16(0x3c04), 0x3f80); // tie, even below
  EXPECT_EQ(float16_to_bfloat16(0x3c0c), 0x3f82); // tie, even above
  EXPECT_EQ(float16_to_bfloat16(0x3fff), 0x4000); // carries into the exponent
  EXPECT_EQ(float16_to_bfloat16(0x7bff), 0x4780); // 65504 rounds to 65536
  EXPECT_EQ(float16_to_bfloat16(0x0001), 0x3380); // 2^-24
  EXPECT_EQ(float16_to_bfloat16(0x03ff), 0x3880); // 1023 * 2^-24 rounds to 2^-14
  EXPECT_EQ(float16_to_bfloat16(0x7c01), 0x7fc0); // signalling NaN, quieted
  EXPECT_EQ(float16_to_bfloat16(0xfe08), 0xffc1);
  EXPECT_EQ(float16_to_bfloat16(0x7dff), 0x7fff);
}

/// Value of finite binary16 bits; exact.
double value_of_float16(std::uint32_t bits) {
  const int exponent = static_cast<int>((bits >> 10) & 0x1f);
  const double fraction = bits & 0x3ff;
  const double magnitude =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(fraction + 1024.0, exponent - 25);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

double value_of_bfloat16(std::uint16_t bits) {
  return static_cast<double>(std::bit_cast<float>(std::uint32_t{bits} << 16));
}

TEST(Numerics, EveryFiniteFloat16IsNearestWithTiesToEven) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    if ((bits & 0x7c00) == 0x7c00)
      continue;
    const double exact = value_of_float16(bits);
    const std::uint16_t found = float16_to_bfloat16(static_cast<std::uint16_t>(bits));
    const double error = std::abs(value_of_bfloat16(found) - exact);
    ASSERT_EQ(found >> 15, bits >> 15) << std::hex << bits;
    if (error == 0)
      continue;
    for (const int step : {-1, 1}) {
      const double other =
          std::abs(value_of_bfloat16(static_cast<std::uint16_t>(found + step)) - exact);
      ASSERT_TRUE(error < other || (error == other && (found & 1) == 0)) << std::hex << bits;
    }
  }
}

} // namespace
} // namespace simaai::oracle
