// SPDX-License-Identifier: LGPL-2.1-or-later
// Readers of tiles into contiguous channels, for AVX2. Integer lanes only. Built with -mavx2, so
// nothing here may be an inline function shared with other levels: tails go to the scalar kernels
// instead.
#include <cstring>

#include "a65/simd/isa_avx2.h"
#include "a65/simd/lanes_avx2.h"
#include "a65/simd/linear_rows.h"
#include "a65/simd/panel_by_rows.h"
#include "a65/simd/panel_rows.h"
#include "a65/simd/row_table.h"

namespace simaai::kernels::a65::detail {
namespace {

using namespace avx2;

/// Whether stores of whole vectors may bypass the cache everywhere in a panel whose pixels have
/// `pixel_bytes` output bytes from one to the next.
[[nodiscard]] bool streams(const TilePanel& panel, std::int64_t pixel_bytes) noexcept {
  const auto places = reinterpret_cast<std::uintptr_t>(panel.row.dst) |
                      static_cast<std::uintptr_t>(panel.segment_linear_bytes) |
                      static_cast<std::uintptr_t>(pixel_bytes);
  return panel.stream && places % Avx2::kStreamAlignment == 0;
}

/// Calls `visit(src, dst)` for the first pixel of each segment.
template <class Visit> void for_each_segment(const TilePanel& panel, Visit visit) noexcept {
  const std::byte* src = panel.row.src;
  std::byte* dst = panel.row.dst;
  const std::int64_t tile_bytes = panel.segment_tile_bytes;
  const std::int64_t linear_bytes = panel.segment_linear_bytes;
  for (std::int64_t left = panel.segments; left != 0; --left) {
    visit(src, dst);
    src += tile_bytes;
    dst += linear_bytes;
  }
}

// Sixteen stored channels or more of any width.

/// Sixteen low and sixteen high bytes.
[[nodiscard]] inline __m256i load_planes(const std::byte* low, const std::byte* high) noexcept {
  return _mm256_inserti128_si256(_mm256_castsi128_si256(load_128(low)), load_128(high), 1);
}

/// Sixteen channels of one pixel.
template <class To, bool kStream>
inline void read_group(const std::byte* src, std::byte* dst, std::int64_t c,
                       std::int64_t stored) noexcept {
  if constexpr (kStream)
    To::template put_planes<true>(dst + c * To::kBytes, load_planes(src + c, src + stored + c));
  else if constexpr (To::kBytes == 2)
    read_16<To>(src, dst, stored, c); // two stores of 16 bytes, but half the shuffles
  else
    To::template put_planes<false>(dst + c * To::kBytes, load_planes(src + c, src + stored + c));
}

/// One run of a pixel of 16 channels or more; a last group overlaps the one before. Prefetches pay
/// with streaming only: from a near cache a single input is read ahead by the machine.
template <class To, bool kStream>
[[gnu::always_inline]] inline void read_wide_run(const std::byte* src, std::byte* dst,
                                                 std::int64_t channels,
                                                 std::int64_t stored) noexcept {
  constexpr std::int64_t kAhead = 1024;
  std::int64_t c = 0;
  for (; c + 16 <= channels; c += 16) {
    if constexpr (kStream)
      __builtin_prefetch(src + 2 * c + kAhead);
    read_group<To, kStream>(src, dst, c, stored);
  }
  if (c < channels)
    read_group<To, false>(src, dst, channels - 16, stored);
}

template <class To, bool kStream> void read_wide(const TilePanel& panel) noexcept {
  // Copies: a store of bytes might change what `panel` refers to, which would be read every time.
  const TileRow row = panel.row;
  const std::int64_t stored = row.stored_channels;
  const std::int64_t runs = panel.runs;
  const std::int64_t run_bytes = panel.run_tile_bytes;
  const std::int64_t last_channels = panel.last_channels;
  for_each_segment(panel, [=](const std::byte* src, std::byte* dst) {
    for (std::int64_t p = 0; p < row.pixels; ++p) {
      const std::byte* from = src;
      std::byte* to = dst;
      for (std::int64_t run = 1; run < runs; ++run) {
        read_wide_run<To, kStream>(from, to, row.channels, stored);
        from += run_bytes;
        to += row.channels * To::kBytes;
      }
      read_wide_run<To, kStream>(from, to, last_channels, stored);
      src += 2 * stored;
      dst += row.pixel_stride_bytes;
    }
  });
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

// One, two and four channels: 16 / channels packed pixels become planes of sixteen values.

/// Interleaves groups of `kBytes` bytes of the lower half of each 128-bit lane.
template <std::int64_t kBytes>
[[nodiscard]] inline __m256i interleave_low(__m256i first, __m256i second) noexcept {
  if constexpr (kBytes == 1)
    return _mm256_unpacklo_epi8(first, second);
  else if constexpr (kBytes == 2)
    return _mm256_unpacklo_epi16(first, second);
  else if constexpr (kBytes == 4)
    return _mm256_unpacklo_epi32(first, second);
  else
    return _mm256_unpacklo_epi64(first, second);
}

/// The first kChannels channels of kPixels pixels of 16 stored ones, side by side in each lane: a
/// tree of interleavings.
template <std::int64_t kChannels, std::int64_t kPixels>
[[nodiscard]] inline __m256i gather_padded(const std::byte* from) noexcept {
  if constexpr (kPixels == 1)
    return load_256(from);
  else
    return interleave_low<kChannels * kPixels / 2>(
        gather_padded<kChannels, kPixels / 2>(from),
        gather_padded<kChannels, kPixels / 2>(from + kPixels / 2 * 32));
}

/// The same of pixels whose low and high bytes follow each other without padding.
template <std::int64_t kChannels>
[[nodiscard]] inline __m256i gather_compact(const std::byte* from) noexcept {
  __m256i pixels = load_256(from);
  if constexpr (kChannels == 4)
    pixels = _mm256_shuffle_epi32(pixels, 0xd8);
  else
    pixels = _mm256_shuffle_epi8(pixels, _mm256_setr_epi8(0, 1, 4, 5, 8, 9, 12, 13, 2, 3, 6, 7, 10,
                                                          11, 14, 15, 0, 1, 4, 5, 8, 9, 12, 13, 2,
                                                          3, 6, 7, 10, 11, 14, 15));
  return _mm256_permute4x64_epi64(pixels, 0xd8);
}

/// Segments of at least as many pixels as a step has; the last step overlaps the one before.
template <class To, std::int64_t kChannels, bool kPadded, bool kStream>
void read_narrow(const TilePanel& panel) noexcept {
  constexpr std::int64_t kPixels = 16 / kChannels;
  constexpr std::int64_t kPixelBytes = kPadded ? 32 : 2 * kChannels;
  const std::int64_t last = panel.row.pixels - kPixels;
  const auto gather = [](const std::byte* from) {
    if constexpr (kPadded)
      return gather_padded<kChannels, kPixels>(from);
    else
      return gather_compact<kChannels>(from);
  };
  for_each_segment(panel, [=](const std::byte* src, std::byte* dst) {
    std::int64_t p = 0;
    for (; p <= last; p += kPixels)
      To::template put_planes<kStream>(dst + p * kChannels * To::kBytes,
                                       gather(src + p * kPixelBytes));
    if (p - last < kPixels)
      To::template put_planes<false>(dst + last * kChannels * To::kBytes,
                                     gather(src + last * kPixelBytes));
  });
}

/// Packed pixels of exactly kChannels channels; false, and nothing is done, for others.
template <class To, std::int64_t kChannels>
[[nodiscard]] bool read_packed(const TilePanel& panel) noexcept {
  const TileRow& row = panel.row;
  if (panel.runs != 1 || row.pixel_stride_bytes != kChannels * To::kBytes ||
      row.pixels < 16 / kChannels)
    return false;
  // The last of other steps overlaps: two kinds of stores would share its lines.
  const bool stream = streams(panel, 0) && row.pixels % (16 / kChannels) == 0;
  if (row.stored_channels == 16) {
    if (stream)
      read_narrow<To, kChannels, true, true>(panel);
    else
      read_narrow<To, kChannels, true, false>(panel);
    return true;
  }
  if constexpr (kChannels != 1)
    if (row.stored_channels == kChannels) {
      if (stream)
        read_narrow<To, kChannels, false, true>(panel);
      else
        read_narrow<To, kChannels, false, false>(panel);
      return true;
    }
  return false;
}

template <class To, TileRowFn kScalar> void read_tiled(const TilePanel& panel) noexcept {
  const TileRow& row = panel.row;
  if (panel.last_channels == 4 && panel.runs == 1 && read_packed<To, 4>(panel))
    return;
  if (row.stored_channels == 16)
    PanelRows<Avx2>::read_of_16<To>(panel);
  else if (row.channels < 16 || panel.last_channels < 16)
    read_by_rows<read_tiled_row<To, kScalar>>(panel);
  else if (row.channels % 16 == 0 && panel.last_channels % 16 == 0 &&
           streams(panel, row.pixel_stride_bytes))
    read_wide<To, true>(panel);
  else
    read_wide<To, false>(panel);
}

template <class To, TileRowFn kScalar> void read_tiled_c2(const TilePanel& panel) noexcept {
  if (!read_packed<To, 2>(panel))
    read_by_rows<kScalar>(panel);
}

/// A packed compact channel is a contiguous vector.
void bf16_f32_untiled_c1_row__avx2(const TileRow& row) noexcept {
  if (row.stored_channels == 1 && row.pixel_stride_bytes == ToF32::kBytes)
    bf16_f32_linear_row__avx2({row.src, row.dst, row.pixels, BF16::kBytes, ToF32::kBytes});
  else
    bf16_f32_untiled_c1_row__scalar(row);
}
void bf16_bf16_untiled_c1_row__avx2(const TileRow& row) noexcept {
  if (row.stored_channels == 1 && row.pixel_stride_bytes == BF16::kBytes)
    std::memcpy(row.dst, row.src, static_cast<std::size_t>(row.pixels * BF16::kBytes));
  else
    bf16_bf16_untiled_c1_row__scalar(row);
}

template <class To, TileRowFn kRow> void read_tiled_c1(const TilePanel& panel) noexcept {
  if (!read_packed<To, 1>(panel))
    read_by_rows<kRow>(panel);
}

// Three channels.

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

// INT8.

/// Packed pixels of less than 16 channels in 16 stored ones: each store runs over the next pixels,
/// which are written later; the last ones are left to the scalar kernel.
void read_narrow_bytes(const TileRow& row) noexcept {
  const std::byte* src = row.src;
  std::byte* dst = row.dst;
  const std::int64_t channels = row.channels;
  std::int64_t whole = 0;
  for (std::int64_t left = row.pixels * channels; left >= 16; left -= channels) {
    store_128(dst, load_128(src));
    src += 16;
    dst += channels;
    ++whole;
  }
  finish_pixels(row, whole, 16, channels, i8_i8_untiled_row__scalar);
}

void i8_i8_untiled_row__avx2(const TileRow& row) noexcept {
  if (row.channels < 16 && row.stored_channels == 16 && row.pixel_stride_bytes == row.channels) {
    read_narrow_bytes(row);
    return;
  }
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

/// Several whole groups of 16 channels a pixel are more than their copy.
[[nodiscard]] bool is_whole_of_16(const TilePanel& panel) noexcept {
  return panel.row.stored_channels == 16 && panel.row.channels == 16 && panel.last_channels == 16 &&
         panel.row.pixel_stride_bytes != 16;
}

void read_i8_untiled(const TilePanel& panel) noexcept {
  if (is_whole_of_16(panel))
    PanelRows<Avx2>::read_of_16<I8>(panel);
  else
    read_by_rows<i8_i8_untiled_row__avx2>(panel);
}

constexpr RowTable kRows{
    .bf16_f32_untiled = read_tiled<ToF32, bf16_f32_untiled_row__scalar>,
    .bf16_f32_untiled_c1 = read_tiled_c1<ToF32, bf16_f32_untiled_c1_row__avx2>,
    .bf16_f32_untiled_c2 = read_tiled_c2<ToF32, bf16_f32_untiled_c2_row__scalar>,
    .bf16_f32_untiled_c3 = read_by_rows<read_c3_row<ToF32, bf16_f32_untiled_c3_row__scalar>>,
    .bf16_bf16_untiled = read_tiled<BF16, bf16_bf16_untiled_row__scalar>,
    .bf16_bf16_untiled_c1 = read_tiled_c1<BF16, bf16_bf16_untiled_c1_row__avx2>,
    .bf16_bf16_untiled_c2 = read_tiled_c2<BF16, bf16_bf16_untiled_c2_row__scalar>,
    .bf16_bf16_untiled_c3 = read_by_rows<read_c3_row<BF16, bf16_bf16_untiled_c3_row__scalar>>,
    .i8_i8_untiled = read_i8_untiled,
};

} // namespace

const RowTable& avx2_reader_rows() noexcept { return kRows; }

} // namespace simaai::kernels::a65::detail
