// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile row kernels for AVX2. Integer lanes only. Built with -mavx2, so nothing here may be an inline
// function shared with other levels: tails go to the scalar kernels instead.
#include "a65/simd/isa_avx2.h"
#include "a65/simd/lanes_avx2.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/panel_by_rows.h"
#include "a65/simd/panel_rows.h"
#include "a65/simd/row_table.h"
#include "a65/simd/wide_pixels_avx2.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace avx2;

// Writers.

/// Rows of 16 stored channels at most.
template <class From, TileRowFn kScalar> void write_narrow_row(const TileRow& row) noexcept {
  const std::int64_t stored = row.stored_channels;
  const std::int64_t last = row.channels - 8;
  if (stored != 16 && last < 0) {
    kScalar(row);
    return;
  }
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    if (row.channels == 16) {
      store_planes_16(dst, stored, From::planes_16(src));
    } else if (stored == 16) {
      store_planes_16(dst, stored, From::planes_some(src, row.channels));
    } else { // the second half overlaps the first one
      store_planes_8(dst, stored, From::load_8(src));
      store_planes_8(dst + last, stored, From::load_8(src + last * From::kBytes));
    }
    src += row.pixel_stride_bytes;
    dst += 2 * stored;
  }
}

/// One pixel of any number of channels.
template <class From, TileRowFn kScalar> void write_channels(const TilePanel& panel) noexcept {
  if (panel.last_channels > 16)
    write_wide<From>(panel);
  else
    write_by_rows<write_narrow_row<From, kScalar>>(panel);
}

template <class From, TileRowFn kScalar> void write_tiled(const TilePanel& panel) noexcept {
  if (panel.row.stored_channels == 16)
    PanelRows<Avx2>::write_of_16<From>(panel);
  else
    write_channels<From, kScalar>(panel);
}

/// The last `row.pixels - done` pixels of `src_bytes` and `dst_bytes` each.
void finish_pixels(const TileRow& row, std::int64_t done, std::int64_t src_bytes,
                   std::int64_t dst_bytes, TileRowFn scalar) noexcept {
  if (done == row.pixels)
    return;
  TileRow rest = row;
  rest.src += done * src_bytes;
  rest.dst += done * dst_bytes;
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

template <class From, bool kStream, TileRowFn kScalar>
void write_pad16_c3_row(const TileRow& row) noexcept {
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
    put_256<kStream>(dst, _mm256_shuffle_epi8(first, even));
    put_256<kStream>(dst + 32, _mm256_shuffle_epi8(first, odd));
    put_256<kStream>(dst + 64, _mm256_shuffle_epi8(second, even));
    put_256<kStream>(dst + 96, _mm256_shuffle_epi8(second, odd));
  }
  finish_pixels(row, p, 3 * From::kBytes, 32, kScalar);
}

template <class From, TileRowFn kScalar> void write_pad16_c3(const TilePanel& panel) noexcept {
  const auto places = reinterpret_cast<std::uintptr_t>(panel.row.dst) |
                      static_cast<std::uintptr_t>(panel.segment_tile_bytes);
  if (panel.stream && places % 32 == 0)
    write_by_rows<write_pad16_c3_row<From, true, kScalar>>(panel);
  else
    write_by_rows<write_pad16_c3_row<From, false, kScalar>>(panel);
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

/// Several whole groups of 16 channels a pixel are more than their copy.
[[nodiscard]] bool is_whole_of_16(const TilePanel& panel) noexcept {
  return panel.row.stored_channels == 16 && panel.row.channels == 16 && panel.last_channels == 16 &&
         panel.row.pixel_stride_bytes != 16;
}

void write_i8_tiled(const TilePanel& panel) noexcept {
  if (is_whole_of_16(panel))
    PanelRows<Avx2>::write_of_16<I8>(panel);
  else
    write_by_rows<i8_i8_tiled_row__avx2>(panel);
}

// Readers.

template <class To, TileRowFn kScalar> void read_tiled_row(const TileRow& row) noexcept {
  if (row.channels < 4) {
    kScalar(row);
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

template <class To, TileRowFn kScalar> void read_tiled(const TilePanel& panel) noexcept {
  if (panel.row.stored_channels == 16)
    PanelRows<Avx2>::read_of_16<To>(panel);
  else
    read_by_rows<read_tiled_row<To, kScalar>>(panel);
}

/// Four pixels of three channels, 16 or 3 stored, as two a 128-bit lane: their low bytes at 0 and
/// 4 (or 0 and 6), their high bytes at 8 and 12 (or 3 and 9) of the lane.
[[nodiscard]] __m256i load_padded_c3(const std::byte* from) noexcept {
  const __m256i first = _mm256_unpacklo_epi32(load_256(from), load_256(from + 32));
  const __m256i second = _mm256_unpacklo_epi32(load_256(from + 64), load_256(from + 96));
  return _mm256_permute4x64_epi64(_mm256_unpacklo_epi64(first, second), 0xd8);
}

[[nodiscard]] __m256i load_compact_c3(const std::byte* from) noexcept {
  // The upper lane holds bytes 8 to 23: its pixels start at 4 and 10.
  const __m256i bytes = _mm256_set_m128i(load_128(from + 8), load_128(from));
  constexpr char kNone = -128;
  const __m256i places =
      _mm256_setr_epi8(0, 1, 2, kNone, 6, 7, 8, kNone, 3, 4, 5, kNone, 9, 10, 11, kNone, 4, 5, 6,
                       kNone, 10, 11, 12, kNone, 7, 8, 9, kNone, 13, 14, 15, kNone);
  return _mm256_shuffle_epi8(bytes, places);
}

/// Twelve values: the first four, two, and the last two of the lower lane's pixels and so on are
/// put together from two shuffles.
void store_c3(std::byte* to, __m256i pixels, ToF32 /*type*/) noexcept {
  constexpr char kNone = -128;
  const __m256i outer = _mm256_setr_epi8(
      kNone, kNone, 0, 8, kNone, kNone, 1, 9, kNone, kNone, 2, 10, kNone, kNone, 4, 12, // 0 to 3
      kNone, kNone, 0, 8, kNone, kNone, 1, 9, kNone, kNone, kNone, kNone, kNone, kNone, kNone,
      kNone); // 6 and 7
  const __m256i inner = _mm256_setr_epi8(
      kNone, kNone, 5, 13, kNone, kNone, 6, 14, kNone, kNone, kNone, kNone, kNone, kNone, kNone,
      kNone, // 4 and 5
      kNone, kNone, 2, 10, kNone, kNone, 4, 12, kNone, kNone, 5, 13, kNone, kNone, 6,
      14); // 8 to 11
  const __m256i first = _mm256_shuffle_epi8(pixels, outer);
  const __m256i second = _mm256_shuffle_epi8(pixels, inner);
  store_128(to, _mm256_castsi256_si128(first));
  store_128(to + 16,
            _mm_unpacklo_epi64(_mm256_castsi256_si128(second), _mm256_extracti128_si256(first, 1)));
  store_128(to + 32, _mm256_extracti128_si256(second, 1));
}

void store_c3(std::byte* to, __m256i pixels, BF16 /*type*/) noexcept {
  constexpr char kNone = -128;
  const __m256i pairs =
      _mm256_setr_epi8(0, 8, 1, 9, 2, 10, 4, 12, 5, 13, 6, 14, kNone, kNone, kNone, kNone, 0, 8, 1,
                       9, 2, 10, 4, 12, 5, 13, 6, 14, kNone, kNone, kNone, kNone);
  const __m256i lanes = _mm256_shuffle_epi8(pixels, pairs);
  const __m128i second = _mm256_extracti128_si256(lanes, 1);
  store_128(to, _mm_or_si128(_mm256_castsi256_si128(lanes), _mm_slli_si128(second, 12)));
  store_64(to + 16, _mm_srli_si128(second, 4));
}

/// Packed pixels of three channels in three or sixteen stored ones; others are left to `kScalar`.
template <class To, TileRowFn kScalar> void read_c3_row(const TileRow& row) noexcept {
  const bool padded = row.stored_channels == 16;
  const bool packed = row.pixel_stride_bytes == 3 * To::kBytes;
  std::int64_t p = 0;
  if (padded && packed)
    for (; p + 4 <= row.pixels; p += 4)
      store_c3(row.dst + p * 3 * To::kBytes, load_padded_c3(row.src + p * 32), To{});
  else if (row.stored_channels == 3 && packed)
    for (; p + 4 <= row.pixels; p += 4)
      store_c3(row.dst + p * 3 * To::kBytes, load_compact_c3(row.src + p * 6), To{});
  finish_pixels(row, p, 2 * row.stored_channels, row.pixel_stride_bytes, kScalar);
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

void read_i8_untiled(const TilePanel& panel) noexcept {
  if (is_whole_of_16(panel))
    PanelRows<Avx2>::read_of_16<I8>(panel);
  else
    read_by_rows<i8_i8_untiled_row__avx2>(panel);
}

constexpr RowTable kRows{
    .f32_bf16_tiled = write_tiled<F32, f32_bf16_tiled_row__scalar>,
    .f32_bf16_tiled_c1 = write_by_rows<f32_bf16_tiled_c1_row__avx2>,
    .f32_bf16_tiled_c3 = write_by_rows<f32_bf16_tiled_c3_row__avx2>,
    .f32_bf16_channels = write_channels<F32, f32_bf16_channels_row__scalar>,
    .f32_bf16_pad16_c3 = write_pad16_c3<F32, f32_bf16_pad16_c3_row__scalar>,
    .f16_bf16_tiled = write_tiled<F16, f16_bf16_tiled_row__scalar>,
    .f16_bf16_channels = write_channels<F16, f16_bf16_channels_row__scalar>,
    .bf16_bf16_tiled = write_tiled<BF16, bf16_bf16_tiled_row__scalar>,
    .bf16_bf16_tiled_c3 = write_by_rows<bf16_bf16_tiled_c3_row__avx2>,
    .bf16_bf16_channels = write_channels<BF16, bf16_bf16_channels_row__scalar>,
    .bf16_bf16_pad16_c3 = write_pad16_c3<BF16, bf16_bf16_pad16_c3_row__scalar>,
    .i8_i8_tiled = write_i8_tiled,
    .i8_i8_channels = write_by_rows<i8_i8_tiled_row__avx2>,
    .bf16_f32_untiled = read_tiled<ToF32, bf16_f32_untiled_row__scalar>,
    .bf16_f32_untiled_c1 = read_by_rows<bf16_f32_untiled_c1_row__avx2>,
    .bf16_f32_untiled_c3 = read_by_rows<read_c3_row<ToF32, bf16_f32_untiled_c3_row__scalar>>,
    .bf16_bf16_untiled = read_tiled<BF16, bf16_bf16_untiled_row__scalar>,
    .bf16_bf16_untiled_c3 = read_by_rows<read_c3_row<BF16, bf16_bf16_untiled_c3_row__scalar>>,
    .i8_i8_untiled = read_i8_untiled,
};

} // namespace

const RowTable& avx2_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
