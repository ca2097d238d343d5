// SPDX-License-Identifier: LGPL-2.1-or-later
// Advanced SIMD building blocks of row kernels: loads, stores, the bit rules in lanes, byte planes.
// Integer lanes only. Written for a small core: few instructions; structured loads and stores of two
// registers (ld2, st2) take the place of permutations.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include <arm_neon.h>

#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail::neon {

[[nodiscard]] inline const std::uint8_t* bytes_at(const std::byte* from) noexcept {
  return static_cast<const std::uint8_t*>(static_cast<const void*>(from));
}

[[nodiscard]] inline std::uint8_t* bytes_at(std::byte* to) noexcept {
  return static_cast<std::uint8_t*>(static_cast<void*>(to));
}

[[nodiscard]] inline const std::uint16_t* halves_at(const std::byte* from) noexcept {
  return static_cast<const std::uint16_t*>(static_cast<const void*>(from));
}

// Byte accesses: scalars are aligned to their width, vectors are not aligned to theirs.

[[nodiscard]] inline uint16x8_t load_8x16(const std::byte* from) noexcept {
  return vreinterpretq_u16_u8(vld1q_u8(bytes_at(from)));
}

inline void store_8x16(std::byte* to, uint16x8_t lanes) noexcept {
  vst1q_u8(bytes_at(to), vreinterpretq_u8_u16(lanes));
}

/// `kBytes` bytes, 1, 2, 4 or 8, in the lowest lanes; the others are copies or zero.
template <int kBytes> [[nodiscard]] uint8x8_t load_low(const std::byte* from) noexcept {
  if constexpr (kBytes == 8) {
    return vld1_u8(bytes_at(from));
  } else if constexpr (kBytes == 4) {
    std::uint32_t word;
    std::memcpy(&word, from, sizeof word);
    return vreinterpret_u8_u32(vdup_n_u32(word));
  } else if constexpr (kBytes == 2) {
    std::uint16_t half;
    std::memcpy(&half, from, sizeof half);
    return vreinterpret_u8_u16(vdup_n_u16(half));
  } else {
    return vld1_dup_u8(bytes_at(from));
  }
}

/// Lane `kLane` of `kBytes` bytes.
template <int kBytes, int kLane> void store_lane(std::byte* to, uint8x16_t lanes) noexcept {
  if constexpr (kBytes == 8) {
    vst1_u8(bytes_at(to), kLane == 0 ? vget_low_u8(lanes) : vget_high_u8(lanes));
  } else if constexpr (kBytes == 4) {
    const std::uint32_t word = vgetq_lane_u32(vreinterpretq_u32_u8(lanes), kLane);
    std::memcpy(to, &word, sizeof word);
  } else if constexpr (kBytes == 2) {
    const std::uint16_t half = vgetq_lane_u16(vreinterpretq_u16_u8(lanes), kLane);
    std::memcpy(to, &half, sizeof half);
  } else {
    vst1q_lane_u8(bytes_at(to), lanes, kLane);
  }
}

/// The first `kBytes` bytes of both, `second` above `first`.
template <int kBytes>
[[nodiscard]] uint8x16_t join_low(uint8x8_t first, uint8x8_t second) noexcept {
  if constexpr (kBytes == 8) {
    return vcombine_u8(first, second);
  } else if constexpr (kBytes == 4) {
    const auto both = vzip1_u32(vreinterpret_u32_u8(first), vreinterpret_u32_u8(second));
    return vcombine_u8(vreinterpret_u8_u32(both), vdup_n_u8(0));
  } else {
    const auto both = vzip1_u16(vreinterpret_u16_u8(first), vreinterpret_u16_u8(second));
    return vcombine_u8(vreinterpret_u8_u16(both), vdup_n_u8(0));
  }
}

/// The cast rule, from the lower and upper halves of eight Float32: up by one above a tie, and at a tie
/// where the upper half is odd. It wraps as the 32-bit sum does. Saturating arithmetic would be
/// shorter, but sets a flag of the floating-point status.
[[nodiscard]] inline uint16x8_t round_halves(uint16x8_t lower, uint16x8_t upper) noexcept {
  const uint16x8_t odd = vandq_u16(upper, vdupq_n_u16(1));
  const uint16x8_t up = vcgtq_u16(vorrq_u16(lower, odd), vdupq_n_u16(0x8000));
  return vsubq_u16(upper, up); // minus minus one
}

/// Low bytes in val[0], high bytes in val[1].
[[nodiscard]] inline uint8x16x2_t split_planes(uint16x8_t first, uint16x8_t second) noexcept {
  const uint8x16_t a = vreinterpretq_u8_u16(first);
  const uint8x16_t b = vreinterpretq_u8_u16(second);
  return {{vuzp1q_u8(a, b), vuzp2q_u8(a, b)}};
}

// Scalar types. load_8: eight as BFloat16 in 16-bit lanes; load_24: three times eight; load_planes:
// the bytes of sixteen. These advance the pointer. load_pair<W>: W from each of two places in the
// lowest 2 W lanes, W = 1, 2, 4.

struct F32 {
  static constexpr std::int64_t kBytes = 4;

  static uint16x8_t load_8(const std::byte** from) noexcept {
    const uint16x8x2_t halves = vld2q_u16(halves_at(*from));
    *from += 32;
    return round_halves(halves.val[0], halves.val[1]);
  }
  static uint8x16x2_t load_planes(const std::byte** from) noexcept {
    const uint16x8_t first = load_8(from);
    return split_planes(first, load_8(from));
  }
  static uint16x8x3_t load_24(const std::byte** from) noexcept {
    const uint16x8_t first = load_8(from);
    const uint16x8_t second = load_8(from);
    return {{first, second, load_8(from)}};
  }
  template <int kWidth>
  static uint16x8_t load_pair(const std::byte* first, const std::byte* second) noexcept {
    uint16x8_t a;
    uint16x8_t b;
    if constexpr (kWidth == 4) {
      a = load_8x16(first);
      b = load_8x16(second);
    } else {
      a = vreinterpretq_u16_u8(
          join_low<4 * kWidth>(load_low<4 * kWidth>(first), load_low<4 * kWidth>(second)));
      b = a;
    }
    return round_halves(vuzp1q_u16(a, b), vuzp2q_u16(a, b));
  }

  static void store_8(std::byte* to, uint16x8_t lanes) noexcept {
    vst1q_u8(bytes_at(to), vreinterpretq_u8_u32(vshll_n_u16(vget_low_u16(lanes), 16)));
    vst1q_u8(bytes_at(to + 16), vreinterpretq_u8_u32(vshll_high_n_u16(lanes, 16)));
  }
  static void store_4(std::byte* to, uint16x8_t lanes) noexcept {
    vst1q_u8(bytes_at(to), vreinterpretq_u8_u32(vshll_n_u16(vget_low_u16(lanes), 16)));
  }
  static void store_planes(std::byte* to, uint8x16_t low, uint8x16_t high) noexcept {
    store_8(to, vreinterpretq_u16_u8(vzip1q_u8(low, high)));
    store_8(to + 32, vreinterpretq_u16_u8(vzip2q_u8(low, high)));
  }
  template <int kWidth>
  static void store_pair(std::byte* first, std::byte* second, uint16x8_t lanes) noexcept {
    const uint8x16_t words = vreinterpretq_u8_u32(vshll_n_u16(vget_low_u16(lanes), 16));
    if constexpr (kWidth == 4) {
      vst1q_u8(bytes_at(first), words);
      vst1q_u8(bytes_at(second), vreinterpretq_u8_u32(vshll_high_n_u16(lanes, 16)));
    } else {
      store_lane<4 * kWidth, 0>(first, words);
      store_lane<4 * kWidth, 1>(second, words);
    }
  }
};

struct BF16 {
  static constexpr std::int64_t kBytes = 2;

  static uint16x8_t load_8(const std::byte** from) noexcept {
    const uint16x8_t lanes = load_8x16(*from);
    *from += 16;
    return lanes;
  }
  static uint8x16x2_t load_planes(const std::byte** from) noexcept {
    const uint8x16x2_t planes = vld2q_u8(bytes_at(*from));
    *from += 32;
    return planes;
  }
  static uint16x8x3_t load_24(const std::byte** from) noexcept {
    const uint16x8_t first = load_8(from);
    const uint16x8_t second = load_8(from);
    return {{first, second, load_8(from)}};
  }
  template <int kWidth>
  static uint16x8_t load_pair(const std::byte* first, const std::byte* second) noexcept {
    return vreinterpretq_u16_u8(
        join_low<2 * kWidth>(load_low<2 * kWidth>(first), load_low<2 * kWidth>(second)));
  }

  static void store_8(std::byte* to, uint16x8_t lanes) noexcept { store_8x16(to, lanes); }
  static void store_4(std::byte* to, uint16x8_t lanes) noexcept {
    vst1_u8(bytes_at(to), vget_low_u8(vreinterpretq_u8_u16(lanes)));
  }
  static void store_planes(std::byte* to, uint8x16_t low, uint8x16_t high) noexcept {
    const uint8x16x2_t planes{{low, high}};
    vst2q_u8(bytes_at(to), planes);
  }
  template <int kWidth>
  static void store_pair(std::byte* first, std::byte* second, uint16x8_t lanes) noexcept {
    store_lane<2 * kWidth, 0>(first, vreinterpretq_u8_u16(lanes));
    store_lane<2 * kWidth, 1>(second, vreinterpretq_u8_u16(lanes));
  }
};

struct F16 {
  static constexpr std::int64_t kBytes = 2;

  /// The full rule, taken from the scalar kernel.
  [[gnu::noinline, gnu::cold]] static uint16x8_t convert_any(uint16x8_t bits) noexcept {
    std::byte values[16];
    std::byte planes[16];
    store_8x16(values, bits);
    f16_bf16_channels_row__scalar({values, planes, 1, 8, 8, 16, 2, 0});
    const uint8x8x2_t bytes{{vld1_u8(bytes_at(planes)), vld1_u8(bytes_at(planes + 8))}};
    return vreinterpretq_u16_u8(
        vcombine_u8(vzip1_u8(bytes.val[0], bytes.val[1]), vzip2_u8(bytes.val[0], bytes.val[1])));
  }

  /// Magnitudes of lanes that are neither normal numbers nor zeros are 0x7800 or more here, those of
  /// the others below. Normal: 0x0400 <= magnitude < 0x7c00.
  static uint16x8_t distance(uint16x8_t bits) noexcept {
    const uint16x8_t magnitude = vbicq_u16(bits, vdupq_n_u16(0x8000));
    const uint16x8_t any = vtstq_u16(magnitude, magnitude);
    return vandq_u16(vsubq_u16(magnitude, vdupq_n_u16(0x0400)), any);
  }

  /// Normal numbers and zeros. Rounding off three bits by nearest even is rounding half up of what
  /// is one less where bit 3 is even.
  static uint16x8_t convert_normal(uint16x8_t bits) noexcept {
    const uint16x8_t magnitude = vbicq_u16(bits, vdupq_n_u16(0x8000));
    const uint16x8_t any = vtstq_u16(magnitude, magnitude);
    const uint16x8_t even = vbicq_u16(vdupq_n_u16(1), vshrq_n_u16(magnitude, 3));
    const uint16x8_t rounded = vrshrq_n_u16(vsubq_u16(magnitude, even), 3);
    const uint16x8_t rebiased = vandq_u16(vaddq_u16(rounded, vdupq_n_u16(112 << 7)), any);
    return vbslq_u16(vdupq_n_u16(0x8000), bits, rebiased);
  }

  static uint16x8_t convert(uint16x8_t bits) noexcept {
    if (vmaxvq_u16(distance(bits)) >= 0x7800)
      return convert_any(bits);
    return convert_normal(bits);
  }

  static uint16x8_t load_8(const std::byte** from) noexcept { return convert(BF16::load_8(from)); }
  static uint8x16x2_t load_planes(const std::byte** from) noexcept {
    const uint16x8_t first = BF16::load_8(from);
    const uint16x8_t second = BF16::load_8(from);
    if (vmaxvq_u16(vmaxq_u16(distance(first), distance(second))) >= 0x7800)
      return split_planes(convert_any(first), convert_any(second));
    return split_planes(convert_normal(first), convert_normal(second));
  }
  static uint16x8x3_t load_24(const std::byte** from) noexcept {
    const uint16x8x3_t bits = BF16::load_24(from);
    const uint16x8_t most = vmaxq_u16(distance(bits.val[0]), distance(bits.val[1]));
    if (vmaxvq_u16(vmaxq_u16(most, distance(bits.val[2]))) >= 0x7800)
      return {{convert_any(bits.val[0]), convert_any(bits.val[1]), convert_any(bits.val[2])}};
    return {
        {convert_normal(bits.val[0]), convert_normal(bits.val[1]), convert_normal(bits.val[2])}};
  }
  template <int kWidth>
  static uint16x8_t load_pair(const std::byte* first, const std::byte* second) noexcept {
    return convert(BF16::load_pair<kWidth>(first, second));
  }
};

/// Pixels from the first one on whose `bytes` bytes end before the row does. The row has `pixels`
/// pixels of `pixel_bytes` bytes, `stride` bytes apart.
[[nodiscard]] inline std::int64_t pixels_within(std::int64_t pixels, std::int64_t stride,
                                                std::int64_t pixel_bytes,
                                                std::int64_t bytes) noexcept {
  if (bytes <= pixel_bytes)
    return pixels;
  if (stride <= 0)
    return 0;
  const std::int64_t ends = pixels - 1 - (bytes - pixel_bytes - 1) / stride;
  return ends < 0 ? 0 : ends;
}

/// Table index that yields zero, or with vqtbx1q_u8 keeps the byte.
inline constexpr std::uint8_t kNone = 0xff;

/// Index that moves the last `count` of sixteen bytes, 1 to 16, to the front and clears the rest.
[[nodiscard]] inline uint8x16_t last_bytes(std::int64_t count) noexcept {
  alignas(16) static constexpr std::uint8_t kWindow[32] = {
      0,     1,     2,     3,     4,     5,     6,     7,     8,     9,     10,
      11,    12,    13,    14,    15,    kNone, kNone, kNone, kNone, kNone, kNone,
      kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone};
  return vld1q_u8(kWindow + 16 - count);
}

/// Index that makes `count` bytes of two overlapping groups of `kWidth` bytes, the first and the last
/// of them, one after the other, and clears the rest. kWidth <= count <= 2 kWidth.
template <int kWidth> [[nodiscard]] uint8x16_t overlapped_bytes(std::int64_t count) noexcept {
  static constexpr auto kIndex = [] {
    std::array<std::array<std::uint8_t, 16>, std::size_t{kWidth} + 1> table{};
    for (int extra = 0; extra <= kWidth; ++extra)
      for (int i = 0; i < 16; ++i)
        table[static_cast<std::size_t>(extra)][static_cast<std::size_t>(i)] =
            static_cast<std::uint8_t>(
                i < kWidth ? i : (i < kWidth + extra ? i + kWidth - extra : kNone));
    return table;
  }();
  return vld1q_u8(kIndex[static_cast<std::size_t>(count - kWidth)].data());
}

} // namespace simaai::kernels::a65::detail::neon
