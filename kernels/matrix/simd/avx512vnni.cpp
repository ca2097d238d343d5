// SPDX-License-Identifier: LGPL-2.1-or-later
// AVX-512 VNNI: products by vpdpbusd, which multiplies unsigned by signed bytes and never saturates.
// One operand is offset by 128 (a sign-bit flip); 128 times the sum of the other is taken off again.
// The offset sum is at most 255 * 128 * 11172 and fits 32 bits.
#include <algorithm>
#include <cstring>

#include "matrix/backends.h"
#include "matrix/simd/avx512_rescale.h"
#include "matrix/simd/blocked_matmul.h"

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

SIMAAI_VNNI void emit_avx512(const PlainOutput& out, std::size_t offset, const std::int32_t* sums,
                             std::size_t count) noexcept {
  if (out.requant != nullptr)
    return rescale_avx512(sums, count, *out.requant, out.elements + offset);
  std::size_t n = 0;
  for (; n + 16 <= count; n += 16)
    _mm512_storeu_si512(out.sums + offset + n, _mm512_loadu_si512(sums + n));
  for (; n < count; ++n)
    out.sums[offset + n] = sums[n];
}

constexpr std::size_t kRun = 64;

/// 128 times the sum of the factors: what flipping the signs of the other operand adds to a product.
SIMAAI_VNNI std::int32_t offset_of(const std::int8_t* factors, std::size_t count) noexcept {
  const __m512i flip = _mm512_set1_epi32(static_cast<int>(0x80808080U)); // 128, unsigned
  __m512i sum = _mm512_setzero_si512();
  std::size_t n = 0;
  for (; n + 64 <= count; n += 64)
    sum = _mm512_dpbusd_epi32(sum, flip, load64(factors + n));
  if (n < count)
    sum = _mm512_dpbusd_epi32(sum, flip, load_tail(factors + n, count - n));
  return _mm512_reduce_add_epi32(sum);
}

/// Lanes of b and a that change places when halves of parts of `Size` lanes are added to each other:
/// the upper half of each part of a, then the lower half of that of b.
template <int Size> struct Crossed {
  alignas(64) std::int32_t lanes[16] = {};
  constexpr Crossed() {
    for (int n = 0; n < 16; ++n)
      lanes[n] = n % Size < Size / 2 ? n + Size / 2 : 16 + n - Size / 2;
  }
};
template <int Size> constexpr Crossed<Size> kCrossed{};

/// Adds the halves of each part of `Size` lanes; those of a and of b alternate in the result. One of
/// the two moves is a blend, which needs no shuffle unit.
template <int Size> SIMAAI_VNNI inline __m512i fold(__m512i a, __m512i b) noexcept {
  constexpr std::uint16_t kUpper = Size == 16  ? 0xFF00
                                   : Size == 8 ? 0xF0F0
                                   : Size == 4 ? 0xCCCC
                                               : 0xAAAA;
  const __m512i crossed = _mm512_loadu_si512(kCrossed<Size>.lanes);
  return _mm512_add_epi32(_mm512_mask_blend_epi32(kUpper, a, b),
                          _mm512_permutex2var_epi32(a, crossed, b));
}

constexpr std::size_t kDotRows = 16;
/// Rows at a time where memory is fetched ahead: more of them, a power of two apart, would share too few
/// sets of the first cache.
constexpr std::size_t kFetchRows = 4;
constexpr std::size_t kMostCached = std::size_t{32} << 10; ///< elements that the first cache holds

/// Sums of the lanes of sixteen vectors, in order.
SIMAAI_VNNI inline __m512i sum_lanes(__m512i (&acc)[kDotRows]) noexcept {
#pragma GCC unroll 8
  for (std::size_t n = 0; n < 8; ++n)
    acc[n] = fold<16>(acc[n], acc[n + 8]);
#pragma GCC unroll 4
  for (std::size_t n = 0; n < 4; ++n)
    acc[n] = fold<8>(acc[n], acc[n + 4]);
#pragma GCC unroll 2
  for (std::size_t n = 0; n < 2; ++n)
    acc[n] = fold<4>(acc[n], acc[n + 2]);
  return fold<2>(acc[0], acc[1]);
}

/// A row of a cut at the cache lines of its memory, for a load across two of them costs two. That is
/// possible where every row begins at the same place in a line; both ends then share a vector.
struct RowCut {
  static constexpr std::size_t kLine = 64;
  std::size_t head = 0;  ///< bytes up to the first line
  std::size_t whole = 0; ///< bytes of whole lines
  std::size_t tail = 0;  ///< bytes behind them
  explicit RowCut(const PlainView& a) noexcept {
    const std::size_t begin = reinterpret_cast<std::uintptr_t>(a.data) % kLine;
    if (begin != 0 && a.row_stride % kLine == 0 && a.cols % kLine == 0)
      head = kLine - begin;
    tail = (a.cols - head) % kLine; // head + tail is a line, or there is no head
    whole = a.cols - head - tail;
  }
};

/// The last `head` bytes of a vector from `src`, the first `tail` bytes from `src_tail`, zeros
/// elsewhere. Reads nothing else.
SIMAAI_VNNI inline __m512i load_ends(const std::int8_t* src, std::size_t head,
                                     const std::int8_t* src_tail, std::size_t tail) noexcept {
  const std::uint64_t upper = head == 0 ? 0 : ~std::uint64_t{0} << (RowCut::kLine - head);
  const std::uint64_t lower = (std::uint64_t{1} << tail) - 1;
  return _mm512_mask_loadu_epi8(_mm512_maskz_loadu_epi8(upper, src - (RowCut::kLine - head)), lower,
                                src_tail);
}

/// acc[row] += offset products of both ends of Rows rows; zeros of x cancel the flipped padding.
template <std::size_t Rows>
[[gnu::always_inline]] SIMAAI_VNNI inline void
add_ends(__m512i (&acc)[kDotRows], const std::int8_t* src, std::size_t stride, const std::int8_t* x,
         std::size_t head, std::size_t tail_at, std::size_t tail) noexcept {
  const __m512i factors = load_ends(x, head, x + tail_at, tail);
#pragma GCC unroll 16
  for (std::size_t row = 0; row < Rows; ++row, src += stride)
    acc[row] = _mm512_dpbusd_epi32(acc[row], flip_signs(load_ends(src, head, src + tail_at, tail)),
                                   factors);
}

/// acc[row] += offset products of the whole lines of Rows rows; `Fetch`: those of the next Rows are
/// fetched meanwhile.
template <std::size_t Rows, bool Fetch>
[[gnu::always_inline]] SIMAAI_VNNI inline void add_lines(__m512i* acc, const std::int8_t* src,
                                                         std::size_t stride, const std::int8_t* x,
                                                         const RowCut& cut) noexcept {
  const std::size_t end = cut.head + cut.whole;
  for (std::size_t n = cut.head; n < end; n += RowCut::kLine) {
    const __m512i factors = load64(x + n);
#pragma GCC unroll 16
    for (std::size_t row = 0; row < Rows; ++row) {
      if constexpr (Fetch)
        __builtin_prefetch(src + (row + Rows) * stride + n);
      acc[row] = _mm512_dpbusd_epi32(acc[row], flip_signs(load64(src + row * stride + n)), factors);
    }
  }
}

/// Offset dot products of Rows rows, `stride` apart, with x.
template <std::size_t Rows, bool Fetch = false>
[[gnu::always_inline]] SIMAAI_VNNI inline __m512i dot_rows(const std::int8_t* src,
                                                           std::size_t stride, const std::int8_t* x,
                                                           const RowCut& cut) noexcept {
  __m512i acc[kDotRows];
#pragma GCC unroll 16
  for (std::size_t row = 0; row < kDotRows; ++row)
    acc[row] = _mm512_setzero_si512();
  if constexpr (Fetch) {
#pragma GCC unroll 4
    for (std::size_t row = 0; row < kDotRows; row += kFetchRows)
      add_lines<kFetchRows, true>(acc + row, src + row * stride, stride, x, cut);
  } else {
    add_lines<Rows, false>(acc, src, stride, x, cut);
  }
  if (cut.head + cut.tail > 0)
    add_ends<Rows>(acc, src, stride, x, cut.head, cut.head + cut.whole, cut.tail);
  return sum_lanes(acc);
}

/// dst[n] = product of row (row + n) of a with x. No vector is passed between functions that are not
/// inlined: gcc leaves the upper halves in use behind such a call.
SIMAAI_VNNI void sum_rows(const PlainView& a, const RowCut& cut, std::size_t row, std::size_t count,
                          const std::int8_t* x, std::int32_t offset_sum,
                          std::int32_t* dst) noexcept {
  const __m512i offset = _mm512_set1_epi32(offset_sum);
  const std::int8_t* src = a.data + row * a.row_stride;
  std::size_t n = 0;
  const bool fetches = a.rows * a.cols > kMostCached;
  for (; n + kDotRows <= count; n += kDotRows, src += kDotRows * a.row_stride) {
    const __m512i sums = fetches ? dot_rows<kDotRows, true>(src, a.row_stride, x, cut)
                                 : dot_rows<kDotRows>(src, a.row_stride, x, cut);
    _mm512_storeu_si512(dst + n, _mm512_sub_epi32(sums, offset));
  }
  for (; n + 4 <= count; n += 4, src += 4 * a.row_stride)
    _mm512_mask_storeu_epi32(dst + n, 0xF,
                             _mm512_sub_epi32(dot_rows<4>(src, a.row_stride, x, cut), offset));
  for (; n < count; ++n, src += a.row_stride)
    _mm512_mask_storeu_epi32(dst + n, 1,
                             _mm512_sub_epi32(dot_rows<1>(src, a.row_stride, x, cut), offset));
}

SIMAAI_VNNI void gemv_rows(const PlainView& a, const std::int8_t* x,
                           const PlainOutput& y) noexcept {
  const std::int32_t offset = offset_of(x, a.cols);
  const RowCut cut(a);
  if (y.requant == nullptr)
    return sum_rows(a, cut, 0, a.rows, x, offset, y.sums);
  with_rescale(*y.requant, [&](const auto& rescale) SIMAAI_INLINE SIMAAI_VNNI {
    for (std::size_t row = 0; row < a.rows; row += kRun) {
      alignas(64) std::int32_t sums[kRun];
      const std::size_t count = std::min(kRun, a.rows - row);
      sum_rows(a, cut, row, count, x, offset, sums);
      rescale_run(rescale, sums, count, *y.requant, y.elements + row);
    }
  });
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
    emit_avx512(y, row, sums, count);
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
      emit_avx512(c, offset + row * c.row_stride, sums + row * stride, count);
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

const Backend avx512vnni_backend = {"avx512vnni", gemv_vnni, matmul_vnni, rescale_avx512, kWire};
const Backend avx512vnni_vbmi_backend = {"avx512vnni", gemv_vnni, matmul_vnni, rescale_avx512,
                                         &avx512vbmi_wire};

} // namespace simaai::kernels::matrix::detail
