// SPDX-License-Identifier: LGPL-2.1-or-later
// Row kernels for AVX2. Integer lanes only. Built with -mavx2, so nothing here may be an inline
// function shared with other files: tails go to the scalar kernels instead.
#include <immintrin.h>

#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

[[nodiscard]] __m256i load_256(const std::byte* from) noexcept {
  return _mm256_loadu_si256(static_cast<const __m256i*>(static_cast<const void*>(from)));
}

void store_256(std::byte* to, __m256i value) noexcept {
  _mm256_storeu_si256(static_cast<__m256i*>(static_cast<void*>(to)), value);
}

/// The cast rule in each 32-bit lane: result in the low half, high half zero.
[[nodiscard]] __m256i round_f32(__m256i bits) noexcept {
  const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
  const __m256i bias = _mm256_add_epi32(odd, _mm256_set1_epi32(0x7fff));
  return _mm256_srli_epi32(_mm256_add_epi32(bits, bias), 16);
}

/// Sixteen 16-bit lanes in order from two times eight 32-bit lanes below 2^16.
[[nodiscard]] __m256i narrow_32(__m256i first, __m256i second) noexcept {
  return _mm256_permute4x64_epi64(_mm256_packus_epi32(first, second), 0xd8);
}

[[nodiscard]] __m256i load_16_f32(const std::byte* from) noexcept {
  return narrow_32(round_f32(load_256(from)), round_f32(load_256(from + 32)));
}

void store_16_f32(std::byte* to, __m256i bf16) noexcept {
  // Per 128-bit lane, unpacking with zeros below each value is a shift left by 16.
  const __m256i ordered = _mm256_permute4x64_epi64(bf16, 0xd8);
  const __m256i zero = _mm256_setzero_si256();
  store_256(to, _mm256_unpacklo_epi16(zero, ordered));
  store_256(to + 32, _mm256_unpackhi_epi16(zero, ordered));
}

/// The last `row.count - done` elements of a contiguous row.
void finish_linear(const LinearRow& row, std::int64_t done, LinearRowFn scalar) noexcept {
  if (done == row.count)
    return;
  LinearRow rest = row;
  rest.src += done * row.src_stride_bytes;
  rest.dst += done * row.dst_stride_bytes;
  rest.count -= done;
  scalar(rest);
}

void f32_bf16_linear_row__avx2(const LinearRow& row) noexcept {
  std::int64_t i = 0;
  for (; i + 16 <= row.count; i += 16)
    store_256(row.dst + 2 * i, load_16_f32(row.src + 4 * i));
  finish_linear(row, i, f32_bf16_linear_row__scalar);
}

void bf16_f32_linear_row__avx2(const LinearRow& row) noexcept {
  std::int64_t i = 0;
  for (; i + 16 <= row.count; i += 16)
    store_16_f32(row.dst + 4 * i, load_256(row.src + 2 * i));
  finish_linear(row, i, bf16_f32_linear_row__scalar);
}

} // namespace

const RowTable kAvx2Rows{
    .f32_bf16_linear = f32_bf16_linear_row__avx2,
    .bf16_f32_linear = bf16_f32_linear_row__avx2,
};

} // namespace simaai::kernels::a65::detail
