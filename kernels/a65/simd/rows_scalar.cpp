// SPDX-License-Identifier: LGPL-2.1-or-later
// Portable tile row kernels of contiguous channels: the reference level, and the tails of the
// vector levels.
#include <cstring>

#include "a65/simd/lanes_scalar.h"
#include "a65/simd/panel_by_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace scalar;

// Writers.

/// One pixel of contiguous channels; padding is the caller's.
template <class From>
void split_pixel(const std::byte* src, std::byte* dst, std::int64_t channels,
                 std::int64_t stored) noexcept {
  for (std::int64_t c = 0; c < channels; ++c) {
    const std::uint16_t bits = From::load(src + c * From::kBytes);
    dst[c] = low_byte(bits);
    dst[stored + c] = high_byte(bits);
  }
}

template <class From> void write_tiled(const TileRow& row) noexcept {
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    split_pixel<From>(src, dst, row.channels, row.stored_channels);
    zero_padding(dst, row.channels, row.stored_channels);
    src += row.pixel_stride_bytes;
    dst += 2 * row.stored_channels;
  }
}

template <class From, std::int64_t kChannels> void write_narrow(const TileRow& row) noexcept {
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    split_pixel<From>(src, dst, kChannels, row.stored_channels);
    zero_padding(dst, kChannels, row.stored_channels);
    src += row.pixel_stride_bytes;
    dst += 2 * row.stored_channels;
  }
}

template <class From> void write_channels(const TileRow& row) noexcept {
  split_pixel<From>(row.src, row.dst, row.channels, row.stored_channels);
  zero_padding(row.dst, row.channels, row.stored_channels);
}

/// Both planes of a pixel, padding included, leave as four words.
template <class From, std::int64_t kChannels> void write_pad16(const TileRow& row) noexcept {
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    std::byte planes[32] = {};
    split_pixel<From>(src, planes, kChannels, 16);
    std::memcpy(dst, planes, sizeof planes);
    src += kChannels * From::kBytes;
    dst += sizeof planes;
  }
}

// Readers.

template <class To, std::int64_t kChannels = 0> void read_tiled(const TileRow& row) noexcept {
  const std::int64_t channels = kChannels != 0 ? kChannels : row.channels;
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    for (std::int64_t c = 0; c < channels; ++c)
      To::store(dst + c * To::kBytes, join_bytes(src[c], src[row.stored_channels + c]));
    src += 2 * row.stored_channels;
    dst += row.pixel_stride_bytes;
  }
}

} // namespace

void f32_bf16_tiled_row__scalar(const TileRow& row) noexcept { write_tiled<F32>(row); }
void f32_bf16_tiled_c1_row__scalar(const TileRow& row) noexcept { write_narrow<F32, 1>(row); }
void f32_bf16_tiled_c2_row__scalar(const TileRow& row) noexcept { write_narrow<F32, 2>(row); }
void f32_bf16_tiled_c3_row__scalar(const TileRow& row) noexcept { write_narrow<F32, 3>(row); }
void f32_bf16_channels_row__scalar(const TileRow& row) noexcept { write_channels<F32>(row); }
void f32_bf16_pad16_c1_row__scalar(const TileRow& row) noexcept { write_pad16<F32, 1>(row); }
void f32_bf16_pad16_c3_row__scalar(const TileRow& row) noexcept { write_pad16<F32, 3>(row); }

void f16_bf16_tiled_row__scalar(const TileRow& row) noexcept { write_tiled<F16>(row); }
void f16_bf16_tiled_c1_row__scalar(const TileRow& row) noexcept { write_narrow<F16, 1>(row); }
void f16_bf16_tiled_c2_row__scalar(const TileRow& row) noexcept { write_narrow<F16, 2>(row); }
void f16_bf16_tiled_c3_row__scalar(const TileRow& row) noexcept { write_narrow<F16, 3>(row); }
void f16_bf16_channels_row__scalar(const TileRow& row) noexcept { write_channels<F16>(row); }

void bf16_bf16_tiled_row__scalar(const TileRow& row) noexcept { write_tiled<BF16>(row); }
void bf16_bf16_tiled_c1_row__scalar(const TileRow& row) noexcept { write_narrow<BF16, 1>(row); }
void bf16_bf16_tiled_c2_row__scalar(const TileRow& row) noexcept { write_narrow<BF16, 2>(row); }
void bf16_bf16_tiled_c3_row__scalar(const TileRow& row) noexcept { write_narrow<BF16, 3>(row); }
void bf16_bf16_channels_row__scalar(const TileRow& row) noexcept { write_channels<BF16>(row); }
void bf16_bf16_pad16_c1_row__scalar(const TileRow& row) noexcept { write_pad16<BF16, 1>(row); }
void bf16_bf16_pad16_c3_row__scalar(const TileRow& row) noexcept { write_pad16<BF16, 3>(row); }

void i8_i8_tiled_row__scalar(const TileRow& row) noexcept {
  const auto channels = static_cast<std::size_t>(row.channels);
  const auto padding = static_cast<std::size_t>(row.stored_channels - row.channels);
  if (padding == 0 && row.pixel_stride_bytes == row.channels) {
    std::memcpy(row.dst, row.src, channels * static_cast<std::size_t>(row.pixels));
    return;
  }
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    std::memcpy(dst, src, channels);
    if (padding != 0)
      std::memset(dst + channels, row.fill, padding);
    src += row.pixel_stride_bytes;
    dst += row.stored_channels;
  }
}

void i8_i8_channels_row__scalar(const TileRow& row) noexcept { i8_i8_tiled_row__scalar(row); }

void bf16_f32_untiled_row__scalar(const TileRow& row) noexcept { read_tiled<F32>(row); }
void bf16_f32_untiled_c1_row__scalar(const TileRow& row) noexcept { read_tiled<F32, 1>(row); }
void bf16_f32_untiled_c2_row__scalar(const TileRow& row) noexcept { read_tiled<F32, 2>(row); }
void bf16_f32_untiled_c3_row__scalar(const TileRow& row) noexcept { read_tiled<F32, 3>(row); }

void bf16_bf16_untiled_row__scalar(const TileRow& row) noexcept { read_tiled<BF16>(row); }
void bf16_bf16_untiled_c1_row__scalar(const TileRow& row) noexcept { read_tiled<BF16, 1>(row); }
void bf16_bf16_untiled_c2_row__scalar(const TileRow& row) noexcept { read_tiled<BF16, 2>(row); }
void bf16_bf16_untiled_c3_row__scalar(const TileRow& row) noexcept { read_tiled<BF16, 3>(row); }

void i8_i8_untiled_row__scalar(const TileRow& row) noexcept {
  const auto channels = static_cast<std::size_t>(row.channels);
  if (row.channels == row.stored_channels && row.pixel_stride_bytes == row.channels) {
    std::memcpy(row.dst, row.src, channels * static_cast<std::size_t>(row.pixels));
    return;
  }
  for (std::int64_t p = 0; p < row.pixels; ++p)
    std::memcpy(row.dst + p * row.pixel_stride_bytes, row.src + p * row.stored_channels, channels);
}

#define SIMAAI_A65_SCALAR_ENTRY(name, from, to) .name = name##_row__scalar,
#define SIMAAI_A65_SCALAR_WRITER(name, from, to) .name = write_by_rows<name##_row__scalar>,
#define SIMAAI_A65_SCALAR_READER(name, from, to) .name = read_by_rows<name##_row__scalar>,
namespace {
constexpr RowTable kRows{SIMAAI_A65_LINEAR_ROWS(SIMAAI_A65_SCALAR_ENTRY)
                             SIMAAI_A65_PANEL_WRITERS(SIMAAI_A65_SCALAR_WRITER)
                                 SIMAAI_A65_PANEL_READERS(SIMAAI_A65_SCALAR_READER)
                                     SIMAAI_A65_TILE_ROWS(SIMAAI_A65_SCALAR_ENTRY)};
} // namespace
#undef SIMAAI_A65_SCALAR_ENTRY
#undef SIMAAI_A65_SCALAR_WRITER
#undef SIMAAI_A65_SCALAR_READER

const RowTable& scalar_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
