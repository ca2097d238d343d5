// SPDX-License-Identifier: LGPL-2.1-or-later
// Transposition in registers for Advanced SIMD.
#pragma once

#include <cstddef>

#include <arm_neon.h>

namespace simaai::kernels::a65::detail::neon {

// With rows and columns of a matrix as the bits of an address (row, column), zip() makes the highest bit
// of the row the lowest of the column and the highest of the column the lowest of the row: it rotates
// the address. unzip() rotates it back.

template <class Lanes, std::size_t kRows> struct Rows { Lanes of[kRows]; };

[[gnu::always_inline]] inline uint16x8_t zip1(uint16x8_t a, uint16x8_t b) noexcept {
  return vzip1q_u16(a, b);
}
[[gnu::always_inline]] inline uint16x8_t zip2(uint16x8_t a, uint16x8_t b) noexcept {
  return vzip2q_u16(a, b);
}
[[gnu::always_inline]] inline uint8x16_t zip1(uint8x16_t a, uint8x16_t b) noexcept {
  return vzip1q_u8(a, b);
}
[[gnu::always_inline]] inline uint8x16_t zip2(uint8x16_t a, uint8x16_t b) noexcept {
  return vzip2q_u8(a, b);
}
[[gnu::always_inline]] inline uint16x8_t unzip1(uint16x8_t a, uint16x8_t b) noexcept {
  return vuzp1q_u16(a, b);
}
[[gnu::always_inline]] inline uint16x8_t unzip2(uint16x8_t a, uint16x8_t b) noexcept {
  return vuzp2q_u16(a, b);
}
[[gnu::always_inline]] inline uint8x16_t unzip1(uint8x16_t a, uint8x16_t b) noexcept {
  return vuzp1q_u8(a, b);
}
[[gnu::always_inline]] inline uint8x16_t unzip2(uint8x16_t a, uint8x16_t b) noexcept {
  return vuzp2q_u8(a, b);
}

template <class Lanes, std::size_t kRows>
[[gnu::always_inline]] inline Rows<Lanes, kRows> zip(const Rows<Lanes, kRows>& rows) noexcept {
  Rows<Lanes, kRows> made;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kRows / 2; ++i) {
    made.of[2 * i] = zip1(rows.of[i], rows.of[i + kRows / 2]);
    made.of[2 * i + 1] = zip2(rows.of[i], rows.of[i + kRows / 2]);
  }
  return made;
}
/// Keeps the lower half of the columns.
template <class Lanes, std::size_t kRows>
[[gnu::always_inline]] inline Rows<Lanes, kRows / 2>
zip_lower(const Rows<Lanes, kRows>& rows) noexcept {
  Rows<Lanes, kRows / 2> made;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kRows / 2; ++i)
    made.of[i] = zip1(rows.of[i], rows.of[i + kRows / 2]);
  return made;
}
template <class Lanes, std::size_t kRows>
[[gnu::always_inline]] inline Rows<Lanes, kRows> unzip(const Rows<Lanes, kRows>& rows) noexcept {
  Rows<Lanes, kRows> made;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < kRows / 2; ++i) {
    made.of[i] = unzip1(rows.of[2 * i], rows.of[2 * i + 1]);
    made.of[i + kRows / 2] = unzip2(rows.of[2 * i], rows.of[2 * i + 1]);
  }
  return made;
}

} // namespace simaai::kernels::a65::detail::neon
