// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX-512 VBMI: 16 x 16 bytes transposed in vectors of 64. Include it in place of transpose.h, behind
// the intrinsics.
#pragma once

#include <cstddef>
#include <cstdint>

#define SIMAAI_OWN_TRANSPOSE16

namespace simaai::kernels::matrix::detail {
namespace {

/// Byte n of quad q is byte q of lane n.
consteval auto lanes_to_quads() {
  struct Indices {
    alignas(64) std::uint8_t bytes[64];
  } result{};
  for (std::size_t n = 0; n < 64; ++n)
    result.bytes[n] = static_cast<std::uint8_t>(n % 4 * 16 + n / 4);
  return result;
}
inline constexpr auto kLanesToQuads = lanes_to_quads();

SIMAAI_VECTOR inline __m128i load16(const std::int8_t* src) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(src));
}

/// Sixteen bytes from each of four rows, a row a lane.
SIMAAI_VECTOR inline __m512i load_lanes(const std::int8_t* src, std::size_t stride) noexcept {
  __m512i lanes = _mm512_castsi128_si512(load16(src));
  lanes = _mm512_inserti32x4(lanes, load16(src + stride), 1);
  lanes = _mm512_inserti32x4(lanes, load16(src + 2 * stride), 2);
  return _mm512_inserti32x4(lanes, load16(src + 3 * stride), 3);
}

template <int Lane> SIMAAI_VECTOR inline void store_lane(std::int8_t* dst, __m512i v) noexcept {
  _mm_storeu_si128(reinterpret_cast<__m128i*>(dst), _mm512_extracti32x4_epi32(v, Lane));
}

/// Four rows of the result: lane l of vector n is row 4 l + n.
SIMAAI_VECTOR inline void store_lanes(__m512i v, std::int8_t* dst, std::size_t stride) noexcept {
  store_lane<0>(dst, v);
  store_lane<1>(dst + 4 * stride, v);
  store_lane<2>(dst + 8 * stride, v);
  store_lane<3>(dst + 12 * stride, v);
}

/// Quads of four rows, byte by byte, and then a 4 x 4 transposition of quads in every lane.
SIMAAI_VECTOR inline void transpose16(const std::int8_t* src, std::size_t src_stride,
                                      std::int8_t* dst, std::size_t dst_stride) noexcept {
  const __m512i order = _mm512_load_si512(kLanesToQuads.bytes);
  __m512i quads[4];
#pragma GCC unroll 4
  for (std::size_t n = 0; n < 4; ++n)
    quads[n] = _mm512_permutexvar_epi8(order, load_lanes(src + 4 * n * src_stride, src_stride));
  const __m512i low01 = _mm512_unpacklo_epi32(quads[0], quads[1]);
  const __m512i high01 = _mm512_unpackhi_epi32(quads[0], quads[1]);
  const __m512i low23 = _mm512_unpacklo_epi32(quads[2], quads[3]);
  const __m512i high23 = _mm512_unpackhi_epi32(quads[2], quads[3]);
  store_lanes(_mm512_unpacklo_epi64(low01, low23), dst, dst_stride);
  store_lanes(_mm512_unpackhi_epi64(low01, low23), dst + dst_stride, dst_stride);
  store_lanes(_mm512_unpacklo_epi64(high01, high23), dst + 2 * dst_stride, dst_stride);
  store_lanes(_mm512_unpackhi_epi64(high01, high23), dst + 3 * dst_stride, dst_stride);
}

} // namespace
} // namespace simaai::kernels::matrix::detail

#include "matrix/simd/transpose.h"
