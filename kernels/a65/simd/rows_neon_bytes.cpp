// SPDX-License-Identifier: LGPL-2.1-or-later
// Int8 tile rows of contiguous channels for Armv8 Advanced SIMD. Pixels are moved as whole vectors
// where that stays within the row, as in rows_neon.cpp and rows_neon_read.cpp.
#include <algorithm>
#include <cstring>
#include <type_traits>

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

/// `kBytes` bytes, 1, 2, 4, 8 or 16, in the lowest lanes.
template <int kBytes> [[nodiscard]] uint8x16_t load_first(const std::byte* src) noexcept {
  if constexpr (kBytes == 16)
    return vld1q_u8(bytes_at(src));
  else
    return vcombine_u8(load_low<kBytes>(src), vdup_n_u8(0));
}

template <int kBytes> void store_first(std::byte* dst, uint8x16_t bytes) noexcept {
  if constexpr (kBytes == 16)
    vst1q_u8(bytes_at(dst), bytes);
  else
    store_lane<kBytes, 0>(dst, bytes);
}

/// One to fifteen bytes: the first and the last kWidth of them.
template <int kWidth>
void copy_overlapped(const std::byte* src, std::byte* dst, std::int64_t channels) noexcept {
  const uint8x16_t first = load_first<kWidth>(src);
  const uint8x16_t last = load_first<kWidth>(src + channels - kWidth);
  store_first<kWidth>(dst, first);
  store_first<kWidth>(dst + channels - kWidth, last);
}

void copy_pixel(const std::byte* src, std::byte* dst, std::int64_t channels) noexcept {
  if (channels >= 16)
    copy_wide(src, dst, channels);
  else if (channels >= 8)
    copy_overlapped<8>(src, dst, channels);
  else if (channels >= 4)
    copy_overlapped<4>(src, dst, channels);
  else if (channels >= 2)
    copy_overlapped<2>(src, dst, channels);
  else
    *dst = *src;
}

/// Calls `visit` with the smallest width of a vector, as a constant, that holds 1 to 15 channels.
template <class Visit> void with_width(std::int64_t channels, Visit visit) noexcept {
  if (channels > 8)
    visit(std::integral_constant<int, 16>{});
  else if (channels > 4)
    visit(std::integral_constant<int, 8>{});
  else if (channels > 2)
    visit(std::integral_constant<int, 4>{});
  else if (channels == 2)
    visit(std::integral_constant<int, 2>{});
  else
    visit(std::integral_constant<int, 1>{});
}

// Padded tiles.

template <int kWidth> void write_padded_exact(TileRow row) noexcept {
  const uint8x16_t index = overlapped_bytes<kWidth>(row.channels);
  const uint8x16_t fill = vdupq_n_u8(row.fill);
  for (; row.pixels > 0; --row.pixels) {
    const uint8x16_t bytes = join_low<kWidth>(load_low<kWidth>(row.src),
                                              load_low<kWidth>(row.src + row.channels - kWidth));
    vst1q_u8(bytes_at(row.dst), vqtbx1q_u8(fill, bytes, index));
    row.src += row.pixel_stride_bytes;
    row.dst += 16;
  }
}

/// Fewer than sixteen channels in sixteen.
template <int kWidth> void write_padded_narrow(TileRow row) noexcept {
  const uint8x16_t fill = vdupq_n_u8(row.fill);
  const uint8x16_t valid = vcltq_u8(last_bytes(row.channels), vdupq_n_u8(kNone));
  std::int64_t whole = pixels_within(row.pixels, row.pixel_stride_bytes, row.channels, kWidth);
  row.pixels -= whole;
  for (; whole > 0; --whole) {
    vst1q_u8(bytes_at(row.dst), vbslq_u8(valid, load_first<kWidth>(row.src), fill));
    row.src += row.pixel_stride_bytes;
    row.dst += 16;
  }
  if constexpr (kWidth > 2)
    write_padded_exact<kWidth / 2>(row);
}

void write_padded(const TileRow& row) noexcept {
  const std::int64_t channels = row.channels;
  const std::int64_t full = channels / 16 * 16;
  if (full == 0) {
    with_width(channels, [&](auto width) { write_padded_narrow<width()>(row); });
    return;
  }
  const uint8x16_t fill = vdupq_n_u8(row.fill);
  const uint8x16_t index = last_bytes(channels - full);
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t left = row.pixels; left > 0; --left) {
    copy_groups(src, dst, full);
    const uint8x16_t end = vld1q_u8(bytes_at(src + channels - 16));
    vst1q_u8(bytes_at(dst + full), vqtbx1q_u8(fill, end, index));
    src += row.pixel_stride_bytes;
    dst += row.stored_channels;
  }
}

// Without padding on the written side.

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

/// Pixels `src_stride` and `dst_stride` bytes apart. Gaps of the written side are kept.
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
  std::int64_t left = row.pixels;
  if (channels < 16)
    with_width(channels, [&](auto width) {
      if (dst_stride != channels && channels != width())
        return;
      std::int64_t whole = std::min(pixels_within(left, src_stride, channels, width()),
                                    pixels_within(left, dst_stride, channels, width()));
      left -= whole;
      for (; whole > 0; --whole) {
        store_first<width()>(dst, load_first<width()>(src));
        src += src_stride;
        dst += dst_stride;
      }
    });
  for (; left > 0; --left) {
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
