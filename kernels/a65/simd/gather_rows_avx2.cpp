// SPDX-License-Identifier: LGPL-2.1-or-later
// Writers of tiles from strided channels, for AVX2. Two patterns have vector paths: neighbouring
// pixels (planar views), transposed sixteen channels at a time, and every second scalar. Built with
// -mavx2, so nothing here may be an inline function shared with other levels.
#include "a65/simd/block_lanes_avx2.h"
#include "a65/simd/lanes_avx2.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace avx2;

/// Channels that one transposition takes.
constexpr std::int64_t kGroup = 16;
/// Scalars of a row below which a transposition costs more than it saves.
constexpr std::int64_t kLeastPlanar = 32;

// Source types. Planar: kPixels neighbouring pixels of one channel, converted, kPlanes bytes each.
// Spread: sixteen channels of one pixel, two scalars apart.

template <class From> struct TwoPlanes {
  static constexpr std::int64_t kBytes = From::kBytes;
  static constexpr std::int64_t kPlanes = 2;
  static constexpr std::int64_t kPixels = 16;
  static __m256i load_pixels(const std::byte* from) noexcept { return From::load_16(from); }
  static __m256i load_some(const std::byte* from, std::int64_t pixels) noexcept {
    return From::load_some(from, pixels);
  }
};

struct GatherF32 : TwoPlanes<F32> {
  static __m256i load_spread(const std::byte* from) noexcept {
    return narrow_32(round_f32(load_8_of_16x32(from)), round_f32(load_8_of_16x32(from + 64)));
  }
};

struct GatherBF16 : TwoPlanes<BF16> {
  static __m256i load_spread(const std::byte* from) noexcept { return load_16_of_32x16(from); }
};

struct GatherF16 : TwoPlanes<F16> {
  static __m256i load_spread(const std::byte* from) noexcept {
    return F16::convert(load_16_of_32x16(from));
  }
};

struct GatherI8 {
  static constexpr std::int64_t kBytes = 1;
  static constexpr std::int64_t kPlanes = 1;
  static constexpr std::int64_t kPixels = 32;
  static __m256i load_pixels(const std::byte* from) noexcept { return load_256(from); }
  static __m256i load_some(const std::byte* from, std::int64_t pixels) noexcept {
    if (pixels < 16)
      return _mm256_zextsi128_si256(load_bytes(from, pixels));
    const std::int64_t rest = pixels - 16;
    return _mm256_set_m128i(rest == 0 ? _mm_setzero_si128() : load_bytes(from + 16, rest),
                            load_128(from));
  }
  static __m128i load_spread(const std::byte* from) noexcept { return load_16_of_32x8(from); }
};

// Planar views. A tile is a matrix of one row of `stored` bytes for each plane of each pixel.

struct Block {
  const std::byte* src;
  std::byte* dst;
  std::int64_t pixels;   ///< 1 to kPixels
  std::int64_t channels; ///< 1 to kGroup
};

/// One row of a group. Narrow rows without padding overlap the next ones, which are written later;
/// near `end` they are stored exactly.
inline void store_narrow(std::byte* to, __m128i row, std::int64_t bytes,
                         const std::byte* end) noexcept {
  if (end - to >= 16) {
    store_128(to, row);
    return;
  }
  alignas(16) std::byte copy[16];
  store_128(copy, row);
  for (std::int64_t i = 0; i < bytes; ++i)
    to[i] = copy[i];
}

template <class From>
void load_block(const Block& block, const TileRow& row, __m256i* rows) noexcept {
  const std::int64_t step = row.channel_stride_bytes;
  if (block.pixels == From::kPixels && block.channels == kGroup) {
#pragma GCC unroll 16
    for (int r = 0; r < kGroup; ++r)
      rows[r] = From::load_pixels(block.src + r * step);
    return;
  }
  const __m256i padding = _mm256_set1_epi8(From::kPlanes == 1 ? static_cast<char>(row.fill) : 0);
  for (std::int64_t r = 0; r < kGroup; ++r) {
    if (r >= block.channels)
      rows[r] = padding;
    else if (block.pixels == From::kPixels)
      rows[r] = From::load_pixels(block.src + r * step);
    else
      rows[r] = From::load_some(block.src + r * step, block.pixels);
  }
}

template <class From>
void store_block(const Block& block, const TileRow& row, const std::byte* end,
                 const __m256i* rows) noexcept {
  const std::int64_t stored = row.stored_channels;
  if (block.pixels == From::kPixels && stored >= kGroup) {
#pragma GCC unroll 16
    for (int k = 0; k < kGroup; ++k) {
      store_128(block.dst + k * stored, _mm256_castsi256_si128(rows[k]));
      store_128(block.dst + (k + kGroup) * stored, _mm256_extracti128_si256(rows[k], 1));
    }
    return;
  }
  const std::int64_t count = block.pixels * From::kPlanes;
  for (std::int64_t k = 0; k < count; ++k) {
    const __m128i part = k < kGroup ? _mm256_castsi256_si128(rows[k])
                                    : _mm256_extracti128_si256(rows[k - kGroup], 1);
    if (stored >= kGroup)
      store_128(block.dst + k * stored, part);
    else
      store_narrow(block.dst + k * stored, part, stored, end);
  }
}

template <class From>
void write_block(const Block& block, const TileRow& row, const std::byte* end) noexcept {
  __m256i rows[kGroup];
  load_block<From>(block, row, rows);
  transpose_lanes<1>(rows);
  store_block<From>(block, row, end, rows);
}

/// First channel of the group at `c`: without padding, the last group overlaps the one before.
[[nodiscard]] std::int64_t group_at(const TileRow& row, std::int64_t c) noexcept {
  const bool overlaps = row.stored_channels == row.channels && row.channels >= kGroup;
  return overlaps && c + kGroup > row.channels ? row.channels - kGroup : c;
}

[[nodiscard]] std::int64_t smaller(std::int64_t a, std::int64_t b) noexcept {
  return a < b ? a : b;
}

template <class From> void write_planar(const TileRow& row) noexcept {
  // Whole lines of each channel, and few enough tile lines to stay in the first-level cache while
  // the groups of channels fill them.
  constexpr std::int64_t kBlockPixels = 2 * From::kPixels;
  const std::int64_t pixel_bytes = From::kPlanes * row.stored_channels;
  const std::byte* const end = row.dst + row.pixels * pixel_bytes;
  for (std::int64_t first = 0; first < row.pixels; first += kBlockPixels) {
    const std::int64_t last = smaller(first + kBlockPixels, row.pixels);
    for (std::int64_t at = 0; at < row.channels; at += kGroup) {
      const std::int64_t c = group_at(row, at);
      for (std::int64_t p = first; p < last; p += From::kPixels)
        write_block<From>({row.src + p * From::kBytes + c * row.channel_stride_bytes,
                           row.dst + p * pixel_bytes + c, smaller(From::kPixels, last - p),
                           smaller(kGroup, row.channels - c)},
                          row, end);
    }
  }
}

// Every second scalar.

/// Sixteen channels or more: the last group is loaded so that it ends with the last channel.
template <class From>
void write_spread_pixel(const std::byte* src, std::byte* dst, const TileRow& row) noexcept {
  const std::int64_t stored = row.stored_channels;
  std::int64_t c = 0;
  for (; c + kGroup <= row.channels; c += kGroup)
    store_planes_16(dst + c, stored, split_planes(From::load_spread(src + 2 * c * From::kBytes)));
  if (c == row.channels)
    return;
  const std::int64_t from = row.channels - kGroup;
  const __m256i planes = split_planes(From::load_spread(src + 2 * from * From::kBytes));
  if (stored == row.channels) {
    store_planes_16(dst + from, stored, planes);
    return;
  }
  const __m128i shift = shift_control(c - from);
  store_128(dst + c, _mm_shuffle_epi8(_mm256_castsi256_si128(planes), shift));
  store_128(dst + stored + c, _mm_shuffle_epi8(_mm256_extracti128_si256(planes, 1), shift));
}

/// INT8: padding is blended in.
template <>
void write_spread_pixel<GatherI8>(const std::byte* src, std::byte* dst,
                                  const TileRow& row) noexcept {
  std::int64_t c = 0;
  for (; c + kGroup <= row.channels; c += kGroup)
    store_128(dst + c, load_16_of_32x8(src + 2 * c));
  if (c == row.channels)
    return;
  const std::int64_t from = row.channels - kGroup;
  const __m128i last = load_16_of_32x8(src + 2 * from);
  if (row.stored_channels == row.channels) {
    store_128(dst + from, last);
    return;
  }
  const __m128i index = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const auto rest = static_cast<char>(row.channels - c - 1);
  const __m128i padding = _mm_cmpgt_epi8(index, _mm_set1_epi8(rest));
  const __m128i fill = _mm_set1_epi8(static_cast<char>(row.fill));
  store_128(dst + c,
            _mm_blendv_epi8(_mm_shuffle_epi8(last, shift_control(c - from)), fill, padding));
}

inline void store_values(std::byte* to, __m256i values) noexcept { store_256(to, values); }
inline void store_values(std::byte* to, __m128i values) noexcept { store_128(to, values); }

/// `pixels` packed pixels of less than sixteen channels, converted, into both planes (or the one).
template <class From>
void write_narrow(const std::byte* values, std::byte* dst, std::int64_t pixels, const TileRow& row,
                  const std::byte* end) noexcept {
  const std::int64_t stored = row.stored_channels;
  const __m128i index = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i padding = _mm_cmpgt_epi8(index, _mm_set1_epi8(static_cast<char>(row.channels - 1)));
  for (std::int64_t p = 0; p < pixels; ++p) {
    if constexpr (From::kPlanes == 1) {
      const __m128i fill = _mm_set1_epi8(static_cast<char>(row.fill));
      store_narrow(dst, _mm_blendv_epi8(load_128(values), fill, padding), stored, end);
    } else {
      const __m256i planes = split_planes(load_256(values));
      store_narrow(dst, _mm_andnot_si128(padding, _mm256_castsi256_si128(planes)), stored, end);
      store_narrow(dst + stored, _mm_andnot_si128(padding, _mm256_extracti128_si256(planes, 1)),
                   stored, end);
    }
    values += row.channels * From::kPlanes;
    dst += stored * From::kPlanes;
  }
}

/// Narrow pixels that follow each other in step: values are collected, then packed.
/// False, and nothing is done, where they do not or where too few are left for the last chunk.
template <class From> [[nodiscard]] bool write_spread_narrow(const TileRow& row) noexcept {
  constexpr std::int64_t kPlanes = From::kPlanes;
  constexpr std::int64_t kChunk = 32; // pixels
  const std::int64_t last_chunk = (row.pixels - 1) % kChunk + 1;
  if (row.pixel_stride_bytes != row.channels * row.channel_stride_bytes ||
      last_chunk * row.channels < kGroup)
    return false;
  alignas(32) std::byte values[static_cast<std::size_t>(kPlanes * (kChunk + 1) * kGroup)] = {};
  const std::int64_t pixel_bytes = kPlanes * row.stored_channels;
  const std::byte* const end = row.dst + row.pixels * pixel_bytes;
  for (std::int64_t first = 0; first < row.pixels; first += kChunk) {
    const std::int64_t pixels = smaller(kChunk, row.pixels - first);
    const std::int64_t count = pixels * row.channels;
    const std::byte* const src = row.src + first * row.pixel_stride_bytes;
    for (std::int64_t at = 0; at < count; at += kGroup) {
      const std::int64_t i = smaller(at, count - kGroup);
      store_values(values + kPlanes * i, From::load_spread(src + 2 * i * From::kBytes));
    }
    write_narrow<From>(values, row.dst + first * pixel_bytes, pixels, row, end);
  }
  return true;
}

template <class From> [[nodiscard]] bool write_spread(const TileRow& row) noexcept {
  if (row.channels < kGroup)
    return write_spread_narrow<From>(row);
  for (std::int64_t p = 0; p < row.pixels; ++p)
    write_spread_pixel<From>(row.src + p * row.pixel_stride_bytes,
                             row.dst + p * From::kPlanes * row.stored_channels, row);
  return true;
}

template <class From> void write_gather(const TileRow& row, TileRowFn scalar) noexcept {
  if (row.pixel_stride_bytes == From::kBytes && row.pixels * row.channels >= kLeastPlanar)
    write_planar<From>(row);
  else if (row.channel_stride_bytes != 2 * From::kBytes || !write_spread<From>(row))
    scalar(row);
}

} // namespace

void f32_bf16_gather_row__avx2(const TileRow& row) noexcept {
  write_gather<GatherF32>(row, f32_bf16_gather_row__scalar);
}
void f16_bf16_any_32__avx2(const std::byte* from, std::byte* to) noexcept {
  const __m256i first = F16::convert_any(load_256(from));
  const __m256i second = F16::convert_any(load_256(from + 32));
  store_256(to, first);
  store_256(to + 32, second);
}
void f16_bf16_gather_row__avx2(const TileRow& row) noexcept {
  write_gather<GatherF16>(row, f16_bf16_gather_row__scalar);
}
void bf16_bf16_gather_row__avx2(const TileRow& row) noexcept {
  write_gather<GatherBF16>(row, bf16_bf16_gather_row__scalar);
}

void i8_i8_gather_row__avx2(const TileRow& row) noexcept {
  write_gather<GatherI8>(row, i8_i8_gather_row__scalar);
}

} // namespace simaai::kernels::a65::detail
