// SPDX-License-Identifier: LGPL-2.1-or-later
// What readers need to know of a scalar: its planes in a tile and how its output is put together.
// Integer work on bytes only, so no bit pattern changes. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

#include "firmware/common/local_access.h"

namespace simaai::firmware::detess {

/// Vectors have this many lanes; loops of exactly so many steps become vector code.
inline constexpr std::uint32_t kLanes = 16;

/// INT8 to INT8.
struct Int8 {
  static constexpr std::uint32_t kPlanes = 1;
  static constexpr std::uint32_t kWidth = 1;
  static constexpr bool kConvertInline = true;

  /// `count` scalars from their planes; `high` does not exist.
  static void join(const std::byte* low, const std::byte* /*high*/, std::byte* dst,
                   std::uint32_t count) noexcept {
    copy_local(dst, low, count);
  }
};

/// BFloat16 to BFloat16.
struct BFloat16 {
  static constexpr std::uint32_t kPlanes = 2;
  static constexpr std::uint32_t kWidth = 2;
  static constexpr bool kConvertInline = true;

  static void lanes(const std::byte* low, const std::byte* high, std::byte* dst,
                    std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i) {
      const auto word = static_cast<std::uint16_t>(std::to_integer<std::uint32_t>(low[i]) |
                                                   std::to_integer<std::uint32_t>(high[i]) << 8);
      store_local(dst + std::size_t{i} * kWidth, word);
    }
  }
  static void join(const std::byte* low, const std::byte* high, std::byte* dst,
                   std::uint32_t count) noexcept;
};

/// BFloat16 to Float32: the word in the upper half, without joining it first.
struct Float32 {
  static constexpr std::uint32_t kPlanes = 2;
  static constexpr std::uint32_t kWidth = 4;
  static constexpr bool kConvertInline = false;

  static void lanes(const std::byte* low, const std::byte* high, std::byte* dst,
                    std::uint32_t count) noexcept {
    for (std::uint32_t i = 0; i < count; ++i)
      store_local(dst + std::size_t{i} * kWidth, std::to_integer<std::uint32_t>(low[i]) << 16 |
                                                     std::to_integer<std::uint32_t>(high[i]) << 24);
  }
  static void join(const std::byte* low, const std::byte* high, std::byte* dst,
                   std::uint32_t count) noexcept;
};

/// Whole vectors first, then what is left.
template <class Element>
inline void join_lanes(const std::byte* low, const std::byte* high, std::byte* dst,
                       std::uint32_t count) noexcept {
  std::uint32_t at = 0;
  for (; at + kLanes <= count; at += kLanes)
    Element::lanes(low + at, high + at, dst + std::size_t{at} * Element::kWidth, kLanes);
  Element::lanes(low + at, high + at, dst + std::size_t{at} * Element::kWidth, count - at);
}
inline void BFloat16::join(const std::byte* low, const std::byte* high, std::byte* dst,
                           std::uint32_t count) noexcept {
  join_lanes<BFloat16>(low, high, dst, count);
}
inline void Float32::join(const std::byte* low, const std::byte* high, std::byte* dst,
                          std::uint32_t count) noexcept {
  join_lanes<Float32>(low, high, dst, count);
}

} // namespace simaai::firmware::detess
