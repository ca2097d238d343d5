// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX2: products by vpmaddwd on elements widened to 16 bits. A pair sums to at most 2 * 128 * 128,
// so no step saturates (vpmaddubsw would).
#include <cstring>

#include "matrix/backends.h"
#include "matrix/simd/avx2_rescale.h"
#include "matrix/simd/blocked_matmul.h"

namespace simaai::kernels::matrix::detail {
namespace {

/// Sixteen elements widened to 16 bits.
SIMAAI_AVX2 inline __m256i widen16(const std::int8_t* src) noexcept {
  return _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(src)));
}

/// The first `count` (below 16) elements widened, zeros behind them. Reads nothing else.
SIMAAI_AVX2 inline __m256i widen_tail(const std::int8_t* src, std::size_t count) noexcept {
  std::int8_t padded[16] = {};
  std::memcpy(padded, src, count);
  return widen16(padded);
}

SIMAAI_AVX2 inline std::int32_t sum_lanes(__m256i acc) noexcept {
  __m128i sum = _mm_add_epi32(_mm256_castsi256_si128(acc), _mm256_extracti128_si256(acc, 1));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0x4E));
  sum = _mm_add_epi32(sum, _mm_shuffle_epi32(sum, 0xB1));
  return _mm_cvtsi128_si32(sum);
}

/// Dot products of four rows with x. `rows` may be fewer at the end: the last row then repeats.
SIMAAI_AVX2 void dot_rows(const std::int8_t* const (&rows)[4], const std::int8_t* x,
                          std::size_t count, std::int32_t* sums) noexcept {
  __m256i acc[4] = {};
  std::size_t n = 0;
  for (; n + 16 <= count; n += 16) {
    const __m256i factor = widen16(x + n);
    for (int row = 0; row < 4; ++row)
      acc[row] = _mm256_add_epi32(acc[row], _mm256_madd_epi16(widen16(rows[row] + n), factor));
  }
  if (n < count) {
    const __m256i factor = widen_tail(x + n, count - n);
    for (int row = 0; row < 4; ++row)
      acc[row] = _mm256_add_epi32(acc[row],
                                  _mm256_madd_epi16(widen_tail(rows[row] + n, count - n), factor));
  }
  for (int row = 0; row < 4; ++row)
    sums[row] = sum_lanes(acc[row]);
}

constexpr std::size_t kRun = 64;

SIMAAI_AVX2 void gemv_rows(const PlainView& a, const std::int8_t* x,
                           const PlainOutput& y) noexcept {
  for (std::size_t row = 0; row < a.rows; row += kRun) {
    alignas(32) std::int32_t sums[kRun];
    const std::size_t count = std::min(kRun, a.rows - row);
    for (std::size_t n = 0; n < count; n += 4) {
      const auto at = [&](std::size_t step) {
        return a.data + std::min(row + n + step, a.rows - 1) * a.row_stride;
      };
      const std::int8_t* const rows[4] = {at(0), at(1), at(2), at(3)};
      dot_rows(rows, x, a.cols, sums + n);
    }
    emit_avx2(y, row, sums, count);
  }
}

/// sums[0 .. 15] += first * x0 + second * x1 for sixteen adjacent rows; factors holds (x0, x1).
SIMAAI_AVX2 inline void add_columns16(__m256i (&acc)[2], __m128i first, __m128i second,
                                      __m256i factors) noexcept {
  const __m256i low = _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(first, second));
  const __m256i high = _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(first, second));
  acc[0] = _mm256_add_epi32(acc[0], _mm256_madd_epi16(low, factors));
  acc[1] = _mm256_add_epi32(acc[1], _mm256_madd_epi16(high, factors));
}

/// Two 16-bit factors as the pair that vpmaddwd multiplies: the first in bits 0-15.
[[nodiscard]] inline std::int32_t factor_pair(std::int8_t first, std::int8_t second) noexcept {
  const auto low = static_cast<std::uint16_t>(std::int16_t{first});
  const auto high = static_cast<std::uint16_t>(std::int16_t{second});
  return static_cast<std::int32_t>(std::uint32_t{low} | std::uint32_t{high} << 16);
}

SIMAAI_AVX2 inline __m128i load16(const std::int8_t* src) noexcept {
  return _mm_loadu_si128(reinterpret_cast<const __m128i*>(src));
}

/// Products of 64 adjacent rows of a column-major matrix.
SIMAAI_AVX2 void sum_columns64(const PlainView& a, std::size_t row, const std::int8_t* x,
                               std::int32_t* sums) noexcept {
  __m256i acc[4][2] = {};
  for (std::size_t col = 0; col < a.cols; col += 2) {
    const bool pair = col + 1 < a.cols;
    const std::int8_t* first = a.data + col * a.col_stride + row;
    const std::int8_t* second = pair ? first + a.col_stride : first;
    const __m256i factors =
        _mm256_set1_epi32(factor_pair(x[col], pair ? x[col + 1] : std::int8_t{0}));
    for (std::size_t n = 0; n < 4; ++n)
      add_columns16(acc[n], load16(first + 16 * n), load16(second + 16 * n), factors);
  }
  for (std::size_t n = 0; n < 4; ++n)
    for (std::size_t half = 0; half < 2; ++half)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 16 * n + 8 * half), acc[n][half]);
}

/// Products of sixteen adjacent rows.
SIMAAI_AVX2 void sum_columns16(const PlainView& a, std::size_t row, const std::int8_t* x,
                               std::int32_t* sums) noexcept {
  __m256i acc[2] = {};
  for (std::size_t col = 0; col < a.cols; col += 2) {
    const bool pair = col + 1 < a.cols;
    const std::int8_t* first = a.data + col * a.col_stride + row;
    const std::int8_t* second = pair ? first + a.col_stride : first;
    add_columns16(acc, load16(first), load16(second),
                  _mm256_set1_epi32(factor_pair(x[col], pair ? x[col + 1] : std::int8_t{0})));
  }
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums), acc[0]);
  _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 8), acc[1]);
}

/// Products of fewer than sixteen rows, one by one.
void sum_columns_tail(const PlainView& a, std::size_t row, std::size_t count, const std::int8_t* x,
                      std::int32_t* sums) noexcept {
  std::fill_n(sums, count, 0);
  for (std::size_t col = 0; col < a.cols; ++col)
    for (std::size_t n = 0; n < count; ++n)
      sums[n] += std::int32_t{x[col]} * a.data[col * a.col_stride + row + n];
}

SIMAAI_AVX2 void gemv_columns(const PlainView& a, const std::int8_t* x,
                              const PlainOutput& y) noexcept {
  for (std::size_t row = 0; row < a.rows; row += kRun) {
    alignas(32) std::int32_t sums[kRun];
    const std::size_t count = std::min(kRun, a.rows - row);
    if (count == kRun) {
      sum_columns64(a, row, x, sums);
    } else {
      std::size_t n = 0;
      for (; n + 16 <= count; n += 16)
        sum_columns16(a, row + n, x, sums + n);
      sum_columns_tail(a, row + n, count - n, x, sums + n);
    }
    emit_avx2(y, row, sums, count);
  }
}

SIMAAI_AVX2 void gemv_avx2(const PlainView& a, const std::int8_t* x,
                           const PlainOutput& y) noexcept {
  a.col_stride == 1 ? gemv_rows(a, x, y) : gemv_columns(a, x, y);
}

/// Packing and tile of the blocked contraction: pairs of 16-bit elements along k.
struct Avx2Tile {
  using Packed = std::int16_t;
  static constexpr std::size_t kTileRows = 6;
  static constexpr std::size_t kTileCols = 16;
  static constexpr std::size_t kGroup = 2;
  static constexpr std::size_t kDepth = 256; // BlockedMatmul::kBlockDepth, asserted below

  static void pack_a(const PlainView& a, const Part& part, Packed* dst) noexcept {
    for (std::size_t row = 0; row < kTileRows; ++row) {
      Packed* packed = dst + row * kDepth;
      if (row >= part.rows)
        std::memset(packed, 0, (part.cols + 1) / 2 * 2 * sizeof(Packed));
      else if (a.col_stride == 1)
        widen_run(a.data + (part.row + row) * a.row_stride + part.col, part.cols, packed);
      else
        widen_strided(a.data + part.row + row + part.col * a.col_stride, a.col_stride, part.cols,
                      packed);
    }
  }

  static void pack_b(const PlainView& b, const Part& part, Packed* dst,
                     [[maybe_unused]] std::int32_t* bias) noexcept {
    if (part.cols == kTileCols && b.col_stride == 1)
      pack_b_rows(b, part, dst);
    else
      pack_b_any(b, part, dst);
  }

  SIMAAI_AVX2 static void tile(const Packed* a, const Packed* b,
                               [[maybe_unused]] const std::int32_t* bias, std::size_t groups,
                               std::int32_t* acc, std::size_t stride, bool add) noexcept {
    __m256i sums[kTileRows][2] = {};
    for (std::size_t group = 0; group < groups; ++group, b += 2 * kTileCols) {
      const __m256i left = _mm256_load_si256(reinterpret_cast<const __m256i*>(b));
      const __m256i right = _mm256_load_si256(reinterpret_cast<const __m256i*>(b + kTileCols));
#pragma GCC unroll 6
      for (std::size_t row = 0; row < kTileRows; ++row) {
        std::int32_t pair = 0;
        std::memcpy(&pair, a + row * kDepth + 2 * group, sizeof pair);
        const __m256i factors = _mm256_set1_epi32(pair);
        sums[row][0] = _mm256_add_epi32(sums[row][0], _mm256_madd_epi16(factors, left));
        sums[row][1] = _mm256_add_epi32(sums[row][1], _mm256_madd_epi16(factors, right));
      }
    }
#pragma GCC unroll 6
    for (std::size_t row = 0; row < kTileRows; ++row)
      for (std::size_t half = 0; half < 2; ++half) {
        auto* out = reinterpret_cast<__m256i*>(acc + row * stride + 8 * half);
        const __m256i before = add ? _mm256_load_si256(out) : _mm256_setzero_si256();
        _mm256_store_si256(out, _mm256_add_epi32(before, sums[row][half]));
      }
  }

  static void emit(const PlainOutput& c, std::size_t offset, const std::int32_t* sums,
                   std::size_t count) noexcept {
    emit_avx2(c, offset, sums, count);
  }

private:
  SIMAAI_AVX2 static void widen_run(const std::int8_t* src, std::size_t count,
                                    Packed* dst) noexcept {
    std::size_t n = 0;
    for (; n + 16 <= count; n += 16)
      _mm256_storeu_si256(reinterpret_cast<__m256i*>(dst + n), widen16(src + n));
    for (; n < count; ++n)
      dst[n] = Packed{src[n]};
    if (count % 2 != 0)
      dst[count] = 0;
  }

  static void widen_strided(const std::int8_t* src, std::size_t stride, std::size_t count,
                            Packed* dst) noexcept {
    for (std::size_t n = 0; n < count; ++n)
      dst[n] = Packed{src[n * stride]};
    if (count % 2 != 0)
      dst[count] = 0;
  }

  /// Two rows of b at a time, interleaved: bytes (k, n), (k + 1, n), widened.
  SIMAAI_AVX2 static void pack_b_rows(const PlainView& b, const Part& part, Packed* dst) noexcept {
    for (std::size_t k = 0; k < part.rows; k += 2, dst += 2 * kTileCols) {
      const std::int8_t* src = b.data + (part.row + k) * b.row_stride + part.col;
      const __m128i first = load16(src);
      const __m128i second = k + 1 < part.rows ? load16(src + b.row_stride) : _mm_setzero_si128();
      _mm256_store_si256(reinterpret_cast<__m256i*>(dst),
                         _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(first, second)));
      _mm256_store_si256(reinterpret_cast<__m256i*>(dst + kTileCols),
                         _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(first, second)));
    }
  }

  static void pack_b_any(const PlainView& b, const Part& part, Packed* dst) noexcept {
    std::memset(dst, 0, (part.rows + 1) / 2 * 2 * kTileCols * sizeof(Packed));
    for (std::size_t col = 0; col < part.cols; ++col) {
      const std::int8_t* src = b.data + part.row * b.row_stride + (part.col + col) * b.col_stride;
      for (std::size_t k = 0; k < part.rows; ++k)
        dst[k / 2 * 2 * kTileCols + 2 * col + k % 2] = Packed{src[k * b.row_stride]};
    }
  }
};

void matmul_avx2(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept {
  static_assert(Avx2Tile::kDepth == BlockedMatmul<Avx2Tile>::kBlockDepth);
  BlockedMatmul<Avx2Tile>(a, b, c).run();
}

} // namespace

const Backend avx2_backend = {"avx2", gemv_avx2, matmul_avx2, rescale_avx2};

} // namespace simaai::kernels::matrix::detail
