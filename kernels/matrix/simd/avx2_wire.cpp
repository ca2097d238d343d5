// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX2: the wire form, 32 records at a time.
#include <immintrin.h>

#include "matrix/backends.h"

#define SIMAAI_VECTOR __attribute__((target("avx2")))
#include "matrix/simd/transpose.h"

namespace simaai::kernels::matrix::detail {
namespace {

using Block = std::uint8_t __attribute__((vector_size(32)));
inline constexpr std::size_t kLaneBytes = 16;

SIMAAI_VECTOR inline Block shuffle(Block bytes, Block indices) noexcept {
  return reinterpret_cast<Block>(
      _mm256_shuffle_epi8(reinterpret_cast<__m256i>(bytes), reinterpret_cast<__m256i>(indices)));
}

SIMAAI_VECTOR inline Block place(Block keys, Block bytes, Block indices) noexcept {
  return keys | shuffle(bytes, indices);
}

/// Lane l of vector n holds bytes 32 n + 16 l and on: records below 16 in the first five lanes, the
/// others in the last five.
SIMAAI_VECTOR inline Block source(const std::int8_t* elements, std::size_t n) noexcept {
  if (n == 2)
    return reinterpret_cast<Block>(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(elements)));
  const auto* sixteen = reinterpret_cast<const __m128i*>(elements + (n < 2 ? 0 : 16));
  return reinterpret_cast<Block>(_mm256_broadcastsi128_si256(_mm_loadu_si128(sixteen)));
}

SIMAAI_VECTOR inline Block merge(const Block (&taken)[5]) noexcept {
  const auto first = reinterpret_cast<__m256i>(taken[0] | taken[1]);
  const auto last = reinterpret_cast<__m256i>(taken[3] | taken[4]);
  return taken[2] | reinterpret_cast<Block>(_mm256_permute2x128_si256(first, last, 0x20)) |
         reinterpret_cast<Block>(_mm256_permute2x128_si256(first, last, 0x31));
}

} // namespace
} // namespace simaai::kernels::matrix::detail

#include "matrix/simd/wire_blocks.h"

namespace simaai::kernels::matrix::detail {

const WireForm avx2_wire = {encode_records, check_all_records, decode_records};

} // namespace simaai::kernels::matrix::detail
