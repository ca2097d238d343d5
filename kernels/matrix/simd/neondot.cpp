// SPDX-License-Identifier: LGPL-2.1-or-later
// NEON with dot-product instructions: sdot adds four byte products to a 32-bit sum, exactly.
#include "matrix/simd/neon_common.h"

#define SIMAAI_DOT __attribute__((target("arch=armv8.2-a+dotprod")))

namespace simaai::kernels::matrix::detail {
namespace {

SIMAAI_DOT void dot_rows(const std::int8_t* const (&rows)[4], const std::int8_t* x,
                         std::size_t count, std::int32_t* sums) noexcept {
  int32x4_t acc[4] = {vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0), vdupq_n_s32(0)};
  std::size_t n = 0;
  for (; n + 16 <= count; n += 16)
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row)
      acc[row] = vdotq_s32(acc[row], vld1q_s8(rows[row] + n), vld1q_s8(x + n));
  if (n < count)
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row)
      acc[row] =
          vdotq_s32(acc[row], load_tail(rows[row] + n, count - n), load_tail(x + n, count - n));
#pragma GCC unroll 4
  for (int row = 0; row < 4; ++row)
    sums[row] = vaddvq_s32(acc[row]);
}

struct NeonDotTile : NeonPacking<6, 4> {
  SIMAAI_DOT static void tile(const Packed* a, const Packed* b,
                              [[maybe_unused]] const std::int32_t* bias, std::size_t groups,
                              std::int32_t* acc, std::size_t stride, bool add) noexcept {
    int32x4_t sums[kTileRows][4];
#pragma GCC unroll 8
    for (std::size_t row = 0; row < kTileRows; ++row)
#pragma GCC unroll 4
      for (std::size_t n = 0; n < 4; ++n)
        sums[row][n] = vdupq_n_s32(0);
    for (std::size_t group = 0; group < groups; ++group, b += kGroup * kTileCols) {
      const int8x16_t columns[4] = {vld1q_s8(b), vld1q_s8(b + 16), vld1q_s8(b + 32),
                                    vld1q_s8(b + 48)};
#pragma GCC unroll 6
      for (std::size_t row = 0; row < kTileRows; ++row) {
        std::int32_t quad;
        std::memcpy(&quad, a + row * kBlockDepth + kGroup * group, sizeof quad);
        const int8x16_t factors = vreinterpretq_s8_s32(vdupq_n_s32(quad));
#pragma GCC unroll 4
        for (std::size_t n = 0; n < 4; ++n)
          sums[row][n] = vdotq_s32(sums[row][n], columns[n], factors);
      }
    }
    store_tile(sums, acc, stride, add);
  }
};

void gemv_neondot(const PlainView& a, const std::int8_t* x, const PlainOutput& y) noexcept {
  a.col_stride == 1 ? gemv_rows<dot_rows>(a, x, y) : gemv_columns(a, x, y);
}

void matmul_neondot(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept {
  BlockedMatmul<NeonDotTile>(a, b, c).run();
}

} // namespace

const Backend neondot_backend = {"neondot", gemv_neondot, matmul_neondot, rescale_neon, &neon_wire};

} // namespace simaai::kernels::matrix::detail
