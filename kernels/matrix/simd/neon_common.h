// SPDX-License-Identifier: LGPL-2.1-or-later
// NEON: what the sets with and without dot-product instructions share: rescale, products of
// column-major matrices, packing.
#pragma once

#include <algorithm>
#include <cstring>

#include <arm_neon.h>

#include "matrix/backends.h"
#include "matrix/simd/blocked_matmul.h"

#define SIMAAI_VECTOR
#include "matrix/simd/transpose.h"

namespace simaai::kernels::matrix::detail {
namespace {

/// The rescale of four accumulators: saturated to 32 bits, which no later step can tell.
inline int32x4_t scale_neon(int32x4_t acc, std::int32_t multiplier, int64x2_t half,
                            int64x2_t right) noexcept {
  const int64x2_t low = vaddq_s64(vmull_n_s32(vget_low_s32(acc), multiplier), half);
  const int64x2_t high = vaddq_s64(vmull_n_s32(vget_high_s32(acc), multiplier), half);
  return vcombine_s32(vqmovn_s64(vshlq_s64(low, right)), vqmovn_s64(vshlq_s64(high, right)));
}

inline void rescale_neon(const std::int32_t* src, std::size_t count, const Requant& requant,
                         std::int8_t* dst) noexcept {
  const unsigned shift = requant.shift();
  const int64x2_t half = vdupq_n_s64(shift == 0 ? 0 : std::int64_t{1} << (shift - 1));
  const int64x2_t right = vdupq_n_s64(-std::int64_t{shift});
  std::size_t n = 0;
  for (; n + 8 <= count; n += 8) {
    const int32x4_t low = scale_neon(vld1q_s32(src + n), requant.multiplier(), half, right);
    const int32x4_t high = scale_neon(vld1q_s32(src + n + 4), requant.multiplier(), half, right);
    vst1_s8(dst + n, vqmovn_s16(vcombine_s16(vqmovn_s32(low), vqmovn_s32(high))));
  }
  for (; n < count; ++n)
    dst[n] = requant.requantize(src[n]);
}

/// Writes completed sums to adjacent outputs.
inline void emit_neon(const PlainOutput& out, std::size_t offset, const std::int32_t* sums,
                      std::size_t count) noexcept {
  if (out.requant != nullptr)
    return rescale_neon(sums, count, *out.requant, out.elements + offset);
  std::memcpy(out.sums + offset, sums, count * sizeof *sums);
}

inline constexpr std::size_t kRun = 64;

/// The first `count` (below 16) elements, zeros behind them. Reads nothing else.
inline int8x16_t load_tail(const std::int8_t* src, std::size_t count) noexcept {
  std::int8_t padded[16] = {};
  std::memcpy(padded, src, count);
  return vld1q_s8(padded);
}

/// Products of `count` (up to 16) adjacent rows of a column-major matrix.
inline void sum_columns(const PlainView& a, std::size_t row, std::size_t count,
                        const std::int8_t* x, std::int32_t* sums) noexcept {
  int32x4_t acc[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
  for (std::size_t col = 0; col < a.cols; ++col) {
    const std::int8_t* src = a.data + col * a.col_stride + row;
    const int8x16_t column = count == 16 ? vld1q_s8(src) : load_tail(src, count);
    const int16x8_t low = vmovl_s8(vget_low_s8(column));
    const int16x8_t high = vmovl_s8(vget_high_s8(column));
    acc[0] = vmlal_n_s16(acc[0], vget_low_s16(low), x[col]);
    acc[1] = vmlal_n_s16(acc[1], vget_high_s16(low), x[col]);
    acc[2] = vmlal_n_s16(acc[2], vget_low_s16(high), x[col]);
    acc[3] = vmlal_n_s16(acc[3], vget_high_s16(high), x[col]);
  }
#pragma GCC unroll 4
  for (std::size_t n = 0; n < 4; ++n)
    vst1q_s32(sums + 4 * n, acc[n]);
}

inline void gemv_columns(const PlainView& a, const std::int8_t* x, const PlainOutput& y) noexcept {
  for (std::size_t row = 0; row < a.rows; row += kRun) {
    std::int32_t sums[kRun];
    const std::size_t count = std::min(kRun, a.rows - row);
    for (std::size_t n = 0; n < count; n += 16)
      sum_columns(a, row + n, std::min<std::size_t>(16, count - n), x, sums + n);
    emit_neon(y, row, sums, count);
  }
}

using DotRows = void (*)(const std::int8_t* const (&rows)[4], const std::int8_t* x,
                         std::size_t count, std::int32_t* sums) noexcept;

template <DotRows Dot>
void gemv_rows(const PlainView& a, const std::int8_t* x, const PlainOutput& y) noexcept {
  for (std::size_t row = 0; row < a.rows; row += kRun) {
    std::int32_t sums[kRun];
    const std::size_t count = std::min(kRun, a.rows - row);
    for (std::size_t n = 0; n < count; n += 4) {
      const auto at = [&](std::size_t step) {
        return a.data + std::min(row + n + step, a.rows - 1) * a.row_stride;
      };
      const std::int8_t* const rows[4] = {at(0), at(1), at(2), at(3)};
      Dot(rows, x, a.cols, sums + n);
    }
    emit_neon(y, row, sums, count);
  }
}

/// Stores 16 columns of two rows of b, or of four, so that those of one column are adjacent.
inline void interleave(const int8x16_t (&rows)[2], std::int8_t* dst) noexcept {
  vst2q_s8(dst, int8x16x2_t{{rows[0], rows[1]}});
}
inline void interleave(const int8x16_t (&rows)[4], std::int8_t* dst) noexcept {
  vst4q_s8(dst, int8x16x4_t{{rows[0], rows[1], rows[2], rows[3]}});
}

/// Packing of the blocked contraction: groups of bytes along k for both operands.
template <std::size_t TileRows, std::size_t Group> struct NeonPacking {
  using Packed = std::int8_t;
  static constexpr std::size_t kTileRows = TileRows;
  static constexpr std::size_t kTileCols = 16;
  static constexpr std::size_t kGroup = Group;

  static void pack_a(const std::int8_t* src, std::size_t stride, std::size_t rows,
                     std::size_t depth, Packed* dst) noexcept {
    for (std::size_t row = 0; row < kTileRows; ++row) {
      Packed* packed = dst + row * kBlockDepth;
      std::memset(packed, 0, (depth + kGroup - 1) / kGroup * kGroup);
      if (row < rows)
        std::memcpy(packed, src + row * stride, depth);
    }
  }

  static void pack_b(const std::int8_t* src, std::size_t stride, std::size_t depth,
                     std::size_t panels, Packed* dst,
                     [[maybe_unused]] std::int32_t* bias) noexcept {
    for (std::size_t k = 0; k < depth; k += kGroup, dst += kGroup * kTileCols)
      for (std::size_t panel = 0; panel < panels; ++panel) {
        const std::int8_t* from = src + k * stride + panel * kTileCols;
        int8x16_t rows[kGroup];
        for (std::size_t n = 0; n < kGroup; ++n)
          rows[n] = k + n < depth ? vld1q_s8(from + n * stride) : vdupq_n_s8(0);
        interleave(rows, dst + panel * kTileCols * kBlockDepth);
      }
  }

  static void turn(const std::int8_t* src, std::size_t src_stride, std::size_t outer,
                   std::size_t inner, std::int8_t* dst, std::size_t dst_stride) noexcept {
    transpose_part(src, src_stride, outer, inner, dst, dst_stride);
  }

  static void emit(const PlainOutput& c, std::size_t offset, const std::int32_t* sums,
                   std::size_t count, std::size_t rows, std::size_t stride) noexcept {
    for (std::size_t row = 0; row < rows; ++row)
      emit_neon(c, offset + row * c.row_stride, sums + row * stride, count);
  }
};

/// acc = or += the sums of a tile.
template <std::size_t TileRows>
void store_tile(const int32x4_t (&sums)[TileRows][4], std::int32_t* acc, std::size_t stride,
                bool add) noexcept {
#pragma GCC unroll 8
  for (std::size_t row = 0; row < TileRows; ++row)
#pragma GCC unroll 4
    for (std::size_t n = 0; n < 4; ++n) {
      std::int32_t* out = acc + row * stride + 4 * n;
      vst1q_s32(out, add ? vaddq_s32(vld1q_s32(out), sums[row][n]) : sums[row][n]);
    }
}

} // namespace
} // namespace simaai::kernels::matrix::detail
