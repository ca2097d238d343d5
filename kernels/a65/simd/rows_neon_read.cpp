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

template <class To> void read_exact_any(const TileRow& row) noexcept {
  if (row.channels >= 8)
    read_exact<To, 8>(row);
  else if (row.channels >= 4)
    read_exact<To, 4>(row);
  else if (row.channels >= 2)
    read_exact<To, 2>(row);
  else
    read_exact<To, 1>(row);
}

/// The row without its first `done` pixels.
[[nodiscard]] TileRow after(const TileRow& row, std::int64_t done) noexcept {
  TileRow rest = row;
  rest.src += done * 2 * row.stored_channels;
  rest.dst += done * row.pixel_stride_bytes;
  rest.pixels -= done;
  return rest;
}

/// The first channels of both planes, sixteen or, unless kPadded, at least eight.
template <int kWidth, bool kPadded>
[[nodiscard]] uint8x16x2_t load_planes(const std::byte* src, std::int64_t stored) noexcept {
  if constexpr (kPadded)
    return vld1q_u8_x2(bytes_at(src));
  else if constexpr (kWidth == 16)
    return {{vld1q_u8(bytes_at(src)), vld1q_u8(bytes_at(src + stored))}};
  else
    return {{vcombine_u8(vld1_u8(bytes_at(src)), vdup_n_u8(0)),
             vcombine_u8(vld1_u8(bytes_at(src + stored)), vdup_n_u8(0))}};
}

/// kWidth channels, 4, 8 or 16, are written for each pixel.
template <class To, int kWidth, bool kPadded>
void read_whole(const TileRow& row, std::int64_t pixels) noexcept {
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  const std::int64_t stored = kPadded ? 16 : row.stored_channels;
  for (; pixels > 0; --pixels) {
    const uint8x16x2_t planes = load_planes<kWidth, kPadded>(src, stored);
    const auto lanes = vreinterpretq_u16_u8(vzip1q_u8(planes.val[0], planes.val[1]));
    if constexpr (kWidth == 16)
      To::store_planes(dst, planes.val[0], planes.val[1]);
    else if constexpr (kWidth == 8)
      To::store_8(dst, lanes);
    else
      To::store_4(dst, lanes);
    src += 2 * stored;
    dst += row.pixel_stride_bytes;
  }
}

template <class To, int kWidth> void read_narrow(const TileRow& row) noexcept {
  const std::int64_t stored = row.stored_channels;
  const std::int64_t stride = row.pixel_stride_bytes;
  constexpr std::int64_t kLoad = kWidth == 16 ? 16 : 8;
  std::int64_t whole = 0;
  // Gaps between pixels are not written.
  if (stride == row.channels * To::kBytes || row.channels == kWidth)
    whole = pixels_within(row.pixels, stride, row.channels * To::kBytes, kWidth * To::kBytes);
  if (stored == 16) {
    read_whole<To, kWidth, true>(row, whole);
  } else {
    whole = std::min(whole, pixels_within(row.pixels, 2 * stored, 2 * stored, stored + kLoad));
    read_whole<To, kWidth, false>(row, whole);
  }
  if (whole != row.pixels)
    read_exact_any<To>(after(row, whole));
}

/// Packed compact pixels of two, three or four channels: a table look-up for each vector. Two and
/// four channels have one pattern for all vectors, three spread eight pixels over three of them.
template <class To, std::size_t kChannels> void read_packed_compact(const TileRow& row) noexcept {
  constexpr std::size_t kVectors = kChannels == 3 ? 3 : 1;
  constexpr std::int64_t kStep = kChannels == 3 ? 8 : 8 / kChannels;
  // Byte of the values: pixel, channel, plane. Byte of the tile: pixel, plane, channel.
  static constexpr auto kIndex = [] {
    std::array<std::array<std::uint8_t, 16>, kVectors> table{};
    for (std::size_t i = 0; i < 16 * kVectors; ++i)
      table[i / 16][i % 16] = static_cast<std::uint8_t>(
          (2 * (i / (2 * kChannels)) + i % 2) * kChannels + i / 2 % kChannels);
    return table;
  }();
  std::array<uint8x16_t, kVectors> index;
  for (std::size_t vector = 0; vector < kVectors; ++vector)
    index[vector] = vld1q_u8(kIndex[vector].data());
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  const std::int64_t pixels = row.pixels;
  std::int64_t p = 0;
  for (; p + kStep <= pixels; p += kStep) {
    if constexpr (kVectors == 1) {
      const uint8x16_t bytes = vqtbl1q_u8(vld1q_u8(bytes_at(src)), index[0]);
      To::store_8(dst, vreinterpretq_u16_u8(bytes));
    } else {
      const uint8x16x3_t bytes = vld1q_u8_x3(bytes_at(src));
      To::store_8(dst, vreinterpretq_u16_u8(vqtbl3q_u8(bytes, index[0])));
      To::store_8(dst + 8 * To::kBytes, vreinterpretq_u16_u8(vqtbl3q_u8(bytes, index[1])));
      To::store_8(dst + 16 * To::kBytes, vreinterpretq_u16_u8(vqtbl3q_u8(bytes, index[2])));
    }
    src += 16 * kVectors;
    dst += 8 * static_cast<std::int64_t>(kVectors) * To::kBytes;
  }
  if (p != pixels)
    read_exact_any<To>(after(row, p));
}

template <class To, std::size_t kChannels>
[[gnu::noinline]] void read_few(const TileRow& row) noexcept {
  constexpr auto kCount = static_cast<std::int64_t>(kChannels);
  if (kChannels != 1 && row.stored_channels == kCount &&
      row.pixel_stride_bytes == kCount * To::kBytes)
    read_packed_compact<To, kChannels>(row);
  else
    read_narrow<To, 4>(row);
}

template <class To> [[gnu::noinline]] void read_tiled(const TileRow& row) noexcept {
  if (row.channels == 16 && row.stored_channels == 16)
    read_sixteen<To>(row);
  else if (row.channels >= 16)
    read_wide<To>(row);
  else if (row.channels > 8)
    read_narrow<To, 16>(row);
  else if (row.channels > 4)
    read_narrow<To, 8>(row);
  else if (row.channels == 4)
    read_few<To, 4>(row);
  else
    read_narrow<To, 4>(row);
}

} // namespace

void bf16_f32_untiled_row__neon(const TileRow& row) noexcept { read_tiled<F32>(row); }
void bf16_f32_untiled_c1_row__neon(const TileRow& row) noexcept {
  if (row.stored_channels == 1 && row.pixel_stride_bytes == F32::kBytes)
    bf16_f32_linear_row__neon({row.src, row.dst, row.pixels, BF16::kBytes, F32::kBytes});
  else
    read_few<F32, 1>(row);
}
void bf16_f32_untiled_c2_row__neon(const TileRow& row) noexcept { read_few<F32, 2>(row); }
void bf16_f32_untiled_c3_row__neon(const TileRow& row) noexcept { read_few<F32, 3>(row); }

void bf16_bf16_untiled_row__neon(const TileRow& row) noexcept { read_tiled<BF16>(row); }
void bf16_bf16_untiled_c1_row__neon(const TileRow& row) noexcept {
  if (row.stored_channels == 1 && row.pixel_stride_bytes == BF16::kBytes)
    std::memcpy(row.dst, row.src, static_cast<std::size_t>(row.pixels * BF16::kBytes));
  else
    read_few<BF16, 1>(row);
}
void bf16_bf16_untiled_c2_row__neon(const TileRow& row) noexcept { read_few<BF16, 2>(row); }
void bf16_bf16_untiled_c3_row__neon(const TileRow& row) noexcept { read_few<BF16, 3>(row); }

} // namespace simaai::kernels::a65::detail
