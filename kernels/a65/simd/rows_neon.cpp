// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile writers of contiguous channels for Armv8 Advanced SIMD, and the table of all tile rows.
//
// Pixels of fewer than 16 channels are read, and compact ones written, as whole vectors where that
// stays within the row: what is too much is cleared, or written again by the next pixel. The last
// pixels of a row, and pixels far apart, take two overlapping groups of 8, 4, 2 or 1 channels.
#include "a65/simd/rows_neon.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "a65/simd/lanes_neon.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/panels_neon.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace neon;

void store_planes(std::byte* dst, std::int64_t stored, uint8x16x2_t planes) noexcept {
  vst1q_u8(bytes_at(dst), planes.val[0]);
  vst1q_u8(bytes_at(dst + stored), planes.val[1]);
}

[[nodiscard]] uint8x16x2_t pick(uint8x16x2_t planes, uint8x16_t index) noexcept {
  return {{vqtbl1q_u8(planes.val[0], index), vqtbl1q_u8(planes.val[1], index)}};
}

/// The row without its first `done` pixels.
[[nodiscard]] TileRow after(const TileRow& row, std::int64_t done,
                            std::int64_t tile_bytes) noexcept {
  TileRow rest = row;
  rest.src += done * row.pixel_stride_bytes;
  rest.dst += done * tile_bytes;
  rest.pixels -= done;
  return rest;
}

// Sixteen channels or more.

/// All full groups of a pixel; returns the channels done.
template <class From>
std::int64_t write_groups(const std::byte* src, std::byte* dst, std::int64_t channels,
                          std::int64_t stored) noexcept {
  std::int64_t c = 0;
  for (; c + 32 <= channels; c += 32) {
    const uint8x16x2_t first = From::load_planes(&src);
    const uint8x16x2_t second = From::load_planes(&src);
    store_planes(dst + c, stored, first);
    store_planes(dst + c + 16, stored, second);
  }
  if (c + 16 <= channels) {
    store_planes(dst + c, stored, From::load_planes(&src));
    c += 16;
  }
  return c;
}

template <class From> void write_sixteen(const TileRow& row) noexcept {
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  const std::int64_t step = row.pixel_stride_bytes - 16 * From::kBytes;
  std::int64_t left = row.pixels;
  for (; left >= 2; left -= 2) {
    const uint8x16x2_t first = From::load_planes(&src);
    src += step;
    const uint8x16x2_t second = From::load_planes(&src);
    src += step;
    store_planes(dst, 16, first);
    store_planes(dst + 32, 16, second);
    dst += 64;
  }
  if (left != 0)
    store_planes(dst, 16, From::load_planes(&src));
}

/// The last channels are the end of the last sixteen: written where they are in compact pixels,
/// moved to the front of a padded group.
template <class From> void write_wide(const TileRow& row) noexcept {
  const std::int64_t channels = row.channels;
  const std::int64_t stored = row.stored_channels;
  const bool padded = stored % 16 == 0;
  const uint8x16_t index = last_bytes(channels % 16 == 0 ? 16 : channels % 16);
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t left = row.pixels; left != 0; --left) {
    const std::int64_t c = write_groups<From>(src, dst, channels, stored);
    if (c != channels) {
      const std::byte* end = src + (channels - 16) * From::kBytes;
      const uint8x16x2_t planes = From::load_planes(&end);
      if (padded)
        store_planes(dst + c, stored, pick(planes, index));
      else
        store_planes(dst + channels - 16, stored, planes);
    }
    src += row.pixel_stride_bytes;
    dst += 2 * stored;
  }
}

// Fewer than sixteen channels.

/// The first and the last kWidth of `channels` channels, one group after the other in both planes.
template <class From, int kWidth>
[[nodiscard]] uint8x16x2_t load_overlapped(const std::byte* src, std::int64_t channels) noexcept {
  const std::byte* last = src + (channels - kWidth) * From::kBytes;
  if constexpr (kWidth == 8) {
    const uint16x8_t first = From::load_8(&src);
    return split_planes(first, From::load_8(&last));
  } else {
    const uint16x8_t both = From::template load_pair<kWidth>(src, last);
    return split_planes(both, both);
  }
}

template <class From, int kWidth> void write_padded_exact(const TileRow& row) noexcept {
  const uint8x16_t index = overlapped_bytes<kWidth>(row.channels);
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t left = row.pixels; left != 0; --left) {
    store_planes(dst, 16, pick(load_overlapped<From, kWidth>(src, row.channels), index));
    src += row.pixel_stride_bytes;
    dst += 32;
  }
}

template <class From, int kWidth> void write_compact_exact(const TileRow& row) noexcept {
  const std::int64_t channels = row.channels;
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t left = row.pixels; left != 0; --left) {
    const uint8x16x2_t planes = load_overlapped<From, kWidth>(src, channels);
    for (int plane = 0; plane < 2; ++plane) {
      store_lane<kWidth, 0>(dst, planes.val[plane]);
      store_lane<kWidth, 1>(dst + channels - kWidth, planes.val[plane]);
      dst += channels;
    }
    src += row.pixel_stride_bytes;
  }
}

template <class From> [[gnu::noinline]] void write_exact(const TileRow& row) noexcept {
  const bool padded = row.stored_channels == 16;
  if (row.channels >= 8)
    padded ? write_padded_exact<From, 8>(row) : write_compact_exact<From, 8>(row);
  else if (row.channels >= 4)
    padded ? write_padded_exact<From, 4>(row) : write_compact_exact<From, 4>(row);
  else if (row.channels >= 2)
    padded ? write_padded_exact<From, 2>(row) : write_compact_exact<From, 2>(row);
  else
    padded ? write_padded_exact<From, 1>(row) : write_compact_exact<From, 1>(row);
}

/// Eight or sixteen channels are read for each pixel; the ones above `channels` are cleared.
template <class From, int kRead>
void write_padded_whole(const TileRow& row, std::int64_t pixels) noexcept {
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  const std::int64_t step = row.pixel_stride_bytes - kRead * From::kBytes;
  const uint8x16_t valid = vcltq_u8(last_bytes(row.channels), vdupq_n_u8(kNone));
  for (; pixels != 0; --pixels) {
    uint8x16x2_t planes;
    if constexpr (kRead == 8) {
      const uint16x8_t lanes = From::load_8(&src);
      planes = split_planes(lanes, lanes);
    } else {
      planes = From::load_planes(&src);
    }
    store_planes(dst, 16, {{vandq_u8(planes.val[0], valid), vandq_u8(planes.val[1], valid)}});
    src += step;
    dst += 32;
  }
}

/// Both planes are written as eight or sixteen channels; the next pixel corrects what follows.
template <class From, int kRead>
void write_compact_whole(const TileRow& row, std::int64_t pixels) noexcept {
  const std::int64_t channels = row.channels;
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  const std::int64_t step = row.pixel_stride_bytes - kRead * From::kBytes;
  for (; pixels != 0; --pixels) {
    if constexpr (kRead == 8) {
      const uint16x8_t lanes = From::load_8(&src);
      vst1_u8(bytes_at(dst), vmovn_u16(lanes));
      vst1_u8(bytes_at(dst + channels), vshrn_n_u16(lanes, 8));
    } else {
      store_planes(dst, channels, From::load_planes(&src));
    }
    src += step;
    dst += 2 * channels;
  }
}

template <class From, int kRead> void write_narrow(const TileRow& row) noexcept {
  const std::int64_t channels = row.channels;
  const bool padded = row.stored_channels == 16;
  std::int64_t whole = pixels_within(row.pixels, row.pixel_stride_bytes, channels * From::kBytes,
                                     kRead * From::kBytes);
  if (padded) {
    write_padded_whole<From, kRead>(row, whole);
  } else {
    whole =
        std::min(whole, pixels_within(row.pixels, 2 * channels, 2 * channels, channels + kRead));
    write_compact_whole<From, kRead>(row, whole);
  }
  if (whole != row.pixels)
    write_exact<From>(after(row, whole, 2 * row.stored_channels));
}

// Packed pixels of one to four channels.

template <class From> [[nodiscard]] uint8x16_t load_8_bytes(const std::byte** src) noexcept {
  return vreinterpretq_u8_u16(From::load_8(src));
}

template <class From> [[nodiscard]] uint8x16x3_t load_24_bytes(const std::byte** src) noexcept {
  const uint16x8x3_t lanes = From::load_24(src);
  return {{vreinterpretq_u8_u16(lanes.val[0]), vreinterpretq_u8_u16(lanes.val[1]),
           vreinterpretq_u8_u16(lanes.val[2])}};
}

/// Byte of the values of packed pixels: pixel, channel, plane.
template <std::size_t kChannels>
[[nodiscard]] constexpr std::uint8_t value_byte(std::size_t pixel, std::size_t channel,
                                                std::size_t plane) noexcept {
  return static_cast<std::uint8_t>(2 * (pixel * kChannels + channel) + plane);
}

/// Byte of compact pixels: pixel, plane, channel. One, two and four channels make the same pattern of
/// every vector; three channels spread eight pixels over three vectors.
template <class From, std::size_t kChannels>
void write_packed_compact(const TileRow& row) noexcept {
  constexpr std::size_t kVectors = kChannels == 3 ? 3 : 1;
  constexpr std::int64_t kStep = kChannels == 3 ? 8 : 8 / kChannels;
  static constexpr auto kIndex = [] {
    std::array<std::array<std::uint8_t, 16>, kVectors> table{};
    for (std::size_t i = 0; i < 16 * kVectors; ++i)
      table[i / 16][i % 16] =
          value_byte<kChannels>(i / (2 * kChannels), i % kChannels, i / kChannels % 2);
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
      vst1q_u8(bytes_at(dst), vqtbl1q_u8(load_8_bytes<From>(&src), index[0]));
    } else {
      const uint8x16x3_t values = load_24_bytes<From>(&src);
      vst1q_u8(bytes_at(dst), vqtbl3q_u8(values, index[0]));
      vst1q_u8(bytes_at(dst + 16), vqtbl3q_u8(values, index[1]));
      vst1q_u8(bytes_at(dst + 32), vqtbl3q_u8(values, index[2]));
    }
    dst += 16 * kVectors;
  }
  if (p != pixels)
    write_exact<From>(after(row, p, 2 * row.stored_channels));
}

/// Each plane of each pixel is a table look-up in the vectors that hold kStep pixels.
template <class From, std::size_t kChannels> void write_packed_pad16(const TileRow& row) noexcept {
  constexpr std::size_t kStep = kChannels == 3 ? 8 : 8 / kChannels;
  static constexpr auto kIndex = [] {
    std::array<std::array<std::uint8_t, 16>, 2 * kStep> table{};
    for (std::size_t i = 0; i < 2 * kStep; ++i)
      for (std::size_t channel = 0; channel < 16; ++channel)
        table[i][channel] =
            channel < kChannels ? value_byte<kChannels>(i / 2, channel, i % 2) : kNone;
    return table;
  }();
  std::array<uint8x16_t, 2 * kStep> index;
  for (std::size_t i = 0; i < 2 * kStep; ++i)
    index[i] = vld1q_u8(kIndex[i].data());
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  const std::int64_t pixels = row.pixels;
  std::int64_t p = 0;
  for (; p + static_cast<std::int64_t>(kStep) <= pixels; p += static_cast<std::int64_t>(kStep)) {
    uint8x16x3_t values;
    if constexpr (kChannels == 3)
      values = load_24_bytes<From>(&src);
    else
      values.val[0] = load_8_bytes<From>(&src);
#pragma GCC unroll 8
    for (std::size_t pixel = 0; pixel < kStep; ++pixel) {
      uint8x16x2_t planes;
      for (std::size_t plane = 0; plane < 2; ++plane)
        planes.val[plane] = kChannels == 3 ? vqtbl3q_u8(values, index[2 * pixel + plane])
                                           : vqtbl1q_u8(values.val[0], index[2 * pixel + plane]);
      store_planes(dst + 32 * pixel, 16, planes);
    }
    dst += 32 * kStep;
  }
  if (p != pixels)
    write_exact<From>(after(row, p, 32));
}

template <class From, std::size_t kChannels>
[[gnu::noinline]] void write_packed(const TileRow& row) noexcept {
  constexpr auto kCount = static_cast<std::int64_t>(kChannels);
  if (row.pixel_stride_bytes != kCount * From::kBytes)
    write_narrow<From, 8>(row);
  else if (row.stored_channels == 16)
    write_packed_pad16<From, kChannels>(row);
  else
    write_packed_compact<From, kChannels>(row);
}

template <class From> [[gnu::noinline]] void write_tiled(const TileRow& row) noexcept {
  if (row.channels > 16)
    write_wide<From>(row);
  else if (row.channels == 16)
    write_sixteen<From>(row);
  else if (row.channels > 8)
    write_narrow<From, 16>(row);
  else if (row.channels == 4)
    write_packed<From, 4>(row);
  else
    write_narrow<From, 8>(row);
}

/// A packed compact channel is a contiguous vector.
template <class From> void write_vector(const TileRow& row) noexcept {
  if (row.stored_channels != 1 || row.pixel_stride_bytes != From::kBytes)
    write_packed<From, 1>(row);
  else if constexpr (std::is_same_v<From, F32>)
    f32_bf16_linear_row__neon({row.src, row.dst, row.pixels, F32::kBytes, BF16::kBytes});
  else if constexpr (std::is_same_v<From, BF16>)
    std::memcpy(row.dst, row.src, static_cast<std::size_t>(row.pixels * BF16::kBytes));
  else
    write_packed_compact<From, 1>(row);
}

constexpr RowTable kRows{
    .f32_bf16_tiled = write_panel<write_tiled<F32>>,
    .f32_bf16_tiled_c1 = write_panel<write_vector<F32>>,
    .f32_bf16_tiled_c2 = write_panel<write_packed<F32, 2>>,
    .f32_bf16_tiled_c3 = write_panel<write_packed<F32, 3>>,
    .f32_bf16_channels = write_panel<write_tiled<F32>>,
    .f32_bf16_pad16_c1 = write_panel<write_packed<F32, 1>>,
    .f32_bf16_pad16_c3 = write_panel<write_packed<F32, 3>>,
    .f16_bf16_tiled = write_panel<write_tiled<F16>>,
    .f16_bf16_tiled_c1 = write_panel<write_vector<F16>>,
    .f16_bf16_tiled_c2 = write_panel<write_packed<F16, 2>>,
    .f16_bf16_tiled_c3 = write_panel<write_packed<F16, 3>>,
    .f16_bf16_channels = write_panel<write_tiled<F16>>,
    .bf16_bf16_tiled = write_panel<write_tiled<BF16>>,
    .bf16_bf16_tiled_c1 = write_panel<write_vector<BF16>>,
    .bf16_bf16_tiled_c2 = write_panel<write_packed<BF16, 2>>,
    .bf16_bf16_tiled_c3 = write_panel<write_packed<BF16, 3>>,
    .bf16_bf16_channels = write_panel<write_tiled<BF16>>,
    .bf16_bf16_pad16_c1 = write_panel<write_packed<BF16, 1>>,
    .bf16_bf16_pad16_c3 = write_panel<write_packed<BF16, 3>>,
    .i8_i8_tiled = write_panel<i8_i8_tiled_row__neon>,
    .i8_i8_channels = write_panel<i8_i8_tiled_row__neon>,
    .bf16_f32_untiled = read_panel<bf16_f32_untiled_row__neon>,
    .bf16_f32_untiled_c1 = read_panel<bf16_f32_untiled_c1_row__neon>,
    .bf16_f32_untiled_c2 = read_panel<bf16_f32_untiled_c2_row__neon>,
    .bf16_f32_untiled_c3 = read_panel<bf16_f32_untiled_c3_row__neon>,
    .bf16_bf16_untiled = read_panel<bf16_bf16_untiled_row__neon>,
    .bf16_bf16_untiled_c1 = read_panel<bf16_bf16_untiled_c1_row__neon>,
    .bf16_bf16_untiled_c2 = read_panel<bf16_bf16_untiled_c2_row__neon>,
    .bf16_bf16_untiled_c3 = read_panel<bf16_bf16_untiled_c3_row__neon>,
    .i8_i8_untiled = read_panel<i8_i8_untiled_row__neon>,
    .f32_bf16_gather = f32_bf16_gather_row__neon,
    .f16_bf16_gather = f16_bf16_gather_row__neon,
    .bf16_bf16_gather = bf16_bf16_gather_row__neon,
    .i8_i8_gather = i8_i8_gather_row__neon,
    .bf16_f32_scatter = bf16_f32_scatter_row__neon,
    .bf16_bf16_scatter = bf16_bf16_scatter_row__neon,
    .i8_i8_scatter = i8_i8_scatter_row__neon,
    .f32_bf16_planar = f32_bf16_planar_panel__neon,
    .f16_bf16_planar = f16_bf16_planar_panel__neon,
    .bf16_bf16_planar = bf16_bf16_planar_panel__neon,
    .i8_i8_planar = i8_i8_planar_panel__neon,
    .bf16_f32_unplanar = bf16_f32_unplanar_panel__neon,
    .bf16_bf16_unplanar = bf16_bf16_unplanar_panel__neon,
    .i8_i8_unplanar = i8_i8_unplanar_panel__neon,
};

} // namespace

const RowTable& neon_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
