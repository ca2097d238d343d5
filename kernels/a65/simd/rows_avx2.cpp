// SPDX-License-Identifier: LGPL-2.1-or-later
// Writers of tiles from contiguous channels, for AVX2. Integer lanes only. Built with -mavx2, so
// nothing here may be an inline function shared with other levels: tails go to the scalar kernels
// instead.
#include "a65/simd/isa_avx2.h"
#include "a65/simd/lanes_avx2.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/narrow_pixels_avx2.h"
#include "a65/simd/panel_by_rows.h"
#include "a65/simd/panel_rows.h"
#include "a65/simd/row_table.h"
#include "a65/simd/wide_bytes_avx2.h"
#include "a65/simd/wide_pixels_avx2.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace avx2;

/// Rows of 9 to 16 channels without padding: the second half overlaps the first one.
template <class From, TileRowFn kScalar> void write_halves_row(const TileRow& row) noexcept {
  const std::int64_t last = row.channels - 8;
  if (last < 0 || row.channels != row.stored_channels) {
    kScalar(row);
    return;
  }
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  for (std::int64_t p = 0; p < row.pixels; ++p) {
    store_planes_8(dst, row.channels, From::load_8(src));
    store_planes_8(dst + last, row.channels, From::load_8(src + last * From::kBytes));
    src += row.pixel_stride_bytes;
    dst += 2 * row.channels;
  }
}

template <class From, TileRowFn kScalar> void write_tiled(const TilePanel& panel) noexcept {
  const std::int64_t stored = panel.row.stored_channels;
  const std::int64_t channels = panel.last_channels;
  if (stored == 16 && panel.runs == 1 && channels < 16)
    write_padded<PaddedPixels<From>>(panel, From::kBytes);
  else if (stored == 16)
    PanelRows<Avx2>::write_of_16<From>(panel);
  else if (channels > 16)
    write_wide<From>(panel);
  else if (panel.runs == 1 && channels <= 8)
    CompactPixels<From>::write(panel);
  else
    write_by_rows<write_halves_row<From, kScalar>>(panel);
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
    if constexpr (kStream)
      __builtin_prefetch(row.src + p * 3 * From::kBytes + 1024);
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
  if (panel.stream && places % 32 == 0 && panel.row.pixels % 4 != 0)
    write_padded<PaddedPixels<From>>(panel, From::kBytes); // no other stores among those of a line
  else if (panel.stream && places % 32 == 0)
    write_by_rows<write_pad16_c3_row<From, true, kScalar>>(panel);
  else
    write_by_rows<write_pad16_c3_row<From, false, kScalar>>(panel);
}

/// Packed pixels of three channels in three stored ones; anything else is left to `other`.
template <class From, TileRowFn kScalar> void write_compact_c3_row(const TileRow& row) noexcept {
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
  finish_pixels(row, p, 3 * From::kBytes, 6, kScalar);
}

template <class From, TileRowFn kScalar> void write_c3(const TilePanel& panel) noexcept {
  if (panel.row.stored_channels == 3 && panel.row.pixel_stride_bytes == 3 * From::kBytes)
    write_by_rows<write_compact_c3_row<From, kScalar>>(panel);
  else
    write_tiled<From, kScalar>(panel);
}

/// A packed compact channel is a contiguous vector.
void f32_bf16_packed_row(const TileRow& row) noexcept {
  f32_bf16_linear_row__avx2({row.src, row.dst, row.pixels, F32::kBytes, BF16::kBytes});
}

void write_f32_c1(const TilePanel& panel) noexcept {
  if (panel.row.stored_channels == 1 && panel.row.pixel_stride_bytes == F32::kBytes)
    write_by_rows<f32_bf16_packed_row>(panel);
  else
    write_tiled<F32, f32_bf16_tiled_c1_row__scalar>(panel);
}

/// Tiles of 16 channels of which the last may have less: the whole ones together, then that one.
void write_i8_of_16(const TilePanel& panel) noexcept {
  TilePanel whole = panel;
  if (panel.last_channels != 16)
    --whole.runs;
  whole.last_channels = 16;
  PanelRows<Avx2>::write_of_16<I8>(whole);
  if (panel.last_channels == 16)
    return;
  TilePanel last = panel;
  last.row.src += whole.runs * 16;
  last.row.dst += whole.runs * panel.run_tile_bytes;
  last.runs = 1;
  WideBytes<false>::write(last);
}

void write_i8_tiled(const TilePanel& panel) noexcept {
  const TileRow& row = panel.row;
  const bool one = panel.runs == 1;
  const bool packed =
      row.stored_channels == panel.last_channels && row.pixel_stride_bytes == panel.last_channels;
  const bool few = row.channels < 16;
  if ((one && packed) || (few && !(one && row.stored_channels == 16)))
    write_by_rows<i8_i8_tiled_row__scalar>(panel); // a copy, or many copies
  else if (few)
    write_padded<PaddedBytes>(panel, 1);
  else if (row.stored_channels == 16 && row.channels == 16)
    write_i8_of_16(panel);
  else
    write_wide_bytes(panel);
}

constexpr RowTable kRows{
    .f32_bf16_tiled = write_tiled<F32, f32_bf16_tiled_row__scalar>,
    .f32_bf16_tiled_c1 = write_f32_c1,
    .f32_bf16_tiled_c2 = write_tiled<F32, f32_bf16_tiled_c2_row__scalar>,
    .f32_bf16_tiled_c3 = write_c3<F32, f32_bf16_tiled_c3_row__scalar>,
    .f32_bf16_channels = write_tiled<F32, f32_bf16_channels_row__scalar>,
    .f32_bf16_pad16_c1 = write_tiled<F32, f32_bf16_pad16_c1_row__scalar>,
    .f32_bf16_pad16_c3 = write_pad16_c3<F32, f32_bf16_pad16_c3_row__scalar>,
    .f16_bf16_tiled = write_tiled<F16, f16_bf16_tiled_row__scalar>,
    .f16_bf16_tiled_c1 = write_tiled<F16, f16_bf16_tiled_c1_row__scalar>,
    .f16_bf16_tiled_c2 = write_tiled<F16, f16_bf16_tiled_c2_row__scalar>,
    .f16_bf16_tiled_c3 = write_tiled<F16, f16_bf16_tiled_c3_row__scalar>,
    .f16_bf16_channels = write_tiled<F16, f16_bf16_channels_row__scalar>,
    .bf16_bf16_tiled = write_tiled<BF16, bf16_bf16_tiled_row__scalar>,
    .bf16_bf16_tiled_c1 = write_tiled<BF16, bf16_bf16_tiled_c1_row__scalar>,
    .bf16_bf16_tiled_c2 = write_tiled<BF16, bf16_bf16_tiled_c2_row__scalar>,
    .bf16_bf16_tiled_c3 = write_c3<BF16, bf16_bf16_tiled_c3_row__scalar>,
    .bf16_bf16_channels = write_tiled<BF16, bf16_bf16_channels_row__scalar>,
    .bf16_bf16_pad16_c1 = write_tiled<BF16, bf16_bf16_pad16_c1_row__scalar>,
    .bf16_bf16_pad16_c3 = write_pad16_c3<BF16, bf16_bf16_pad16_c3_row__scalar>,
    .i8_i8_tiled = write_i8_tiled,
    .i8_i8_channels = write_i8_tiled,
};

} // namespace

const RowTable& avx2_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
