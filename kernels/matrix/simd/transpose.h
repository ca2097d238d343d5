// SPDX-License-Identifier: LGPL-2.1-or-later
// Bytes between row-major and column-major order, 16 x 16 at a time, in vectors that every
// instruction set here has.
//
// The including file defines SIMAAI_VECTOR, the target attribute of its functions. transpose_vbmi.h has
// a transpose16 of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace simaai::kernels::matrix::detail {
namespace {

#if !defined(SIMAAI_OWN_TRANSPOSE16)
using Bytes16 = std::uint8_t __attribute__((vector_size(16)));

SIMAAI_VECTOR inline Bytes16 load_bytes(const void* src) noexcept {
  Bytes16 bytes;
  std::memcpy(&bytes, src, sizeof bytes);
  return bytes;
}
SIMAAI_VECTOR inline void store_bytes(void* dst, Bytes16 bytes) noexcept {
  std::memcpy(dst, &bytes, sizeof bytes);
}

/// Sixteen bytes of `a` and of `b` in turn: the first eight pairs, or the last eight.
SIMAAI_VECTOR inline Bytes16 zip_low(Bytes16 a, Bytes16 b) noexcept {
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
}
SIMAAI_VECTOR inline Bytes16 zip_high(Bytes16 a, Bytes16 b) noexcept {
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15,
                                 31);
}

/// Transposes 16 x 16 bytes. Zipping vector n with vector n + 8, four times, moves the index of a
/// vector into the index of a byte, bit by bit.
SIMAAI_VECTOR inline void transpose16(const std::int8_t* src, std::size_t src_stride,
                                      std::int8_t* dst, std::size_t dst_stride) noexcept {
  Bytes16 rows[2][16];
#pragma GCC unroll 16
  for (std::size_t n = 0; n < 16; ++n)
    rows[0][n] = load_bytes(src + n * src_stride);
#pragma GCC unroll 4
  for (std::size_t step = 0; step < 4; ++step)
#pragma GCC unroll 8
    for (std::size_t n = 0; n < 8; ++n) {
      const Bytes16(&from)[16] = rows[step % 2];
      rows[1 - step % 2][2 * n] = zip_low(from[n], from[n + 8]);
      rows[1 - step % 2][2 * n + 1] = zip_high(from[n], from[n + 8]);
    }
#pragma GCC unroll 16
  for (std::size_t n = 0; n < 16; ++n)
    store_bytes(dst + n * dst_stride, rows[0][n]);
}
#endif

/// A rows x cols part, rows adjacent on one side and columns on the other; dst(i, j) = src(j, i)
/// counted in memory order: `outer` runs of `inner` bytes become `inner` runs of `outer` bytes.
SIMAAI_VECTOR inline void transpose_part(const std::int8_t* src, std::size_t src_stride,
                                         std::size_t outer, std::size_t inner, std::int8_t* dst,
                                         std::size_t dst_stride) noexcept {
  std::size_t o = 0;
  for (; o + 16 <= outer; o += 16) {
    std::size_t i = 0;
    for (; i + 16 <= inner; i += 16)
      transpose16(src + o * src_stride + i, src_stride, dst + i * dst_stride + o, dst_stride);
    for (; i < inner; ++i)
      for (std::size_t n = o; n < o + 16; ++n)
        dst[i * dst_stride + n] = src[n * src_stride + i];
  }
  for (; o < outer; ++o)
    for (std::size_t i = 0; i < inner; ++i)
      dst[i * dst_stride + o] = src[o * src_stride + i];
}

} // namespace
} // namespace simaai::kernels::matrix::detail
