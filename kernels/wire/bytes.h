// SPDX-License-Identifier: LGPL-2.1-or-later
// Little-endian loads and stores of one integer field, on a host of either byte order and at any
// address. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace simaai::kernels::wire {

// Halves instead of loops: compilers make one access of them, which they do not of a loop at -O2.
template <std::size_t Bytes> constexpr std::uint64_t load_bytes(const std::byte* from) noexcept {
  if constexpr (Bytes == 1)
    return std::to_integer<std::uint64_t>(*from);
  else
    return load_bytes<Bytes / 2>(from) | load_bytes<Bytes / 2>(from + Bytes / 2) << (4 * Bytes);
}

template <std::size_t Bytes>
constexpr void store_bytes(std::byte* to, std::uint64_t bits) noexcept {
  if constexpr (Bytes == 1) {
    *to = static_cast<std::byte>(bits & 0xff);
  } else {
    store_bytes<Bytes / 2>(to, bits);
    store_bytes<Bytes / 2>(to + Bytes / 2, bits >> (4 * Bytes));
  }
}

template <class Integer> constexpr Integer load_le(const std::byte* from) noexcept {
  static_assert(std::is_integral_v<Integer>);
  return static_cast<Integer>(load_bytes<sizeof(Integer)>(from)); // two's complement everywhere
}

template <class Integer> constexpr void store_le(std::byte* to, Integer value) noexcept {
  static_assert(std::is_integral_v<Integer>);
  store_bytes<sizeof(Integer)>(to, static_cast<std::uint64_t>(value));
}

} // namespace simaai::kernels::wire
