// SPDX-License-Identifier: LGPL-2.1-or-later
// Tile row kernels for AVX2. Integer lanes only. Built with -mavx2, so nothing here may be an inline
// function shared with other levels: tails go to the scalar kernels instead.
#include "a65/simd/lanes_avx2.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/panel_by_rows.h"
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
    store_planes_16(dst + c, stored, From::planes_16(src + c * From::kBytes));
  if (c < channels)
    store_planes_16(dst + c, stored, From::planes_some(src + c * From::kBytes, channels - c));
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
    store_planes_16(dst + c, channels, From::planes_16(src + c * From::kBytes));
  if (c < channels) {
    c = channels - 16;
    store_planes_16(dst + c, channels, From::planes_16(src + c * From::kBytes));
  }
}

template <class From, TileRowFn kScalar> void write_tiled_row(const TileRow& row) noexcept {
  const bool padded = row.stored_channels % 16 == 0;
  if (!padded && row.channels < 8) {
    kScalar(row);
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

/// Leading runs of exactly 16 channels.
[[nodiscard]] std::int64_t whole_runs_of_16(const TilePanel& panel) noexcept {
  if (panel.row.channels != 16)
    return 0;
  return panel.last_channels == 16 ? panel.runs : panel.runs - 1;
}

/// All runs of `kPixels` pixels, 1 or 4, where each run stores 16 channels.
template <class From, bool kStream, std::size_t kPixels>
void write_runs_of_16(const TilePanel& panel, const std::byte* src, std::byte* dst) noexcept {
  const std::int64_t stride = panel.row.pixel_stride_bytes;
  const std::int64_t whole = whole_runs_of_16(panel);
  std::int64_t run = 0;
  for (; run < whole; ++run) {
    __m256i planes[kPixels];
    if constexpr (kPixels == 4)
      From::planes_4x16(src, stride, planes);
    else
      planes[0] = From::planes_16(src);
    for (std::size_t pixel = 0; pixel < kPixels; ++pixel)
      put_256<kStream>(dst + 32 * pixel, planes[pixel]);
    src += 16 * From::kBytes;
    dst += panel.run_tile_bytes;
  }
  for (; run < panel.runs; ++run) {
    const std::int64_t channels = run + 1 < panel.runs ? panel.row.channels : panel.last_channels;
    for (std::size_t pixel = 0; pixel < kPixels; ++pixel)
      put_256<kStream>(
          dst + 32 * pixel,
          From::planes_some(src + static_cast<std::int64_t>(pixel) * stride, channels));
    src += channels * From::kBytes;
    dst += panel.run_tile_bytes;
  }
}

template <class From, bool kStream> void write_panel_of_16(const TilePanel& panel) noexcept {
  const TileRow& row = panel.row;
  const std::byte* src = row.src;
  for (std::int64_t segment = 0; segment < panel.segments; ++segment) {
    std::byte* dst = row.dst + segment * panel.segment_tile_bytes;
    std::int64_t p = 0;
    for (; p + 4 <= row.pixels; p += 4) {
      write_runs_of_16<From, kStream, 4>(panel, src, dst);
      src += 4 * row.pixel_stride_bytes;
      dst += 4 * 32;
    }
    for (; p < row.pixels; ++p) {
      write_runs_of_16<From, kStream, 1>(panel, src, dst);
      src += row.pixel_stride_bytes;
      dst += 32;
    }
  }
}

/// Whether every 32-byte store of a panel of 16 stored channels may bypass the cache.
[[nodiscard]] bool may_stream(const TilePanel& panel) noexcept {
  const auto places = reinterpret_cast<std::uintptr_t>(panel.row.dst) |
                      static_cast<std::uintptr_t>(panel.segment_tile_bytes) |
                      static_cast<std::uintptr_t>(panel.run_tile_bytes);
  return panel.stream && places % 32 == 0;
}

template <class From, TileRowFn kScalar> void write_tiled(const TilePanel& panel) noexcept {
  if (panel.row.stored_channels != 16)
    write_by_rows<write_tiled_row<From, kScalar>>(panel);
  else if (may_stream(panel))
    write_panel_of_16<From, true>(panel);
  else
    write_panel_of_16<From, false>(panel);
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

/// Fewer than four channels.
template <class To>
void read_few(const std::byte* src, std::byte* dst, std::int64_t channels,
              std::int64_t stored) noexcept {
  for (std::int64_t c = 0; c < channels; ++c)
    To::store_1(dst + c * To::kBytes, src[c], src[stored + c]);
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

/// One pixel of any number of channels.
template <class To>
void read_some(const std::byte* src, std::byte* dst, std::int64_t channels,
               std::int64_t stored) noexcept {
  if (channels < 4)
    read_few<To>(src, dst, channels, stored);
  else
    read_pixel<To>(src, dst, channels, stored);
}

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

/// All runs of `kPixels` pixels, 1 or 4, where each run stores 16 channels.
template <class To, bool kStream, std::size_t kPixels>
void read_runs_of_16(const TilePanel& panel, const std::byte* src, std::byte* dst) noexcept {
  const std::int64_t stride = panel.row.pixel_stride_bytes;
  const std::int64_t whole = whole_runs_of_16(panel);
  std::int64_t run = 0;
  for (; run < whole; ++run) {
    for (std::size_t pixel = 0; pixel < kPixels; ++pixel)
      To::template put_planes<kStream>(dst + static_cast<std::int64_t>(pixel) * stride,
                                       load_256(src + 32 * pixel));
    src += panel.run_tile_bytes;
    dst += 16 * To::kBytes;
  }
  for (; run < panel.runs; ++run) {
    const std::int64_t channels = run + 1 < panel.runs ? panel.row.channels : panel.last_channels;
    for (std::size_t pixel = 0; pixel < kPixels; ++pixel)
      read_some<To>(src + 32 * pixel, dst + static_cast<std::int64_t>(pixel) * stride, channels,
                    16);
    src += panel.run_tile_bytes;
    dst += channels * To::kBytes;
  }
}

template <class To, bool kStream> void read_panel_of_16(const TilePanel& panel) noexcept {
  const TileRow& row = panel.row;
  std::byte* dst = row.dst;
  for (std::int64_t segment = 0; segment < panel.segments; ++segment) {
    const std::byte* src = row.src + segment * panel.segment_tile_bytes;
    std::int64_t p = 0;
    for (; p + 4 <= row.pixels; p += 4) {
      read_runs_of_16<To, kStream, 4>(panel, src, dst);
      src += 4 * 32;
      dst += 4 * row.pixel_stride_bytes;
    }
    for (; p < row.pixels; ++p) {
      read_runs_of_16<To, kStream, 1>(panel, src, dst);
      src += 32;
      dst += row.pixel_stride_bytes;
    }
  }
}

template <class To, TileRowFn kScalar> void read_tiled(const TilePanel& panel) noexcept {
  const TileRow& row = panel.row;
  const auto places = reinterpret_cast<std::uintptr_t>(row.dst) |
                      static_cast<std::uintptr_t>(row.pixel_stride_bytes);
  if (row.stored_channels != 16)
    read_by_rows<read_tiled_row<To, kScalar>>(panel);
  else if (panel.stream && places % 32 == 0)
    read_panel_of_16<To, true>(panel);
  else
    read_panel_of_16<To, false>(panel);
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
    .f32_bf16_tiled = write_tiled<F32, f32_bf16_tiled_row__scalar>,
    .f32_bf16_tiled_c1 = write_by_rows<f32_bf16_tiled_c1_row__avx2>,
    .f32_bf16_tiled_c3 = write_by_rows<f32_bf16_tiled_c3_row__avx2>,
    .f32_bf16_channels = write_by_rows<write_tiled_row<F32, f32_bf16_channels_row__scalar>>,
    .f32_bf16_pad16_c3 = write_by_rows<f32_bf16_pad16_c3_row__avx2>,
    .f16_bf16_tiled = write_tiled<F16, f16_bf16_tiled_row__scalar>,
    .f16_bf16_channels = write_by_rows<write_tiled_row<F16, f16_bf16_channels_row__scalar>>,
    .bf16_bf16_tiled = write_tiled<BF16, bf16_bf16_tiled_row__scalar>,
    .bf16_bf16_tiled_c3 = write_by_rows<bf16_bf16_tiled_c3_row__avx2>,
    .bf16_bf16_channels = write_by_rows<write_tiled_row<BF16, bf16_bf16_channels_row__scalar>>,
    .bf16_bf16_pad16_c3 = write_by_rows<bf16_bf16_pad16_c3_row__avx2>,
    .i8_i8_tiled = write_by_rows<i8_i8_tiled_row__avx2>,
    .i8_i8_channels = write_by_rows<i8_i8_tiled_row__avx2>,
    .bf16_f32_untiled = read_tiled<ToF32, bf16_f32_untiled_row__scalar>,
    .bf16_f32_untiled_c1 = read_by_rows<bf16_f32_untiled_c1_row__avx2>,
    .bf16_bf16_untiled = read_tiled<BF16, bf16_bf16_untiled_row__scalar>,
    .i8_i8_untiled = read_by_rows<i8_i8_untiled_row__avx2>,
};

} // namespace

const RowTable& avx2_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
