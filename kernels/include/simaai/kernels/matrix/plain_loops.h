// SPDX-License-Identifier: LGPL-2.1-or-later
// Products over plain memory as portable loops: the freestanding path and the scalar backend.
#pragma once

#include <cstddef>
#include <cstdint>

#include <simaai/kernels/matrix/backend.h>
#include <simaai/kernels/matrix/requant.h>

namespace simaai::kernels::matrix::detail {

/// Accumulators that a loop keeps at once. On the stack, so that nothing is allocated.
inline constexpr std::size_t kSumBlock = 64;

[[nodiscard]] constexpr std::size_t block_length(std::size_t begin, std::size_t end) noexcept {
  return end - begin < kSumBlock ? end - begin : kSumBlock;
}

/// Writes completed accumulators to `count` outputs that are adjacent from `offset`.
inline void emit(const PlainOutput& out, std::size_t offset, const std::int32_t* sums,
                 std::size_t count) noexcept {
  if (out.requant == nullptr) {
    for (std::size_t n = 0; n < count; ++n)
      out.sums[offset + n] = sums[n];
    return;
  }
  for (std::size_t n = 0; n < count; ++n)
    out.elements[offset + n] = out.requant->requantize(sums[n]);
}

/// Sum over n of a[n] * b[n * stride].
inline std::int32_t dot(const std::int8_t* a, const std::int8_t* b, std::size_t count,
                        std::size_t stride) noexcept {
  std::int32_t sum = 0;
  for (std::size_t n = 0; n < count; ++n)
    sum += std::int32_t{a[n]} * b[n * stride];
  return sum;
}

/// sums[n] += factor * run[n].
inline void accumulate(std::int32_t* sums, std::int32_t factor, const std::int8_t* run,
                       std::size_t count) noexcept {
  for (std::size_t n = 0; n < count; ++n)
    sums[n] += factor * run[n];
}

/// y = a * x.
inline void plain_gemv(const PlainView& a, const std::int8_t* x, const PlainOutput& y) noexcept {
  for (std::size_t row = 0; row < a.rows; row += kSumBlock) {
    std::int32_t sums[kSumBlock] = {};
    const std::size_t count = block_length(row, a.rows);
    if (a.col_stride == 1) {
      for (std::size_t n = 0; n < count; ++n)
        sums[n] = dot(a.data + (row + n) * a.row_stride, x, a.cols, 1);
    } else {
      for (std::size_t col = 0; col < a.cols; ++col)
        accumulate(sums, x[col], a.data + col * a.col_stride + row, count);
    }
    emit(y, row, sums, count);
  }
}

/// One run of adjacent outputs of a contraction whose output columns are adjacent.
inline void plain_matmul_run(const PlainView& a, const PlainView& b, std::size_t row,
                             std::size_t col, std::size_t count, std::int32_t* sums) noexcept {
  const std::int8_t* factors = a.data + row * a.row_stride;
  if (b.col_stride == 1) {
    for (std::size_t k = 0; k < a.cols; ++k)
      accumulate(sums, factors[k * a.col_stride], b.data + k * b.row_stride + col, count);
    return;
  }
  for (std::size_t n = 0; n < count; ++n)
    sums[n] = dot(b.data + (col + n) * b.col_stride, factors, a.cols, a.col_stride);
}

/// c = a * b. Where the rows of c are adjacent, the transposed product is the same work.
inline void plain_matmul(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept {
  if (c.col_stride != 1)
    return plain_matmul(b.transposed(), a.transposed(), c.transposed());
  for (std::size_t row = 0; row < a.rows; ++row) {
    for (std::size_t col = 0; col < b.cols; col += kSumBlock) {
      std::int32_t sums[kSumBlock] = {};
      const std::size_t count = block_length(col, b.cols);
      plain_matmul_run(a, b, row, col, count, sums);
      emit(c, row * c.row_stride + col, sums, count);
    }
  }
}

} // namespace simaai::kernels::matrix::detail
