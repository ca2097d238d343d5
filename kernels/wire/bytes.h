// SPDX-License-Identifier: LGPL-2.1-or-later
// Little-endian loads and stores of one integer field, on a host of either byte order and at any
// address. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace simaai::kernels::wire {

template <class Integer> constexpr Integer load_le(const std::byte* from) noexcept {
  static_assert(std::is_integral_v<Integer>);
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    value |= std::to_integer<std::uint64_t>(from[i]) << (8 * i);
  return static_cast<Integer>(value); // two's complement on every supported compiler
}

template <class Integer> constexpr void store_le(std::byte* to, Integer value) noexcept {
  static_assert(std::is_integral_v<Integer>);
  const auto bits = static_cast<std::uint64_t>(value);
  for (std::size_t i = 0; i < sizeof(Integer); ++i)
    to[i] = static_cast<std::byte>((bits >> (8 * i)) & 0xff);
}

} // namespace simaai::kernels::wire
