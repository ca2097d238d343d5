// SPDX-License-Identifier: LGPL-2.1-or-later
// Portable row kernels of linear views and of strided channels: the reference level, and the tails
// of the vector levels.
#include <cstring>

#include "a65/simd/lanes_scalar.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace scalar;

/// Pixels of one block in gather and scatter, so that strided channels reuse cached tile lines.
constexpr std::int64_t kBlockPixels = 32;

template <class From, class To>
void convert_row(const LinearRow& row, std::int64_t src_stride, std::int64_t dst_stride) noexcept {
  for (std::int64_t i = 0; i < row.count; ++i)
    To::store(row.dst + i * dst_stride, From::load(row.src + i * src_stride));
}

template <class From, class To>
void convert_rows(LinearRow row, std::int64_t src_stride, std::int64_t dst_stride) noexcept {
  for (std::int64_t r = 0; r < row.rows; ++r) {
    convert_row<From, To>(row, src_stride, dst_stride);
    row.src += row.src_row_stride_bytes;
    row.dst += row.dst_row_stride_bytes;
  }
}

// Writers.

template <class From> void write_gather(const TileRow& row) noexcept {
  const std::int64_t pixel_bytes = 2 * row.stored_channels;
  for (std::int64_t first = 0; first < row.pixels; first += kBlockPixels) {
    const std::int64_t left = row.pixels - first;
    const std::int64_t pixels = left < kBlockPixels ? left : kBlockPixels;
    const std::byte* block_src = row.src + first * row.pixel_stride_bytes;
    std::byte* block_dst = row.dst + first * pixel_bytes;
    for (std::int64_t c = 0; c < row.channels; ++c) {
      const std::byte* src = block_src + c * row.channel_stride_bytes;
      std::byte* dst = block_dst + c;
      for (std::int64_t p = 0; p < pixels; ++p) {
        const std::uint16_t bits = From::load(src + p * row.pixel_stride_bytes);
        dst[p * pixel_bytes] = low_byte(bits);
        dst[p * pixel_bytes + row.stored_channels] = high_byte(bits);
      }
    }
    for (std::int64_t p = 0; p < pixels; ++p)
      zero_padding(block_dst + p * pixel_bytes, row.channels, row.stored_channels);
  }
}

// Readers.

template <class To> void read_scatter(const TileRow& row) noexcept {
  const std::int64_t pixel_bytes = 2 * row.stored_channels;
  for (std::int64_t first = 0; first < row.pixels; first += kBlockPixels) {
    const std::int64_t left = row.pixels - first;
    const std::int64_t pixels = left < kBlockPixels ? left : kBlockPixels;
    for (std::int64_t c = 0; c < row.channels; ++c) {
      const std::byte* src = row.src + first * pixel_bytes + c;
      std::byte* dst = row.dst + first * row.pixel_stride_bytes + c * row.channel_stride_bytes;
      for (std::int64_t p = 0; p < pixels; ++p)
        To::store(dst + p * row.pixel_stride_bytes,
                  join_bytes(src[p * pixel_bytes], src[p * pixel_bytes + row.stored_channels]));
    }
  }
}

} // namespace

void f32_bf16_linear_row__scalar(const LinearRow& row) noexcept {
  convert_row<F32, BF16>(row, F32::kBytes, BF16::kBytes);
}
void f32_bf16_stream_row__scalar(const LinearRow& row) noexcept {
  f32_bf16_linear_row__scalar(row);
}
void f32_bf16_strided_row__scalar(const LinearRow& row) noexcept {
  convert_rows<F32, BF16>(row, row.src_stride_bytes, row.dst_stride_bytes);
}
void f32_bf16_transposed_row__scalar(const LinearRow& row) noexcept {
  convert_rows<F32, BF16>(row, row.src_stride_bytes, BF16::kBytes);
}
void f32_bf16_spread_row__scalar(const LinearRow& row) noexcept {
  convert_rows<F32, BF16>(row, 2 * F32::kBytes, BF16::kBytes);
}

void bf16_f32_linear_row__scalar(const LinearRow& row) noexcept {
  convert_row<BF16, F32>(row, BF16::kBytes, F32::kBytes);
}
void bf16_f32_stream_row__scalar(const LinearRow& row) noexcept {
  bf16_f32_linear_row__scalar(row);
}
void bf16_f32_strided_row__scalar(const LinearRow& row) noexcept {
  convert_rows<BF16, F32>(row, row.src_stride_bytes, row.dst_stride_bytes);
}
void bf16_f32_transposed_row__scalar(const LinearRow& row) noexcept {
  convert_rows<BF16, F32>(row, row.src_stride_bytes, F32::kBytes);
}
void bf16_f32_spread_row__scalar(const LinearRow& row) noexcept {
  convert_rows<BF16, F32>(row, 2 * BF16::kBytes, F32::kBytes);
}

void f32_bf16_gather_row__scalar(const TileRow& row) noexcept { write_gather<F32>(row); }
void f16_bf16_gather_row__scalar(const TileRow& row) noexcept { write_gather<F16>(row); }
void bf16_bf16_gather_row__scalar(const TileRow& row) noexcept { write_gather<BF16>(row); }

void i8_i8_gather_row__scalar(const TileRow& row) noexcept {
  const auto padding = static_cast<std::size_t>(row.stored_channels - row.channels);
  std::byte* dst = row.dst;
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    const std::byte* src = row.src + p * row.pixel_stride_bytes;
    for (std::int64_t c = 0; c < row.channels; ++c)
      dst[c] = src[c * row.channel_stride_bytes];
    if (padding != 0)
      std::memset(dst + row.channels, row.fill, padding);
    dst += row.stored_channels;
  }
}

void bf16_f32_scatter_row__scalar(const TileRow& row) noexcept { read_scatter<F32>(row); }
void bf16_bf16_scatter_row__scalar(const TileRow& row) noexcept { read_scatter<BF16>(row); }

void i8_i8_scatter_row__scalar(const TileRow& row) noexcept {
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    const std::byte* src = row.src + p * row.stored_channels;
    std::byte* dst = row.dst + p * row.pixel_stride_bytes;
    for (std::int64_t c = 0; c < row.channels; ++c)
      dst[c * row.channel_stride_bytes] = src[c];
  }
}

} // namespace simaai::kernels::a65::detail
