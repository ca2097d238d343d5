// SPDX-License-Identifier: LGPL-2.1-or-later
// The scalar bit rules against the oracle.
#include <gtest/gtest.h>

#include "core/numerics.h"
#include "oracle/numerics.h"

namespace simaai::kernels::core {
namespace {

TEST(CoreNumerics, EverySixteenBitPattern) {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto word = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(bf16_from_f16_bits(word), oracle::float16_to_bfloat16(word)) << std::hex << bits;
    ASSERT_EQ(f32_bits_from_bf16(word), oracle::bfloat16_to_float32(word)) << std::hex << bits;
  }
}

TEST(CoreNumerics, EveryUpperHalfOfFloat32AroundTiesAndEnds) {
  for (std::uint32_t upper = 0; upper < 65536; ++upper)
    for (const std::uint32_t lower : {0x0000U, 0x0001U, 0x7fffU, 0x8000U, 0x8001U, 0xffffU}) {
      const std::uint32_t bits = (upper << 16) | lower;
      ASSERT_EQ(bf16_from_f32_bits(bits), oracle::float32_to_bfloat16(bits)) << std::hex << bits;
    }
}

} // namespace
} // namespace simaai::kernels::core
