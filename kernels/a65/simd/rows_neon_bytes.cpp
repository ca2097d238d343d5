// SPDX-License-Identifier: LGPL-2.1-or-later
// Int8 tile rows of contiguous channels for Armv8 Advanced SIMD. Pixels are moved as whole vectors
// where that stays within the row, as in rows_neon.cpp and rows_neon_read.cpp.
#include <algorithm>
#include <cstring>

#include "a65/simd/lanes_neon.h"
#include "a65/simd/rows_neon.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace neon;

/// All full vectors of a pixel; returns the channels done.
std::int64_t copy_groups(const std::byte* src, std::byte* dst, std::int64_t channels) noexcept {
  std::int64_t c = 0;
  for (; c + 32 <= channels; c += 32) {
    const uint8x16_t first = vld1q_u8(bytes_at(src + c));
    const uint8x16_t second = vld1q_u8(bytes_at(src + c + 16));
    vst1q_u8(bytes_at(dst + c), first);
    vst1q_u8(bytes_at(dst + c + 16), second);
  }
  if (c + 16 <= channels) {
    vst1q_u8(bytes_at(dst + c), vld1q_u8(bytes_at(src + c)));
    c += 16;
  }
  return c;
}

/// `channels` bytes, sixteen or more; the last vector overlaps the one before.
void copy_wide(const std::byte* src, std::byte* dst, std::int64_t channels) noexcept {
  const std::int64_t c = copy_groups(src, dst, channels);
  if (c != channels)
    vst1q_u8(bytes_at(dst + channels - 16), vld1q_u8(bytes_at(src + channels - 16)));
}

template <int kWidth>
void copy_overlapped(const std::byte* src, std::byte* dst, std::int64_t channels) noexcept {
  const uint8x8_t first = load_low<kWidth>(src);
  const uint8x8_t last = load_low<kWidth>(src + channels - kWidth);
  store_lane<kWidth, 0>(dst, vcombine_u8(first, first));
  store_lane<kWidth, 0>(dst + channels - kWidth, vcombine_u8(last, last));
}

/// One to fifteen bytes.
void copy_narrow(const std::byte* src, std::byte* dst, std::int64_t channels) noexcept {
  if (channels >= 8)
    copy_overlapped<8>(src, dst, channels);
  else if (channels >= 4)
    copy_overlapped<4>(src, dst, channels);
  else if (channels >= 2)
    copy_overlapped<2>(src, dst, channels);
  else
    *dst = *src;
}

/// A pixel without padding.
void copy_pixel(const std::byte* src, std::byte* dst, std::int64_t channels) noexcept {
  if (channels >= 16)
    copy_wide(src, dst, channels);
  else
    copy_narrow(src, dst, channels);
}

void write_padded(const TileRow& row) noexcept {
  const std::int64_t channels = row.channels;
  const std::int64_t full = channels / 16 * 16;
  const std::int64_t rest = channels - full;
  const uint8x16_t fill = vdupq_n_u8(row.fill);
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  std::int64_t p = 0;
  if (full == 0) {
    const uint8x16_t valid = vcltq_u8(last_bytes(rest), vdupq_n_u8(kNone));
    const std::int64_t whole = pixels_within(row.pixels, row.pixel_stride_bytes, channels, 16);
    for (; p < whole; ++p) {
      vst1q_u8(bytes_at(dst), vbslq_u8(valid, vld1q_u8(bytes_at(src)), fill));
      src += row.pixel_stride_bytes;
      dst += 16;
    }
  }
  const uint8x16_t index = last_bytes(rest);
  for (; p < row.pixels; ++p) {
    if (full != 0)
      copy_groups(src, dst, full);
    if (rest != 0 && full != 0) {
      const uint8x16_t end = vld1q_u8(bytes_at(src + channels - 16));
      vst1q_u8(bytes_at(dst + full), vqtbx1q_u8(fill, end, index));
    } else if (rest != 0) {
      vst1q_u8(bytes_at(dst), fill);
      copy_narrow(src, dst, channels);
    }
    src += row.pixel_stride_bytes;
    dst += row.stored_channels;
  }
}

/// Pixels of sixteen channels.
void copy_sixteen(const TileRow& row, std::int64_t src_stride, std::int64_t dst_stride) noexcept {
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  std::int64_t left = row.pixels;
  for (; left >= 2; left -= 2) {
    const uint8x16_t first = vld1q_u8(bytes_at(src));
    const uint8x16_t second = vld1q_u8(bytes_at(src + src_stride));
    vst1q_u8(bytes_at(dst), first);
    vst1q_u8(bytes_at(dst + dst_stride), second);
    src += 2 * src_stride;
    dst += 2 * dst_stride;
  }
  if (left != 0)
    vst1q_u8(bytes_at(dst), vld1q_u8(bytes_at(src)));
}

/// Pixels `src_stride` and `dst_stride` bytes apart, without padding on the written side.
void copy_pixels(const TileRow& row, std::int64_t src_stride, std::int64_t dst_stride) noexcept {
  const std::int64_t channels = row.channels;
  if (src_stride == channels && dst_stride == channels) {
    std::memcpy(row.dst, row.src, static_cast<std::size_t>(channels * row.pixels));
    return;
  }
  if (channels == 16) {
    copy_sixteen(row, src_stride, dst_stride);
    return;
  }
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  std::int64_t p = 0;
  if (channels < 16 && dst_stride == channels) {
    const std::int64_t whole = std::min(pixels_within(row.pixels, src_stride, channels, 16),
                                        pixels_within(row.pixels, channels, channels, 16));
    for (; p < whole; ++p) {
      vst1q_u8(bytes_at(dst), vld1q_u8(bytes_at(src)));
      src += src_stride;
      dst += channels;
    }
  }
  for (; p < row.pixels; ++p) {
    copy_pixel(src, dst, channels);
    src += src_stride;
    dst += dst_stride;
  }
}

} // namespace

void i8_i8_tiled_row__neon(const TileRow& row) noexcept {
  if (row.stored_channels == row.channels)
    copy_pixels(row, row.pixel_stride_bytes, row.channels);
  else
    write_padded(row);
}

void i8_i8_untiled_row__neon(const TileRow& row) noexcept {
  copy_pixels(row, row.stored_channels, row.pixel_stride_bytes);
}

} // namespace simaai::kernels::a65::detail
