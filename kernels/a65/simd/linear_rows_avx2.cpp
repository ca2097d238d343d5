// SPDX-License-Identifier: LGPL-2.1-or-later
// Row kernels of linear views for AVX2. Integer lanes only. Built with -mavx2, so nothing here may
// be an inline function shared with other levels: short vectors go to the scalar kernels instead.
#include "a65/simd/block_lanes_avx2.h"
#include "a65/simd/lanes_avx2.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace avx2;

/// Elements of a step; their output is at most one cache line.
constexpr std::int64_t kStep = 16;

// Conversions: sixteen elements from and to contiguous memory, and lanes of one row.

inline void store_aligned(std::byte* to, __m256i value) noexcept {
  _mm256_store_si256(static_cast<__m256i*>(static_cast<void*>(to)), value);
}
inline void store_streaming(std::byte* to, __m256i value) noexcept {
  _mm256_stream_si256(static_cast<__m256i*>(static_cast<void*>(to)), value);
}
inline void prefetch(const std::byte* at) noexcept { _mm_prefetch(at, _MM_HINT_T0); }

enum class Stores : std::uint8_t { Any, Aligned, Streaming };

template <Stores kStores> inline void put(std::byte* to, __m256i value) noexcept {
  if constexpr (kStores == Stores::Any)
    store_256(to, value);
  else if constexpr (kStores == Stores::Aligned)
    store_aligned(to, value);
  else
    store_streaming(to, value);
}

struct Narrowing {
  static constexpr std::int64_t kSrcBytes = 4;
  static constexpr std::int64_t kDstBytes = 2;
  static constexpr std::int64_t kAhead = 2048; ///< prefetch distance of streaming in bytes
  template <Stores kStores> static void step(const std::byte* from, std::byte* to) noexcept {
    put<kStores>(to, load_16_f32(from));
  }
  /// Eight elements of two rows, one row a lane.
  static __m256i load_rows(const std::byte* first, const std::byte* second) noexcept {
    return narrow_32(round_f32(load_256(first)), round_f32(load_256(second)));
  }
  static void store_row(std::byte* to, __m256i lanes) noexcept { store_256(to, lanes); }
  static __m256i load_16(const std::byte* from) noexcept { return load_16_f32(from); }
  static void store_8(std::byte* to, __m128i lanes) noexcept { store_128(to, lanes); }
  static void spread(const std::byte* from, std::byte* to) noexcept {
    store_256(to,
              narrow_32(round_f32(load_8_of_16x32(from)), round_f32(load_8_of_16x32(from + 64))));
  }
};

struct Widening {
  static constexpr std::int64_t kSrcBytes = 2;
  static constexpr std::int64_t kDstBytes = 4;
  static constexpr std::int64_t kAhead = 512;
  template <Stores kStores> static void step(const std::byte* from, std::byte* to) noexcept {
    put<kStores>(to, _mm256_slli_epi32(_mm256_cvtepu16_epi32(load_128(from)), 16));
    put<kStores>(to + 32, _mm256_slli_epi32(_mm256_cvtepu16_epi32(load_128(from + 16)), 16));
  }
  static __m256i load_rows(const std::byte* first, const std::byte* second) noexcept {
    return _mm256_set_m128i(load_128(second), load_128(first));
  }
  static void store_row(std::byte* to, __m256i lanes) noexcept { store_16_f32(to, lanes); }
  static __m256i load_16(const std::byte* from) noexcept { return load_256(from); }
  static void store_8(std::byte* to, __m128i lanes) noexcept { ToF32::store_8(to, lanes); }
  static void spread(const std::byte* from, std::byte* to) noexcept {
    store_16_f32(to, load_16_of_32x16(from));
  }
};

// Contiguous vectors. The first and the last step are unaligned and overlap their neighbours, which
// write the same values: outputs need no more than the alignment of a scalar.

/// First element whose output starts a multiple of 32 bytes.
template <class Conversion> [[nodiscard]] std::int64_t aligned_from(const std::byte* dst) noexcept {
  const auto beyond = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(dst) % 32);
  return beyond == 0 ? 0 : (32 - beyond) / Conversion::kDstBytes;
}

template <class Conversion, Stores kStores, std::int64_t kAhead>
void convert_linear(const LinearRow& row) noexcept {
  constexpr std::int64_t kSrc = Conversion::kSrcBytes;
  constexpr std::int64_t kDst = Conversion::kDstBytes;
  // Streaming stores leave in pairs that fill a line.
  constexpr std::int64_t kSteps = 2;
  // Copies: a store of bytes might change what `row` refers to, which would be read every step.
  const std::byte* const src = row.src;
  std::byte* const dst = row.dst;
  const std::int64_t last = row.count - kStep;
  Conversion::template step<Stores::Any>(src, dst);
  std::int64_t i = aligned_from<Conversion>(dst);
  for (const std::int64_t end = row.count - kSteps * kStep; i <= end; i += kSteps * kStep) {
#pragma GCC unroll 2
    for (std::int64_t step = 0; step < kSteps; ++step) {
      const std::int64_t at = i + step * kStep;
      if constexpr (kAhead != 0)
        prefetch(src + at * kSrc + kAhead);
      Conversion::template step<kStores>(src + at * kSrc, dst + at * kDst);
    }
  }
  for (; i <= last; i += kStep)
    Conversion::template step<kStores>(src + i * kSrc, dst + i * kDst);
  Conversion::template step<Stores::Any>(src + last * kSrc, dst + last * kDst);
  if constexpr (kStores == Stores::Streaming)
    _mm_sfence();
}

// Transposition: blocks of sixteen elements (in two lanes) by eight rows; the last
// ones overlap those before.

template <class Conversion> void transpose_block(const LinearRow& row) noexcept {
  __m256i rows[8];
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r) {
    const std::byte* const from = row.src + r * row.src_stride_bytes;
    rows[r] = Conversion::load_rows(from, from + 8 * row.src_stride_bytes);
  }
  transpose_lanes<2>(rows);
#pragma GCC unroll 8
  for (int r = 0; r < 8; ++r)
    Conversion::store_row(row.dst + r * row.dst_row_stride_bytes, rows[r]);
}

[[nodiscard]] std::int64_t smaller(std::int64_t a, std::int64_t b) noexcept {
  return a < b ? a : b;
}

/// The block of `row` that starts at an element of a row.
template <class Conversion>
[[nodiscard]] LinearRow block_at(const LinearRow& row, std::int64_t element,
                                 std::int64_t in_row) noexcept {
  LinearRow block = row;
  block.src += element * row.src_stride_bytes + in_row * Conversion::kSrcBytes;
  block.dst += element * Conversion::kDstBytes + in_row * row.dst_row_stride_bytes;
  return block;
}

/// At least one whole block in both directions.
template <class Conversion> void transpose(const LinearRow& row) noexcept {
  // Panels: narrow enough that the lines of a panel's inputs stay in the first-level cache.
  constexpr std::int64_t kPanel = 64;
  for (std::int64_t panel = 0; panel < row.count; panel += kPanel) {
    const std::int64_t end = smaller(panel + kPanel, row.count);
    for (std::int64_t r = 0; r < row.rows; r += 8)
      for (std::int64_t i = panel; i < end; i += kStep)
        transpose_block<Conversion>(
            block_at<Conversion>(row, smaller(i, row.count - kStep), smaller(r, row.rows - 8)));
  }
}

/// For each vector of eight interleaved values, where they come from in each of kPlanes vectors of
/// eight: shuffle controls, -128 where another plane has the value.
template <std::size_t kPlanes> struct InterleaveControl {
  alignas(16) std::int8_t bytes[kPlanes][kPlanes][16];
  constexpr InterleaveControl() noexcept : bytes{} {
    for (std::size_t vector = 0; vector < kPlanes; ++vector)
      for (std::size_t plane = 0; plane < kPlanes; ++plane)
        for (std::size_t byte = 0; byte < 16; ++byte) {
          const std::size_t value = 8 * vector + byte / 2;
          const auto source = static_cast<std::int8_t>(2 * (value / kPlanes) + byte % 2);
          bytes[vector][plane][byte] = value % kPlanes == plane ? source : std::int8_t{-128};
        }
  }
};

/// A few planes to packed pixels, sixteen pixels (rows) at a time. The last step overlaps.
template <class Conversion, std::size_t kPlanes>
void interleave_planes(const LinearRow& row) noexcept {
  static constexpr InterleaveControl<kPlanes> kControl;
  for (std::int64_t at = 0; at < row.rows; at += kStep) {
    const std::int64_t r = smaller(at, row.rows - kStep);
    __m256i planes[kPlanes];
#pragma GCC unroll 4
    for (std::size_t plane = 0; plane < kPlanes; ++plane)
      planes[plane] =
          Conversion::load_16(row.src + static_cast<std::int64_t>(plane) * row.src_stride_bytes +
                              r * Conversion::kSrcBytes);
    std::byte* to = row.dst + r * row.dst_row_stride_bytes;
#pragma GCC unroll 4
    for (std::size_t vector = 0; vector < kPlanes; ++vector) {
      __m256i values = _mm256_setzero_si256();
#pragma GCC unroll 4
      for (std::size_t plane = 0; plane < kPlanes; ++plane) {
        const auto* bytes = static_cast<const void*>(kControl.bytes[vector][plane]);
        const __m256i control =
            _mm256_broadcastsi128_si256(_mm_load_si128(static_cast<const __m128i*>(bytes)));
        values = _mm256_or_si256(values, _mm256_shuffle_epi8(planes[plane], control));
      }
      Conversion::store_8(to, _mm256_castsi256_si128(values));
      Conversion::store_8(to + 8 * kPlanes * Conversion::kDstBytes,
                          _mm256_extracti128_si256(values, 1));
      to += 8 * Conversion::kDstBytes;
    }
  }
}

/// Packed pixels of two to four channels. False, and nothing is done, for anything else.
template <class Conversion> [[nodiscard]] bool interleave(const LinearRow& row) noexcept {
  if (row.dst_row_stride_bytes != row.count * Conversion::kDstBytes || row.rows < kStep)
    return false;
  switch (row.count) {
  case 2:
    interleave_planes<Conversion, 2>(row);
    return true;
  case 3:
    interleave_planes<Conversion, 3>(row);
    return true;
  case 4:
    interleave_planes<Conversion, 4>(row);
    return true;
  default:
    return false;
  }
}

template <class Conversion>
void convert_transposed(const LinearRow& row, LinearRowFn scalar) noexcept {
  if (row.count >= kStep && row.rows >= 8)
    transpose<Conversion>(row);
  else if (!interleave<Conversion>(row))
    scalar(row);
}

template <class Conversion> void convert_spread(LinearRow row, LinearRowFn scalar) noexcept {
  if (row.count < kStep) {
    scalar(row);
    return;
  }
  const std::int64_t last = row.count - kStep;
  for (std::int64_t r = 0; r < row.rows; ++r) {
    for (std::int64_t i = 0; i < last; i += kStep)
      Conversion::spread(row.src + 2 * i * Conversion::kSrcBytes,
                         row.dst + i * Conversion::kDstBytes);
    Conversion::spread(row.src + 2 * last * Conversion::kSrcBytes,
                       row.dst + last * Conversion::kDstBytes);
    row.src += row.src_row_stride_bytes;
    row.dst += row.dst_row_stride_bytes;
  }
}

} // namespace

void f32_bf16_linear_row__avx2(const LinearRow& row) noexcept {
  if (row.count < kStep)
    f32_bf16_linear_row__scalar(row);
  else
    convert_linear<Narrowing, Stores::Aligned, 0>(row);
}
void bf16_f32_linear_row__avx2(const LinearRow& row) noexcept {
  if (row.count < kStep)
    bf16_f32_linear_row__scalar(row);
  else
    convert_linear<Widening, Stores::Aligned, 0>(row);
}

namespace {

void f32_bf16_stream_row__avx2(const LinearRow& row) noexcept {
  if (row.count < kStep)
    f32_bf16_linear_row__scalar(row);
  else
    convert_linear<Narrowing, Stores::Streaming, Narrowing::kAhead>(row);
}
void bf16_f32_stream_row__avx2(const LinearRow& row) noexcept {
  if (row.count < kStep)
    bf16_f32_linear_row__scalar(row);
  else
    convert_linear<Widening, Stores::Streaming, Widening::kAhead>(row);
}
void f32_bf16_transposed_row__avx2(const LinearRow& row) noexcept {
  convert_transposed<Narrowing>(row, f32_bf16_transposed_row__scalar);
}
void bf16_f32_transposed_row__avx2(const LinearRow& row) noexcept {
  convert_transposed<Widening>(row, bf16_f32_transposed_row__scalar);
}
void f32_bf16_spread_row__avx2(const LinearRow& row) noexcept {
  convert_spread<Narrowing>(row, f32_bf16_spread_row__scalar);
}
void bf16_f32_spread_row__avx2(const LinearRow& row) noexcept {
  convert_spread<Widening>(row, bf16_f32_spread_row__scalar);
}

constexpr RowTable kRows{
    .f32_bf16_linear = f32_bf16_linear_row__avx2,
    .f32_bf16_stream = f32_bf16_stream_row__avx2,
    .f32_bf16_transposed = f32_bf16_transposed_row__avx2,
    .f32_bf16_spread = f32_bf16_spread_row__avx2,
    .bf16_f32_linear = bf16_f32_linear_row__avx2,
    .bf16_f32_stream = bf16_f32_stream_row__avx2,
    .bf16_f32_transposed = bf16_f32_transposed_row__avx2,
    .bf16_f32_spread = bf16_f32_spread_row__avx2,
    .f32_bf16_gather = f32_bf16_gather_row__avx2,
    .f16_bf16_gather = f16_bf16_gather_row__avx2,
    .bf16_bf16_gather = bf16_bf16_gather_row__avx2,
    .i8_i8_gather = i8_i8_gather_row__avx2,
    .bf16_f32_scatter = bf16_f32_scatter_row__avx2,
    .bf16_bf16_scatter = bf16_bf16_scatter_row__avx2,
    .i8_i8_scatter = i8_i8_scatter_row__avx2,
};

} // namespace

const RowTable& avx2_linear_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
