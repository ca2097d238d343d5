// SPDX-License-Identifier: LGPL-2.1-or-later
// Strided channels and strided linear rows for Advanced SIMD: scalars are brought together in a buffer
// near the core, where the kernels of contiguous ones take them, or the other way around.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "a65/simd/lanes_neon.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/rows_neon.h"
#include "a65/simd/transpose_neon.h"

namespace simaai::kernels::a65::detail {

using neon::bytes_at;

namespace {

constexpr std::int64_t kStagedBytes = 4096;

/// The even scalars of 32 bytes, or the odd ones.
template <class Scalar, int kOdd>
[[gnu::always_inline]] inline void every_second(std::byte* to, const std::byte* from) noexcept {
  const auto* scalars = static_cast<const Scalar*>(static_cast<const void*>(from));
  if constexpr (sizeof(Scalar) == 1)
    vst1q_u8(bytes_at(to), vld2q_u8(scalars).val[kOdd]);
  else if constexpr (sizeof(Scalar) == 2)
    vst1q_u8(bytes_at(to), vreinterpretq_u8_u16(vld2q_u16(scalars).val[kOdd]));
  else
    vst1q_u8(bytes_at(to), vreinterpretq_u8_u32(vld2q_u32(scalars).val[kOdd]));
}

/// Every second scalar, more of them than a vector holds. The last vector starts one scalar early: the
/// span ends with the last scalar.
template <class Scalar>
void gather_every_second(std::byte* to, const std::byte* from, std::int64_t count) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Scalar));
  constexpr std::int64_t kVector = 16 / kBytes;
  for (std::int64_t at = 0; at + kVector < count; at += kVector)
    every_second<Scalar, 0>(to + at * kBytes, from + at * 2 * kBytes);
  const std::int64_t last = count - kVector;
  every_second<Scalar, 1>(to + last * kBytes, from + (2 * last - 1) * kBytes);
}

template <class Scalar>
[[gnu::always_inline]] inline void gather(std::byte* to, const std::byte* from, std::int64_t count,
                                          std::int64_t stride) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Scalar));
  if (stride == 2 * kBytes && count > 16 / kBytes)
    return gather_every_second<Scalar>(to, from, count);
#pragma GCC unroll 4
  for (; count != 0; --count, from += stride, to += kBytes)
    std::memcpy(to, from, sizeof(Scalar));
}

template <class Scalar>
[[gnu::always_inline]] inline void scatter(std::byte* to, std::int64_t stride,
                                           const std::byte* from, std::int64_t count) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Scalar));
#pragma GCC unroll 4
  for (; count != 0; --count, from += kBytes, to += stride)
    std::memcpy(to, from, sizeof(Scalar));
}

/// Pixels of a row that are staged at once; 0: not even one fits.
[[nodiscard]] std::int64_t staged_pixels(const TileRow& row, std::int64_t scalar_bytes) noexcept {
  return kStagedBytes / (row.channels * scalar_bytes);
}

/// Whether the scalars of all pixels lie at equal distances.
[[nodiscard]] bool is_one_run(const TileRow& row) noexcept {
  return row.pixel_stride_bytes == row.channels * row.channel_stride_bytes;
}

/// The member of four for 1, 2, 3 and more channels.
[[nodiscard]] std::size_t by_channels(const TileRow& row) noexcept {
  return static_cast<std::size_t>(std::min<std::int64_t>(row.channels, 4) - 1);
}

template <class Scalar, std::int64_t kPlanes>
void gather_row(const TileRow& row, const TilePanelFn (&kernels)[4], TileRowFn scalar) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Scalar));
  const std::int64_t block = staged_pixels(row, kBytes);
  if (block == 0)
    return scalar(row);
  const TilePanelFn kernel = kernels[by_channels(row)];
  const std::int64_t pixel_bytes = row.channels * kBytes;
  alignas(16) std::byte staged[kStagedBytes];
  TilePanel panel{row, 1, 0, 0, 1, 0, row.channels, kPlanes, false};
  panel.row.src = staged;
  panel.row.pixel_stride_bytes = pixel_bytes;
  panel.row.channel_stride_bytes = kBytes;
  const std::byte* src = row.src;
  for (std::int64_t left = row.pixels; left > 0; left -= block) {
    const std::int64_t pixels = std::min(left, block);
    if (is_one_run(row))
      gather<Scalar>(staged, src, pixels * row.channels, row.channel_stride_bytes);
    else
      for (std::int64_t p = 0; p < pixels; ++p)
        gather<Scalar>(staged + p * pixel_bytes, src + p * row.pixel_stride_bytes, row.channels,
                       row.channel_stride_bytes);
    panel.row.pixels = pixels;
    kernel(panel);
    src += pixels * row.pixel_stride_bytes;
    panel.row.dst += pixels * row.stored_channels * kPlanes;
  }
}

template <class Scalar, std::int64_t kPlanes>
void scatter_row(const TileRow& row, const TileRowFn (&kernels)[4], TileRowFn scalar) noexcept {
  constexpr auto kBytes = static_cast<std::int64_t>(sizeof(Scalar));
  const std::int64_t block = staged_pixels(row, kBytes);
  if (block == 0)
    return scalar(row);
  const TileRowFn kernel = kernels[by_channels(row)];
  const std::int64_t pixel_bytes = row.channels * kBytes;
  alignas(16) std::byte staged[kStagedBytes];
  TileRow dense = row;
  dense.dst = staged;
  dense.pixel_stride_bytes = pixel_bytes;
  dense.channel_stride_bytes = kBytes;
  std::byte* dst = row.dst;
  for (std::int64_t left = row.pixels; left > 0; left -= block) {
    dense.pixels = std::min(left, block);
    kernel(dense);
    if (is_one_run(row))
      scatter<Scalar>(dst, row.channel_stride_bytes, staged, dense.pixels * row.channels);
    else
      for (std::int64_t p = 0; p < dense.pixels; ++p)
        scatter<Scalar>(dst + p * row.pixel_stride_bytes, row.channel_stride_bytes,
                        staged + p * pixel_bytes, row.channels);
    dst += dense.pixels * row.pixel_stride_bytes;
    dense.src += dense.pixels * row.stored_channels * kPlanes;
  }
}

// Linear rows.

template <class From, class To>
void convert_run(const std::byte* src, std::int64_t src_stride, std::byte* dst,
                 std::int64_t dst_stride, std::int64_t count, LinearRowFn linear) noexcept {
  constexpr auto kFrom = static_cast<std::int64_t>(sizeof(From));
  constexpr auto kTo = static_cast<std::int64_t>(sizeof(To));
  constexpr std::int64_t kBlock = kStagedBytes / 4; // elements
  alignas(16) std::byte gathered[kBlock * sizeof(From)];
  alignas(16) std::byte converted[kBlock * sizeof(To)];
  for (; count > 0; count -= kBlock, src += kBlock * src_stride, dst += kBlock * dst_stride) {
    const std::int64_t part = std::min(count, kBlock);
    if (src_stride != kFrom)
      gather<From>(gathered, src, part, src_stride);
    const bool packed = dst_stride == kTo;
    linear({src_stride == kFrom ? src : gathered, packed ? dst : converted, part, kFrom, kTo});
    if (!packed)
      scatter<To>(dst, dst_stride, converted, part);
  }
}

/// Runs are taken along the longer side: a run costs as much as some dozen elements.
template <class From, class To> void convert_runs(LinearRow row, LinearRowFn linear) noexcept {
  if (row.count < row.rows && row.count < 8) {
    std::swap(row.count, row.rows);
    std::swap(row.src_stride_bytes, row.src_row_stride_bytes);
    std::swap(row.dst_stride_bytes, row.dst_row_stride_bytes);
  }
  for (; row.rows != 0; --row.rows) {
    convert_run<From, To>(row.src, row.src_stride_bytes, row.dst, row.dst_stride_bytes, row.count,
                          linear);
    row.src += row.src_row_stride_bytes;
    row.dst += row.dst_row_stride_bytes;
  }
}

/// Eight rows of eight, with rows that are neighbours in the input.
template <class From, class To>
[[gnu::always_inline]] inline void transpose_block(const LinearRow& row, std::int64_t first_row,
                                                   std::int64_t first) noexcept {
  const std::byte* src = row.src + first * row.src_stride_bytes + first_row * From::kBytes;
  neon::Rows<uint16x8_t, 8> columns;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i, src += row.src_stride_bytes) {
    const std::byte* from = src;
    columns.of[i] = From::load_8(&from);
  }
  const auto rows = neon::zip(neon::zip(neon::zip(columns)));
  std::byte* dst = row.dst + first_row * row.dst_row_stride_bytes + first * To::kBytes;
#pragma GCC unroll 8
  for (std::size_t i = 0; i < 8; ++i, dst += row.dst_row_stride_bytes)
    To::store_8(dst, rows.of[i]);
}

/// The last blocks overlap those before.
template <class From, class To> void transpose(const LinearRow& row, LinearRowFn few) noexcept {
  if (row.rows < 8 || row.count < 8)
    return few(row);
  for (std::int64_t r = 0; r < row.rows; r += 8)
    for (std::int64_t i = 0; i < row.count; i += 8)
      transpose_block<From, To>(row, std::min(r, row.rows - 8), std::min(i, row.count - 8));
}

} // namespace

void f32_bf16_gather_row__neon(const TileRow& row) noexcept {
  const RowTable& rows = neon_rows();
  gather_row<std::uint32_t, 2>(
      row,
      {rows.f32_bf16_tiled_c1, rows.f32_bf16_tiled_c2, rows.f32_bf16_tiled_c3, rows.f32_bf16_tiled},
      f32_bf16_gather_row__scalar);
}
void f16_bf16_gather_row__neon(const TileRow& row) noexcept {
  const RowTable& rows = neon_rows();
  gather_row<std::uint16_t, 2>(
      row,
      {rows.f16_bf16_tiled_c1, rows.f16_bf16_tiled_c2, rows.f16_bf16_tiled_c3, rows.f16_bf16_tiled},
      f16_bf16_gather_row__scalar);
}
void bf16_bf16_gather_row__neon(const TileRow& row) noexcept {
  const RowTable& rows = neon_rows();
  gather_row<std::uint16_t, 2>(row,
                               {rows.bf16_bf16_tiled_c1, rows.bf16_bf16_tiled_c2,
                                rows.bf16_bf16_tiled_c3, rows.bf16_bf16_tiled},
                               bf16_bf16_gather_row__scalar);
}
void i8_i8_gather_row__neon(const TileRow& row) noexcept {
  const TilePanelFn tiled = neon_rows().i8_i8_tiled;
  gather_row<std::uint8_t, 1>(row, {tiled, tiled, tiled, tiled}, i8_i8_gather_row__scalar);
}

void bf16_f32_scatter_row__neon(const TileRow& row) noexcept {
  scatter_row<std::uint32_t, 2>(row,
                                {bf16_f32_untiled_c1_row__neon, bf16_f32_untiled_c2_row__neon,
                                 bf16_f32_untiled_c3_row__neon, bf16_f32_untiled_row__neon},
                                bf16_f32_scatter_row__scalar);
}
void bf16_bf16_scatter_row__neon(const TileRow& row) noexcept {
  scatter_row<std::uint16_t, 2>(row,
                                {bf16_bf16_untiled_c1_row__neon, bf16_bf16_untiled_c2_row__neon,
                                 bf16_bf16_untiled_c3_row__neon, bf16_bf16_untiled_row__neon},
                                bf16_bf16_scatter_row__scalar);
}
void i8_i8_scatter_row__neon(const TileRow& row) noexcept {
  constexpr TileRowFn kUntiled = i8_i8_untiled_row__neon;
  scatter_row<std::uint8_t, 1>(row, {kUntiled, kUntiled, kUntiled, kUntiled},
                               i8_i8_scatter_row__scalar);
}

void f32_bf16_strided_row__neon(const LinearRow& row) noexcept {
  convert_runs<std::uint32_t, std::uint16_t>(row, f32_bf16_linear_row__neon);
}
void f32_bf16_transposed_row__neon(const LinearRow& row) noexcept {
  transpose<neon::F32, neon::BF16>(row, f32_bf16_strided_row__neon);
}
void bf16_f32_strided_row__neon(const LinearRow& row) noexcept {
  convert_runs<std::uint16_t, std::uint32_t>(row, bf16_f32_linear_row__neon);
}
void bf16_f32_transposed_row__neon(const LinearRow& row) noexcept {
  transpose<neon::BF16, neon::F32>(row, bf16_f32_strided_row__neon);
}

} // namespace simaai::kernels::a65::detail
