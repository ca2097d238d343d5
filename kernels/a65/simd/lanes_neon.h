// SPDX-License-Identifier: LGPL-2.1-or-later
// Advanced SIMD building blocks of row kernels: loads, stores, the bit rules in lanes.
#pragma once

#include <cstddef>
#include <cstdint>

#include <arm_neon.h>

#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail::neon {

[[nodiscard]] inline const std::uint8_t* bytes_at(const std::byte* from) noexcept {
  return static_cast<const std::uint8_t*>(static_cast<const void*>(from));
}

[[nodiscard]] inline std::uint8_t* bytes_at(std::byte* to) noexcept {
  return static_cast<std::uint8_t*>(static_cast<void*>(to));
}

// Byte accesses: scalars are aligned to their width, vectors are not aligned to theirs.

[[nodiscard]] inline uint32x4_t load_4x32(const std::byte* from) noexcept {
  return vreinterpretq_u32_u8(vld1q_u8(bytes_at(from)));
}

[[nodiscard]] inline uint16x8_t load_8x16(const std::byte* from) noexcept {
  return vreinterpretq_u16_u8(vld1q_u8(bytes_at(from)));
}

inline void store_8x16(std::byte* to, uint16x8_t lanes) noexcept {
  vst1q_u8(bytes_at(to), vreinterpretq_u8_u16(lanes));
}

inline void store_4x32(std::byte* to, uint32x4_t lanes) noexcept {
  vst1q_u8(bytes_at(to), vreinterpretq_u8_u32(lanes));
}

/// The cast rule in each lane: the high half of the biased sum.
[[nodiscard]] inline uint16x4_t round_f32(uint32x4_t bits) noexcept {
  const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
  return vaddhn_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
}

// Source types: eight channels as BFloat16 in 16-bit lanes.

struct F32 {
  static constexpr std::int64_t kBytes = 4;
  static uint16x8_t load_8(const std::byte* from) noexcept {
    return vcombine_u16(round_f32(load_4x32(from)), round_f32(load_4x32(from + 16)));
  }
  static void store_8(std::byte* to, uint16x8_t lanes) noexcept {
    store_4x32(to, vshll_n_u16(vget_low_u16(lanes), 16));
    store_4x32(to + 16, vshll_n_u16(vget_high_u16(lanes), 16));
  }
  static void store_4(std::byte* to, uint16x8_t lanes) noexcept {
    store_4x32(to, vshll_n_u16(vget_low_u16(lanes), 16));
  }
};

struct BF16 {
  static constexpr std::int64_t kBytes = 2;
  static uint16x8_t load_8(const std::byte* from) noexcept { return load_8x16(from); }
  static void store_8(std::byte* to, uint16x8_t lanes) noexcept { store_8x16(to, lanes); }
  static void store_4(std::byte* to, uint16x8_t lanes) noexcept {
    vst1_u8(bytes_at(to), vget_low_u8(vreinterpretq_u8_u16(lanes)));
  }
};

struct F16 {
  static constexpr std::int64_t kBytes = 2;

  /// The full rule, taken from the scalar kernel.
  static uint16x8_t convert_any(uint16x8_t bits) noexcept {
    std::byte values[16];
    std::byte planes[16];
    store_8x16(values, bits);
    f16_bf16_channels_row__scalar({values, planes, 1, 8, 8, 16, 2, 0});
    const uint8x8_t low = vld1_u8(bytes_at(planes));
    const uint8x8_t high = vld1_u8(bytes_at(planes + 8));
    return vorrq_u16(vmovl_u8(low), vshll_n_u8(high, 8));
  }

  /// Normal numbers and zeros by a short path; one other lane sends the group to the full rule.
  static uint16x8_t load_8(const std::byte* from) noexcept {
    const uint16x8_t bits = load_8x16(from);
    const uint16x8_t sign = vandq_u16(bits, vdupq_n_u16(0x8000));
    const uint16x8_t magnitude = veorq_u16(bits, sign);
    const uint16x8_t zero = vceqzq_u16(magnitude);
    // Normal: 0x0400 <= magnitude < 0x7c00, so magnitude - 0x0400 is below 0x7800 unsigned.
    const uint16x8_t above = vsubq_u16(magnitude, vdupq_n_u16(0x0400));
    const uint16x8_t other = vbicq_u16(vcgeq_u16(above, vdupq_n_u16(0x7800)), zero);
    if (vmaxvq_u16(other) != 0)
      return convert_any(bits);
    const uint16x8_t odd = vandq_u16(vshrq_n_u16(magnitude, 3), vdupq_n_u16(1));
    const uint16x8_t sum = vaddq_u16(magnitude, vaddq_u16(odd, vdupq_n_u16(3)));
    const uint16x8_t rebiased = vaddq_u16(vshrq_n_u16(sum, 3), vdupq_n_u16(112 << 7));
    return vorrq_u16(sign, vbicq_u16(rebiased, zero));
  }
};

} // namespace simaai::kernels::a65::detail::neon
