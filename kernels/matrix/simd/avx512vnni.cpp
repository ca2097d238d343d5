// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX-512 VNNI: products by vpdpbusd, which multiplies unsigned by signed bytes and never saturates.
// One operand is offset by 128 (a sign-bit flip); 128 times the sum of the other is taken off again.
// The offset sum is at most 255 * 128 * 11172 and fits 32 bits.
#include <algorithm>
#include <cstring>

#include "matrix/backends.h"

#if defined(__GNUC__) && !defined(__clang__)
// gcc 12 takes the undefined pass-through operands of its own intrinsics for uninitialized reads.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#if defined(SIMAAI_MATRIX_EMULATED) // a test provides the intrinsics
#define SIMAAI_VNNI
#else
#include <immintrin.h>
#define SIMAAI_VNNI __attribute__((target("avx512f,avx512bw,avx512vl,avx512vnni")))
#endif

#include "matrix/simd/blocked_matmul.h"
#include "matrix/simd/requant_bounds.h"

#define SIMAAI_VECTOR SIMAAI_VNNI
#include "matrix/simd/transpose.h"

namespace simaai::kernels::matrix::detail {
namespace {

SIMAAI_VNNI inline __m512i flip_signs(__m512i bytes) noexcept {
  return _mm512_xor_si512(bytes, _mm512_set1_epi32(static_cast<int>(0x80808080U)));
}

SIMAAI_VNNI inline __m512i load64(const std::int8_t* src) noexcept {
  return _mm512_loadu_si512(src);
}

/// The first `count` (1 to 63) bytes, zeros behind them. Reads nothing else.
SIMAAI_VNNI inline __m512i load_tail(const std::int8_t* src, std::size_t count) noexcept {
  return _mm512_maskz_loadu_epi8((std::uint64_t{1} << count) - 1, src);
}

/// The rescale of sixteen accumulators at a time. See avx2_rescale.h.
class VnniRescale {
public:
  SIMAAI_VNNI explicit VnniRescale(const HighRequant& high) noexcept
      : multiplier_(_mm512_set1_epi64(high.multiplier)), half_(_mm512_set1_epi32(high.half)),
        count_(_mm_cvtsi32_si128(high.shift)) {}

  [[nodiscard]] SIMAAI_VNNI __m512i scale(__m512i acc) const noexcept {
    const __m512i even = _mm512_srli_epi64(_mm512_mul_epi32(acc, multiplier_), 32);
    const __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(acc, 32), multiplier_);
    const __m512i high = _mm512_mask_blend_epi32(0xAAAA, even, odd);
    return _mm512_sra_epi32(_mm512_add_epi32(high, half_), count_);
  }

private:
  __m512i multiplier_;
  __m512i half_;
  __m128i count_;
};

/// The same where the high half alone does not hold the result; the shift is at least 1.
class VnniWideRescale {
public:
  SIMAAI_VNNI explicit VnniWideRescale(const Requant& requant) noexcept
      : multiplier_(_mm512_set1_epi64(requant.multiplier())),
        half_(_mm512_set1_epi64(std::int64_t{1} << (requant.shift() - 1))),
        count_(_mm_cvtsi32_si128(static_cast<int>(requant.shift()))) {
    const RequantBounds bounds = requant_bounds(requant);
    least_ = _mm512_set1_epi32(bounds.least);
    greatest_ = _mm512_set1_epi32(bounds.greatest);
  }

  [[nodiscard]] SIMAAI_VNNI __m512i scale(__m512i acc) const noexcept {
    acc = _mm512_min_epi32(_mm512_max_epi32(acc, least_), greatest_);
    const __m512i even = _mm512_add_epi64(_mm512_mul_epi32(acc, multiplier_), half_);
    const __m512i odd =
        _mm512_add_epi64(_mm512_mul_epi32(_mm512_srli_epi64(acc, 32), multiplier_), half_);
    return _mm512_mask_blend_epi32(0xAAAA, _mm512_srl_epi64(even, count_),
                                   _mm512_slli_epi64(_mm512_srl_epi64(odd, count_), 32));
  }

private:
  __m512i multiplier_;
  __m512i half_;
  __m128i count_;
  __m512i least_;
  __m512i greatest_;
};

/// Rescales whole vectors and says how many elements that were.
template <class Rescale>
SIMAAI_VNNI std::size_t rescale_vectors(const Rescale& rescale, const std::int32_t* src,
                                        std::size_t count, std::int8_t* dst) noexcept {
  std::size_t n = 0;
  for (; n + 16 <= count; n += 16)
    _mm_storeu_si128(reinterpret_cast<__m128i*>(dst + n),
                     _mm512_cvtsepi32_epi8(rescale.scale(_mm512_loadu_si512(src + n))));
  return n;
}

SIMAAI_VNNI void rescale_vnni(const std::int32_t* src, std::size_t count, const Requant& requant,
                              std::int8_t* dst) noexcept {
  std::size_t n = 0;
  if (count >= 16) {
    if (const HighRequant high = high_requant(requant); high.exact)
      n = rescale_vectors(VnniRescale(high), src, count, dst);
    else if (requant.shift() > 0)
      n = rescale_vectors(VnniWideRescale(requant), src, count, dst);
  }
  for (; n < count; ++n)
    dst[n] = requant.requantize(src[n]);
}

SIMAAI_VNNI void emit_vnni(const PlainOutput& out, std::size_t offset, const std::int32_t* sums,
                           std::size_t count) noexcept {
  if (out.requant != nullptr)
    return rescale_vnni(sums, count, *out.requant, out.elements + offset);
  std::size_t n = 0;
  for (; n + 16 <= count; n += 16)
    _mm512_storeu_si512(out.sums + offset + n, _mm512_loadu_si512(sums + n));
  for (; n < count; ++n)
    out.sums[offset + n] = sums[n];
}

constexpr std::size_t kRun = 64;

/// 128 times the sum of the factors: what flipping the signs of the other operand adds to a product.
std::int32_t offset_of(const std::int8_t* factors, std::size_t count) noexcept {
  std::int32_t sum = 0;
  for (std::size_t n = 0; n < count; ++n)
    sum += factors[n];
  return 128 * sum;
}

/// Offset dot products of four rows with x.
SIMAAI_VNNI void dot_rows(const std::int8_t* const (&rows)[4], const std::int8_t* x,
                          std::size_t count, std::int32_t offset, std::int32_t* sums) noexcept {
  __m512i acc[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                    _mm512_setzero_si512()};
  std::size_t n = 0;
  for (; n + 64 <= count; n += 64) {
    const __m512i factors = load64(x + n);
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row)
      acc[row] = _mm512_dpbusd_epi32(acc[row], flip_signs(load64(rows[row] + n)), factors);
  }
  if (n < count) {
    const __m512i factors = load_tail(x + n, count - n); // zeros cancel the flipped padding
#pragma GCC unroll 4
    for (int row = 0; row < 4; ++row)
      acc[row] =
          _mm512_dpbusd_epi32(acc[row], flip_signs(load_tail(rows[row] + n, count - n)), factors);
  }
#pragma GCC unroll 4
  for (int row = 0; row < 4; ++row)
    sums[row] = _mm512_reduce_add_epi32(acc[row]) - offset;
}

SIMAAI_VNNI void gemv_rows(const PlainView& a, const std::int8_t* x,
                           const PlainOutput& y) noexcept {
  const std::int32_t offset = offset_of(x, a.cols);
  for (std::size_t row = 0; row < a.rows; row += kRun) {
    alignas(64) std::int32_t sums[kRun];
    const std::size_t count = std::min(kRun, a.rows - row);
    for (std::size_t n = 0; n < count; n += 4) {
      const auto at = [&](std::size_t step) {
        return a.data + std::min(row + n + step, a.rows - 1) * a.row_stride;
      };
      const std::int8_t* const rows[4] = {at(0), at(1), at(2), at(3)};
      dot_rows(rows, x, a.cols, offset, sums + n);
    }
    emit_vnni(y, row, sums, count);
  }
}

/// Four vectors of 64 bytes, interleaved: result q holds bytes of all four at positions 16 q to
/// 16 q + 15, four bytes a position.
SIMAAI_VNNI inline void interleave4(const __m512i (&in)[4], __m512i (&out)[4]) noexcept {
  const __m512i low01 = _mm512_unpacklo_epi8(in[0], in[1]);
  const __m512i high01 = _mm512_unpackhi_epi8(in[0], in[1]);
  const __m512i low23 = _mm512_unpacklo_epi8(in[2], in[3]);
  const __m512i high23 = _mm512_unpackhi_epi8(in[2], in[3]);
  // Unpacking works inside 128-bit lanes: lane l of vector q has positions 16 l + 4 q and on.
  const __m512i q0 = _mm512_unpacklo_epi16(low01, low23);
  const __m512i q1 = _mm512_unpackhi_epi16(low01, low23);
  const __m512i q2 = _mm512_unpacklo_epi16(high01, high23);
  const __m512i q3 = _mm512_unpackhi_epi16(high01, high23);
  // A 4 x 4 transposition of lanes puts them in order.
  const __m512i a = _mm512_shuffle_i32x4(q0, q1, 0x44); // q0.0 q0.1 q1.0 q1.1
  const __m512i b = _mm512_shuffle_i32x4(q2, q3, 0x44);
  const __m512i c = _mm512_shuffle_i32x4(q0, q1, 0xEE); // q0.2 q0.3 q1.2 q1.3
  const __m512i d = _mm512_shuffle_i32x4(q2, q3, 0xEE);
  out[0] = _mm512_shuffle_i32x4(a, b, 0x88);
  out[1] = _mm512_shuffle_i32x4(a, b, 0xDD);
  out[2] = _mm512_shuffle_i32x4(c, d, 0x88);
  out[3] = _mm512_shuffle_i32x4(c, d, 0xDD);
}

/// Offset products of `count` (up to 64) adjacent rows of a column-major matrix.
SIMAAI_VNNI void sum_columns(const PlainView& a, std::size_t row, std::size_t count,
                             const std::int8_t* x, std::int32_t offset,
                             std::int32_t* sums) noexcept {
  __m512i acc[4];
#pragma GCC unroll 4
  for (std::size_t n = 0; n < 4; ++n)
    acc[n] = _mm512_set1_epi32(-offset);
  for (std::size_t col = 0; col < a.cols; col += 4) {
    const std::size_t present = std::min<std::size_t>(4, a.cols - col);
    std::int32_t factors = 0;
    std::memcpy(&factors, x + col, present);
    __m512i columns[4];
#pragma GCC unroll 4
    for (std::size_t n = 0; n < 4; ++n) {
      // A missing column repeats the last one and meets a factor of zero.
      const std::int8_t* src = a.data + (col + std::min(n, present - 1)) * a.col_stride + row;
      columns[n] = flip_signs(count == kRun ? load64(src) : load_tail(src, count));
    }
    __m512i packed[4];
    interleave4(columns, packed);
#pragma GCC unroll 4
    for (int n = 0; n < 4; ++n)
      acc[n] = _mm512_dpbusd_epi32(acc[n], packed[n], _mm512_set1_epi32(factors));
  }
#pragma GCC unroll 4
  for (std::size_t n = 0; n < 4; ++n)
    _mm512_storeu_si512(sums + 16 * n, acc[n]);
}

SIMAAI_VNNI void gemv_columns(const PlainView& a, const std::int8_t* x,
                              const PlainOutput& y) noexcept {
  const std::int32_t offset = offset_of(x, a.cols);
  for (std::size_t row = 0; row < a.rows; row += kRun) {
    alignas(64) std::int32_t sums[kRun];
    const std::size_t count = std::min(kRun, a.rows - row);
    sum_columns(a, row, count, x, offset, sums);
    emit_vnni(y, row, sums, count);
  }
}

SIMAAI_VNNI void gemv_vnni(const PlainView& a, const std::int8_t* x,
                           const PlainOutput& y) noexcept {
  a.col_stride == 1 ? gemv_rows(a, x, y) : gemv_columns(a, x, y);
}

/// Packing and tile of the blocked contraction: quads of bytes along k, a flipped, b signed.
struct VnniTile {
  using Packed = std::int8_t;
  static constexpr std::size_t kTileRows = 6;
  static constexpr std::size_t kTileCols = 64;
  static constexpr std::size_t kGroup = 4;

  SIMAAI_VNNI static void pack_a(const std::int8_t* src, std::size_t stride, std::size_t rows,
                                 std::size_t depth, Packed* dst) noexcept {
    const std::size_t padded = (depth + kGroup - 1) / kGroup * kGroup;
    for (std::size_t row = 0; row < kTileRows; ++row, src += stride, dst += kBlockDepth) {
      if (row >= rows) {
        std::memset(dst, 0, padded);
        continue;
      }
      std::size_t k = 0;
      for (; k + 64 <= depth; k += 64)
        _mm512_storeu_si512(dst + k, flip_signs(load64(src + k)));
      if (k < depth) // flipped padding meets zeros of b
        _mm512_storeu_si512(dst + k, flip_signs(load_tail(src + k, depth - k)));
    }
  }

  /// Four rows of b at a time, interleaved. A panel is as wide as a cache line: there is one.
  SIMAAI_VNNI static void pack_b(const std::int8_t* src, std::size_t stride, std::size_t depth,
                                 [[maybe_unused]] std::size_t panels, Packed* dst,
                                 std::int32_t* bias) noexcept {
    const __m512i flip = _mm512_set1_epi32(static_cast<int>(0x80808080U)); // 128, unsigned
    __m512i sums[4] = {_mm512_setzero_si512(), _mm512_setzero_si512(), _mm512_setzero_si512(),
                       _mm512_setzero_si512()};
    for (std::size_t k = 0; k < depth; k += kGroup, dst += kGroup * kTileCols) {
      __m512i rows[4];
#pragma GCC unroll 4
      for (std::size_t n = 0; n < kGroup; ++n)
        rows[n] = k + n < depth ? load64(src + (k + n) * stride) : _mm512_setzero_si512();
      __m512i packed[4];
      interleave4(rows, packed);
#pragma GCC unroll 4
      for (std::size_t n = 0; n < 4; ++n) {
        _mm512_storeu_si512(dst + 64 * n, packed[n]);
        sums[n] = _mm512_dpbusd_epi32(sums[n], flip, packed[n]);
      }
    }
#pragma GCC unroll 4
    for (std::size_t n = 0; n < 4; ++n)
      _mm512_storeu_si512(bias + 16 * n, _mm512_sub_epi32(_mm512_setzero_si512(), sums[n]));
  }

  static void turn(const std::int8_t* src, std::size_t src_stride, std::size_t outer,
                   std::size_t inner, std::int8_t* dst, std::size_t dst_stride) noexcept {
    transpose_part(src, src_stride, outer, inner, dst, dst_stride);
  }

  SIMAAI_VNNI static void tile(const Packed* a, const Packed* b, const std::int32_t* bias,
                               std::size_t groups, std::int32_t* acc, std::size_t stride,
                               bool add) noexcept {
    __m512i sums[kTileRows][4];
#pragma GCC unroll 6
    for (std::size_t row = 0; row < kTileRows; ++row)
#pragma GCC unroll 4
      for (std::size_t n = 0; n < 4; ++n)
        sums[row][n] = _mm512_loadu_si512(bias + 16 * n);
    for (std::size_t group = 0; group < groups; ++group, b += 4 * kTileCols) {
      const __m512i columns[4] = {load64(b), load64(b + 64), load64(b + 128), load64(b + 192)};
#pragma GCC unroll 6
      for (std::size_t row = 0; row < kTileRows; ++row) {
        std::int32_t quad = 0;
        std::memcpy(&quad, a + row * kBlockDepth + kGroup * group, sizeof quad);
        const __m512i factors = _mm512_set1_epi32(quad);
#pragma GCC unroll 4
        for (std::size_t n = 0; n < 4; ++n)
          sums[row][n] = _mm512_dpbusd_epi32(sums[row][n], factors, columns[n]);
      }
    }
#pragma GCC unroll 6
    for (std::size_t row = 0; row < kTileRows; ++row)
#pragma GCC unroll 4
      for (std::size_t n = 0; n < 4; ++n) {
        std::int32_t* out = acc + row * stride + 16 * n;
        const __m512i before = add ? _mm512_loadu_si512(out) : _mm512_setzero_si512();
        _mm512_storeu_si512(out, _mm512_add_epi32(before, sums[row][n]));
      }
  }

  static void emit(const PlainOutput& c, std::size_t offset, const std::int32_t* sums,
                   std::size_t count, std::size_t rows, std::size_t stride) noexcept {
    for (std::size_t row = 0; row < rows; ++row)
      emit_vnni(c, offset + row * c.row_stride, sums + row * stride, count);
  }
};

void matmul_vnni(const PlainView& a, const PlainView& b, const PlainOutput& c) noexcept {
  BlockedMatmul<VnniTile>(a, b, c).run();
}

#if SIMAAI_MATRIX_HAVE_AVX2
constexpr const WireForm* kWire = &avx2_wire;
#else
constexpr const WireForm* kWire = &scalar_wire;
#endif

} // namespace

const Backend avx512vnni_backend = {"avx512vnni", gemv_vnni, matmul_vnni, rescale_vnni, kWire};

} // namespace simaai::kernels::matrix::detail
