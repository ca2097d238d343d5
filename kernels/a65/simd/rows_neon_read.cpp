// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile readers of contiguous channels for Armv8 Advanced SIMD.
//
// Packed pixels of fewer than 16 channels are written as whole vectors where that stays within the
// row; the next pixel corrects what is too much. The last pixels of a row, and pixels with gaps
// between them, take two overlapping groups of 8, 4, 2 or 1 channels.
#include <algorithm>
#include <array>
#include <cstring>

#include "a65/simd/lanes_neon.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/rows_neon.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace neon;

/// Sixteen channels or more; the last group overlaps the one before.
template <class To> void read_wide(const TileRow& row) noexcept {
  const std::int64_t channels = row.channels;
  const std::int64_t stored = row.stored_channels;
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t left = row.pixels; left != 0; --left) {
    std::byte* to = dst;
    std::int64_t c = 0;
    for (; c + 16 <= channels; c += 16) {
      To::store_planes(to, vld1q_u8(bytes_at(src + c)), vld1q_u8(bytes_at(src + stored + c)));
      to += 16 * To::kBytes;
    }
    if (c != channels) {
      c = channels - 16;
      To::store_planes(dst + c * To::kBytes, vld1q_u8(bytes_at(src + c)),
                       vld1q_u8(bytes_at(src + stored + c)));
    }
    src += 2 * stored;
    dst += row.pixel_stride_bytes;
  }
}

/// Sixteen channels in sixteen: planes side by side.
template <class To> void read_sixteen(const TileRow& row) noexcept {
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t left = row.pixels; left != 0; --left) {
    const uint8x16x2_t planes = vld1q_u8_x2(bytes_at(src));
    To::store_planes(dst, planes.val[0], planes.val[1]);
    src += 32;
    dst += row.pixel_stride_bytes;
  }
}

/// The first and the last kWidth channels of a plane, one group after the other.
template <int kWidth>
[[nodiscard]] uint8x16_t load_overlapped(const std::byte* plane, std::int64_t channels) noexcept {
  return join_low<kWidth>(load_low<kWidth>(plane), load_low<kWidth>(plane + channels - kWidth));
}

template <class To, int kWidth> void read_exact(const TileRow& row) noexcept {
  const std::int64_t channels = row.channels;
  const std::int64_t last = (channels - kWidth) * To::kBytes;
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t left = row.pixels; left != 0; --left) {
    const uint8x16_t low = load_overlapped<kWidth>(src, channels);
    const uint8x16_t high = load_overlapped<kWidth>(src + row.stored_channels, channels);
    const uint16x8_t lanes = vreinterpretq_u16_u8(vzip1q_u8(low, high));
    if constexpr (kWidth == 8) {
      To::store_8(dst, lanes);
      To::store_8(dst + last, vreinterpretq_u16_u8(vzip2q_u8(low, high)));
    } else {
      To::template store_pair<kWidth>(dst, dst + last, lanes);
    }
    src += 2 * row.stored_channels;
    dst += row.pixel_stride_bytes;
  }
}

/// Eight or sixteen channels are read and written for each pixel.
template <class To, int kWidth> void read_whole(const TileRow& row, std::int64_t pixels) noexcept {
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (; pixels != 0; --pixels) {
    const std::byte* high = src + row.stored_channels;
    if constexpr (kWidth == 8) {
      const uint8x16_t lanes = vzip1q_u8(vcombine_u8(vld1_u8(bytes_at(src)), vdup_n_u8(0)),
                                         vcombine_u8(vld1_u8(bytes_at(high)), vdup_n_u8(0)));
      To::store_8(dst, vreinterpretq_u16_u8(lanes));
    } else {
      To::store_planes(dst, vld1q_u8(bytes_at(src)), vld1q_u8(bytes_at(high)));
    }
    src += 2 * row.stored_channels;
    dst += row.pixel_stride_bytes;
  }
}

template <class To, int kWidth> void read_narrow(const TileRow& row) noexcept {
  const std::int64_t stored = row.stored_channels;
  const std::int64_t stride = row.pixel_stride_bytes;
  std::int64_t whole = 0;
  if (stride == row.channels * To::kBytes)
    whole = std::min(pixels_within(row.pixels, 2 * stored, 2 * stored, stored + kWidth),
                     pixels_within(row.pixels, stride, stride, kWidth * To::kBytes));
  read_whole<To, kWidth>(row, whole);
  if (whole == row.pixels)
    return;
  TileRow rest = row;
  rest.src += whole * 2 * stored;
  rest.dst += whole * stride;
  rest.pixels -= whole;
  if (row.channels >= 8)
    read_exact<To, 8>(rest);
  else if (row.channels >= 4)
    read_exact<To, 4>(rest);
  else if (row.channels >= 2)
    read_exact<To, 2>(rest);
  else
    read_exact<To, 1>(rest);
}

template <class To> void read_tiled(const TileRow& row) noexcept {
  if (row.channels == 16 && row.stored_channels == 16)
    read_sixteen<To>(row);
  else if (row.channels >= 16)
    read_wide<To>(row);
  else if (row.channels > 8)
    read_narrow<To, 16>(row);
  else
    read_narrow<To, 8>(row);
}

/// Packed pixels of two or three channels: the bytes of eight pixels rearranged.
template <class To, std::size_t kChannels> void read_packed_compact(const TileRow& row) noexcept {
  constexpr auto kCount = static_cast<std::int64_t>(kChannels);
  if (row.stored_channels != kCount || row.pixel_stride_bytes != kCount * To::kBytes) {
    read_tiled<To>(row);
    return;
  }
  // Byte of the values: pixel, channel, plane. Byte of the tile: pixel, plane, channel.
  static constexpr auto kIndex = [] {
    std::array<std::uint8_t, std::size_t{16} * kChannels> table{};
    for (std::size_t i = 0; i < table.size(); ++i) {
      const std::size_t pixel = i / (2 * kChannels);
      const std::size_t channel = i / 2 % kChannels;
      table[i] = static_cast<std::uint8_t>((2 * pixel + i % 2) * kChannels + channel);
    }
    return table;
  }();
  std::array<uint8x16_t, kChannels> index;
  for (std::size_t part = 0; part < kChannels; ++part)
    index[part] = vld1q_u8(kIndex.data() + 16 * part);
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  const std::int64_t pixels = row.pixels;
  std::int64_t p = 0;
  for (; p + 8 <= pixels; p += 8) {
    if constexpr (kChannels == 2) {
      const uint8x16x2_t bytes = vld1q_u8_x2(bytes_at(src));
      To::store_8(dst, vreinterpretq_u16_u8(vqtbl1q_u8(bytes.val[0], index[0])));
      To::store_8(dst + 8 * To::kBytes, vreinterpretq_u16_u8(vqtbl1q_u8(bytes.val[1], index[0])));
    } else {
      const uint8x16x3_t bytes = vld1q_u8_x3(bytes_at(src));
      To::store_8(dst, vreinterpretq_u16_u8(vqtbl3q_u8(bytes, index[0])));
      To::store_8(dst + 8 * To::kBytes, vreinterpretq_u16_u8(vqtbl3q_u8(bytes, index[1])));
      To::store_8(dst + 16 * To::kBytes, vreinterpretq_u16_u8(vqtbl3q_u8(bytes, index[2])));
    }
    src += 16 * kCount;
    dst += 8 * kCount * To::kBytes;
  }
  if (p == pixels)
    return;
  TileRow rest = row;
  rest.src = src;
  rest.dst = dst;
  rest.pixels -= p;
  read_tiled<To>(rest);
}

} // namespace

void bf16_f32_untiled_row__neon(const TileRow& row) noexcept { read_tiled<F32>(row); }
void bf16_f32_untiled_c1_row__neon(const TileRow& row) noexcept {
  if (row.stored_channels == 1 && row.pixel_stride_bytes == F32::kBytes)
    bf16_f32_linear_row__neon({row.src, row.dst, row.pixels, BF16::kBytes, F32::kBytes});
  else
    read_tiled<F32>(row);
}
void bf16_f32_untiled_c2_row__neon(const TileRow& row) noexcept {
  read_packed_compact<F32, 2>(row);
}
void bf16_f32_untiled_c3_row__neon(const TileRow& row) noexcept {
  read_packed_compact<F32, 3>(row);
}

void bf16_bf16_untiled_row__neon(const TileRow& row) noexcept { read_tiled<BF16>(row); }
void bf16_bf16_untiled_c1_row__neon(const TileRow& row) noexcept {
  if (row.stored_channels == 1 && row.pixel_stride_bytes == BF16::kBytes)
    std::memcpy(row.dst, row.src, static_cast<std::size_t>(row.pixels * BF16::kBytes));
  else
    read_tiled<BF16>(row);
}
void bf16_bf16_untiled_c2_row__neon(const TileRow& row) noexcept {
  read_packed_compact<BF16, 2>(row);
}
void bf16_bf16_untiled_c3_row__neon(const TileRow& row) noexcept {
  read_packed_compact<BF16, 3>(row);
}

} // namespace simaai::kernels::a65::detail
