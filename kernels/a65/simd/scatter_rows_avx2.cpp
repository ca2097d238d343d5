// SPDX-License-Identifier: LGPL-2.1-or-later
// Readers of tiles into strided channels, for AVX2. Two patterns have vector paths: neighbouring
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

[[nodiscard]] std::int64_t smaller(std::int64_t a, std::int64_t b) noexcept {
  return a < b ? a : b;
}

/// The first `bytes` bytes, 1 to 31, of `lanes`.
inline void store_bytes(std::byte* to, __m256i lanes, std::int64_t bytes) noexcept {
  __m128i part = _mm256_castsi256_si128(lanes);
  if ((bytes & 16) != 0) {
    store_128(to, part);
    part = _mm256_extracti128_si256(lanes, 1);
    to += 16;
  }
  if ((bytes & 8) != 0) {
    store_64(to, part);
    part = _mm_unpackhi_epi64(part, part);
    to += 8;
  }
  auto rest = static_cast<std::uint64_t>(_mm_cvtsi128_si64(part));
  if ((bytes & 4) != 0) {
    std::memcpy(to, &rest, 4);
    rest >>= 32;
    to += 4;
  }
  if ((bytes & 2) != 0) {
    std::memcpy(to, &rest, 2);
    rest >>= 16;
    to += 2;
  }
  if ((bytes & 1) != 0)
    std::memcpy(to, &rest, 1);
}

// Destination types: kPixels pixels of one channel.

struct ScatterBF16 {
  static constexpr std::int64_t kBytes = 2;
  static constexpr std::int64_t kPlanes = 2;
  static constexpr std::int64_t kPixels = 16;
  static void store_pixels(std::byte* to, __m256i lanes) noexcept { store_256(to, lanes); }
  static void store_some(std::byte* to, __m256i lanes, std::int64_t pixels) noexcept {
    store_bytes(to, lanes, 2 * pixels);
  }
};

struct ScatterF32 {
  static constexpr std::int64_t kBytes = 4;
  static constexpr std::int64_t kPlanes = 2;
  static constexpr std::int64_t kPixels = 16;
  static void store_pixels(std::byte* to, __m256i lanes) noexcept { store_16_f32(to, lanes); }
  static void store_some(std::byte* to, __m256i lanes, std::int64_t pixels) noexcept {
    __m128i part = _mm256_castsi256_si128(lanes);
    if (pixels >= 8) {
      ToF32::store_8(to, part);
      part = _mm256_extracti128_si256(lanes, 1);
      pixels -= 8;
      to += 32;
    }
    if (pixels != 0)
      store_bytes(to, _mm256_slli_epi32(_mm256_cvtepu16_epi32(part), 16), 4 * pixels);
  }
};

struct ScatterI8 {
  static constexpr std::int64_t kBytes = 1;
  static constexpr std::int64_t kPlanes = 1;
  static constexpr std::int64_t kPixels = 32;
  static void store_pixels(std::byte* to, __m256i lanes) noexcept { store_256(to, lanes); }
  static void store_some(std::byte* to, __m256i lanes, std::int64_t pixels) noexcept {
    store_bytes(to, lanes, pixels);
  }
};

// Planar views. A tile is a matrix of one row of `stored` bytes for each plane of each pixel.

struct Block {
  const std::byte* src;
  std::byte* dst;
  std::int64_t pixels;   ///< 1 to kPixels
  std::int64_t channels; ///< 1 to kGroup
};

/// A row of a group: narrow rows end before `end`, which no load may pass.
[[nodiscard]] inline __m128i load_narrow(const std::byte* from, std::int64_t bytes,
                                         const std::byte* end) noexcept {
  return end - from >= 16 ? load_128(from) : load_bytes(from, bytes);
}

template <class To>
void load_block(const Block& block, std::int64_t stored, const std::byte* end,
                __m256i* rows) noexcept {
  if (block.pixels == To::kPixels && stored >= kGroup) {
#pragma GCC unroll 16
    for (int k = 0; k < kGroup; ++k)
      rows[k] = _mm256_set_m128i(load_128(block.src + (k + kGroup) * stored),
                                 load_128(block.src + k * stored));
    return;
  }
  const std::int64_t count = block.pixels * To::kPlanes;
  for (std::int64_t k = 0; k < kGroup; ++k) {
    __m128i low = _mm_setzero_si128();
    __m128i high = low;
    if (k < count)
      low = load_narrow(block.src + k * stored, stored, end);
    if (k + kGroup < count)
      high = load_narrow(block.src + (k + kGroup) * stored, stored, end);
    rows[k] = _mm256_set_m128i(high, low);
  }
}

template <class To>
void read_block(const Block& block, const TileRow& row, const std::byte* end) noexcept {
  __m256i rows[kGroup];
  load_block<To>(block, row.stored_channels, end, rows);
  transpose_lanes<1>(rows);
  const std::int64_t step = row.channel_stride_bytes;
  if (block.pixels == To::kPixels && block.channels == kGroup) {
#pragma GCC unroll 16
    for (int c = 0; c < kGroup; ++c)
      To::store_pixels(block.dst + c * step, rows[c]);
    return;
  }
  for (std::int64_t c = 0; c < block.channels; ++c) {
    if (block.pixels == To::kPixels)
      To::store_pixels(block.dst + c * step, rows[c]);
    else
      To::store_some(block.dst + c * step, rows[c], block.pixels);
  }
}

/// First channel of the group at `c`: rows narrower than a whole number of groups end with a group
/// that overlaps the one before.
[[nodiscard]] std::int64_t group_at(const TileRow& row, std::int64_t c) noexcept {
  return c + kGroup > row.stored_channels && row.channels >= kGroup ? row.channels - kGroup : c;
}

template <class To> void read_planar(const TileRow& row) noexcept {
  // Whole lines of each channel, and few enough tile lines to stay in the first-level cache while
  // the groups of channels take from them.
  constexpr std::int64_t kBlockPixels = 2 * To::kPixels;
  const std::int64_t pixel_bytes = To::kPlanes * row.stored_channels;
  const std::byte* const end = row.src + row.pixels * pixel_bytes;
  for (std::int64_t first = 0; first < row.pixels; first += kBlockPixels) {
    const std::int64_t last = smaller(first + kBlockPixels, row.pixels);
    for (std::int64_t at = 0; at < row.channels; at += kGroup) {
      const std::int64_t c = group_at(row, at);
      for (std::int64_t p = first; p < last; p += To::kPixels)
        read_block<To>({row.src + p * pixel_bytes + c,
                        row.dst + p * To::kBytes + c * row.channel_stride_bytes,
                        smaller(To::kPixels, last - p), smaller(kGroup, row.channels - c)},
                       row, end);
    }
  }
}

// Every second scalar. The gaps are not ours, so each scalar has a store of its own, from general
// registers: twice as many a cycle as from vectors, and no detour through memory.

/// The first `count` scalars, 1 to 4 (8 for bytes), of a word.
inline void spread_word(std::byte* to, std::uint64_t word, std::int64_t count,
                        ScatterI8 /*type*/) noexcept {
  for (std::int64_t i = 0; i < count; ++i)
    to[2 * i] = static_cast<std::byte>(word >> (8 * i));
}
inline void spread_word(std::byte* to, std::uint64_t word, std::int64_t count,
                        ScatterBF16 /*type*/) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto scalar = static_cast<std::uint16_t>(word >> (16 * i));
    std::memcpy(to + 4 * i, &scalar, sizeof scalar);
  }
}
inline void spread_word(std::byte* to, std::uint64_t word, std::int64_t count,
                        ScatterF32 /*type*/) noexcept {
  for (std::int64_t i = 0; i < count; ++i) {
    const auto scalar = static_cast<std::uint32_t>(word >> (16 * i)) << 16;
    std::memcpy(to + 8 * i, &scalar, sizeof scalar);
  }
}

/// Sixteen channels at `from` as 64-bit words of scalars: four, or two of bytes.
struct Words {
  std::uint64_t word[4];
};

template <class To>
[[nodiscard]] Words load_words(const std::byte* from, const TileRow& row, std::int64_t count,
                               const std::byte* end) noexcept {
  const auto low_half = [](__m128i lanes) {
    return static_cast<std::uint64_t>(_mm_cvtsi128_si64(lanes));
  };
  const auto high_half = [](__m128i lanes) {
    return static_cast<std::uint64_t>(_mm_extract_epi64(lanes, 1));
  };
  const __m128i low = load_narrow(from, count, end);
  if constexpr (To::kPlanes == 1)
    return {{low_half(low), high_half(low), 0, 0}};
  const __m128i high = load_narrow(from + row.stored_channels, count, end);
  const __m128i first = _mm_unpacklo_epi8(low, high);
  const __m128i second = _mm_unpackhi_epi8(low, high);
  return {{low_half(first), high_half(first), low_half(second), high_half(second)}};
}

template <class To>
void spread_pixel(const std::byte* src, std::byte* dst, const TileRow& row,
                  const std::byte* end) noexcept {
  constexpr std::int64_t kScalars = To::kPlanes == 1 ? 8 : 4; // in a word
  for (std::int64_t at = 0; at < row.channels; at += kGroup) {
    const std::int64_t c = group_at(row, at);
    const Words words = load_words<To>(src + c, row, smaller(kGroup, row.stored_channels - c), end);
    std::byte* to = dst + 2 * c * To::kBytes;
    const std::int64_t count = smaller(kGroup, row.channels - c);
    if (count == kGroup) {
#pragma GCC unroll 4
      for (std::int64_t w = 0; w < kGroup / kScalars; ++w)
        spread_word(to + 2 * w * kScalars * To::kBytes, words.word[w], kScalars, To{});
      continue;
    }
    for (std::int64_t i = 0; i < count; i += kScalars)
      spread_word(to + 2 * i * To::kBytes, words.word[i / kScalars], smaller(kScalars, count - i),
                  To{});
  }
}

template <class To> void read_spread(const TileRow& row) noexcept {
  const std::int64_t pixel_bytes = To::kPlanes * row.stored_channels;
  const std::byte* const end = row.src + row.pixels * pixel_bytes;
  for (std::int64_t p = 0; p < row.pixels; ++p)
    spread_pixel<To>(row.src + p * pixel_bytes, row.dst + p * row.pixel_stride_bytes, row, end);
}

template <class To> void read_scatter(const TileRow& row, TileRowFn scalar) noexcept {
  if (row.pixel_stride_bytes == To::kBytes && row.pixels * row.channels >= kLeastPlanar)
    read_planar<To>(row);
  else if (row.channel_stride_bytes == 2 * To::kBytes && row.channels >= kGroup)
    read_spread<To>(row);
  else
    scalar(row);
}

} // namespace

void bf16_f32_scatter_row__avx2(const TileRow& row) noexcept {
  read_scatter<ScatterF32>(row, bf16_f32_scatter_row__scalar);
}
void bf16_bf16_scatter_row__avx2(const TileRow& row) noexcept {
  read_scatter<ScatterBF16>(row, bf16_bf16_scatter_row__scalar);
}
void i8_i8_scatter_row__avx2(const TileRow& row) noexcept {
  read_scatter<ScatterI8>(row, i8_i8_scatter_row__scalar);
}

} // namespace simaai::kernels::a65::detail
