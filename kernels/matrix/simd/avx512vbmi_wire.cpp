// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX-512 VBMI: the wire form, 64 records at a time. Bytes move across the whole vector.
#include "matrix/backends.h"
#include "matrix/simd/avx512.h"

#if defined(SIMAAI_MATRIX_EMULATED)
#define SIMAAI_VECTOR
#else
#define SIMAAI_VECTOR __attribute__((target("avx512f,avx512bw,avx512vl,avx512vbmi,prfchw")))
#endif
#include "matrix/simd/transpose_vbmi.h"

namespace simaai::kernels::matrix::detail {
namespace {

using Block = std::uint8_t __attribute__((vector_size(64)));
inline constexpr std::size_t kLaneBytes = 64;

SIMAAI_VECTOR inline Block shuffle(Block bytes, Block indices) noexcept {
  const auto from = reinterpret_cast<__m512i>(indices);
  const std::uint64_t taken = ~_mm512_movepi8_mask(from);
  return reinterpret_cast<Block>(
      _mm512_maskz_permutexvar_epi8(taken, from, reinterpret_cast<__m512i>(bytes)));
}

SIMAAI_VECTOR inline Block place(Block keys, Block bytes, Block indices) noexcept {
  const auto from = reinterpret_cast<__m512i>(indices);
  const std::uint64_t taken = ~_mm512_movepi8_mask(from);
  return reinterpret_cast<Block>(_mm512_mask_permutexvar_epi8(
      reinterpret_cast<__m512i>(keys), taken, from, reinterpret_cast<__m512i>(bytes)));
}

SIMAAI_VECTOR inline Block source(const std::int8_t* elements, std::size_t /*n*/) noexcept {
  Block bytes;
  std::memcpy(&bytes, elements, sizeof bytes);
  return bytes;
}

SIMAAI_VECTOR inline Block merge(const Block (&taken)[5]) noexcept {
  return (taken[0] | taken[1]) | (taken[2] | taken[3]) | taken[4];
}

} // namespace
} // namespace simaai::kernels::matrix::detail

#include "matrix/simd/wire_blocks.h"

namespace simaai::kernels::matrix::detail {

const WireForm avx512vbmi_wire = {encode_records, check_all_records, decode_records};

} // namespace simaai::kernels::matrix::detail
