// SPDX-License-Identifier: LGPL-2.1-or-later
// Building blocks of the portable row kernels: scalar types and byte planes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/numerics.h"

namespace simaai::kernels::a65::detail::scalar {

template <class Word> [[nodiscard]] Word load_word(const std::byte* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

template <class Word> void store_word(std::byte* to, Word word) noexcept {
  std::memcpy(to, &word, sizeof word);
}

// Scalar types: width, BFloat16 bits of a stored value, and the way back.

struct F32 {
  static constexpr std::int64_t kBytes = 4;
  static std::uint16_t load(const std::byte* from) noexcept {
    return core::bf16_from_f32_bits(load_word<std::uint32_t>(from));
  }
  static void store(std::byte* to, std::uint16_t bits) noexcept {
    store_word(to, core::f32_bits_from_bf16(bits));
  }
};

struct F16 {
  static constexpr std::int64_t kBytes = 2;
  static std::uint16_t load(const std::byte* from) noexcept {
    return core::bf16_from_f16_bits(load_word<std::uint16_t>(from));
  }
};

struct BF16 {
  static constexpr std::int64_t kBytes = 2;
  static std::uint16_t load(const std::byte* from) noexcept {
    return load_word<std::uint16_t>(from);
  }
  static void store(std::byte* to, std::uint16_t bits) noexcept { store_word(to, bits); }
};

[[nodiscard]] constexpr std::byte low_byte(std::uint16_t bits) noexcept {
  return static_cast<std::byte>(bits & 0xffU);
}

[[nodiscard]] constexpr std::byte high_byte(std::uint16_t bits) noexcept {
  return static_cast<std::byte>(bits >> 8);
}

[[nodiscard]] inline std::uint16_t join_bytes(std::byte low, std::byte high) noexcept {
  return static_cast<std::uint16_t>(static_cast<unsigned>(low) | static_cast<unsigned>(high) << 8);
}

inline void zero_padding(std::byte* pixel, std::int64_t channels, std::int64_t stored) noexcept {
  if (channels == stored)
    return;
  const auto padding = static_cast<std::size_t>(stored - channels);
  std::memset(pixel + channels, 0, padding);
  std::memset(pixel + stored + channels, 0, padding);
}

} // namespace simaai::kernels::a65::detail::scalar
