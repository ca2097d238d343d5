// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile row kernels for Armv8 Advanced SIMD. Integer lanes only.
#include <cstring>

#include "a65/simd/lanes_neon.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/panel_by_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace neon;

// Writers.

/// Sixteen channels of a pixel into both planes, `stored` bytes apart.
template <class From>
void write_16(const std::byte* src, std::byte* dst, std::int64_t stored) noexcept {
  const uint8x16_t first = vreinterpretq_u8_u16(From::load_8(src));
  const uint8x16_t second = vreinterpretq_u8_u16(From::load_8(src + 8 * From::kBytes));
  vst1q_u8(bytes_at(dst), vuzp1q_u8(first, second));
  vst1q_u8(bytes_at(dst + stored), vuzp2q_u8(first, second));
}

template <class From>
void write_8(const std::byte* src, std::byte* dst, std::int64_t stored) noexcept {
  const uint16x8_t lanes = From::load_8(src);
  vst1_u8(bytes_at(dst), vmovn_u16(lanes));
  vst1_u8(bytes_at(dst + stored), vshrn_n_u16(lanes, 8));
}

/// One padded pixel: the last group is completed with zeros, which convert to padding.
template <class From>
void write_padded_pixel(const std::byte* src, std::byte* dst, std::int64_t channels,
                        std::int64_t stored) noexcept {
  std::int64_t c = 0;
  for (; c + 16 <= channels; c += 16)
    write_16<From>(src + c * From::kBytes, dst + c, stored);
  if (c == channels)
    return;
  std::byte group[16 * From::kBytes] = {};
  std::memcpy(group, src + c * From::kBytes,
              static_cast<std::size_t>((channels - c) * From::kBytes));
  write_16<From>(group, dst + c, stored);
}

/// One pixel without padding, 8 channels or more: the last group overlaps the one before.
template <class From>
void write_compact_pixel(const std::byte* src, std::byte* dst, std::int64_t channels) noexcept {
  if (channels < 16) {
    const std::int64_t last = channels - 8;
    write_8<From>(src, dst, channels);
    write_8<From>(src + last * From::kBytes, dst + last, channels);
    return;
  }
  std::int64_t c = 0;
  for (; c + 16 <= channels; c += 16)
    write_16<From>(src + c * From::kBytes, dst + c, channels);
  if (c < channels) {
    c = channels - 16;
    write_16<From>(src + c * From::kBytes, dst + c, channels);
  }
}

template <class From> void write_tiled(const TileRow& row, TileRowFn scalar) noexcept {
  const bool padded = row.stored_channels % 16 == 0;
  if (!padded && row.channels < 8) {
    scalar(row);
    return;
  }
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    if (padded)
      write_padded_pixel<From>(src, dst, row.channels, row.stored_channels);
    else
      write_compact_pixel<From>(src, dst, row.channels);
    src += row.pixel_stride_bytes;
    dst += 2 * row.stored_channels;
  }
}

void f32_bf16_tiled_row__neon(const TileRow& row) noexcept {
  write_tiled<F32>(row, f32_bf16_tiled_row__scalar);
}
void f32_bf16_channels_row__neon(const TileRow& row) noexcept {
  write_tiled<F32>(row, f32_bf16_channels_row__scalar);
}
void f16_bf16_tiled_row__neon(const TileRow& row) noexcept {
  write_tiled<F16>(row, f16_bf16_tiled_row__scalar);
}
void f16_bf16_channels_row__neon(const TileRow& row) noexcept {
  write_tiled<F16>(row, f16_bf16_channels_row__scalar);
}
void bf16_bf16_tiled_row__neon(const TileRow& row) noexcept {
  write_tiled<BF16>(row, bf16_bf16_tiled_row__scalar);
}
void bf16_bf16_channels_row__neon(const TileRow& row) noexcept {
  write_tiled<BF16>(row, bf16_bf16_channels_row__scalar);
}

/// The last `row.pixels - done` pixels; `tile_bytes` is the size of a stored pixel.
void finish_pixels(const TileRow& row, std::int64_t done, std::int64_t linear_bytes,
                   std::int64_t tile_bytes, TileRowFn scalar) noexcept {
  if (done == row.pixels)
    return;
  TileRow rest = row;
  rest.src += done * linear_bytes;
  rest.dst += done * tile_bytes;
  rest.pixels -= done;
  scalar(rest);
}

constexpr std::uint8_t kNone = 0xff; ///< table index that yields zero

/// Eight packed pixels of three channels: 24 values, three vectors.
template <class From> void write_pad16_c3(const TileRow& row, TileRowFn scalar) noexcept {
  // Byte indices of one pixel's low bytes; its high bytes are one further on.
  static constexpr std::uint8_t kFirst[16] = {0,     2,     4,     kNone, kNone, kNone,
                                              kNone, kNone, kNone, kNone, kNone, kNone,
                                              kNone, kNone, kNone, kNone};
  const uint8x16_t first = vld1q_u8(kFirst);
  // Adding saturates, so that unused indices stay unused.
  const uint8x16_t one = vdupq_n_u8(1);
  std::int64_t p = 0;
  for (; p + 8 <= row.pixels; p += 8) {
    const std::byte* src = row.src + p * 3 * From::kBytes;
    uint8x16x3_t values;
    for (int part = 0; part < 3; ++part)
      values.val[part] = vreinterpretq_u8_u16(From::load_8(src + part * 8 * From::kBytes));
    std::uint8_t* dst = bytes_at(row.dst + p * 32);
    uint8x16_t index = first;
    for (int pixel = 0; pixel < 8; ++pixel) {
      vst1q_u8(dst, vqtbl3q_u8(values, index));
      vst1q_u8(dst + 16, vqtbl3q_u8(values, vqaddq_u8(index, one)));
      index = vqaddq_u8(index, vdupq_n_u8(6));
      dst += 32;
    }
  }
  finish_pixels(row, p, 3 * From::kBytes, 32, scalar);
}

void f32_bf16_pad16_c3_row__neon(const TileRow& row) noexcept {
  write_pad16_c3<F32>(row, f32_bf16_pad16_c3_row__scalar);
}
void bf16_bf16_pad16_c3_row__neon(const TileRow& row) noexcept {
  write_pad16_c3<BF16>(row, bf16_bf16_pad16_c3_row__scalar);
}

/// Packed pixels of three channels in three stored ones; anything else is left to `other`.
template <class From> void write_compact_c3(const TileRow& row, TileRowFn other) noexcept {
  if (row.stored_channels != 3 || row.pixel_stride_bytes != 3 * From::kBytes) {
    other(row);
    return;
  }
  static constexpr std::uint8_t kPlanes[48] = {0,  2,  4,  1,  3,  5,  6,  8,  10, 7,  9,  11,
                                               12, 14, 16, 13, 15, 17, 18, 20, 22, 19, 21, 23,
                                               24, 26, 28, 25, 27, 29, 30, 32, 34, 31, 33, 35,
                                               36, 38, 40, 37, 39, 41, 42, 44, 46, 43, 45, 47};
  std::int64_t p = 0;
  for (; p + 8 <= row.pixels; p += 8) {
    const std::byte* src = row.src + p * 3 * From::kBytes;
    uint8x16x3_t values;
    for (int part = 0; part < 3; ++part)
      values.val[part] = vreinterpretq_u8_u16(From::load_8(src + part * 8 * From::kBytes));
    for (int part = 0; part < 3; ++part)
      vst1q_u8(bytes_at(row.dst + p * 6 + part * 16),
               vqtbl3q_u8(values, vld1q_u8(kPlanes + part * 16)));
  }
  finish_pixels(row, p, 3 * From::kBytes, 6, other);
}

void f32_bf16_tiled_c3_row__neon(const TileRow& row) noexcept {
  write_compact_c3<F32>(row, f32_bf16_tiled_c3_row__scalar);
}
void bf16_bf16_tiled_c3_row__neon(const TileRow& row) noexcept {
  write_compact_c3<BF16>(row, bf16_bf16_tiled_c3_row__scalar);
}

/// A packed compact channel is a contiguous vector.
void f32_bf16_tiled_c1_row__neon(const TileRow& row) noexcept {
  if (row.stored_channels == 1 && row.pixel_stride_bytes == F32::kBytes)
    f32_bf16_linear_row__neon({row.src, row.dst, row.pixels, F32::kBytes, BF16::kBytes});
  else
    f32_bf16_tiled_c1_row__scalar(row);
}

// Readers.

template <class To>
void read_16(const std::byte* src, std::byte* dst, std::int64_t stored, std::int64_t c) noexcept {
  const uint8x16_t low = vld1q_u8(bytes_at(src + c));
  const uint8x16_t high = vld1q_u8(bytes_at(src + stored + c));
  To::store_8(dst + c * To::kBytes, vreinterpretq_u16_u8(vzip1q_u8(low, high)));
  To::store_8(dst + (c + 8) * To::kBytes, vreinterpretq_u16_u8(vzip2q_u8(low, high)));
}

[[nodiscard]] uint16x8_t join_planes(uint8x8_t low, uint8x8_t high) noexcept {
  return vorrq_u16(vmovl_u8(low), vshll_n_u8(high, 8));
}

template <class To>
void read_8(const std::byte* src, std::byte* dst, std::int64_t stored, std::int64_t c) noexcept {
  To::store_8(dst + c * To::kBytes,
              join_planes(vld1_u8(bytes_at(src + c)), vld1_u8(bytes_at(src + stored + c))));
}

[[nodiscard]] uint8x8_t load_4x8(const std::byte* from) noexcept {
  std::uint32_t word;
  std::memcpy(&word, from, sizeof word);
  return vreinterpret_u8_u32(vdup_n_u32(word));
}

template <class To>
void read_4(const std::byte* src, std::byte* dst, std::int64_t stored, std::int64_t c) noexcept {
  To::store_4(dst + c * To::kBytes, join_planes(load_4x8(src + c), load_4x8(src + stored + c)));
}

/// One pixel of 4 channels or more; the last group overlaps the one before.
template <class To>
void read_pixel(const std::byte* src, std::byte* dst, std::int64_t channels,
                std::int64_t stored) noexcept {
  if (channels >= 16) {
    std::int64_t c = 0;
    for (; c + 16 <= channels; c += 16)
      read_16<To>(src, dst, stored, c);
    if (c < channels)
      read_16<To>(src, dst, stored, channels - 16);
  } else if (channels >= 8) {
    read_8<To>(src, dst, stored, 0);
    read_8<To>(src, dst, stored, channels - 8);
  } else {
    read_4<To>(src, dst, stored, 0);
    read_4<To>(src, dst, stored, channels - 4);
  }
}

template <class To> void read_tiled(const TileRow& row, TileRowFn scalar) noexcept {
  if (row.channels < 4) {
    scalar(row);
    return;
  }
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    read_pixel<To>(src, dst, row.channels, row.stored_channels);
    src += 2 * row.stored_channels;
    dst += row.pixel_stride_bytes;
  }
}

void bf16_f32_untiled_row__neon(const TileRow& row) noexcept {
  read_tiled<F32>(row, bf16_f32_untiled_row__scalar);
}
void bf16_bf16_untiled_row__neon(const TileRow& row) noexcept {
  read_tiled<BF16>(row, bf16_bf16_untiled_row__scalar);
}

void bf16_f32_untiled_c1_row__neon(const TileRow& row) noexcept {
  if (row.stored_channels == 1 && row.pixel_stride_bytes == F32::kBytes)
    bf16_f32_linear_row__neon({row.src, row.dst, row.pixels, BF16::kBytes, F32::kBytes});
  else
    bf16_f32_untiled_c1_row__scalar(row);
}

constexpr RowTable kRows{
    .f32_bf16_tiled = write_by_rows<f32_bf16_tiled_row__neon>,
    .f32_bf16_tiled_c1 = write_by_rows<f32_bf16_tiled_c1_row__neon>,
    .f32_bf16_tiled_c3 = write_by_rows<f32_bf16_tiled_c3_row__neon>,
    .f32_bf16_channels = write_by_rows<f32_bf16_channels_row__neon>,
    .f32_bf16_pad16_c3 = write_by_rows<f32_bf16_pad16_c3_row__neon>,
    .f16_bf16_tiled = write_by_rows<f16_bf16_tiled_row__neon>,
    .f16_bf16_channels = write_by_rows<f16_bf16_channels_row__neon>,
    .bf16_bf16_tiled = write_by_rows<bf16_bf16_tiled_row__neon>,
    .bf16_bf16_tiled_c3 = write_by_rows<bf16_bf16_tiled_c3_row__neon>,
    .bf16_bf16_channels = write_by_rows<bf16_bf16_channels_row__neon>,
    .bf16_bf16_pad16_c3 = write_by_rows<bf16_bf16_pad16_c3_row__neon>,
    .bf16_f32_untiled = read_by_rows<bf16_f32_untiled_row__neon>,
    .bf16_f32_untiled_c1 = read_by_rows<bf16_f32_untiled_c1_row__neon>,
    .bf16_bf16_untiled = read_by_rows<bf16_bf16_untiled_row__neon>,
};

} // namespace

const RowTable& neon_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
