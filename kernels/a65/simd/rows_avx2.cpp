// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile row kernels for AVX2. Integer lanes only. Built with -mavx2, so nothing here may be an inline
// function shared with other levels: tails go to the scalar kernels instead.
#include "a65/simd/lanes_avx2.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace avx2;

// Writers.

/// One padded pixel: every group is stored whole, so that padding comes from zero lanes.
template <class From>
void write_padded_pixel(const std::byte* src, std::byte* dst, std::int64_t channels,
                        std::int64_t stored) noexcept {
  std::int64_t c = 0;
  for (; c + 16 <= channels; c += 16)
    store_planes_16(dst + c, stored, From::load_16(src + c * From::kBytes));
  if (c < channels)
    store_planes_16(dst + c, stored, From::load_some(src + c * From::kBytes, channels - c));
}

/// One pixel without padding, 8 channels or more: the last group overlaps the one before.
template <class From>
void write_compact_pixel(const std::byte* src, std::byte* dst, std::int64_t channels) noexcept {
  if (channels < 16) {
    const std::int64_t last = channels - 8;
    store_planes_8(dst, channels, From::load_8(src));
    store_planes_8(dst + last, channels, From::load_8(src + last * From::kBytes));
    return;
  }
  std::int64_t c = 0;
  for (; c + 16 <= channels; c += 16)
    store_planes_16(dst + c, channels, From::load_16(src + c * From::kBytes));
  if (c < channels) {
    c = channels - 16;
    store_planes_16(dst + c, channels, From::load_16(src + c * From::kBytes));
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

void f32_bf16_tiled_row__avx2(const TileRow& row) noexcept {
  write_tiled<F32>(row, f32_bf16_tiled_row__scalar);
}
void f32_bf16_channels_row__avx2(const TileRow& row) noexcept {
  write_tiled<F32>(row, f32_bf16_channels_row__scalar);
}
void f16_bf16_tiled_row__avx2(const TileRow& row) noexcept {
  write_tiled<F16>(row, f16_bf16_tiled_row__scalar);
}
void f16_bf16_channels_row__avx2(const TileRow& row) noexcept {
  write_tiled<F16>(row, f16_bf16_channels_row__scalar);
}
void bf16_bf16_tiled_row__avx2(const TileRow& row) noexcept {
  write_tiled<BF16>(row, bf16_bf16_tiled_row__scalar);
}
void bf16_bf16_channels_row__avx2(const TileRow& row) noexcept {
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

/// Four packed pixels of three channels: values 0 to 7 in `first`, 6 to 11 in the lower lanes of
/// `second`, so that each holds two pixels at the same place.
struct FourPixels {
  __m128i first;
  __m128i second;
};

[[nodiscard]] FourPixels load_pixels_c3(const std::byte* from, F32 /*type*/) noexcept {
  const __m128i end =
      _mm256_castsi256_si128(round_f32(_mm256_zextsi128_si256(load_128(from + 32))));
  const __m128i first = F32::load_8(from);
  return {first, _mm_alignr_epi8(_mm_packus_epi32(end, end), first, 12)};
}

[[nodiscard]] FourPixels load_pixels_c3(const std::byte* from, BF16 /*type*/) noexcept {
  const __m128i first = load_128(from);
  return {first, _mm_alignr_epi8(load_64(from + 16), first, 12)};
}

template <class From> void write_pad16_c3(const TileRow& row, TileRowFn scalar) noexcept {
  constexpr char kNone = -128;
  const __m256i even =
      _mm256_setr_epi8(0, 2, 4, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone,
                       kNone, kNone, kNone, kNone, 1, 3, 5, kNone, kNone, kNone, kNone, kNone,
                       kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone);
  const __m256i odd =
      _mm256_setr_epi8(6, 8, 10, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone,
                       kNone, kNone, kNone, kNone, 7, 9, 11, kNone, kNone, kNone, kNone, kNone,
                       kNone, kNone, kNone, kNone, kNone, kNone, kNone, kNone);
  std::int64_t p = 0;
  for (; p + 4 <= row.pixels; p += 4) {
    const FourPixels pixels = load_pixels_c3(row.src + p * 3 * From::kBytes, From{});
    const __m256i first = _mm256_broadcastsi128_si256(pixels.first);
    const __m256i second = _mm256_broadcastsi128_si256(pixels.second);
    std::byte* dst = row.dst + p * 32;
    store_256(dst, _mm256_shuffle_epi8(first, even));
    store_256(dst + 32, _mm256_shuffle_epi8(first, odd));
    store_256(dst + 64, _mm256_shuffle_epi8(second, even));
    store_256(dst + 96, _mm256_shuffle_epi8(second, odd));
  }
  finish_pixels(row, p, 3 * From::kBytes, 32, scalar);
}

void f32_bf16_pad16_c3_row__avx2(const TileRow& row) noexcept {
  write_pad16_c3<F32>(row, f32_bf16_pad16_c3_row__scalar);
}
void bf16_bf16_pad16_c3_row__avx2(const TileRow& row) noexcept {
  write_pad16_c3<BF16>(row, bf16_bf16_pad16_c3_row__scalar);
}

/// Packed pixels of three channels in three stored ones; anything else is left to `other`.
template <class From> void write_compact_c3(const TileRow& row, TileRowFn other) noexcept {
  if (row.stored_channels != 3 || row.pixel_stride_bytes != 3 * From::kBytes) {
    other(row);
    return;
  }
  constexpr char kNone = -128;
  const __m128i planes =
      _mm_setr_epi8(0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11, kNone, kNone, kNone, kNone);
  std::int64_t p = 0;
  for (; p + 4 <= row.pixels; p += 4) {
    const FourPixels pixels = load_pixels_c3(row.src + p * 3 * From::kBytes, From{});
    const __m128i first = _mm_shuffle_epi8(pixels.first, planes);
    const __m128i second = _mm_shuffle_epi8(pixels.second, planes);
    store_128(row.dst + p * 6, _mm_or_si128(first, _mm_slli_si128(second, 12)));
    store_64(row.dst + p * 6 + 16, _mm_srli_si128(second, 4));
  }
  finish_pixels(row, p, 3 * From::kBytes, 6, other);
}

void f32_bf16_tiled_c3_row__avx2(const TileRow& row) noexcept {
  write_compact_c3<F32>(row, f32_bf16_tiled_c3_row__scalar);
}
void bf16_bf16_tiled_c3_row__avx2(const TileRow& row) noexcept {
  write_compact_c3<BF16>(row, bf16_bf16_tiled_c3_row__scalar);
}

/// A packed compact channel is a contiguous vector.
void f32_bf16_tiled_c1_row__avx2(const TileRow& row) noexcept {
  if (row.stored_channels == 1 && row.pixel_stride_bytes == F32::kBytes)
    f32_bf16_linear_row__avx2({row.src, row.dst, row.pixels, F32::kBytes, BF16::kBytes});
  else
    f32_bf16_tiled_c1_row__scalar(row);
}

/// One INT8 pixel: whole groups, then the fill or an overlapping group.
void write_bytes(const std::byte* src, std::byte* dst, const TileRow& row, __m128i fill) noexcept {
  std::int64_t c = 0;
  for (; c + 16 <= row.channels; c += 16)
    store_128(dst + c, load_128(src + c));
  if (c == row.channels)
    return;
  if (row.stored_channels == row.channels) {
    c = row.channels - 16;
    store_128(dst + c, load_128(src + c));
    return;
  }
  const std::int64_t rest = row.channels - c;
  const __m128i index = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
  const __m128i padding = _mm_cmpgt_epi8(index, _mm_set1_epi8(static_cast<char>(rest - 1)));
  store_128(dst + c, _mm_blendv_epi8(load_bytes(src + c, rest), fill, padding));
}

void i8_i8_tiled_row__avx2(const TileRow& row) noexcept {
  const bool padded = row.stored_channels != row.channels;
  if (!padded && (row.channels < 16 || row.pixel_stride_bytes == row.channels)) {
    i8_i8_tiled_row__scalar(row);
    return;
  }
  const __m128i fill = _mm_set1_epi8(static_cast<char>(row.fill));
  for (std::int64_t p = 0; p < row.pixels; ++p)
    write_bytes(row.src + p * row.pixel_stride_bytes, row.dst + p * row.stored_channels, row, fill);
}

// Readers.

[[nodiscard]] __m128i load_32(const std::byte* from) noexcept {
  return _mm_cvtsi32_si128(load_word<std::int32_t>(from));
}

template <class To>
void read_16(const std::byte* src, std::byte* dst, std::int64_t stored, std::int64_t c) noexcept {
  const __m128i low = load_128(src + c);
  const __m128i high = load_128(src + stored + c);
  To::store_16(dst + c * To::kBytes, _mm_unpacklo_epi8(low, high), _mm_unpackhi_epi8(low, high));
}

template <class To>
void read_8(const std::byte* src, std::byte* dst, std::int64_t stored, std::int64_t c) noexcept {
  To::store_8(dst + c * To::kBytes, _mm_unpacklo_epi8(load_64(src + c), load_64(src + stored + c)));
}

template <class To>
void read_4(const std::byte* src, std::byte* dst, std::int64_t stored, std::int64_t c) noexcept {
  To::store_4(dst + c * To::kBytes, _mm_unpacklo_epi8(load_32(src + c), load_32(src + stored + c)));
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

void bf16_f32_untiled_row__avx2(const TileRow& row) noexcept {
  read_tiled<ToF32>(row, bf16_f32_untiled_row__scalar);
}
void bf16_bf16_untiled_row__avx2(const TileRow& row) noexcept {
  read_tiled<BF16>(row, bf16_bf16_untiled_row__scalar);
}

void bf16_f32_untiled_c1_row__avx2(const TileRow& row) noexcept {
  if (row.stored_channels == 1 && row.pixel_stride_bytes == F32::kBytes)
    bf16_f32_linear_row__avx2({row.src, row.dst, row.pixels, BF16::kBytes, F32::kBytes});
  else
    bf16_f32_untiled_c1_row__scalar(row);
}

void i8_i8_untiled_row__avx2(const TileRow& row) noexcept {
  const bool dense = row.stored_channels == row.channels && row.pixel_stride_bytes == row.channels;
  if (dense || row.channels < 16) {
    i8_i8_untiled_row__scalar(row);
    return;
  }
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    const std::byte* src = row.src + p * row.stored_channels;
    std::byte* dst = row.dst + p * row.pixel_stride_bytes;
    std::int64_t c = 0;
    for (; c + 16 <= row.channels; c += 16)
      store_128(dst + c, load_128(src + c));
    if (c < row.channels)
      store_128(dst + row.channels - 16, load_128(src + row.channels - 16));
  }
}

constexpr RowTable kRows{
    .f32_bf16_tiled = f32_bf16_tiled_row__avx2,
    .f32_bf16_tiled_c1 = f32_bf16_tiled_c1_row__avx2,
    .f32_bf16_tiled_c3 = f32_bf16_tiled_c3_row__avx2,
    .f32_bf16_channels = f32_bf16_channels_row__avx2,
    .f32_bf16_pad16_c3 = f32_bf16_pad16_c3_row__avx2,
    .f16_bf16_tiled = f16_bf16_tiled_row__avx2,
    .f16_bf16_channels = f16_bf16_channels_row__avx2,
    .bf16_bf16_tiled = bf16_bf16_tiled_row__avx2,
    .bf16_bf16_tiled_c3 = bf16_bf16_tiled_c3_row__avx2,
    .bf16_bf16_channels = bf16_bf16_channels_row__avx2,
    .bf16_bf16_pad16_c3 = bf16_bf16_pad16_c3_row__avx2,
    .i8_i8_tiled = i8_i8_tiled_row__avx2,
    .bf16_f32_untiled = bf16_f32_untiled_row__avx2,
    .bf16_f32_untiled_c1 = bf16_f32_untiled_c1_row__avx2,
    .bf16_bf16_untiled = bf16_bf16_untiled_row__avx2,
    .i8_i8_untiled = i8_i8_untiled_row__avx2,
};

} // namespace

const RowTable& avx2_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
