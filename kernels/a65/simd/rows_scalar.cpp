// SPDX-License-Identifier: LGPL-2.1-or-later
// Portable row kernels: the reference level, and the tails of the vector levels.
#include <cstring>

#include "a65/simd/row_table.h"
#include "core/numerics.h"

namespace simaai::kernels::a65::detail {
namespace {

/// Pixels of one block in gather and scatter, so that strided channels reuse cached tile lines.
constexpr std::int64_t kBlockPixels = 32;

template <class Word> Word load_word(const std::byte* from) noexcept {
  Word word;
  std::memcpy(&word, from, sizeof word);
  return word;
}

template <class Word> void store_word(std::byte* to, Word word) noexcept {
  std::memcpy(to, &word, sizeof word);
}

// Scalar types: width, BFloat16 bits of a stored value, and the way back.

struct F32 {
  static constexpr std::int64_t kBytes = 4;
  static std::uint16_t load(const std::byte* from) noexcept {
    return core::bf16_from_f32_bits(load_word<std::uint32_t>(from));
  }
  static void store(std::byte* to, std::uint16_t bits) noexcept {
    store_word(to, core::f32_bits_from_bf16(bits));
  }
};

struct F16 {
  static constexpr std::int64_t kBytes = 2;
  static std::uint16_t load(const std::byte* from) noexcept {
    return core::bf16_from_f16_bits(load_word<std::uint16_t>(from));
  }
};

struct BF16 {
  static constexpr std::int64_t kBytes = 2;
  static std::uint16_t load(const std::byte* from) noexcept {
    return load_word<std::uint16_t>(from);
  }
  static void store(std::byte* to, std::uint16_t bits) noexcept { store_word(to, bits); }
};

constexpr std::byte low_byte(std::uint16_t bits) noexcept {
  return static_cast<std::byte>(bits & 0xffU);
}

constexpr std::byte high_byte(std::uint16_t bits) noexcept {
  return static_cast<std::byte>(bits >> 8);
}

std::uint16_t join_bytes(std::byte low, std::byte high) noexcept {
  return static_cast<std::uint16_t>(static_cast<unsigned>(low) | static_cast<unsigned>(high) << 8);
}

template <class From, class To>
void convert_row(const LinearRow& row, std::int64_t src_stride, std::int64_t dst_stride) noexcept {
  for (std::int64_t i = 0; i < row.count; ++i)
    To::store(row.dst + i * dst_stride, From::load(row.src + i * src_stride));
}

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

void zero_padding(std::byte* pixel, std::int64_t channels, std::int64_t stored) noexcept {
  if (channels == stored)
    return;
  const auto padding = static_cast<std::size_t>(stored - channels);
  std::memset(pixel + channels, 0, padding);
  std::memset(pixel + stored + channels, 0, padding);
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
void f32_bf16_strided_row__scalar(const LinearRow& row) noexcept {
  convert_row<F32, BF16>(row, row.src_stride_bytes, row.dst_stride_bytes);
}
void bf16_f32_linear_row__scalar(const LinearRow& row) noexcept {
  convert_row<BF16, F32>(row, BF16::kBytes, F32::kBytes);
}
void bf16_f32_strided_row__scalar(const LinearRow& row) noexcept {
  convert_row<BF16, F32>(row, row.src_stride_bytes, row.dst_stride_bytes);
}

void f32_bf16_tiled_row__scalar(const TileRow& row) noexcept { write_tiled<F32>(row); }
void f32_bf16_tiled_c1_row__scalar(const TileRow& row) noexcept { write_narrow<F32, 1>(row); }
void f32_bf16_tiled_c2_row__scalar(const TileRow& row) noexcept { write_narrow<F32, 2>(row); }
void f32_bf16_tiled_c3_row__scalar(const TileRow& row) noexcept { write_narrow<F32, 3>(row); }
void f32_bf16_channels_row__scalar(const TileRow& row) noexcept { write_channels<F32>(row); }
void f32_bf16_pad16_c1_row__scalar(const TileRow& row) noexcept { write_pad16<F32, 1>(row); }
void f32_bf16_pad16_c3_row__scalar(const TileRow& row) noexcept { write_pad16<F32, 3>(row); }
void f32_bf16_gather_row__scalar(const TileRow& row) noexcept { write_gather<F32>(row); }

void f16_bf16_tiled_row__scalar(const TileRow& row) noexcept { write_tiled<F16>(row); }
void f16_bf16_tiled_c1_row__scalar(const TileRow& row) noexcept { write_narrow<F16, 1>(row); }
void f16_bf16_tiled_c2_row__scalar(const TileRow& row) noexcept { write_narrow<F16, 2>(row); }
void f16_bf16_tiled_c3_row__scalar(const TileRow& row) noexcept { write_narrow<F16, 3>(row); }
void f16_bf16_channels_row__scalar(const TileRow& row) noexcept { write_channels<F16>(row); }
void f16_bf16_gather_row__scalar(const TileRow& row) noexcept { write_gather<F16>(row); }

void bf16_bf16_tiled_row__scalar(const TileRow& row) noexcept { write_tiled<BF16>(row); }
void bf16_bf16_tiled_c1_row__scalar(const TileRow& row) noexcept { write_narrow<BF16, 1>(row); }
void bf16_bf16_tiled_c2_row__scalar(const TileRow& row) noexcept { write_narrow<BF16, 2>(row); }
void bf16_bf16_tiled_c3_row__scalar(const TileRow& row) noexcept { write_narrow<BF16, 3>(row); }
void bf16_bf16_channels_row__scalar(const TileRow& row) noexcept { write_channels<BF16>(row); }
void bf16_bf16_pad16_c1_row__scalar(const TileRow& row) noexcept { write_pad16<BF16, 1>(row); }
void bf16_bf16_pad16_c3_row__scalar(const TileRow& row) noexcept { write_pad16<BF16, 3>(row); }
void bf16_bf16_gather_row__scalar(const TileRow& row) noexcept { write_gather<BF16>(row); }

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

void bf16_f32_untiled_row__scalar(const TileRow& row) noexcept { read_tiled<F32>(row); }
void bf16_f32_untiled_c1_row__scalar(const TileRow& row) noexcept { read_tiled<F32, 1>(row); }
void bf16_f32_untiled_c2_row__scalar(const TileRow& row) noexcept { read_tiled<F32, 2>(row); }
void bf16_f32_untiled_c3_row__scalar(const TileRow& row) noexcept { read_tiled<F32, 3>(row); }
void bf16_f32_scatter_row__scalar(const TileRow& row) noexcept { read_scatter<F32>(row); }

void bf16_bf16_untiled_row__scalar(const TileRow& row) noexcept { read_tiled<BF16>(row); }
void bf16_bf16_untiled_c1_row__scalar(const TileRow& row) noexcept { read_tiled<BF16, 1>(row); }
void bf16_bf16_untiled_c2_row__scalar(const TileRow& row) noexcept { read_tiled<BF16, 2>(row); }
void bf16_bf16_untiled_c3_row__scalar(const TileRow& row) noexcept { read_tiled<BF16, 3>(row); }
void bf16_bf16_scatter_row__scalar(const TileRow& row) noexcept { read_scatter<BF16>(row); }

void i8_i8_untiled_row__scalar(const TileRow& row) noexcept {
  const auto channels = static_cast<std::size_t>(row.channels);
  if (row.channels == row.stored_channels && row.pixel_stride_bytes == row.channels) {
    std::memcpy(row.dst, row.src, channels * static_cast<std::size_t>(row.pixels));
    return;
  }
  for (std::int64_t p = 0; p < row.pixels; ++p)
    std::memcpy(row.dst + p * row.pixel_stride_bytes, row.src + p * row.stored_channels, channels);
}

void i8_i8_scatter_row__scalar(const TileRow& row) noexcept {
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    const std::byte* src = row.src + p * row.stored_channels;
    std::byte* dst = row.dst + p * row.pixel_stride_bytes;
    for (std::int64_t c = 0; c < row.channels; ++c)
      dst[c * row.channel_stride_bytes] = src[c];
  }
}

#define SIMAAI_A65_SCALAR_ENTRY(name, from, to) .name = name##_row__scalar,
namespace {
constexpr RowTable kRows{SIMAAI_A65_LINEAR_ROWS(SIMAAI_A65_SCALAR_ENTRY)
                             SIMAAI_A65_TILE_ROWS(SIMAAI_A65_SCALAR_ENTRY)};
} // namespace
#undef SIMAAI_A65_SCALAR_ENTRY

const RowTable& scalar_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
