// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX2: products by vpmaddwd on elements widened to 16 bits. A pair sums to at most 2 * 128 * 128,
// so no step saturates (vpmaddubsw would).
#include <cstring>

#include "matrix/backends.h"
#include "matrix/simd/avx2_rescale.h"
#include "matrix/simd/blocked_matmul.h"

#define SIMAAI_VECTOR SIMAAI_AVX2
#include "matrix/simd/transpose.h"

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

/// Adds neighbouring 32-bit lanes: (a0 + a2, b0 + b2, a1 + a3, b1 + b3) of each 128 bits.
SIMAAI_AVX2 inline __m256i fold32(__m256i a, __m256i b) noexcept {
  return _mm256_add_epi32(_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
}
SIMAAI_AVX2 inline __m256i fold64(__m256i a, __m256i b) noexcept {
  return _mm256_add_epi32(_mm256_unpacklo_epi64(a, b), _mm256_unpackhi_epi64(a, b));
}

/// Sums of the lanes of eight vectors, in order.
SIMAAI_AVX2 inline __m256i sum_lanes(const __m256i (&acc)[8]) noexcept {
  const __m256i low = fold64(fold32(acc[0], acc[1]), fold32(acc[2], acc[3]));
  const __m256i high = fold64(fold32(acc[4], acc[5]), fold32(acc[6], acc[7]));
  return _mm256_add_epi32(_mm256_permute2x128_si256(low, high, 0x20),
                          _mm256_permute2x128_si256(low, high, 0x31));
}

/// A run of x widened to 16 bits: elements with even and with odd positions in every 32, zeros behind
/// the end.
class SplitFactors {
public:
  /// 64 steps of four products of 2^14, scaled by 2^8, fill 30 bits of a lane.
  static constexpr std::size_t kMost = 2048;

  SIMAAI_AVX2 SplitFactors(const std::int8_t* x, std::size_t count) noexcept {
    for (std::size_t n = 0; n < count; n += 32) {
      const __m256i bytes = load_up_to32(x + n, count - n);
      _mm256_store_si256(reinterpret_cast<__m256i*>(even_ + n / 2),
                         _mm256_srai_epi16(_mm256_slli_epi16(bytes, 8), 8));
      _mm256_store_si256(reinterpret_cast<__m256i*>(odd_ + n / 2), _mm256_srai_epi16(bytes, 8));
    }
  }
  [[nodiscard]] SIMAAI_AVX2 __m256i even(std::size_t n) const noexcept {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(even_ + n / 2));
  }
  [[nodiscard]] SIMAAI_AVX2 __m256i odd(std::size_t n) const noexcept {
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(odd_ + n / 2));
  }
  /// Reads `count` bytes where that is less than 32, zeros behind them.
  SIMAAI_AVX2 static __m256i load_up_to32(const std::int8_t* src, std::size_t count) noexcept {
    if (count >= 32)
      return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
    alignas(32) std::int8_t padded[32] = {};
    std::memcpy(padded, src, count);
    return _mm256_load_si256(reinterpret_cast<const __m256i*>(padded));
  }

private:
  alignas(32) std::int16_t even_[kMost / 2];
  alignas(32) std::int16_t odd_[kMost / 2];
};

/// 256 times the products of 32 elements with their factors, four a lane. A byte in the upper half of
/// a 16-bit lane is its own sign extension, times 256: one instruction for each half, where widening
/// takes two.
SIMAAI_AVX2 inline __m256i multiply32(__m256i elements, __m256i even, __m256i odd) noexcept {
  const __m256i upper = _mm256_set1_epi16(static_cast<std::int16_t>(0xFF00));
  asm("" : "+x"(elements)); // loaded once: a second load instead of a register costs more
  return _mm256_add_epi32(_mm256_madd_epi16(_mm256_slli_epi16(elements, 8), even),
                          _mm256_madd_epi16(_mm256_and_si256(elements, upper), odd));
}

/// Eight rows of a row-major matrix. Where fewer are left the last one repeats.
struct EightRows {
  const std::int8_t* rows[8];
  std::size_t ahead; ///< from a row to the one that comes eight rows later
  EightRows(const PlainView& a, std::size_t row, std::size_t col) noexcept {
    ahead = 8 * a.row_stride;
    rows[0] = a.data + row * a.row_stride + col;
#pragma GCC unroll 8
    for (std::size_t n = 1; n < 8; ++n)
      rows[n] = rows[n - 1] + (row + n < a.rows ? a.row_stride : 0);
  }
};

/// Dot products of eight rows with `count` factors.
SIMAAI_AVX2 inline __m256i dot_rows(const EightRows& from, const SplitFactors& factors,
                                    std::size_t count) noexcept {
  __m256i acc[8];
#pragma GCC unroll 8
  for (int row = 0; row < 8; ++row)
    acc[row] = _mm256_setzero_si256();
  std::size_t n = 0;
  for (; n + 32 <= count; n += 32) {
    const __m256i even = factors.even(n);
    const __m256i odd = factors.odd(n);
#pragma GCC unroll 8
    for (int row = 0; row < 8; ++row) {
      const std::int8_t* src = from.rows[row] + n;
      const __m256i elements = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(src));
      _mm_prefetch(src + from.ahead, _MM_HINT_T0);
      acc[row] = _mm256_add_epi32(acc[row], multiply32(elements, even, odd));
    }
  }
  if (n < count) {
    const __m256i even = factors.even(n);
    const __m256i odd = factors.odd(n);
#pragma GCC unroll 8
    for (int row = 0; row < 8; ++row)
      acc[row] = _mm256_add_epi32(
          acc[row],
          multiply32(SplitFactors::load_up_to32(from.rows[row] + n, count - n), even, odd));
  }
#pragma GCC unroll 8
  for (int row = 0; row < 8; ++row)
    acc[row] = _mm256_srai_epi32(acc[row], 8);
  return sum_lanes(acc);
}

constexpr std::size_t kRun = 64;

/// sums[n] += row (row + n) of a, from `col` on, times x.
SIMAAI_AVX2 void add_rows(const PlainView& a, std::size_t row, std::size_t rows, std::size_t col,
                          const std::int8_t* x, std::int32_t* sums) noexcept {
  const std::size_t count = std::min(SplitFactors::kMost, a.cols - col);
  const SplitFactors factors(x + col, count);
  for (std::size_t n = 0; n < rows; n += 8) {
    auto* out = reinterpret_cast<__m256i*>(sums + n);
    _mm256_store_si256(out, _mm256_add_epi32(_mm256_load_si256(out),
                                             dot_rows(EightRows(a, row + n, col), factors, count)));
  }
}

SIMAAI_AVX2 void gemv_rows(const PlainView& a, const std::int8_t* x,
                           const PlainOutput& y) noexcept {
  for (std::size_t row = 0; row < a.rows; row += kRun) {
    alignas(32) std::int32_t sums[kRun] = {};
    const std::size_t count = std::min(kRun, a.rows - row);
    for (std::size_t col = 0; col < a.cols; col += SplitFactors::kMost)
      add_rows(a, row, count, col, x, sums);
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

/// Products of 16 * Blocks adjacent rows of a column-major matrix.
template <std::size_t Blocks>
SIMAAI_AVX2 void sum_columns(const PlainView& a, std::size_t row, const std::int8_t* x,
                             std::int32_t* sums) noexcept {
  __m256i acc[Blocks][2];
#pragma GCC unroll 4
  for (std::size_t n = 0; n < Blocks; ++n)
    acc[n][0] = acc[n][1] = _mm256_setzero_si256();
  for (std::size_t col = 0; col < a.cols; col += 2) {
    const bool pair = col + 1 < a.cols;
    const std::int8_t* first = a.data + col * a.col_stride + row;
    const std::int8_t* second = pair ? first + a.col_stride : first;
    const __m256i factors =
        _mm256_set1_epi32(factor_pair(x[col], pair ? x[col + 1] : std::int8_t{0}));
#pragma GCC unroll 4
    for (std::size_t n = 0; n < Blocks; ++n)
      add_columns16(acc[n], load16(first + 16 * n), load16(second + 16 * n), factors);
  }
#pragma GCC unroll 4
  for (std::size_t n = 0; n < Blocks; ++n) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 16 * n), acc[n][0]);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(sums + 16 * n + 8), acc[n][1]);
  }
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
      sum_columns<4>(a, row, x, sums);
    } else {
      std::size_t n = 0;
      for (; n + 16 <= count; n += 16)
        sum_columns<1>(a, row + n, x, sums + n);
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
  static constexpr std::size_t kRowsAhead = 24; ///< of b, that are fetched before they are packed

  SIMAAI_AVX2 static void pack_a(const std::int8_t* src, std::size_t stride, std::size_t rows,
                                 std::size_t depth, Packed* dst) noexcept {
    for (std::size_t row = 0; row < kTileRows; ++row, src += stride, dst += kBlockDepth) {
      if (row >= rows) {
        std::memset(dst, 0, (depth + 1) / 2 * 2 * sizeof(Packed));
        continue;
      }
      const std::int8_t* next =
          src + kTileRows * stride; // the same row of the tile behind this one
      for (std::size_t k = 0; k < depth; k += 64)
        _mm_prefetch(next + k, _MM_HINT_T0);
      std::size_t k = 0;
      for (; k + 16 <= depth; k += 16)
        _mm256_store_si256(reinterpret_cast<__m256i*>(dst + k), widen16(src + k));
      if (k < depth)
        _mm256_store_si256(reinterpret_cast<__m256i*>(dst + k), widen_tail(src + k, depth - k));
    }
  }

  /// Two rows of b at a time, interleaved: bytes (k, n), (k + 1, n), widened.
  SIMAAI_AVX2 static void pack_b(const std::int8_t* src, std::size_t stride, std::size_t depth,
                                 std::size_t panels, Packed* dst,
                                 [[maybe_unused]] std::int32_t* bias) noexcept {
    for (std::size_t k = 0; k < depth; k += 2, src += 2 * stride, dst += 2 * kTileCols) {
      _mm_prefetch(src + kRowsAhead * stride, _MM_HINT_T0);
      _mm_prefetch(src + (kRowsAhead + 1) * stride, _MM_HINT_T0);
      for (std::size_t panel = 0; panel < panels; ++panel) {
        const std::int8_t* from = src + panel * kTileCols;
        auto* to = reinterpret_cast<__m256i*>(dst + panel * kTileCols * kBlockDepth);
        const __m128i first = load16(from);
        const __m128i second = k + 1 < depth ? load16(from + stride) : _mm_setzero_si128();
        _mm256_store_si256(to, _mm256_cvtepi8_epi16(_mm_unpacklo_epi8(first, second)));
        _mm256_store_si256(to + 1, _mm256_cvtepi8_epi16(_mm_unpackhi_epi8(first, second)));
      }
    }
  }

  static void turn(const std::int8_t* src, std::size_t src_stride, std::size_t outer,
                   std::size_t inner, std::int8_t* dst, std::size_t dst_stride) noexcept {
    transpose_part(src, src_stride, outer, inner, dst, dst_stride);
  }

  SIMAAI_AVX2 static void tile(const Packed* a, const Packed* b,
                               [[maybe_unused]] const std::int32_t* bias, std::size_t groups,
                               std::int32_t* acc, std::size_t stride, bool add) noexcept {
    __m256i sums[kTileRows][2];
#pragma GCC unroll 6
    for (std::size_t row = 0; row < kTileRows; ++row)
      sums[row][0] = sums[row][1] = _mm256_setzero_si256();
    for (std::size_t group = 0; group < groups; ++group, a += 2, b += 2 * kTileCols) {
      const __m256i left = _mm256_load_si256(reinterpret_cast<const __m256i*>(b));
      const __m256i right = _mm256_load_si256(reinterpret_cast<const __m256i*>(b + kTileCols));
#pragma GCC unroll 6
      for (std::size_t row = 0; row < kTileRows; ++row) {
        std::int32_t pair = 0;
        std::memcpy(&pair, a + row * kBlockDepth, sizeof pair);
        const __m256i factors = _mm256_set1_epi32(pair);
        sums[row][0] = _mm256_add_epi32(sums[row][0], _mm256_madd_epi16(factors, left));
        sums[row][1] = _mm256_add_epi32(sums[row][1], _mm256_madd_epi16(factors, right));
      }
    }
#pragma GCC unroll 6
    for (std::size_t row = 0; row < kTileRows; ++row) {
      auto* out = reinterpret_cast<__m256i*>(acc + row * stride);
      if (add) {
        sums[row][0] = _mm256_add_epi32(_mm256_load_si256(out), sums[row][0]);
        sums[row][1] = _mm256_add_epi32(_mm256_load_si256(out + 1), sums[row][1]);
      }
      _mm256_store_si256(out, sums[row][0]);
      _mm256_store_si256(out + 1, sums[row][1]);
    }
  }

  static void emit(const PlainOutput& c, std::size_t offset, const std::int32_t* sums,
                   std::size_t count, std::size_t rows, std::size_t stride) noexcept {
    emit_avx2(c, offset, sums, count, rows, stride);
  }
};

void matmul_avx2(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept {
  BlockedMatmul<Avx2Tile>(a, b, c).run();
}

} // namespace

const Backend avx2_backend = {"avx2", gemv_avx2, matmul_avx2, rescale_avx2, &avx2_wire};

} // namespace simaai::kernels::matrix::detail
