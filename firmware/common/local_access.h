// SPDX-License-Identifier: LGPL-2.1-or-later
// Scalars in local memory, at any address. Freestanding C++17.
#pragma once

#include <cstddef>
#include <cstdint>

namespace simaai::firmware {

/// Host and device are little-endian; the built-in becomes one load or store where the address is
/// known to be aligned, and never a call.
template <class Scalar> inline Scalar load_local(const std::byte* at) noexcept {
  Scalar value;
  __builtin_memcpy(&value, at, sizeof value);
  return value;
}
template <class Scalar> inline void store_local(std::byte* at, Scalar value) noexcept {
  __builtin_memcpy(at, &value, sizeof value);
}

/// Byte loops: a freestanding target has no memcpy or memset to call.
inline void copy_local(std::byte* to, const std::byte* from, std::uint32_t bytes) noexcept {
  for (std::uint32_t i = 0; i < bytes; ++i)
    to[i] = from[i];
}
inline void fill_local(std::byte* to, std::byte value, std::uint32_t bytes) noexcept {
  for (std::uint32_t i = 0; i < bytes; ++i)
    to[i] = value;
}

} // namespace simaai::firmware
