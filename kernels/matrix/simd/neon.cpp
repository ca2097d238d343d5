// SPDX-License-Identifier: LGPL-2.1-or-later
// NEON without dot-product instructions: byte products of 16 bits, each added to 32-bit sums before
// the next one could overflow it.
#include "matrix/simd/neon_common.h"

namespace simaai::kernels::matrix::detail {
namespace {

inline int32x4_t add_products(int32x4_t acc, int8x16_t a, int8x16_t b) noexcept {
  acc = vpadalq_s16(acc, vmull_s8(vget_low_s8(a), vget_low_s8(b)));
  return vpadalq_s16(acc, vmull_s8(vget_high_s8(a), vget_high_s8(b)));
}

void dot_rows(const std::int8_t* const (&rows)[4], const std::int8_t* x, std::size_t count,
              std::int32_t* sums) noexcept {
  int32x4_t acc[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
  std::size_t n = 0;
  for (; n + 16 <= count; n += 16)
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row)
      acc[row] = add_products(acc[row], vld1q_s8(rows[row] + n), vld1q_s8(x + n));
  if (n < count)
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row)
      acc[row] =
          add_products(acc[row], load_tail(rows[row] + n, count - n), load_tail(x + n, count - n));
#pragma GCC unroll 4
  for (int row = 0; row < 4; ++row)
    sums[row] = vaddvq_s32(acc[row]);
}

struct NeonTile : NeonPacking<4, 2> {
  static void tile(const Packed* a, const Packed* b, [[maybe_unused]] const std::int32_t* bias,
                   std::size_t groups, std::int32_t* acc, std::size_t stride, bool add) noexcept {
    int32x4_t sums[kTileRows][4];
#pragma GCC unroll 8
    for (std::size_t row = 0; row < kTileRows; ++row)
#pragma GCC unroll 4
      for (std::size_t n = 0; n < 4; ++n)
        sums[row][n] = vdupq_n_s32(0);
    for (std::size_t group = 0; group < groups; ++group, b += kGroup * kTileCols) {
      const int8x8_t columns[4] = {vld1_s8(b), vld1_s8(b + 8), vld1_s8(b + 16), vld1_s8(b + 24)};
#pragma GCC unroll 4
      for (std::size_t row = 0; row < kTileRows; ++row) {
        std::int16_t pair;
        std::memcpy(&pair, a + row * kBlockDepth + kGroup * group, sizeof pair);
        const int8x8_t factors = vreinterpret_s8_s16(vdup_n_s16(pair));
#pragma GCC unroll 4
        for (std::size_t n = 0; n < 4; ++n)
          sums[row][n] = vpadalq_s16(sums[row][n], vmull_s8(columns[n], factors));
      }
    }
    store_tile(sums, acc, stride, add);
  }
};

void gemv_neon(const PlainView& a, const std::int8_t* x, const PlainOutput& y) noexcept {
  a.col_stride == 1 ? gemv_rows<dot_rows>(a, x, y) : gemv_columns(a, x, y);
}

void matmul_neon(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept {
  BlockedMatmul<NeonTile>(a, b, c).run();
}

} // namespace

const Backend neon_backend = {"neon", gemv_neon, matmul_neon, rescale_neon, &neon_wire};

} // namespace simaai::kernels::matrix::detail
